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

import (
	"context"
	"fmt"
)

// Options are the choices of one lowering.
type Options struct {
	Compiler  string   // "clang" or "nvcc", or the path or name of one; empty: a clang that is found
	CUDAPath  string   // a CUDA toolkit whose headers are used; empty: the embedded ones
	Arch      string   // "sm_70"; empty: a default
	OptLevel  string   // "": for analysis; "1", "2", "3": what a release build would run
	Std       string   // -std, or -cl-std for OpenCL C
	Includes  []string // -I
	Systems   []string // -isystem
	Defines   []string // -D
	Undefines []string // -U, which take effect after the -D
	Forced    []string // -include
	Args      []string // passed to the compiler as they are
	CacheDir  string   // empty: the user's cache directory
	NoCache   bool
	Marked    []Marked // files that are compiled with marks in them
}

// Marked is a source file with text put into it for one compilation: points (package syntax). Positions in the result
// are those of the file without marks. Files are named as positions name them.
type Marked struct {
	Name    string
	Content []byte // without the marks
	Marks   []Mark // in ascending order of Offset
}

// Mark is text that goes before the byte at Offset. It has no line break, so that lines stay what they are.
type Mark struct {
	Offset int
	Text   string
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

// Result is one module of PTX.
type Result struct {
	Name     string // of the PTX text: the input's own for .ptx, NAME.ptx within diagnostics otherwise
	Lang     Lang   // of the input
	Image    int    // number of the image in a binary; else 0
	PTX      []byte
	Kernels  []Kernel // of a PTX file those that heddle has made facts of
	SASS     []Kernel // kernels of a binary that are machine code without PTX: with its first result
	Warnings []string // what the compiler said without failing; host-only code that did not compile
	Cached   bool
}

// CompileError holds the compiler's own diagnostics. The command exits with 2.
type CompileError struct {
	File   string
	Output string
}

func (e *CompileError) Error() string { return e.File + ": does not compile" }

// File lowers one file that gives one module.
func File(ctx context.Context, name string, opt Options) (*Result, error) {
	results, err := Lower(ctx, Input{Name: name}, opt)
	switch {
	case err != nil:
		return nil, err
	case len(results) > 1:
		return nil, &InputError{File: name, Reason: fmt.Sprintf("%d modules of PTX in one file", len(results))}
	}
	return results[0], nil
}
