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
	},
}
