package main

import (
	"bytes"
	"encoding/json"
	"io"

	"heddle/internal/command/fix"
	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/engine/placement"
	"heddle/internal/engine/trace"
)

// The objects that fix, sync and trace write beside findings and verdicts. docs/json.md describes
// them, docs/schema has their schema, and a test compares the three. A field may be added at any
// time; removing or renaming one needs a new schema version.

// jsonHead begins each object: programs read the version, then the type, before anything else.
type jsonHead struct {
	Schema int    `json:"schema_version"`
	Type   string `json:"type"`
}

// fixObject is the result of heddle fix for one kernel. Verdict is that of the repaired PTX, Source
// that of the patched and recompiled source; they differ if the source cannot express the repair.
// Checked counts the candidate texts that were run and proved.
type fixObject struct {
	jsonHead
	Kernel     string            `json:"kernel"`
	Status     string            `json:"status"`
	Findings   []json.RawMessage `json:"findings,omitempty"`
	Changes    []fixChange       `json:"changes,omitempty"`
	Others     [][]fixChange     `json:"alternatives,omitempty"`
	Between    []fixBetween      `json:"between,omitempty"`
	Redundant  []fixChange       `json:"redundant,omitempty"`
	Remaining  []string          `json:"remaining,omitempty"`
	Why        string            `json:"why,omitempty"`
	CostBefore float64           `json:"cost_before,omitempty"`
	CostAfter  float64           `json:"cost_after,omitempty"`
	Verdict    string            `json:"verdict"`
	Scope      string            `json:"scope,omitempty"`
	Notes      []string          `json:"notes,omitempty"`
	Source     string            `json:"source_verdict,omitempty"`
	PTXOnly    string            `json:"ptx_only,omitempty"`
	Diff       string            `json:"diff,omitempty"`
	Checked    int               `json:"texts_checked"`
	Millis     int64             `json:"total_ms"`
}

// fixChange is one change of a repair: what it inserts or replaces, and where.
type fixChange struct {
	Place string   `json:"place"`
	What  string   `json:"what"`
	Why   []string `json:"why,omitempty"`
}

// fixBetween is what one means does for races between blocks. The first that repairs is the diff of
// the kernel.
type fixBetween struct {
	Means    string      `json:"means"`
	Repaired bool        `json:"repaired"`
	Why      string      `json:"why,omitempty"`
	Changes  []fixChange `json:"changes,omitempty"`
	Notes    []string    `json:"notes,omitempty"`
	Scope    string      `json:"scope,omitempty"`
	Diff     string      `json:"diff,omitempty"`
}

// writeFixJSON writes the repair of one kernel as one line. The diff is that of this kernel alone,
// so that a program can apply repairs one by one; the text output has one diff for the file.
// Findings are nested objects of the same form as those of `heddle check --format json`.
func writeFixJSON(w io.Writer, f *fix.Kernel, res *fix.Result) error {
	out := fixObject{jsonHead: jsonHead{diag.SchemaVersion, "fix"}, Kernel: f.Kernel,
		Status: f.Status.String(), Why: f.Why,
		CostBefore: f.CostBefore, CostAfter: f.CostAfter, Verdict: f.Verdict(), Scope: f.After.Scope,
		Notes:   f.Notes,
		PTXOnly: f.PTXOnly, Checked: f.Judged, Millis: f.Total.Milliseconds()}
	if len(f.Edits) > 0 {
		var err error
		out.Source = f.Source.Kind.String()
		if out.Diff, err = edit.Diff(res.User, f.Edits); err != nil {
			return err
		}
	}
	for i := range f.Wrong {
		var b bytes.Buffer
		if err := diag.NewJSON(&b, res.Files).Finding(&f.Wrong[i]); err != nil {
			return err
		}
		out.Findings = append(out.Findings, json.RawMessage(bytes.TrimSpace(b.Bytes())))
	}
	// Places are printed as in text output, file:line:col.
	list := func(of []fix.Change) (out []fixChange) {
		for _, ch := range of {
			out = append(out, fixChange{res.Files.Format(ch.Span.Start), ch.Text, ch.Why})
		}
		return out
	}
	out.Remaining = f.Remaining
	out.Changes, out.Redundant = list(f.Changes), list(f.Redundant)
	for _, alt := range f.Alternatives {
		out.Others = append(out.Others, list(alt))
	}
	for i := range f.Between {
		b := &f.Between[i]
		out.Between = append(out.Between, fixBetween{b.Means.String(), b.Why == "", b.Why,
			list(b.Changes), b.Notes, b.Verdict.Scope, b.Diff})
	}
	return json.NewEncoder(w).Encode(out)
}

// syncObject is the result of heddle sync for one file.
type syncObject struct {
	jsonHead
	Kernels []syncKernel `json:"kernels"`
	Diff    string       `json:"diff"`
}

// syncKernel is the result for one kernel. Costs are in the units of --cost: weighted static
// counts, or how often threads reached barriers.
type syncKernel struct {
	Kernel      string        `json:"kernel"`
	Status      string        `json:"status"`
	Oracle      string        `json:"oracle"`
	Barriers    []syncBarrier `json:"barriers"`
	Before      float64       `json:"cost_before"`
	After       float64       `json:"cost_after"`
	Optimal     bool          `json:"optimal"`
	Calls       int           `json:"oracle_calls"`
	Stuck       []string      `json:"stuck,omitempty"`
	OtherBlocks []string      `json:"races_between_blocks,omitempty"`
	Given       bool          `json:"given_arguments_only,omitempty"`
	Elsewhere   []string      `json:"with_other_arguments,omitempty"`
	Unexplained string        `json:"unexplained,omitempty"`
	Earlier     bool          `json:"earlier,omitempty"`
	Verdict     string        `json:"verdict"`
	Scope       string        `json:"scope,omitempty"`
	Millis      int64         `json:"total_ms"`
}

// syncBarrier is one barrier of the result; Why lists what it separates.
type syncBarrier struct {
	Place  string   `json:"place"`
	Status string   `json:"status"`
	Warp   bool     `json:"warp,omitempty"`
	Why    []string `json:"why,omitempty"`
	Use    *syncUse `json:"use,omitempty"`
}

// writeSyncJSON writes all kernels of a file as one object, since they share the diff. Empty lists
// are written as [], which the schema requires.
func writeSyncJSON(w io.Writer, res *placement.Result) error {
	out := syncObject{jsonHead: jsonHead{diag.SchemaVersion, "sync"}, Kernels: []syncKernel{},
		Diff: res.Diff}
	for i := range res.Kernels {
		k := &res.Kernels[i]
		one := syncKernel{
			Kernel: k.Kernel, Status: k.Status.String(), Oracle: k.Oracle, Barriers: []syncBarrier{},
			Before: k.Before, After: k.After,
			Optimal: k.Optimal, Calls: k.Calls, Stuck: k.Stuck, OtherBlocks: k.OtherBlocks, Given: k.Given,
			Elsewhere: k.Elsewhere, Unexplained: k.Unexplained, Earlier: k.Earlier, Verdict: k.Verdict.Kind.String(),
			Scope: k.Verdict.Scope, Millis: k.Time.Milliseconds(),
		}
		for j := range k.Barriers {
			b := &k.Barriers[j]
			status := "inserted"
			switch {
			case b.Gone:
				status = "removed"
			case b.Kept:
				status = "kept"
			}
			one.Barriers = append(one.Barriers, syncBarrier{b.Place, status, b.Warp, b.Why,
				syncUseOf(b.Use)})
		}
		out.Kernels = append(out.Kernels, one)
	}
	return json.NewEncoder(w).Encode(out)
}

// traceObject has the counts of one traced block. Its memory is that of the whole process.
type traceObject struct {
	jsonHead
	Kernel       string  `json:"kernel"`
	Block        string  `json:"block"`
	Threads      int     `json:"threads"`
	Commands     uint64  `json:"commands"`
	Barriers     uint64  `json:"dynamic_barriers"`
	Addresses    int     `json:"shared_addresses"`
	Sliced       int     `json:"instructions_in_slice"`
	Total        int     `json:"instructions"`
	Executed     uint64  `json:"warp_instructions"`
	Milliseconds float64 `json:"time_ms"`
	Memory       uint64  `json:"memory_bytes"`
}

// writeTraceJSON writes the counts of a block as one line. An error of w is not returned: it occurs
// again, and is reported, when the results that follow are written.
func writeTraceJSON(w io.Writer, s trace.Stats) {
	enc := json.NewEncoder(w)
	enc.Encode(traceObject{
		jsonHead: jsonHead{diag.SchemaVersion, "trace"}, Kernel: s.Kernel, Block: s.Block.String(),
		Threads: s.Threads, Commands: s.Commands,
		Barriers: s.Barriers, Addresses: s.Addresses, Sliced: s.Sliced, Total: s.Total,
		Executed:     s.Executed,
		Milliseconds: float64(s.Time.Microseconds()) / 1000, Memory: memory(),
	})
}
