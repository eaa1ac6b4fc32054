// Package lower turns what users have (CUDA C++, OpenCL C, LLVM IR, PTX, binaries) into PTX: it
// finds a compiler, compiles for analysis with embedded headers, and caches results by content.
//
// CUDA C++ passes through three processes, with steps of this package between them:
//
//	clang    CUDA C++ to unoptimized LLVM IR; headers/ is force-included, and host code that does
//	         not compile is removed (hostcode.go), and so are kernels that do not (devicecode.go)
//	effects  promises that would let LLVM remove accesses are removed (effects.go)
//	copies   struct copies become loads and stores (copies.go)
//	opt      inlines calls, moves locals to registers, infers address spaces
//	lowerIR  marks accesses volatile (keep.go) and numbers source locations (debugloc.go)
//	llc      LLVM IR to PTX
//	finish   removes the marks, replaces the numbers by .loc with inline stacks, and adds facts about
//	         kernels at the head (ptxtext.go, kernelfacts.go)
//
// OpenCL C takes the same path (opencl.go). With Options.OptLevel, clang's own optimization
// pipeline replaces the steps from effects to opt, and nothing is marked volatile: the result is
// what a release build executes. Of LLVM IR from the user, only promises about effects are removed
// before lowerIR (llvm.go).
//
// The invariant of compilation for analysis: every access to memory that another thread may see is
// in the PTX, exactly as often and in the order in which the source performs it. Whatever the
// compiler would remove or merge could hide a race.
package lower

import (
	"context"
	"fmt"
)

// Options select how inputs are lowered. The zero value compiles for analysis with a clang that is
// found.
type Options struct {
	Compiler string // "clang", "nvcc", or the name or path of either; empty: search for a clang
	CUDAPath string // directory of a CUDA toolkit whose headers are used; empty: the embedded ones
	CCCL     string // a copy of CUB, Thrust and libcu++; empty: search for one if a file needs it
	Arch     string // "sm_70"; empty: a default
	OptLevel string // "": compile for analysis; "1", "2", "3": what a release build executes
	Std      string // -std, or -cl-std for OpenCL C
	// of pointers and size_t in OpenCL C: 32 or 64; 0: 64
	AddressBits int
	Includes    []string // -I
	Systems     []string // -isystem
	Defines     []string // -D
	Undefines   []string // -U, which take effect after the -D
	Forced      []string // -include
	Args        []string // passed to the compiler as they are
	CacheDir    string   // empty: the user's cache directory
	NoCache     bool     // neither read nor write the cache
	Strict      bool     // host code with errors is an error, as for a program that is to run
	Separate    bool     // other files may call its device functions (-rdc=true): keep them
	Marked      []Marked // files that are compiled with marks inserted
}

// Marked is a source file with text inserted for one compilation: points (package syntax).
// Positions in the result refer to the file without marks.
type Marked struct {
	Name    string // as in positions
	Content []byte // without the marks
	Marks   []Mark // in ascending order of Offset
}

// Mark is text inserted before the byte at Offset.
type Mark struct {
	Offset int    // in Marked.Content
	Text   string // without line breaks, so that line numbers stay the same
}

// Kernel holds what lowering knows about a kernel beyond its PTX.
type Kernel struct {
	Name      string  // mangled
	Demangled string  // "reduce(int const*, int*, int)"
	Params    []Param // in order
}

// Param is a kernel parameter as the source declares it.
type Param struct {
	Name    string // never empty
	Pointer bool   // it is a single pointer
	Type    string // LLVM type, for messages: "ptr", "i32", "float", "[24 x i8]" (a struct by value)
}

// Result is one module of PTX.
type Result struct {
	Name     string    // of the PTX text in diagnostics: the input's name for .ptx, else NAME.ptx
	Lang     Lang      // of the input
	Image    int       // number of the image in a binary; else 0
	PTX      []byte    // the text
	Kernels  []Kernel  // of a PTX file, those whose facts are comments at its head
	SASS     []Kernel  // kernels of a binary that exist only as machine code; in its first result
	Omitted  []Omitted // other kernels that are not in the PTX; of a binary, in its first result
	Warnings []string  // of the compiler, and host code that was left out
	Cached   bool      // the result is from the cache
}

// CompileError reports that the compiler rejects the file. The command exits with 2.
type CompileError struct {
	File   string // as the user named it
	Output string // the compiler's diagnostics, several lines
	Help   string // what to do, one line; empty: unknown
	Link   bool   // the linker rejects the program
}

// Error returns a single line without the compiler's diagnostics.
func (e *CompileError) Error() string {
	if e.Link {
		return e.File + ": cannot be linked"
	}
	return e.File + ": does not compile"
}

// File lowers one file. It fails with an *InputError for a binary with several modules of PTX, and
// else as Lower.
func File(ctx context.Context, name string, opt Options) (*Result, error) {
	results, err := Lower(ctx, Input{Name: name}, opt)
	switch {
	case err != nil:
		return nil, err
	case len(results) > 1:
		return nil, &InputError{File: name,
			Reason: fmt.Sprintf("the file has %d modules of PTX, expected one; choose one with --image N",
				len(results))}
	}
	return results[0], nil
}
