// Package report writes findings and verdicts as one HTML file for people: a table of kernels, and for each finding its
// places in the source, a timeline of the two threads with the order that is missing, and the bytes that they share; of
// traces the graph of barriers, of repairs the patch with its reasons. The file needs no network: style, script and
// drawings are in it.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"heddle/internal/diag"
	"heddle/internal/source"
)

//go:embed page.tmpl
var pageText string

//go:embed style.css
var style string

//go:embed script.js
var script string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML is a diag.Printer that collects, and writes the page when it is closed.
type HTML struct {
	w       io.Writer
	files   *source.Set
	page    page
	graphs  []*diag.BarrierGraph
	steps   int          // of repairs, so far
	inPatch map[int]bool // the numbers of those that the patch shows
}

// New returns a printer for positions of files. command is what the user typed.
func New(w io.Writer, files *source.Set, command, version string) *HTML {
	return &HTML{w: w, files: files, inPatch: map[int]bool{}, page: page{
		Command: command, Version: version, Style: template.CSS(style), Script: template.JS(script), Counts: map[string]int{},
	}}
}

// page is what the template prints.
type page struct {
	Command, Version string
	Style            template.CSS
	Script           template.JS
	Counts           map[string]int // of kernels, by verdict
	Kernels          []kernel
	Findings         []finding
	Codes            []string // of the findings, each once
	Suppressed       int
	Repairs          []repair
	Patch            []row
	Graphs           []graph
}

// Many reports whether there are so many findings that one looks for some among them.
func (p *page) Many() bool { return len(p.Findings) > 3 }

type kernel struct {
	Input, Name, Verdict, Text string
	Findings                   []string // their ids
}

type finding struct {
	ID, Code, Title, Severity string
	Message, Kernel, Input    string
	At                        string
	Places                    []place
	Timeline, Memory          template.HTML // drawings; empty: there are none
	Missing                   string        // what is missing between the two operations
	Notes, Help               []string
	Reproduce                 string
	Fixes                     []fix
}

// place is an operation, or whatever else a finding points to.
type place struct {
	Number int // of an operation of a race, 1 or 2; else 0
	Text   string
	At     string
	Lines  []line
	Stack  []string // calls that led there, innermost first; without the place itself
}

type line struct {
	Number              int
	Before, Mark, After string
	Marked              bool
	Far                 bool // from the marked line; not shown where there is little room
}

type fix struct {
	Message string
	Diff    []row
}

// Finding adds a finding. One that is suppressed is only counted.
func (h *HTML) Finding(d *diag.Diagnostic) error {
	if d.Suppressed != nil {
		h.page.Suppressed++
		return nil
	}
	f := finding{
		ID: fmt.Sprintf("f%d", len(h.page.Findings)+1), Code: string(d.Code), Severity: severities[d.Severity],
		Message: d.Message, Kernel: d.Kernel, Input: d.Input, At: h.at(d.Span), Help: d.Help, Reproduce: d.Reproduce,
	}
	if doc, ok := diag.Lookup(d.Code); ok {
		f.Title = doc.Title
	}
	f.Places = h.places(d)
	f.Notes = d.Notes
	if w := d.Witness; w != nil && w.First.Op != "" && len(f.Places) == 2 {
		f.Timeline = timelines(w, f.Places)
		f.Memory = memory(w)
		if len(d.Notes) > 0 { // the first note of a race is why nothing orders the two
			f.Missing, f.Notes = d.Notes[0], d.Notes[1:]
		}
	}
	if f.Timeline == "" {
		f.Timeline = h.waiting(d.Groups)
	}
	for _, x := range d.Fixes {
		f.Fixes = append(f.Fixes, fix{x.Message, h.rows(x.Edits)})
	}
	seen := false
	for _, c := range h.page.Codes {
		seen = seen || c == f.Code
	}
	if !seen {
		h.page.Codes = append(h.page.Codes, f.Code)
	}
	h.page.Findings = append(h.page.Findings, f)
	return nil
}

var severities = map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Note: "note"}

// Verdict adds the conclusion on a kernel.
func (h *HTML) Verdict(v *diag.Verdict) error {
	h.page.Counts[v.Kind.String()]++
	h.page.Kernels = append(h.page.Kernels, kernel{Input: v.Input, Name: v.Kernel, Verdict: v.Kind.String(), Text: v.Text()})
	return nil
}

// Close writes the page.
func (h *HTML) Close() error {
	type key struct{ input, kernel string }
	of := map[key][]string{}
	for i := range h.page.Findings {
		f := &h.page.Findings[i]
		k := key{f.Input, f.Kernel}
		of[k] = append(of[k], f.ID)
	}
	for i := range h.page.Kernels {
		k := &h.page.Kernels[i]
		k.Findings = of[key{k.Input, k.Name}]
	}
	for _, g := range h.graphs {
		h.page.Graphs = append(h.page.Graphs, h.graphOf(g, func(code diag.Code) string {
			for i := range h.page.Findings {
				if f := &h.page.Findings[i]; f.Input == g.Input && f.Kernel == g.Kernel && f.Code == string(code) {
					return f.ID
				}
			}
			return ""
		}))
	}
	return pageTemplate.Execute(h.w, &h.page)
}

// around is how many lines are shown above and below a place.
const around = 3

// places returns the places of a finding; of a race first its first operation.
func (h *HTML) places(d *diag.Diagnostic) []place {
	label := d.Label
	if label == "" {
		label = "here"
	}
	own := h.place(d.Span, d.Stack, label)
	w := d.Witness
	if w != nil && w.First.Op != "" && len(d.Related) == 1 {
		r := d.Related[0]
		first := h.place(r.Span, r.Stack, fmt.Sprintf("%s by %s", w.First.Op, w.First.Thread))
		first.Number, own.Number = 1, 2
		own.Text = fmt.Sprintf("%s by %s", w.Second.Op, w.Second.Thread)
		return []place{first, own}
	}
	out := []place{own}
	for _, r := range d.Related {
		out = append(out, h.place(r.Span, r.Stack, r.Message))
	}
	return out
}

func (h *HTML) place(s source.Span, stack []source.Frame, text string) place {
	p := place{Text: text, At: h.at(s)}
	if len(stack) > 1 {
		for _, f := range stack[1:] {
			p.Stack = append(p.Stack, fmt.Sprintf("called from %s at %s", f.Func, h.files.Format(f.Pos)))
		}
	}
	f := h.files.File(s.Start.File())
	if f == nil {
		return p
	}
	n := s.Start.Line()
	for i := max(n-around, 1); i <= n+around; i++ {
		text, ok := f.Line(i)
		if !ok {
			break
		}
		l := line{Number: i, Before: text, Far: i < n-1 || i > n+1}
		if i == n {
			l.Marked = true
			from, to := columns(text, s)
			l.Before, l.Mark, l.After = text[:from], text[from:to], text[to:]
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

// columns are the bytes of a line that a span covers: at least the word that it starts with.
func columns(text string, s source.Span) (from, to int) {
	from = min(max(s.Start.Col()-1, 0), len(text))
	switch {
	case s.End.IsValid() && s.End.Line() == s.Start.Line():
		to = s.End.Col() - 1
	case s.End.IsValid() && s.End.Line() > s.Start.Line():
		to = len(text)
	default:
		for to = from; to < len(text) && isWord(text[to]); to++ {
		}
		to = max(to, from+1)
	}
	return from, min(max(to, from), len(text))
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (h *HTML) at(s source.Span) string {
	if !s.IsValid() {
		return ""
	}
	return h.files.Format(s.Start)
}

// rows are edits as the rows of their unified diffs, or what keeps them from being one.
func (h *HTML) rows(edits []diag.Edit) []row {
	var out []row
	err := h.byFile(edits, func(_ *source.File, diff string) { out = append(out, rowsOf(diff)...) })
	if err != nil {
		return []row{{Class: "hunk", Text: err.Error()}}
	}
	return out
}
