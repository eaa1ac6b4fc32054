package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"heddle/internal/lazyregexp"
	"heddle/internal/lower/fatbin"
	"heddle/internal/source"
)

// The language of an input is that of --lang, else that of its extension, else that of its content.
// An extension of another language is an error, so that a directory walk or a typing error does not
// compile arbitrary text as CUDA C++; text from standard input has no extension and is recognized
// by its content.

// Lang is the language of an input.
type Lang string

// The languages. All but Binary are values of --lang.
const (
	CUDA   Lang = "cu"  // CUDA C++
	OpenCL Lang = "cl"  // OpenCL C
	PTX    Lang = "ptx" // PTX text
	LLVM   Lang = "ll"  // LLVM IR, as text or bitcode
	Binary Lang = "bin" // an ELF file, an archive or a fatbin that contains PTX
)

// Input is one file or text to lower.
type Input struct {
	Name    string // path of the file; for text without a file, its name in messages
	Content []byte // nil: read the file
	Lang    Lang   // "": decide by the extension, or by the content if there is none
	Flags   Flags  // for this file, from a compilation database
}

// Flags are compiler flags of one file, in addition to those of Options.
type Flags struct {
	Std       string   // -std
	Includes  []string // -I
	Systems   []string // -isystem
	Defines   []string // -D
	Undefines []string // -U
	Forced    []string // -include
}

// With returns opt with the flags of one file added. Those of opt, from the command line, take
// precedence.
func (opt Options) With(f Flags) Options {
	if opt.Std == "" {
		opt.Std = f.Std
	}
	opt.Includes = slices.Concat(opt.Includes, f.Includes)
	opt.Systems = slices.Concat(opt.Systems, f.Systems)
	opt.Defines = slices.Concat(f.Defines, opt.Defines)
	opt.Undefines = slices.Concat(f.Undefines, opt.Undefines)
	opt.Forced = slices.Concat(f.Forced, opt.Forced)
	return opt
}

// Lower lowers one input. It returns one result for each module of PTX; only a binary can have
// several.
//
// Errors are an *InputError (not a valid input), a *CompileError (the compiler rejects it), a
// *MissingToolError (no usable compiler), a *ToolError (it cannot be lowered to PTX), or an error
// of ctx or the file system.
func Lower(ctx context.Context, in Input, opt Options) ([]*Result, error) {
	lang, err := in.language(nil)
	if err != nil {
		return nil, err
	}
	content := in.Content
	if content == nil {
		if content, err = readInput(in.Name); err != nil {
			return nil, err
		}
	}
	if lang == "" {
		if lang, err = in.language(content); err != nil {
			return nil, err
		}
	}
	in.Lang = lang
	opt = opt.With(in.Flags)
	switch lang {
	case PTX:
		if len(content) > maxPTX {
			return nil, &InputError{File: in.Name, Reason: tooLarge(len(content))}
		}
		// CuTe DSL writes the NUL that ends a string of C as well.
		content = bytes.TrimRight(content, "\x00")
		return []*Result{{Name: in.Name, Lang: PTX, PTX: content, Kernels: readFacts(content)}}, nil
	case Binary:
		return lowerBinary(in.Name, content)
	}
	if err := checkOptions(opt); err != nil {
		return nil, err
	}
	var res *Result
	switch lang {
	case CUDA, OpenCL:
		res, err = compile(ctx, in, content, opt)
	case LLVM:
		res, err = lowerLLVM(ctx, in.Name, content, opt)
	}
	if err != nil {
		return nil, err
	}
	res.Lang = lang
	return []*Result{res}, nil
}

// maxPTX bounds the bytes of one module of PTX. 47 MB with two million instructions in one kernel
// took 3.6 GB and 39 s to read and run.
const maxPTX = 64 << 20

// tooLarge returns why a module of n bytes is not read.
func tooLarge(n int) string {
	return fmt.Sprintf("the PTX has %d MiB; heddle reads at most %d MiB, which can need 5 GiB of "+
		"memory; compile fewer kernels into one module", n>>20, maxPTX>>20)
}

// accepted ends messages about files of unknown kind.
const accepted = "heddle accepts .cu and .hip (CUDA C++, HIP), .cl (OpenCL C), .ptx, .ll and .bc (LLVM IR), " +
	"and ELF files and fatbins that contain PTX"

// language returns the language: the specified one, else by the extension, else by the content.
// Before the file is read content is nil, and language may return "" for "not known yet".
func (in *Input) language(content []byte) (Lang, error) {
	if in.Lang != "" {
		return in.Lang, nil
	}
	ext := strings.ToLower(filepath.Ext(in.Name))
	switch ext {
	case ".hip":
		return CUDA, nil
	case ".cu", ".cl", ".ptx", ".ll":
		return Lang(ext[1:]), nil
	case ".bc":
		return LLVM, nil
	}
	switch {
	case in.Content != nil: // text without a file
		return languageOf(in.Content), nil
	case content == nil:
		return "", nil
	case fatbin.Is(content):
		return Binary, nil
	case isBitcode(content):
		return LLVM, nil
	case ext == "":
		return "", &InputError{File: in.Name,
			Reason: "no file extension; specify the language with --lang; " + accepted}
	case source.PythonName(in.Name):
		return "", &InputError{File: in.Name,
			Reason: "heddle reads the PTX that Triton or CuTe DSL makes from Python: check a .ptx file, or " +
				"a cache such as ~/.triton/cache (docs/triton.md)"}
	}
	return "", &InputError{File: in.Name,
		Reason: "unknown file extension " + ext + "; specify the language with --lang; " + accepted}
}

// The first lines of PTX and of LLVM IR.
var (
	ptxStartRE  = lazyregexp.New(`(?m)^\s*\.version\s+\d`)
	llvmStartRE = lazyregexp.New(
		`(?m)^(; ModuleID = |source_filename = "|target (triple|datalayout) = "|` +
			`define [^;{}]*@[\w.$"-]+\()`)
)

// languageOf recognizes the language by the content. Anything that is not recognized is CUDA, so
// that clang reports what is wrong with it.
func languageOf(content []byte) Lang {
	switch {
	case fatbin.Is(content):
		return Binary
	case isBitcode(content), llvmStartRE.Match(content):
		return LLVM
	case ptxStartRE.Match(content):
		return PTX
	}
	return CUDA
}

// isBitcode reports whether content starts with the magic number of bitcode, plain or in Apple's
// wrapper.
func isBitcode(content []byte) bool {
	return bytes.HasPrefix(content, []byte("BC\xC0\xDE")) ||
		bytes.HasPrefix(content, []byte{0xDE, 0xC0, 0x17, 0x0B})
}

// lowerBinary extracts the PTX of an ELF file or a fatbin: one result for each selected image,
// named FILE[NUMBER].ptx. The first result has the names of kernels that exist only as SASS, so
// that a kernel that is not analysed does not look clean.
func lowerBinary(name string, content []byte) ([]*Result, error) {
	f, err := fatbin.Open(content)
	if err != nil {
		return nil, &InputError{File: name, Reason: err.Error()}
	}
	sel, err := f.Select()
	if err != nil {
		return nil, &InputError{File: name, Reason: err.Error()}
	}
	switch {
	case len(f.Images) == 0:
		return nil, &InputError{File: name,
			Reason:   "the file contains no device code: it has no section .nv_fatbin or __nv_relfatbin",
			NoKernel: true}
	case len(sel.Images) == 0 && len(sel.Bad) > 0:
		return nil, &InputError{File: name, Reason: sel.Bad[0].Err.Error()}
	case len(sel.Images) == 0:
		return nil, &InputError{File: name,
			Reason: "the file contains GPU machine code (SASS) but no PTX, which heddle needs; " +
				"build it with -gencode arch=compute_80,code=compute_80 (or your architecture), or check the " +
				"source"}
	}
	var out []*Result
	for _, im := range sel.Images {
		text, err := im.Data()
		if err != nil {
			return nil, &InputError{File: name, Reason: err.Error()}
		}
		if len(text) > maxPTX {
			sel.Bad = append(sel.Bad, fatbin.BadImage{Image: im, Err: errors.New(tooLarge(len(text)))})
			continue
		}
		names, err := im.Kernels()
		if err != nil {
			return nil, &InputError{File: name, Reason: err.Error()}
		}
		out = append(out, &Result{Name: fmt.Sprintf("%s[%d].ptx", name, im.Number), Image: im.Number,
			Lang: Binary, PTX: text, Kernels: named(names)})
	}
	if len(out) == 0 {
		return nil, &InputError{File: name, Reason: sel.Bad[0].Err.Error()}
	}
	out[0].SASS = named(sel.SASS)
	for _, bad := range sel.Bad {
		name := fmt.Sprintf("image %d", bad.Image.Number)
		out[0].Omitted = append(out[0].Omitted, Omitted{Kernel{Name: name, Demangled: name},
			"its kernels are unknown: " + bad.Err.Error()})
	}
	if sel.Opaque > 0 {
		out[0].Warnings = append(out[0].Warnings, fmt.Sprintf("%s: %d images are neither PTX nor "+
			"machine code (link-time optimization?), so they are not analysed", name, sel.Opaque))
	}
	return out, nil
}

// named returns kernels of which only the names are known.
func named(names []string) []Kernel {
	var out []Kernel
	for _, n := range names {
		out = append(out, Kernel{Name: n, Demangled: source.Unversioned(demangle.Filter(n))})
	}
	return out
}
