package suppress

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// Set holds the directives of the files of one run.
type Set struct {
	files  map[source.FileID][]*directive // in the order of lines; an entry for every file that was read
	places []Place
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{files: make(map[source.FileID][]*directive)} }

// Read reads the directives of a file, once, and returns what is wrong with them. It accepts nil and a file
// without text.
func (s *Set) Read(f *source.File, ptx bool) []diag.Diagnostic {
	if f == nil || f.Content == nil {
		return nil
	}
	if _, ok := s.files[f.ID]; ok {
		return nil
	}
	s.files[f.ID] = nil
	if !bytes.Contains(f.Content, []byte(prefix)) {
		return nil
	}
	var wrong []diag.Diagnostic
	var waiting []*directive // alone in their lines: they are for the line that follows
	last := 0
	for _, c := range launch.LineComments(f, ptx) {
		line := c.Span.Start.Line()
		rest, ok := isDirective(c.Text)
		if !ok {
			continue
		}
		if line != last+1 {
			waiting = nil
		}
		codes, reason, err := parse(rest)
		if err != nil {
			wrong = append(wrong, diag.Diagnostic{Code: diag.CodeSuppression, Severity: diag.Error, Message: err.msg, Span: c.Span, Help: help(err)})
		}
		d := &directive{codes: codes, reason: reason, span: c.Span, line: line}
		if err == nil {
			s.files[f.ID] = append(s.files[f.ID], d)
		}
		if !c.Alone {
			waiting = nil
			continue
		}
		waiting, last = append(waiting, d), line
		for _, w := range waiting {
			w.line = line + 1
		}
	}
	return wrong
}

func help(m *mistake) []string {
	if m.help == "" {
		return nil
	}
	return []string{m.help}
}

// Any reports whether a file that was read has a directive.
func (s *Set) Any() bool {
	for _, list := range s.files {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// Match returns the suppression of a finding, or nil. The files of its places must have been read.
func (s *Set) Match(d *diag.Diagnostic) *diag.Suppression {
	out := s.at(d.Code, d.Span)
	for _, r := range d.Related {
		if m := s.at(d.Code, r.Span); out == nil {
			out = m
		}
	}
	return out
}

// at returns the suppression of an operation, and marks all that are for it as used.
func (s *Set) at(code diag.Code, place source.Span) *diag.Suppression {
	var out *diag.Suppression
	for _, d := range s.files[place.Start.File()] {
		if d.line != place.Start.Line() || !slices.Contains(d.codes, code) {
			continue
		}
		d.used = true
		if out == nil {
			out = &diag.Suppression{Reason: d.reason, Span: d.span}
		}
	}
	return out
}

// Place is the lines of a function that a kernel executes.
type Place struct {
	File        source.FileID
	First, Last int
	Kernel      string               // demangled
	Checked     func(diag.Code) bool // whether every finding of a code there would be known; nil: none would
}

// Add tells the set what was checked.
func (s *Set) Add(places ...Place) { s.places = append(s.places, places...) }

// Unused returns a warning for each directive that matched nothing though all kernels that execute its place
// were checked for its codes.
func (s *Set) Unused() []diag.Diagnostic {
	var out []diag.Diagnostic
	for file, list := range s.files {
		for _, d := range list {
			if kernel, ok := s.unused(file, d); ok {
				out = append(out, unusedFinding(d, kernel))
			}
		}
	}
	slices.SortFunc(out, func(a, b diag.Diagnostic) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return out
}

// unused reports whether d matched nothing and should have, in which kernel.
func (s *Set) unused(file source.FileID, d *directive) (kernel string, ok bool) {
	if d.used {
		return "", false
	}
	for _, p := range s.places {
		if p.File != file || d.line < p.First || d.line > p.Last {
			continue
		}
		for _, c := range d.codes {
			if p.Checked == nil || !p.Checked(c) {
				return "", false
			}
		}
		if !ok {
			kernel, ok = p.Kernel, true
		}
	}
	return kernel, ok
}

func unusedFinding(d *directive, kernel string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.CodeSuppressionUnused, Severity: diag.Warning, Kernel: kernel, Span: d.span,
		Message: fmt.Sprintf("no finding of %s has an operation in line %d: this suppression matches nothing", list(d.codes, "or"), d.line),
		Help:    []string{"remove it, or check the launch that needs it as well"},
	}
}
