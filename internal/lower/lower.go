// Package lower turns what users have (.cu, .cl, .ptx) into PTX: it finds a compiler, compiles for analysis
// with embedded headers, and caches results by content.
//
// CUDA source passes through three processes with this package between them:
//
//	clang   -> LLVM IR, unoptimized        (headers/ is force-included; hostcode.go: what the host part breaks)
//	copies  : struct copies become loads and stores
//	opt     -> calls inlined, locals in registers, address spaces
//	lowerIR : accesses marked volatile (keep.go), locations numbered (debugloc.go)
//	llc     -> PTX
//	finish  : marks taken off, numbers turned into .loc with inline stacks, facts of kernels put at the head
//
// OpenCL C goes the same way (opencl.go). With Options.OptLevel clang's own pipeline takes the place of the steps from copies to opt, and nothing is marked.
package lower

import "context"

// Options are the choices of one lowering.
type Options struct {
	Compiler string   // path or name of clang; empty: found
	Arch     string   // "sm_70"; empty: a default
	OptLevel string   // "": for analysis (DESIGN §1); "1", "2", "3": what a release build would run
	Std      string   // -std, or -cl-std for OpenCL C
	Includes []string // -I
	Defines  []string // -D
	Args     []string // passed to the compiler as they are
	CacheDir string   // empty: the user's cache directory
	NoCache  bool
}

// Kernel is what lowering knows of a kernel beyond its PTX.
type Kernel struct {
	Name      string // mangled
	Demangled string // "reduce(int const*, int*, int)"
	Params    []Param
}

// Param is a kernel parameter as the source has it.
type Param struct {
	Name    string
	Pointer bool
	Type    string // LLVM type, for messages: "ptr", "i32", "float", "[24 x i8]" (a struct by value)
}

// Result is the PTX of one input file.
type Result struct {
	Name     string // of the PTX text: the input's own for .ptx, NAME.ptx within diagnostics otherwise
	PTX      []byte
	Kernels  []Kernel
	Warnings []string // what the compiler said without failing; host-only code that did not compile
	Cached   bool
}

// CompileError holds the compiler's own diagnostics. The command exits with 2.
type CompileError struct {
	File   string
	Output string
}

func (e *CompileError) Error() string { return e.File + ": does not compile" }

// File lowers one input file, chosen by its extension.
func File(ctx context.Context, name string, opt Options) (*Result, error) {
	return lowerFile(ctx, name, opt)
}
