package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// input is one file of the command line after lowering.
type input struct {
	name    string
	lowered *lower.Result
	module  *ir.Module
	facts   *launch.SourceFacts // pragmas and host launches in the file itself
}

// load lowers, parses and resolves one file. What is wrong with it goes to report; then it returns nil.
func (d *driver) load(ctx context.Context, name string) *input {
	low, err := lower.File(ctx, name, d.opt.Lower)
	if err != nil {
		d.inputError(lowerDiagnostic(name, err))
		return nil
	}
	for _, w := range low.Warnings {
		d.report(diag.Diagnostic{Code: diag.CodeHostCode, Severity: diag.Warning, Message: w})
	}
	in := &input{name: name, lowered: low}
	text, err := d.files.Add(low.Name, low.PTX)
	if err != nil {
		d.inputError(diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: err.Error()})
		return nil
	}
	user := text
	if low.Name != name {
		user = d.addSource(name)
	}
	if user != nil {
		in.facts = launch.Scan(user, d.opt.Lower.Defines)
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

// addSource gives the set the text of a user's file; nil if it cannot be read.
func (d *driver) addSource(name string) *source.File {
	f := d.files.Named(name)
	if f == nil || f.Content != nil {
		return f
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	f, err = d.files.Add(name, content)
	if err != nil {
		return nil
	}
	return f
}

// syntaxErrors reports mistakes in PTX. Those in PTX that lowering made are a bug of heddle, and said so.
func (d *driver) syntaxErrors(errs []*ptx.Error, in *input) bool {
	for _, e := range errs {
		g := diag.Diagnostic{Code: diag.CodeSyntax, Severity: diag.Error, Message: e.Msg, Span: e.Span}
		if in.lowered.Name != in.name {
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
