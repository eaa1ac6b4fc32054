// Package baseline stores known findings, so that a run can report only new ones. Known findings
// come from a file that users commit, or from checking an older revision.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// version is the version of the file format.
const version = 1

// Set is a multiset of findings. Findings at lines with the same text share a fingerprint
// (diag.Fingerprint), so the set counts them: n known findings cover n findings of a run. Which of
// them is the new one is not known.
type Set struct {
	entries map[string]*entry // by fingerprint
}

// entry is the part of a file for one fingerprint. Only the fingerprint and the count are used; the
// rest is for people who read the file.
type entry struct {
	Fingerprint string    `json:"fingerprint"`
	Count       int       `json:"count"`
	Code        diag.Code `json:"code"`
	Kernel      string    `json:"kernel"`
	File        string    `json:"file,omitempty"`
}

// document is the content of a file.
type document struct {
	Version  int      `json:"heddle_baseline"`
	Findings []*entry `json:"findings"`
}

// New returns an empty set.
func New() *Set { return &Set{entries: make(map[string]*entry)} }

// Len returns the number of findings that are left in the set.
func (s *Set) Len() int {
	n := 0
	for _, e := range s.entries {
		n += e.Count
	}
	return n
}

// Add adds one finding. files resolves its positions.
func (s *Set) Add(files *source.Set, d *diag.Diagnostic) {
	print := diag.Fingerprint(files, d)
	e := s.entries[print]
	if e == nil {
		e = &entry{Fingerprint: print, Code: d.Code, Kernel: d.Kernel}
		if f := files.File(d.Span.Start.File()); f != nil && filepath.IsLocal(f.Name) {
			e.File = filepath.ToSlash(f.Name)
		}
		s.entries[print] = e
	}
	e.Count++
}

// Take removes a finding from the set, and reports whether the set had it.
func (s *Set) Take(files *source.Set, d *diag.Diagnostic) bool {
	e := s.entries[diag.Fingerprint(files, d)]
	if e == nil || e.Count == 0 {
		return false
	}
	e.Count--
	return true
}

// Write writes the set as JSON, sorted, so that the same findings give the same file.
func (s *Set) Write(w io.Writer) error {
	doc := document{Version: version, Findings: []*entry{}}
	for _, e := range s.entries {
		doc.Findings = append(doc.Findings, e)
	}
	slices.SortFunc(doc.Findings, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kernel, b.Kernel),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// Read parses a file that Write has written. name is the path for messages. It fails for other
// JSON, for another version of the format, and for entries that are incomplete or duplicated.
func Read(name string, content []byte) (*Set, error) {
	var doc document
	dec := json.NewDecoder(bytes.NewReader(content))
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s: not a heddle baseline: %s", place(name, content, err),
			strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case doc.Version == 0:
		return nil, fmt.Errorf("%s: not a heddle baseline: \"heddle_baseline\" is missing; create one "+
			"with --write-baseline", name)
	case doc.Version != version:
		return nil, fmt.Errorf("%s: the baseline has version %d, and this heddle reads version %d; "+
			"create it again with --write-baseline", name, doc.Version, version)
	}
	s := New()
	for i, e := range doc.Findings {
		switch {
		case e == nil || e.Fingerprint == "":
			return nil, fmt.Errorf("%s: finding %d has no fingerprint", name, i+1)
		case e.Count < 1 || e.Count > math.MaxInt32:
			return nil, fmt.Errorf("%s: finding %d (%s) has a count of %d; expected 1 to %d", name, i+1,
				e.Fingerprint, e.Count, math.MaxInt32)
		case s.entries[e.Fingerprint] != nil:
			return nil, fmt.Errorf("%s: the fingerprint %s occurs twice", name, e.Fingerprint)
		}
		s.entries[e.Fingerprint] = e
	}
	return s, nil
}

// place returns the position of a JSON error as file:line:column; the end of the file if the error
// has none.
func place(name string, content []byte, err error) string {
	offset := int64(len(content))
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	before := content[:min(max(offset-1, 0), int64(len(content)))]
	line := bytes.Count(before, []byte("\n"))
	return fmt.Sprintf("%s:%d:%d", name, line+1, len(before)-bytes.LastIndexByte(before, '\n'))
}
