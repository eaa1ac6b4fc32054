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
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// input is one file of the command line after lowering.
type input struct {
	name    string
	lowered *lower.Result
	module  *ir.Module
	source  *source.File // the file itself, which holds pragmas and host code
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
	in.source = text
	if low.Name != name {
		in.source = d.addSource(name)
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

// kernels returns the kernels of in that the user selected: all, or those that name matches mangled,
// demangled, or by the demangled name before its parameters.
func (d *driver) kernels(in *input) []*ir.Func {
	var out []*ir.Func
	for _, f := range in.module.Funcs {
		if f.Kernel && f.Blocks != nil && matches(f, d.opt.Kernel) {
			out = append(out, f)
		}
	}
	return out
}

func matches(f *ir.Func, name string) bool {
	return name == "" || name == f.Name || name == f.Demangled || name == shortName(f)
}

// shortName is a kernel's name without return type and parameters: "ns::reduce<int>".
func shortName(f *ir.Func) string {
	name := f.Demangled
	depth := 0
	for i, c := range name {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && !strings.HasPrefix(name[i:], "(anonymous") {
				name = name[:i]
				return name[lastSpace(name)+1:]
			}
		}
	}
	return name
}

// lastSpace returns the index of the last space outside angle brackets, or -1: what stands before it is the
// return type of a template.
func lastSpace(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '>':
			depth++
		case '<':
			depth--
		case ' ':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
