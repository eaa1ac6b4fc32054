package diag

import (
	"encoding/json"
	"io"

	"heddle/internal/source"
)

// SchemaVersion is the version of the output of JSON (docs/json.md). It is incremented when a field
// is removed or changes its meaning; new fields do not change it.
const SchemaVersion = 1

// JSON writes one object per line for each finding and each verdict. The structs below are the
// format; docs/schema holds its JSON Schema and docs/json.md its description, and a test compares
// the three.
type JSON struct {
	enc   *json.Encoder
	files *source.Set
}

// NewJSON returns a renderer that resolves positions in files.
func NewJSON(w io.Writer, files *source.Set) *JSON {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &JSON{enc: enc, files: files}
}

// jsonFinding is an object of type "finding". Fields without a value are omitted, except those that
// identify the finding.
type jsonFinding struct {
	Schema    int           `json:"schema_version"`
	Type      string        `json:"type"`
	Code      Code          `json:"code"`
	Severity  string        `json:"severity"`
	Message   string        `json:"message"`
	Kernel    string        `json:"kernel,omitempty"`
	Location  *jsonLocation `json:"location,omitempty"`
	Label     string        `json:"label,omitempty"`
	Stack     []jsonFrame   `json:"stack,omitempty"`
	Related   []jsonRelated `json:"related,omitempty"`
	Notes     []string      `json:"notes,omitempty"`
	Help      []string      `json:"help,omitempty"`
	Fixes     []jsonFix     `json:"fixes,omitempty"`
	Witness   *jsonWitness  `json:"witness,omitempty"`
	Groups    []jsonGroup   `json:"groups,omitempty"`
	Count     uint64        `json:"count,omitempty"`
	Reproduce string        `json:"reproduce,omitempty"`

	Fingerprint  string            `json:"fingerprint"`
	Suppressions []jsonSuppression `json:"suppressions,omitempty"`
}

// jsonSuppression names the heddle:ignore comment that covers a finding, in the terms of SARIF.
type jsonSuppression struct {
	Kind     string        `json:"kind"`
	Reason   string        `json:"justification"`
	Location *jsonLocation `json:"location,omitempty"`
}

// jsonGroup is a Group: threads and the barrier where they wait; at is missing for threads that
// exited.
type jsonGroup struct {
	Threads  string        `json:"threads"`
	At       string        `json:"at,omitempty"`
	Location *jsonLocation `json:"location,omitempty"`
}

// jsonLocation is a span. Lines and columns start at 1, columns count bytes, the end is exclusive.
type jsonLocation struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	EndColumn int    `json:"end_column,omitempty"`
}

// jsonFrame is one frame of an inline or call stack, innermost first.
type jsonFrame struct {
	Function string        `json:"function,omitempty"`
	Location *jsonLocation `json:"location,omitempty"`
}

// jsonRelated is another place of a finding.
type jsonRelated struct {
	Message  string        `json:"message"`
	Location *jsonLocation `json:"location,omitempty"`
	Stack    []jsonFrame   `json:"stack,omitempty"`
}

// jsonFix is a suggested change: the edits, and the same as unified diffs where the text is known.
type jsonFix struct {
	Message string     `json:"message"`
	Edits   []jsonEdit `json:"edits"`
	Patches []string   `json:"patches,omitempty"`
}

// jsonEdit replaces the text of a location; an insertion has an empty location.
type jsonEdit struct {
	Location *jsonLocation `json:"location"`
	New      string        `json:"new"`
}

// jsonWitness describes the execution that shows the finding; interval is missing unless it is a
// race.
type jsonWitness struct {
	Engine   string      `json:"engine"`
	Status   string      `json:"status,omitempty"`
	Launch   string      `json:"launch"`
	Seed     uint64      `json:"seed"`
	Level    string      `json:"level,omitempty"`
	Interval *uint32     `json:"interval,omitempty"`
	First    *jsonAccess `json:"first,omitempty"`
	Second   *jsonAccess `json:"second,omitempty"`
	Memory   *jsonMemory `json:"memory,omitempty"`
}

// jsonAccess is one of the two accesses of a race.
type jsonAccess struct {
	Op     string `json:"op"`
	Thread string `json:"thread"`
	Kind   string `json:"kind,omitempty"`
	Does   string `json:"does,omitempty"`
}

// jsonMemory names the bytes on which two accesses conflict: size bytes from offset in an object.
type jsonMemory struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Size   uint64 `json:"size"`

	Element string `json:"element,omitempty"`
}

// jsonVerdict is an object of type "verdict", one per kernel, after its findings.
type jsonVerdict struct {
	Schema   int           `json:"schema_version"`
	Type     string        `json:"type"`
	Verdict  string        `json:"verdict"`
	Kernel   string        `json:"kernel"`
	Scope    string        `json:"scope,omitempty"`
	Details  []string      `json:"details,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Location *jsonLocation `json:"location,omitempty"`
	Apart    []string      `json:"apart,omitempty"`

	Suppressed int `json:"suppressed,omitempty"`
	Known      int `json:"known,omitempty"`
}

// Finding writes one object of type "finding".
func (j *JSON) Finding(d *Diagnostic) error {
	out := jsonFinding{
		Schema: SchemaVersion, Type: "finding", Code: d.Code,
		Severity: severities[min(d.Severity, Error)].name,
		Message:  d.Message, Kernel: d.Kernel, Location: j.location(d.Span), Label: d.Label,
		Stack: j.stack(d.Stack),
		Notes: d.Remarks(), Help: d.Help, Witness: witness(d.Witness), Count: d.Count, Reproduce: d.Reproduce,
		Fingerprint: Fingerprint(j.files, d),
	}
	if s := d.Suppressed; s != nil {
		out.Suppressions = []jsonSuppression{{Kind: "inSource", Reason: s.Reason,
			Location: j.location(s.Span)}}
	}
	for _, g := range d.Groups {
		out.Groups = append(out.Groups, jsonGroup{g.Threads, g.At, j.location(g.Span)})
	}
	for _, r := range d.Related {
		out.Related = append(out.Related, jsonRelated{r.Message, j.location(r.Span), j.stack(r.Stack)})
	}
	for _, f := range d.Fixes {
		fix := jsonFix{Message: f.Message, Edits: []jsonEdit{}, Patches: patches(j.files, f.Edits)}
		for _, e := range f.Edits {
			fix.Edits = append(fix.Edits, jsonEdit{j.location(e.Span), e.New})
		}
		out.Fixes = append(out.Fixes, fix)
	}
	return j.enc.Encode(out)
}

// Verdict writes one object of type "verdict".
func (j *JSON) Verdict(v *Verdict) error {
	at := j.location(v.Span)
	if at == nil && v.Kernel == "" {
		at = &jsonLocation{File: v.Input}
	}
	return j.enc.Encode(jsonVerdict{
		Schema: SchemaVersion, Type: "verdict", Verdict: v.Kind.String(),
		Kernel: v.Kernel, Scope: v.Scope, Details: v.Details, Reason: v.Reason, Location: at,
		Apart: v.Apart, Suppressed: v.Suppressed, Known: v.Known,
	})
}

// Close does nothing, since every call writes immediately.
func (j *JSON) Close() error { return nil }

// location returns nil for a span in no file.
func (j *JSON) location(s source.Span) *jsonLocation {
	f := j.files.File(s.Start.File())
	if f == nil {
		return nil
	}
	l := &jsonLocation{File: f.Name, Line: s.Start.Line(), Column: s.Start.Col()}
	if s.End.IsValid() && s.End.File() == s.Start.File() {
		l.EndLine, l.EndColumn = s.End.Line(), s.End.Col()
	}
	return l
}

// stack converts an inline stack, innermost first.
func (j *JSON) stack(frames []source.Frame) []jsonFrame {
	var out []jsonFrame
	for _, f := range frames {
		out = append(out, jsonFrame{f.Func, j.location(source.Span{Start: f.Pos})})
	}
	return out
}

// witness converts a witness. A witness without accesses has no interval, since 0 is a valid one.
func witness(w *Witness) *jsonWitness {
	if w == nil {
		return nil
	}
	out := &jsonWitness{Engine: w.Engine, Status: w.Status, Launch: w.Launch, Seed: w.Seed,
		Level: w.Level}
	access := func(a WitnessAccess) *jsonAccess {
		if a == (WitnessAccess{}) {
			return nil
		}
		return &jsonAccess{a.Op, a.Thread, a.Kind, a.Does}
	}
	if out.First, out.Second = access(w.First), access(w.Second); out.First != nil {
		out.Interval = &w.Interval
	}
	if w.Memory != "" {
		out.Memory = &jsonMemory{w.Memory, w.Offset, w.Size, w.Element}
	}
	return out
}
