package diag

var inputDocs = []Doc{
	{
		Code: CodeSyntax, Family: Inputs,
		Title: "the PTX is not well-formed",
		Text: `The text violates the PTX grammar, uses an undeclared name, or uses an instruction with
operands or modifiers that it does not allow. All errors of a file are reported as far as they are
meaningful.`,
		Fix: `Correct the reported place. ptxas can give a second opinion.`,
		Example: Example{
			File: "register.ptx",
			Text: `.version 8.0
.target sm_70
.address_size 64
.visible .entry k()
{
	mov.u32 %r1, 5;
	ret;
}
`,
		},
		Fixed: Example{
			Text: `.version 8.0
.target sm_70
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<2>;
	mov.u32 %r1, 5;
	ret;
}
`,
		},
	},
	{
		Code: CodeCompile, Family: Inputs,
		Title: "the compiler rejects the file",
		Text: `clang could not compile the kernels of the file; its own messages are shown. heddle brings
its own CUDA headers, so no SDK is needed. It passes -I, -D and -std to clang.`,
		Fix: `Correct what the compiler reports. If CUDA has a declaration that heddle's headers lack,
that is a gap in heddle.`,
		Example: Example{
			File: "semicolon.cu",
			Text: `__global__ void k(int *out) {
    out[threadIdx.x] = 1
}
`,
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeHostCode, Family: Inputs,
		Title: "host code of the file was ignored",
		Text: `Some code that runs on the CPU does not compile without the CUDA SDK or another library.
The analysis of the kernels does not need it and continues. Launches in that code are still read
where they are constant.`,
		Fix: `Nothing, unless kernels are missing: then pass -I for the headers that they need.`,
		Example: Example{
			File: "host.cu",
			Text: `__global__ void k(int *out) { out[threadIdx.x] = 1; }
int main() { return no_such_function(); }
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) { out[threadIdx.x] = 1; }
int main() { return 0; }
`,
		},
	},
	{
		Code: CodeLaunch, Family: Inputs,
		Title: "the launch is not possible",
		Text: `The launch that the flags, a "heddle:" comment, the host code or the PTX specify is
contradictory, does not match the parameters of the kernel, or exceeds what a GPU can do. Examples:
more than 1024 threads in a block, an argument for a parameter that does not exist, a value that
does not fit its parameter, a file that is too short.`,
		Fix: `The message says what is possible. heddle takes the launch from these sources, in this
order: flags, a comment above the kernel (// heddle: grid=4 block=256 n=1024 in=random), a <<<...>>>
with constants in the same file, .reqntid and .maxntid, and defaults.`,
		Example: Example{
			File: "big.cu",
			Text: `__global__ void k(int *out) { out[threadIdx.x] = 1; }
`,
			Flags: []string{"--block", "2048"},
		},
		Fixed: Example{
			Flags: []string{"--block", "1024"},
		},
	},
	{
		Code: CodeInput, Family: Inputs,
		Title: "an input file or kernel cannot be used",
		Text: `A file cannot be read, has an unknown type, or contains no kernel; or no kernel has the
name given with --kernel. In the last case the message lists the kernels that exist.`,
		Fix: `Specify files that define a kernel (__global__, __kernel, .entry): .cu, .cl, .ptx, .ll,
.bc, or programs that contain PTX.`,
		Example: Example{
			File: "name.cu",
			Text: `__global__ void k(int *out) { out[threadIdx.x] = 1; }
`,
			Flags: []string{"--kernel", "other"},
		},
		Fixed: Example{
			Flags: []string{"--kernel", "k"},
		},
	},
	{
		Code: CodeSuppression, Family: Inputs,
		Title: "a heddle:ignore comment cannot be used",
		Text: `The comment has no code, has a code that does not exist or is not a bug of a kernel, or
has no reason. It suppresses nothing. The form is

    // heddle:ignore CODE[, CODE] REASON

at the end of the line of one of the operations of a finding, or alone on the line above. The reason
is for the next reader of the code, and appears in JSON and SARIF.`,
		Fix: `Write a code that ` + "`" + `heddle explain` + "`" +
			` lists, and a reason why the finding is not a problem.`,
		Example: Example{
			File: "reason.cu",
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = 1; // heddle:ignore race-shared
    out[threadIdx.x] = s[63 - threadIdx.x];
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = 1; // heddle:ignore race-shared a reader that sees 0 reads again
    out[threadIdx.x] = s[63 - threadIdx.x];
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
	},
	{
		Code: CodeSuppressionUnused, Family: Inputs,
		Title: "a heddle:ignore comment matches no finding",
		Text: `The check of the kernel is complete, and no finding with a code of the comment has an
operation on its line. The bug has been repaired or moved, or this launch does not expose it.`,
		Fix: `Remove the comment, or move it to the line of the operation. If another launch needs the
comment, check that launch too.`,
		Example: Example{
			File: "unused.cu",
			Text: `__global__ void k(int *out) {
    out[threadIdx.x] = 1; // heddle:ignore race-global every thread has its own element
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    out[threadIdx.x] = 1;
}
`,
		},
	},
}
