package report

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// Explained is a function whose barriers the page explains, below the lines that have them.
type Explained struct {
	Input, Kernel string
	Body          source.Span
	Barriers      []Barrier // in the order of the source
}

// Barrier is what is said of one barrier. A line of Text that is indented belongs to the one
// before.
type Barrier struct {
	At   source.Pos
	Text []string
	Idle bool // it is not needed
}

// explained is an Explained as the template prints it.
type explained struct {
	Input, Kernel string
	Parts         [][]said // of the source; lines between two parts are left out
}

// said is a line of source text with what it is about.
type said struct {
	Number int
	Text   string
	Says   []template.HTML
	Idle   bool // none of its barriers is needed
}

// wholeBody is the number of lines of a function that is shown completely, and nearBarrier that of
// the lines above and below each barrier of a longer one.
const wholeBody, nearBarrier = 80, 6

// Explain adds an explanation of the barriers of a kernel. Barriers in other files than the body
// are shown with their place after the source.
func (h *HTML) Explain(e *Explained) {
	f := h.files.File(e.Body.Start.File())
	if f == nil || len(e.Barriers) == 0 {
		return
	}
	first, last := e.Body.Start.Line(), e.Body.End.Line()
	lines := map[int]*said{} // those with barriers
	for _, b := range e.Barriers {
		n, where := b.At.Line(), ""
		if b.At.File() != f.ID || n < first || n > last { // in a function that it calls
			n, where = last, "the barrier at "+h.files.Format(b.At)+" "
		}
		l := lines[n]
		if l == nil {
			l = &said{Idle: true}
			lines[n] = l
		}
		for i, text := range b.Text {
			if i == 0 {
				text = where + text
			}
			l.Says = append(l.Says, sentence(text))
		}
		l.Idle = l.Idle && b.Idle
	}
	out := explained{Input: e.Input, Kernel: e.Kernel}
	whole := last-first < wholeBody
	var part []said
	for n := headOf(f, first); n <= last; n++ {
		text, ok := f.Line(n)
		if !ok {
			break
		}
		near := whole
		for at := range lines {
			near = near || max(n-at, at-n) <= nearBarrier
		}
		switch {
		case near:
			one := cmp.Or(lines[n], &said{})
			one.Number, one.Text = n, text
			part = append(part, *one)
		case len(part) > 0:
			out.Parts, part = append(out.Parts, part), nil
		}
	}
	if len(part) > 0 {
		out.Parts = append(out.Parts, part)
	}
	h.page.Explained = append(h.page.Explained, out)
}

// headLines is the number of lines above a body in which its head is looked for.
const headLines = 12

// headOf returns the line in which the head of a kernel begins, whose body begins in a line: the
// one with the word that makes it a kernel, or that line itself.
func headOf(f *source.File, line int) int {
	for n := line; n > 0 && n > line-headLines; n-- {
		text, _ := f.Line(n)
		if strings.Contains(text, "__global__") || strings.Contains(text, "kernel ") ||
			strings.Contains(text, ".entry") {
			return n
		}
		if n < line && strings.ContainsAny(text, ";}") {
			break
		}
	}
	return line
}

// sentence is a line about a barrier; an indented one belongs to the line before it.
func sentence(text string) template.HTML {
	plain := strings.TrimLeft(text, " ")
	if plain == text {
		return code(text)
	}
	return `<span class="reason">` + code(plain) + `</span>`
}

// sortExplained orders the explanations as the table of kernels does.
func (h *HTML) sortExplained() {
	at := func(e explained) int {
		return slices.IndexFunc(h.page.Kernels, func(k kernel) bool {
			return k.Input == e.Input && k.Name == e.Kernel && k.Verdict == diag.Verified.String()
		})
	}
	slices.SortStableFunc(h.page.Explained, func(a, b explained) int { return cmp.Compare(at(a), at(b)) })
}
