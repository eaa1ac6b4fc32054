package diag

var limitDocs = []Doc{
	{
		Code: CodeStepLimit, Family: Limits,
		Title: "the step budget was used up before the kernel ended",
		Text: `The run executed as many warp instructions as --max-steps allows. The kernel may be endless (a thread spins on
memory that nobody writes), or only long. What was found up to there is reported; without a finding the verdict is
unknown.`,
		Fix: `Raise --max-steps, make the launch or its inputs smaller, or see why the loop does not end.`,
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
		Title: "the kernel uses something that heddle does not execute",
		Text: `An instruction, or a form of it, is not implemented, or its memory ordering is not modelled. The run ends there rather
than go on with a wrong value. It is no bug of the kernel. What was found before is reported; LIMITATIONS.md lists what
is missing.`,
		Fix: `Check the kernel without the construct, or another kernel of the file with --kernel.`,
		Example: Example{
			File: "tensor.ptx",
			Text: `.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	wgmma.fence.sync.aligned;
	ret;
}
`,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{
			Text: `.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	bar.sync 0;
	ret;
}
`,
		},
	},
	{
		Code: CodeDependsOnInput, Family: Limits,
		Title: "a branch, an address or a barrier depends on an input that is unknown",
		Text: `An argument was given as unknown (--arg in=unknown). Such values may flow through data, but here one decides where
the kernel goes or what it accesses, so that one run cannot speak for all inputs.`,
		Fix: `Give a value: --arg n=1024, --arg in=zero, --arg in=random.`,
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
		Title: "the run is none of those that the kernel is meant for",
		Text: `A __requires of the kernel, or an __assume, was false. Such a run says nothing about the kernel: what was found in it
is not reported, and the verdict is unknown.`,
		Fix: `Launch the kernel with what it requires: the report says which condition was false, and for which thread.`,
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
