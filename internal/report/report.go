// Package report writes findings and verdicts as one HTML file for people. The page has a table of
// kernels, and for each finding its places in the source, a timeline of the two threads with the
// missing order, and the bytes that both access. A trace adds a graph of its barriers and the
// phases of its mbarriers, and a repair adds the patch with a reason for each change. The file is
// self-contained: style, script and drawings are embedded, and a content security policy forbids
// network access.
//
// All text passes through html/template or template.HTMLEscapeString, since names and messages can
// contain any input.
package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

//go:embed page.tmpl
var pageText string

//go:embed style.css
var style string

//go:embed script.js
var script string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"code": code, "inc": func(i int) int { return i + 1 },
	"lazy": func(i int) bool { return i >= atOnce },
}).Parse(pageText))

// atOnce is the number of findings that are part of the document from the start. A browser needs
// milliseconds for each: script.js adds the others when they are opened.
const atOnce = 100

// HTML is a diag.Printer that collects findings and verdicts. Close writes the page. It is not safe
// for concurrent use.
type HTML struct {
	w         io.Writer
	files     *source.Set
	page      page
	graphs    []*diag.BarrierGraph
	pipelines []*diag.Pipeline
	steps     int          // steps of all repairs so far, for numbering
	inPatch   map[int]bool // numbers of the steps that the patch shows
}

// New returns a printer that resolves positions in files and writes to w. command is the command
// line and version the version of heddle; both appear in the head of the page.
func New(w io.Writer, files *source.Set, command, version string) *HTML {
	return &HTML{w: w, files: files, inPatch: map[int]bool{}, page: page{
		Command: command, Version: version, Style: template.CSS(style), Script: template.JS(script),
		Counts: map[string]int{},
	}}
}

// page is the data of the template.
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
	Pipelines        []pipeline
	Graphs           []graph
	Explained        []explained
	Executions       []execution
	Streams          []Stream
	Later            int  // launches that Streams leaves out
	Unapplied        bool // no file has the patch
}

// Many reports whether the page shows a filter: with up to three findings it would only be in the
// way.
func (p *page) Many() bool { return len(p.Findings) > 3 }

// kernel is a row of the table of kernels. Findings holds ids of findings, for links.
type kernel struct {
	Input, Name, Verdict, Text string
	Findings                   []string
}

// finding is one finding as the template prints it.
type finding struct {
	ID, Code, Title, Severity string
	Message                   template.HTML
	Kernel, Input             string
	At                        string
	span                      source.Span
	rank                      diag.Severity
	Launch                    string
	Places                    []place
	Timeline, Memory          template.HTML // drawings; empty: none
	Missing                   template.HTML // why nothing orders the two operations
	Notes, Help               []template.HTML
	Reproduce                 string
	Repairable                bool   // by heddle fix, perhaps
	Ended                     bool   // the patch of the page ends it
	Drawn                     string // id of its place in a pipeline; empty: none
	alike                     bool   // another finding may have the same cause
	Fixes                     []fix
}

// place is an operation or another place of a finding, with the lines around it.
type place struct {
	Number int // of an operation of a race, 1 or 2; 0 for other places
	Text   string
	At     string
	Lines  []line
	Stack  []string // callers, innermost first, without the place itself
}

// line is a line of source text, split at the marked part.
type line struct {
	Number              int
	Before, Mark, After string
	Marked              bool
	Far                 bool // more than one line from the marked one; hidden on narrow screens
}

// fix is a suggested change as rows of a unified diff.
type fix struct {
	Message string
	Diff    []row
}

// Ended adds a finding that the patch of the page ends.
func (h *HTML) Ended(d *diag.Diagnostic) error {
	n := len(h.page.Findings)
	err := h.Finding(d)
	for i := range h.page.Findings[n:] {
		f := &h.page.Findings[n+i]
		f.Ended, f.Repairable, f.Help = true, false, nil // the patch knows better
	}
	return err
}

// Finding adds a finding; suppressed findings are only counted. It never fails: errors of writing
// occur in Close, which writes the page.
func (h *HTML) Finding(d *diag.Diagnostic) error {
	if d.Suppressed != nil {
		h.page.Suppressed++
		return nil
	}
	f := finding{
		Code: string(d.Code), Severity: severities[d.Severity], rank: d.Severity,
		Message: code(d.Message), Kernel: d.Kernel, Input: d.Input, At: h.at(d.Span), span: d.Span,
		Launch: d.Launch, Reproduce: d.Reproduce,
		Repairable: d.Severity == diag.Error && diag.Repairable(d.Code, d.Input) && len(d.Fixes) == 0,
	}
	if doc, ok := diag.Lookup(d.Code); ok {
		f.Title = doc.Title
	}
	f.Places = h.places(d)
	for _, n := range d.Notes {
		f.Notes = append(f.Notes, code(n))
	}
	if f.alike = d.Alike != ""; f.alike {
		f.Notes = append(f.Notes, code(d.Alike))
	}
	for _, n := range d.Help {
		f.Help = append(f.Help, code(n))
	}
	if w := d.Witness; w != nil && w.First.Op != "" && len(f.Places) == 2 {
		f.Timeline = timelines(w, f.Places)
		f.Memory = memory(w)
	}
	if race := f.Timeline != "" || d.Code == diag.CodeRaceStream ||
		d.Code == diag.CodeRaceGrid; race && len(d.Notes) > 0 {
		// The first note of a race says why nothing orders the two, behind one about a guess.
		n := 0
		if w := d.Witness; w != nil && w.Status == diag.StatusGuess && len(d.Notes) > 1 {
			n = 1
		}
		f.Missing, f.Notes = f.Notes[n], slices.Delete(slices.Clone(f.Notes), n, n+1)
	}
	if f.Timeline == "" { // not a race: perhaps a barrier that some threads miss
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

var severities = map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning",
	diag.Note: "note"}

// Verdict adds the verdict on a kernel. It never fails, as Finding never does.
func (h *HTML) Verdict(v *diag.Verdict) error {
	h.page.Counts[v.Kind.String()]++
	h.page.Kernels = append(h.page.Kernels,
		kernel{Input: v.Input, Name: cmp.Or(v.Kernel, "(all kernels)"), Verdict: v.Kind.String(), Text: v.Text()})
	return nil
}

// Close links kernels and generations of graphs to their findings and writes the page. An error is
// one of writing.
func (h *HTML) Close() error {
	h.sort()
	h.sortExplained()
	// Findings and verdicts arrive in any order, so links are resolved here. A kernel is identified
	// by its input too, since several files may define the same name.
	type key struct{ input, kernel string }
	of := map[key][]string{} // ids of findings
	for i := range h.page.Findings {
		f := &h.page.Findings[i]
		k := key{f.Input, f.Kernel}
		of[k] = append(of[k], f.ID)
	}
	for i := range h.page.Kernels {
		k := &h.page.Kernels[i]
		k.Findings = of[key{k.Input, k.Name}]
	}
	h.drawPipelines()
	for _, g := range h.graphs {
		h.page.Graphs = append(h.page.Graphs, h.graphOf(g, func(code diag.Code) string {
			for i := range h.page.Findings {
				if f := &h.page.Findings[i]; f.Input == g.Input && f.Kernel == g.Kernel &&
					f.Code == string(code) {
					return f.ID
				}
			}
			return ""
		}))
	}
	return pageTemplate.Execute(h.w, &h.page)
}

// sort orders the findings by severity and place, notes last, and numbers them.
func (h *HTML) sort() {
	slices.SortStableFunc(h.page.Findings, func(a, b finding) int {
		if a.rank != b.rank {
			return cmp.Compare(b.rank, a.rank)
		}
		if c := cmp.Compare(a.Input, b.Input); c != 0 {
			return c
		}
		if a.alike != b.alike { // one that may have the cause of another comes after it
			if a.alike {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.span.Start, b.span.Start)
	})
	for i := range h.page.Findings {
		h.page.Findings[i].ID = fmt.Sprintf("f%d", i+1)
	}
}

// code returns a text whose parts between backticks are code.
func code(text string) template.HTML {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return template.HTML(template.HTMLEscapeString(text))
	}
	var b strings.Builder
	for i, p := range parts {
		if p = template.HTMLEscapeString(p); i%2 == 1 {
			p = "<code>" + p + "</code>"
		}
		b.WriteString(p)
	}
	return template.HTML(b.String())
}

// around is the number of lines shown above and below a place.
const around = 3

// places returns the places of a finding in the order of execution: Related[0] of a race is its
// first operation.
func (h *HTML) places(d *diag.Diagnostic) []place {
	label := d.Label
	if label == "" {
		label = "here"
	}
	own := h.place(d.Span, d.Stack, label)
	w := d.Witness
	if w != nil && w.First.Op != "" && len(d.Related) == 1 {
		r := d.Related[0]
		first := h.place(r.Span, r.Stack, toldOf(&w.First))
		first.Number, own.Number = 1, 2
		own.Text = toldOf(&w.Second)
		return []place{first, own}
	}
	out := []place{own}
	for _, r := range d.Related {
		out = append(out, h.place(r.Span, r.Stack, r.Message))
	}
	if len(out) == 2 && d.Code == diag.CodeRaceStream { // the launch that came first is Related
		slices.Reverse(out)
	}
	return out
}

// toldOf is what a thread does, and in which iterations.
func toldOf(a *diag.WitnessAccess) string {
	text := nameOf(a) + " " + does(a)
	if a.When != "" {
		text += ", with " + a.When
	}
	return text + a.Value
}

// place returns a place with its callers and, if the text of the file is known, the lines around
// it.
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
	// The file may have fewer lines after the place, and the span may end beyond the marked line.
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

// columns returns the byte range [from, to) of a line that a span covers. A span without an end
// covers the word at its start.
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

// isWord reports whether c belongs to an identifier; bytes of multi-byte characters do, so that
// none is split.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c >= 0x80
}

// at returns the start of a span as file:line:col, and "" for an invalid span, so that a template
// can test it.
func (h *HTML) at(s source.Span) string {
	if !s.IsValid() {
		return ""
	}
	return h.files.Format(s.Start)
}

// rows returns the rows of the unified diffs of edits, or a row with the error if they cannot be
// applied.
func (h *HTML) rows(edits []diag.Edit) []row {
	var out []row
	err := h.byFile(edits, func(_ *source.File, diff string) { out = append(out, rowsOf(diff)...) })
	if err != nil {
		return []row{{Class: "hunk", Text: err.Error()}}
	}
	return out
}
