// Package baseline keeps findings that are known, so that a run can report the others only: as a file that is
// checked in, or of an older revision.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// version is that of the file's format.
const version = 1

// Set is a multiset of findings. Two findings at lines that read alike have one fingerprint, so that each known
// one covers one.
type Set struct {
	entries map[string]*entry // by fingerprint
}

// entry is what a file says of one fingerprint. All but the fingerprint and the count is for readers.
type entry struct {
	Fingerprint string    `json:"fingerprint"`
	Count       int       `json:"count"`
	Code        diag.Code `json:"code"`
	Kernel      string    `json:"kernel"`
	File        string    `json:"file,omitempty"`
}

type document struct {
	Version  int      `json:"heddle_baseline"`
	Findings []*entry `json:"findings"`
}

// New returns an empty set.
func New() *Set { return &Set{entries: make(map[string]*entry)} }

// Len returns the number of findings.
func (s *Set) Len() int {
	n := 0
	for _, e := range s.entries {
		n += e.Count
	}
	return n
}

// Add adds one finding.
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

// Take reports whether the set has a finding, and takes it out.
func (s *Set) Take(files *source.Set, d *diag.Diagnostic) bool {
	e := s.entries[diag.Fingerprint(files, d)]
	if e == nil || e.Count == 0 {
		return false
	}
	e.Count--
	return true
}

// Write writes the set as a file, always in the same order.
func (s *Set) Write(w io.Writer) error {
	doc := document{Version: version, Findings: []*entry{}}
	for _, e := range s.entries {
		doc.Findings = append(doc.Findings, e)
	}
	slices.SortFunc(doc.Findings, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// Read reads what Write wrote. name is that of the file, for messages.
func Read(name string, content []byte) (*Set, error) {
	var doc document
	dec := json.NewDecoder(bytes.NewReader(content))
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s: not a baseline of heddle: %s", place(name, content, err), strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case doc.Version == 0:
		return nil, fmt.Errorf("%s: not a baseline of heddle: \"heddle_baseline\" is missing; --write-baseline writes one", name)
	case doc.Version != version:
		return nil, fmt.Errorf("%s: a baseline of version %d, and this heddle reads %d; write it anew with --write-baseline", name, doc.Version, version)
	}
	s := New()
	for i, e := range doc.Findings {
		switch {
		case e == nil || e.Fingerprint == "":
			return nil, fmt.Errorf("%s: finding %d has no fingerprint", name, i+1)
		case e.Count < 1:
			return nil, fmt.Errorf("%s: finding %d (%s) has a count of %d; want at least 1", name, i+1, e.Fingerprint, e.Count)
		case s.entries[e.Fingerprint] != nil:
			return nil, fmt.Errorf("%s: %s is there twice", name, e.Fingerprint)
		}
		s.entries[e.Fingerprint] = e
	}
	return s, nil
}

// place is where JSON could not be read.
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
