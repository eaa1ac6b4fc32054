package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// input is one module of PTX: a file of the command line after lowering, or a part of one.
type input struct {
	name    string // as the user says it
	lowered *lower.Result
	module  *ir.Module
	facts   *launch.SourceFacts // pragmas and host launches in the file itself
}

// lower gives the modules of one file. What is wrong with it goes to report; then there are none.
func (d *driver) lower(ctx context.Context, file Input) []*lower.Result {
	start := time.Now()
	results, err := lower.Lower(ctx, file.Input, d.opt.Lower)
	d.sum.Times.Compile += time.Since(start)
	if err != nil {
		var ie *lower.InputError
		if file.Found && errors.As(err, &ie) && ie.NoKernel {
			return nil
		}
		d.inputError(lowerDiagnostic(file.Name, err))
		return nil
	}
	for _, low := range results {
		d.warnings(low)
		d.machineCode(file, low.SASS)
	}
	return results
}

// warnings reports what lowering left out. Of host code the first is enough: the kernels are whole.
func (d *driver) warnings(low *lower.Result) {
	list, code := low.Warnings, diag.CodeInput
	if low.Lang != lower.Binary {
		code = diag.CodeHostCode
		if n := len(list); n > 1 {
			list = []string{fmt.Sprintf("%s (and %d more)", list[0], n-1)}
		}
	}
	for _, w := range list {
		d.report(diag.Diagnostic{Code: code, Severity: diag.Warning, Message: w})
	}
}

// selects reports whether a kernel known by its names alone is to be checked.
func (d *driver) selects(k lower.Kernel) bool {
	return d.opt.Kernel == "" || launch.Matches(&ir.Func{Name: k.Name, Demangled: k.Demangled}, d.opt.Kernel)
}

// passesOver reports a module of a binary, which may hold hundreds, without a kernel that is asked for.
func (d *driver) passesOver(low *lower.Result) bool {
	if low.Lang != lower.Binary || d.opt.Kernel == "" || slices.ContainsFunc(low.Kernels, d.selects) {
		return false
	}
	for _, k := range low.Kernels {
		d.kernelsSeen = append(d.kernelsSeen, launch.BaseName(k.Demangled))
	}
	return true
}

// machineCode gives the verdict on kernels of which there is no PTX.
func (d *driver) machineCode(file Input, kernels []lower.Kernel) {
	for _, k := range kernels {
		d.kernelsSeen = append(d.kernelsSeen, launch.BaseName(k.Demangled))
		if !d.selects(k) {
			continue
		}
		d.kernelsRun++
		d.sum.Verdicts = append(d.sum.Verdicts, diag.Verdict{
			Kind: diag.Unsupported, Kernel: k.Demangled,
			Reason: file.Name + " holds machine code (SASS) of it and no PTX; build with -gencode arch=compute_80,code=compute_80 (or your architecture)",
		})
	}
}

// parse reads one module.
func (d *driver) parse(file Input, low *lower.Result) *input {
	start := time.Now()
	defer func() { d.sum.Times.Read += time.Since(start) }()
	in := &input{name: file.Name, lowered: low}
	text, err := d.files.Add(low.Name, low.PTX)
	if err != nil {
		d.inputError(diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: err.Error()})
		return nil
	}
	in.facts = d.scan(file, low, text)
	if in.facts != nil {
		for _, e := range in.facts.Errs {
			d.inputError(launchDiagnostic("", e))
		}
	}
	tree, errs := ptx.Parse(text)
	if d.syntaxErrors(errs, in) {
		return nil
	}
	in.module, errs = irgen.Module(d.files, tree)
	if d.syntaxErrors(errs, in) {
		return nil
	}
	return in
}

// scan reads the pragmas and host launches of the text that the user wrote; nil where there is none.
func (d *driver) scan(file Input, low *lower.Result, text *source.File) *launch.SourceFacts {
	switch low.Lang {
	case lower.PTX:
		return launch.ScanPTX(text)
	case lower.CUDA:
		if f := d.addText(file.Name, file.Content); f != nil {
			return launch.ScanCUDA(f, slices.Concat(file.Flags.Defines, d.opt.Lower.Defines))
		}
	case lower.OpenCL:
		if f := d.addText(file.Name, file.Content); f != nil {
			return launch.ScanOpenCL(f)
		}
	}
	return nil
}

// addSource gives the set the text of a user's file; nil if it cannot be read.
func (d *driver) addSource(name string) *source.File { return d.addText(name, nil) }

// addText is addSource for text that may be there already.
func (d *driver) addText(name string, content []byte) *source.File {
	f := d.files.Named(name)
	if f == nil || f.Content != nil {
		return f
	}
	if content == nil {
		var err error
		if content, err = os.ReadFile(name); err != nil {
			return nil
		}
	}
	f, err := d.files.Add(name, content)
	if err != nil {
		return nil
	}
	return f
}

// syntaxErrors reports mistakes in PTX. Those in PTX that lowering made are a bug of heddle, and said so.
func (d *driver) syntaxErrors(errs []*ptx.Error, in *input) bool {
	for _, e := range errs {
		g := diag.Diagnostic{Code: diag.CodeSyntax, Severity: diag.Error, Message: e.Msg, Span: e.Span}
		switch in.lowered.Lang {
		case lower.PTX:
		case lower.Binary:
			g.Notes = []string{fmt.Sprintf("this is image %d of %s; heddle ptx --image %d %s prints it", in.lowered.Image, in.name, in.lowered.Image, quote(in.name))}
		default:
			g.Notes = []string{fmt.Sprintf("this is PTX that heddle made of %s: a bug in heddle, or inline assembly in that file", in.name)}
		}
		d.inputError(g)
	}
	return len(errs) > 0
}

func launchDiagnostic(kernel string, e *launch.Error) diag.Diagnostic {
	g := diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Error, Message: e.Msg, Span: e.Span, Kernel: kernel}
	if e.Help != "" {
		g.Help = []string{e.Help}
	}
	return g
}

func lowerDiagnostic(name string, err error) diag.Diagnostic {
	g := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: err.Error()}
	var ce *lower.CompileError
	if errors.As(err, &ce) {
		g.Code = diag.CodeCompile
		g.Message = name + ": the compiler rejects the file"
		g.Notes = strings.Split(strings.TrimRight(ce.Output, "\n"), "\n")
	}
	return g
}

// defined returns the kernels of a file that have a body.
func defined(in *input) []*ir.Func {
	var out []*ir.Func
	for _, f := range in.module.Funcs {
		if f.Kernel && f.Blocks != nil {
			out = append(out, f)
		}
	}
	return out
}

// kernels returns the kernels of in that the user selected: all, or those that the name matches.
func (d *driver) kernels(in *input) []*ir.Func {
	var out []*ir.Func
	for _, f := range defined(in) {
		if d.opt.Kernel == "" || launch.Matches(f, d.opt.Kernel) {
			out = append(out, f)
		}
	}
	return out
}
