package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// Results are objects with the fields of docs/json.md, less what an agent has no use for, and with
// the source line of each place. Package diag writes them, and the structs below select fields, so
// that a name has one meaning in both. docs/agents.md lists the differences.

// SchemaVersion is the version of results. It grows when a field is removed or changes its meaning.
const SchemaVersion = 1

// Bounds of a result: an agent pays for each byte. A result that is cut says so.
const (
	mostOfKernel = 5     // findings of a kernel
	mostFindings = 24000 // bytes of the findings of a result, but one in any case
	mostVerdicts = 12000 // the same of verdicts
	mostLines    = 40    // notes of a finding: a compiler may print hundreds
	mostRunes    = 1000  // of one string
	mostText     = 12000 // bytes of the text of a result
	mostPatch    = 32000 // bytes of a patch or a patched file
)

// report is the result of check, verify, trace and exec.
type report struct {
	Schema    int       `json:"schema_version"`
	Verdict   string    `json:"verdict"`
	Verdicts  []verdict `json:"verdicts"`
	Findings  []finding `json:"findings"`
	Traces    []traced  `json:"traces,omitempty"`
	Program   *program  `json:"program,omitempty"`
	Truncated string    `json:"truncated,omitempty"`
	Next      []next    `json:"next"`
}

// next is a call that makes sense after a result.
type next struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Why       string         `json:"why"`
}

// verdict is the conclusion on one kernel.
type verdict struct {
	Verdict    string    `json:"verdict"`
	Kernel     string    `json:"kernel"`
	Scope      string    `json:"scope,omitempty"`
	Details    []string  `json:"details,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Location   *location `json:"location,omitempty"`
	Apart      []string  `json:"apart,omitempty"`
	Suppressed int       `json:"suppressed,omitempty"`
}

// finding is one finding.
type finding struct {
	Code     string    `json:"code"`
	Severity string    `json:"severity"`
	Message  string    `json:"message"`
	Kernel   string    `json:"kernel,omitempty"`
	Location *location `json:"location,omitempty"`
	Label    string    `json:"label,omitempty"`
	Stack    []frame   `json:"stack,omitempty"`
	Related  []related `json:"related,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Help     []string  `json:"help,omitempty"`
	Witness  *witness  `json:"witness,omitempty"`
	Groups   []group   `json:"groups,omitempty"`
	Count    uint64    `json:"count,omitempty"`
	Launch   string    `json:"launch,omitempty"`
	Guessed  []string  `json:"guessed,omitempty"`

	Suppressions []suppression `json:"suppressions,omitempty"`
}

// isError reports whether a finding is a bug or a mistake in the input.
func (f *finding) isError() bool { return f.Severity == "error" && len(f.Suppressions) == 0 }

type suppression struct {
	Reason string `json:"justification"`
}

type location struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Source string `json:"source,omitempty"`
}

type frame struct {
	Function string    `json:"function,omitempty"`
	Location *location `json:"location,omitempty"`
}

type related struct {
	Message  string    `json:"message"`
	Location *location `json:"location,omitempty"`
}

type witness struct {
	Engine   string  `json:"engine"`
	Status   string  `json:"status,omitempty"`
	Launch   string  `json:"launch"`
	Level    string  `json:"level,omitempty"`
	Interval *uint32 `json:"interval,omitempty"`
	First    *access `json:"first,omitempty"`
	Second   *access `json:"second,omitempty"`
	Memory   *memory `json:"memory,omitempty"`
}

type access struct {
	Op     string `json:"op"`
	Thread string `json:"thread"`
	Kind   string `json:"kind,omitempty"`
	Does   string `json:"does,omitempty"`
}

type memory struct {
	Name    string `json:"name"`
	Offset  uint64 `json:"offset"`
	Size    uint64 `json:"size"`
	Element string `json:"element,omitempty"`
}

type group struct {
	Threads  string    `json:"threads"`
	At       string    `json:"at,omitempty"`
	Location *location `json:"location,omitempty"`
}

// object writes something by the renderer of heddle's JSON and reads it into a struct with some of
// the fields.
func object(into any, write func(*diag.JSON) error, files *source.Set) {
	var b bytes.Buffer
	if err := write(diag.NewJSON(&b, files)); err != nil {
		panic(err) // a buffer has no errors
	}
	if err := json.Unmarshal(b.Bytes(), into); err != nil {
		panic(err) // a test compares the structs with the schema
	}
}

// findingOf returns the object of a finding.
func findingOf(d *diag.Diagnostic, files *source.Set) finding {
	var f finding
	plain := *d
	plain.Launch = "" // it has a field here
	object(&f, func(j *diag.JSON) error { return j.Finding(&plain) }, files)
	f.Launch, f.Guessed = cut(d.Launch), guessed(d.Launch)
	f.Message, f.Label = cut(f.Message), cut(f.Label)
	f.Notes, f.Help = cutAll(f.Notes), cutAll(f.Help)
	if len(f.Stack) < 2 { // the place itself
		f.Stack = nil
	}
	f.Location.quote(files)
	for i := range f.Stack {
		f.Stack[i].Location.quote(files)
	}
	for i := range f.Related {
		f.Related[i].Location.quote(files)
	}
	for i := range f.Groups {
		f.Groups[i].Location.quote(files)
	}
	return f
}

// verdictOf returns the object of a verdict.
func verdictOf(d *diag.Verdict, files *source.Set) verdict {
	var v verdict
	object(&v, func(j *diag.JSON) error { return j.Verdict(d) }, files)
	v.Scope, v.Reason, v.Details = cut(v.Scope), cut(v.Reason), cutAll(v.Details)
	return v
}

// quote adds the source line, if the file was read.
func (l *location) quote(files *source.Set) {
	if l == nil {
		return
	}
	if f := files.Lookup(l.File); f != nil && f.Content != nil && l.Line > 0 {
		text, _ := f.Line(l.Line)
		l.Source = cut(strings.TrimRight(text, " \t\r"))
	}
}

// guessed returns the values in the description of a launch that were guessed.
func guessed(launch string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i <= len(launch); i++ {
		switch {
		case i == len(launch), depth == 0 && strings.HasPrefix(launch[i:], ", "):
			if part := strings.TrimPrefix(launch[from:i], ", "); strings.Contains(part, "(guessed") {
				out = append(out, part)
			}
			from = i
		case launch[i] == '(':
			depth++
		case launch[i] == ')':
			depth--
		}
	}
	return out
}

// worst returns the verdict on all kernels. Without a bug, it is unknown if an input could not be
// examined.
func worst(verdicts []diag.Verdict, unread bool) diag.VerdictKind {
	order := []diag.VerdictKind{diag.Verified, diag.Clean, diag.Unknown, diag.Unsupported, diag.Bug}
	at := 0
	if unread || len(verdicts) == 0 {
		at = 2
	}
	for i := range verdicts {
		at = max(at, slices.Index(order, verdicts[i].Kind))
	}
	return order[at]
}

// fitting returns the elements of a list that fit into a number of bytes as JSON, and the first one
// in any case. Each is made when it is needed.
func fitting[T any](n, most int, make func(int) T) []T {
	out := []T{}
	for i := range n {
		one := make(i)
		text, err := json.Marshal(one)
		if err != nil {
			panic(err) // strings and numbers
		}
		if most -= len(text); most < 0 && i > 0 {
			break
		}
		out = append(out, one)
	}
	return out
}

// cut shortens a string to mostRunes.
func cut(s string) string {
	if utf8.RuneCountInString(s) <= mostRunes {
		return s
	}
	return string([]rune(s)[:mostRunes]) + "..."
}

// cutAll shortens a list to mostLines.
func cutAll(list []string) []string {
	more := len(list) - mostLines
	if more > 0 {
		list = append(slices.Clone(list[:mostLines]), fmt.Sprintf("(%d more lines)", more))
	}
	for i := range list {
		list[i] = cut(list[i])
	}
	return list
}

// shorten cuts a text to a number of bytes at the end of a line, and reports whether it did.
func shorten(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	text = text[:most]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[:i+1]
	}
	return strings.ToValidUTF8(text, ""), true
}
