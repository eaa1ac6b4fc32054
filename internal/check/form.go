package check

import (
	"errors"
	"io"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/lockstep/form"
)

// printForm writes a form of a kernel (Options.Form). A kernel that has none gets a verdict that says why.
func (d *driver) printForm(k *ir.Func) {
	p, err := form.New(k)
	if err != nil {
		v := diag.Verdict{Kind: diag.Unsupported, Kernel: k.Demangled, Span: kernelPlace(k), Reason: err.Error()}
		var no *form.UnsupportedError
		if errors.As(err, &no) {
			v.Reason = no.What
			if no.Instr != nil {
				v.Span = spanOf(no.Instr)
			}
		}
		d.sum.Verdicts = append(d.sum.Verdicts, v)
		return
	}
	text := p.Predicated
	if d.opt.Form == "lockstep" {
		text = p.Lockstep
	}
	if d.sum.Printed > 0 {
		d.write("\n")
	}
	d.write(text())
	d.sum.Printed++
}

// write writes to FormTo. The first error is that of the run.
func (d *driver) write(text string) {
	if _, err := io.WriteString(d.opt.FormTo, text); err != nil && d.formErr == nil {
		d.formErr = err
	}
}
