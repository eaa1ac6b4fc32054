package check

import (
	"errors"
	"fmt"
	"io"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lockstep/form"
)

// Form is a form of a kernel that can be printed (package lockstep/form).
type Form uint8

const (
	NoForm     Form = iota // examine the kernel, print nothing
	Predicated             // one thread, with predicates in place of branches
	Lockstep               // two threads in lock step
)

// ParseForm reads the name of a form; the empty word is NoForm.
func ParseForm(word string) (Form, error) {
	switch word {
	case "":
		return NoForm, nil
	case "pred":
		return Predicated, nil
	case "lockstep":
		return Lockstep, nil
	}
	return 0, fmt.Errorf("form %q: expected pred or lockstep", word)
}

// printForm writes the form of a kernel. A kernel that has none gets a verdict with the reason.
func (c *checker) printForm(job *driver.Job) {
	k := job.Kernel
	p, err := form.New(k)
	if err != nil {
		v := diag.Verdict{
			Kind: diag.Unsupported, Kernel: k.Demangled, Span: driver.KernelPlace(k),
			Reason: err.Error(),
		}
		var no *form.UnsupportedError
		if errors.As(err, &no) {
			v.Reason = no.What
			if no.Instr != nil {
				v.Span = driver.Place(no.Instr)
			}
		}
		job.AddVerdict(v)
		return
	}
	text := p.Predicated
	if c.opt.Form == Lockstep {
		text = p.Lockstep
	}
	if c.printed > 0 {
		c.write("\n")
	}
	c.write(text())
	c.printed++
}

// write writes to FormTo and keeps the first error.
func (c *checker) write(text string) {
	if _, err := io.WriteString(c.opt.FormTo, text); err != nil && c.formErr == nil {
		c.formErr = err
	}
}
