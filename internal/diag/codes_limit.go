package diag

var limitDocs = []Doc{
	{
		Code: CodeStepLimit, Family: Limits,
		Title: "the kernel did not end within the step limit",
		Text: `The run executed as many warp instructions as --max-steps allows. The kernel may run
forever (a thread spins on memory that no thread writes), or it may only be long. Findings up to
that point are reported; without a finding the verdict is unknown.`,
		Fix: `Raise --max-steps, use a smaller launch or smaller inputs, or find out why the loop does
not end.`,
		Example: Example{
			File: "spin.cu",
			Text: `__global__ void k(volatile int *flag) {
    while (*flag == 0) { }
}
`,
			Flags: []string{"--grid", "1", "--block", "1", "--max-steps", "100000"},
		},
		Fixed: Example{
			Text: `__global__ void k(volatile int *flag) {
    for (int i = 0; i < 100 && *flag == 0; i++) { }
}
`,
		},
	},
	{
		Code: CodeUnsupported, Family: Limits,
		Title: "the kernel uses a construct that heddle does not support",
		Text: `heddle does not implement an instruction or one of its forms, or does not model its memory
ordering. The run stops there instead of continuing with a wrong value. This is a limit of heddle
and not a bug in the kernel. Findings before that point are reported; docs/support.md lists what is
missing.`,
		Fix: `Check the kernel without the construct, or select another kernel of the file with
--kernel.`,
		Example: Example{
			File: "fma.ptx",
			Text: `.version 8.1
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<4>;
	fma.rn.oob.f16x2 %r0, %r1, %r2, %r3;
	ret;
}
`,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{
			Text: `.version 8.1
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<4>;
	fma.rn.f16x2 %r0, %r1, %r2, %r3;
	ret;
}
`,
		},
	},
	{
		Code: CodeDependsOnInput, Family: Limits,
		Title: "a branch, an address or a barrier depends on an unknown input",
		Text: `An argument was declared unknown (--arg in=unknown). Unknown values may flow through data,
but here one decides which path a thread takes or which address it accesses, so one run cannot
represent all inputs.`,
		Fix: `Specify a value: --arg n=1024, --arg in=zero, --arg in=random.`,
		Example: Example{
			File: "branch.cu",
			Text: `__global__ void k(int *in, int *out) {
    if (in[threadIdx.x] > 0)
        out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "in=unknown"},
		},
		Fixed: Example{
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "in=zero"},
		},
	},
	{
		Code: CodeAssumptions, Family: Limits,
		Title: "the run violates an assumption of the kernel",
		Text: `A __requires of the kernel or an __assume was false, so the kernel is not meant to run
this way. Findings of such a run are not reported, and the verdict is unknown.`,
		Fix: `Launch the kernel with values that satisfy the condition. The report names the condition
and the thread for which it was false.`,
		Example: Example{
			File: "required.cu",
			Text: `#include "heddle.h"
__global__ void k(int *a, int n) {
    __requires(n == 64);
    a[threadIdx.x % n] = 0;
}
`,
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "n=3"},
		},
		Fixed: Example{
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "n=64"},
		},
	},
}
