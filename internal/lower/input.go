package lower

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"heddle/internal/lower/fatbin"
)

// Lang is the language of an input.
type Lang string

const (
	CUDA   Lang = "cu"
	OpenCL Lang = "cl"
	PTX    Lang = "ptx"
	LLVM   Lang = "ll"  // LLVM IR, as text or bitcode
	Binary Lang = "bin" // an ELF file, an archive or a fatbin that carries PTX
)

// Input is one thing to lower.
type Input struct {
	Name    string // path of a file; for text that is in no file, what messages call it
	Content []byte // nil: the file of that name is read
	Lang    Lang   // "": told by the extension, or by the content where there is none
	Flags   Flags  // of this file, from a compilation database
}

// Flags are compiler flags of one file, beside those of Options.
type Flags struct {
	Std       string
	Includes  []string // -I
	Systems   []string // -isystem
	Defines   []string // -D
	Undefines []string // -U
	Forced    []string // -include
}

// with returns opt with the flags of one file, after which those of the command line count.
func (opt Options) with(f Flags) Options {
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

// Lower lowers one input. It gives one result for each module of PTX, of which a binary may hold many.
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
	opt = opt.with(in.Flags)
	switch lang {
	case PTX:
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

const accepted = "accepted are .cu (CUDA C++), .cl (OpenCL C), .ptx, .ll and .bc (LLVM IR), and ELF files and fatbins that carry PTX"

// language decides on the language: what was said, else the extension, else the content. Without content,
// which is nil before the file is read, it may leave the question open.
func (in *Input) language(content []byte) (Lang, error) {
	if in.Lang != "" {
		return in.Lang, nil
	}
	ext := strings.ToLower(filepath.Ext(in.Name))
	switch ext {
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
		return "", &InputError{File: in.Name, Reason: "no file extension to tell the language by (--lang says it); " + accepted}
	}
	return "", &InputError{File: in.Name, Reason: "unknown file extension " + ext + " (--lang says the language); " + accepted}
}

var (
	ptxStartRE  = regexp.MustCompile(`(?m)^\s*\.version\s+\d`)
	llvmStartRE = regexp.MustCompile(`(?m)^(; ModuleID = |source_filename = "|target (triple|datalayout) = "|define [^;{}]*@[\w.$"-]+\()`)
)

// languageOf tells the language by the content. What is nothing else is CUDA, so that clang may say what is
// wrong with it.
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

// isBitcode reports the magic numbers of bitcode, plain and with Apple's wrapper.
func isBitcode(content []byte) bool {
	return bytes.HasPrefix(content, []byte("BC\xC0\xDE")) || bytes.HasPrefix(content, []byte{0xDE, 0xC0, 0x17, 0x0B})
}

// lowerBinary takes the PTX out of an ELF file or a fatbin. Kernels that are there as SASS alone are named:
// not analysed is not clean.
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
		return nil, &InputError{File: name, Reason: "no device code in it: no section .nv_fatbin or __nv_relfatbin", NoKernel: true}
	case len(sel.Images) == 0:
		return nil, &InputError{File: name, Reason: "it holds machine code (SASS) of GPUs and no PTX, which is what heddle analyses; " +
			"build with -gencode arch=compute_80,code=compute_80 (or your architecture) to have PTX in it, or check the source"}
	}
	var out []*Result
	for _, im := range sel.Images {
		text, err := im.Data()
		if err != nil {
			return nil, &InputError{File: name, Reason: err.Error()}
		}
		names, err := im.Kernels()
		if err != nil {
			return nil, &InputError{File: name, Reason: err.Error()}
		}
		out = append(out, &Result{Name: fmt.Sprintf("%s[%d].ptx", name, im.Number), Image: im.Number, Lang: Binary, PTX: text, Kernels: named(names)})
	}
	out[0].SASS = named(sel.SASS)
	if sel.Opaque > 0 {
		out[0].Warnings = append(out[0].Warnings, fmt.Sprintf("%s: %d images that are neither PTX nor machine code (code for link-time optimization?) are not analysed", name, sel.Opaque))
	}
	return out, nil
}

// named is all that is known of kernels by their names.
func named(names []string) []Kernel {
	var out []Kernel
	for _, n := range names {
		out = append(out, Kernel{Name: n, Demangled: demangle.Filter(n)})
	}
	return out
}
