package diag

var inputDocs = []Doc{
	{
		Code: CodeSyntax, Family: Inputs,
		Title: "the PTX is not well-formed",
		Text: `The text breaks the grammar of PTX, names something that is not declared, or uses an instruction with operands or
modifiers that it cannot have. All mistakes of a file are reported, up to where they make no more sense.`,
		Fix: `See the place that is named; ptxas gives a second opinion.`,
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
		Text: `clang could not compile the kernels of the file; its own messages are shown. heddle brings headers of its own for
CUDA, so that no SDK is needed; -I, -D and -std are passed on.`,
		Fix: `Repair what the compiler names. If it is something that CUDA has and heddle's headers lack, that is a gap of heddle.`,
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
		Title: "host code of the file was left out",
		Text: `Code that runs on the CPU does not compile without the CUDA SDK or a library. It is not needed for the analysis of
the kernels, which goes on; launches in it are still read where they are constant.`,
		Fix: `Nothing needs to be done unless kernels are missing: then pass -I for the headers that they need.`,
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
		Text: `What the flags, a "heddle:" comment, the host code or the PTX say about the launch contradicts itself, the kernel's
parameters, or what any GPU can do: more than 1024 threads in a block, an argument that no parameter has, a value that
does not fit, a file that is too short.`,
		Fix: `The message says what is possible. The launch comes, in this order, from flags, from a comment above the kernel
(// heddle: grid=4 block=256 n=1024 in=random), from a <<<...>>> with constants in the same file, from .reqntid and
.maxntid, and from defaults.`,
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
		Text: `A file cannot be read, is of no known kind, or holds no kernel; or no kernel has the name that --kernel gives, in which
case those that exist are listed.`,
		Fix: `Give files that define a kernel (__global__, __kernel, .entry): .cu, .cl, .ptx, .ll, .bc, or programs with PTX in them.`,
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
		Text: `The comment names no code, or one that does not exist or is no bug of a kernel, or it gives no reason. It suppresses
nothing. The form is

    // heddle:ignore CODE[, CODE] REASON

at the end of the line of one of the operations of a finding, or alone in the line above. The reason is for whoever reads
the code next, and appears in JSON and SARIF.`,
		Fix: `Write a code that heddle explain lists, and why the finding is no problem.`,
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
    s[threadIdx.x] = 1; // heddle:ignore race-shared whoever reads 0 reads again
    out[threadIdx.x] = s[63 - threadIdx.x];
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
	},
	{
		Code: CodeSuppressionUnused, Family: Inputs,
		Title: "a heddle:ignore comment matches no finding",
		Text: `The kernel that holds the comment was checked to its end, and no finding with a code of the comment has an operation in
its line. What was to be ignored has been repaired or was moved away, or this launch does not show it.`,
		Fix: `Remove the comment, or put it where the operation is. If another launch needs it, check that one too.`,
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
