package suppress

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// Set holds the directives of the files of one run, and the places that were checked.
type Set struct {
	files  map[source.FileID][]*directive // in the order of lines; has an entry for every file read
	places []Place
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{files: make(map[source.FileID][]*directive)} }

// Read reads the directives of a file and returns an error diagnostic for each invalid one. It
// reads each file once, and ignores nil and a file without text. ptx selects the syntax of strings
// and comments.
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
	var waiting []*directive // on lines of their own: they apply to the line below them
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
			wrong = append(wrong, diag.Diagnostic{Code: diag.CodeSuppression, Severity: diag.Error,
				Message: err.msg, Span: c.Span, Help: help(err, f)})
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

// help returns the help of m as lines of a diagnostic, with comments as the language of the file
// has them.
func help(m *mistake, f *source.File) []string {
	switch {
	case m.help == "":
		return nil
	case source.PythonName(f.Name):
		return []string{strings.Replace(m.help, "// heddle", "# heddle", 1)}
	}
	return []string{m.help}
}

// Any reports whether any file that was read has a valid directive.
func (s *Set) Any() bool {
	for _, list := range s.files {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// Match returns the suppression of a finding, or nil. It considers the directives at all operations
// of the finding and marks every match as used. The files of these operations must have been read
// before.
func (s *Set) Match(d *diag.Diagnostic) *diag.Suppression {
	out := s.at(d.Code, d.Span)
	for _, r := range d.Related {
		if m := s.at(d.Code, r.Span); out == nil {
			out = m
		}
	}
	return out
}

// at returns the first suppression that applies to an operation, and marks all that do as used.
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

// Place is a range of lines, of a function that a kernel executes.
type Place struct {
	File        source.FileID // the file of the lines
	First, Last int           // lines, both included
	Kernel      string        // demangled
	// whether every finding with the code would have been reported; nil: none
	Checked func(diag.Code) bool
}

// Add records places that were checked.
func (s *Set) Add(places ...Place) { s.places = append(s.places, places...) }

// Unused returns a warning for each directive that matched nothing, although a kernel that executes
// its line was checked for all of its codes, and no kernel that executes it was checked only in
// part.
func (s *Set) Unused() []diag.Diagnostic {
	var out []diag.Diagnostic
	for file, list := range s.files {
		for _, d := range list {
			if kernel, ok := s.unused(file, d); ok {
				out = append(out, unusedFinding(d, kernel))
			}
		}
	}
	slices.SortFunc(out, func(a, b diag.Diagnostic) int {
		return cmp.Compare(a.Span.Start,
			b.Span.Start)
	})
	return out
}

// unused reports whether d should have matched and did not, and the first kernel in which.
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

// unusedFinding returns the warning for an unused directive.
func unusedFinding(d *directive, kernel string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.CodeSuppressionUnused, Severity: diag.Warning, Kernel: kernel, Span: d.span,
		Message: fmt.Sprintf(
			"this suppression matches nothing: no %s finding has an operation in line %d",
			list(d.codes, "or"), d.line),
		Help: []string{"remove the comment, or also check the launch that needs it"},
	}
}
