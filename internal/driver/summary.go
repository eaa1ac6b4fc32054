package driver

import (
	"time"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// Summary is the result of a run, or the part of one job in it.
type Summary struct {
	Verdicts    []diag.Verdict // one for each kernel, in the order of files and kernels
	Bugs        int
	Guessed     int // findings that depend on guessed launch values, not counted as bugs
	Times       Times
	Skipped     int // kernels that a configuration excludes
	InputErrors int // files or launches that could not be used; each was sent as a diagnostic
	Unread      int // inputs that were not read because the run ended early
}

// Times says how long reading the inputs took.
type Times struct {
	Compile time.Duration // from the input to PTX
	Read    time.Duration // from PTX to the module
}

// add adds the part of one job, which has no times: only the driver measures them.
func (s *Summary) add(part *Summary) {
	s.Verdicts = append(s.Verdicts, part.Verdicts...)
	s.Bugs += part.Bugs
	s.Guessed += part.Guessed
	s.InputErrors += part.InputErrors
	s.Skipped += part.Skipped
	s.Unread += part.Unread
}

// conclude adds the part of one job of Run and sends its verdicts.
func (d *Driver) conclude(part *Summary) {
	for _, v := range part.Verdicts {
		d.verdict(v)
	}
	part.Verdicts = nil
	d.sum.add(part)
}

// verdict records the verdict on a kernel of the current input, and sends it.
func (d *Driver) verdict(v diag.Verdict) {
	v.Input = d.inputName
	d.sum.Verdicts = append(d.sum.Verdicts, v)
	if d.opt.Verdict != nil {
		d.opt.Verdict(&v)
	}
}

// report sends one finding, with the text of the files that it names.
func (d *Driver) report(g diag.Diagnostic) { d.send(g, d.sink) }

// send completes a finding with the name of its input, which is the file that it points to if no
// input is current, and with the texts, and sends it.
func (d *Driver) send(g diag.Diagnostic, sink func(diag.Diagnostic)) {
	if g.Input = d.inputName; g.Input == "" {
		if f := d.opt.Files.File(g.Span.Start.File()); f != nil {
			g.Input = f.Name
		}
	}
	d.readTexts(&g)
	sink(g)
}

// InputError reports a mistake in the input and counts it.
func (d *Driver) InputError(g diag.Diagnostic) {
	d.sum.InputErrors++
	d.report(g)
}

// readTexts reads the files that a finding names, so that it can be printed with its lines.
func (d *Driver) readTexts(g *diag.Diagnostic) {
	d.needText(g.Span)
	for _, f := range g.Stack {
		d.needText(source.Span{Start: f.Pos})
	}
	for _, r := range g.Related {
		d.needText(r.Span)
		for _, f := range r.Stack {
			d.needText(source.Span{Start: f.Pos})
		}
	}
}

func (d *Driver) needText(s source.Span) {
	if f := d.opt.Files.File(s.Start.File()); f != nil && f.Content == nil {
		d.AddText(f.Name, nil)
	}
}
