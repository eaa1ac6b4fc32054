package main

import (
	"encoding/json"
	"io"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
)

// execObject sums up a run of heddle exec, after its findings and verdicts.
type execObject struct {
	jsonHead
	Kernels     []execKernel `json:"kernels"`
	Unsupported []string     `json:"unsupported_functions,omitempty"`
	Ended       string       `json:"ended,omitempty"`
	Code        int          `json:"program_exit_code"`
	Millis      int64        `json:"total_ms"`
}

// execKernel is what the launches of one kernel have shown.
type execKernel struct {
	Kernel           string `json:"kernel"`
	Launches         uint64 `json:"launches"`
	Checked          uint64 `json:"checked"`
	Repeated         uint64 `json:"repeated"`
	Shapes           int    `json:"shapes"`
	LaneInstructions uint64 `json:"lane_instructions"`
	Findings         int    `json:"findings"`
	Millis           int64  `json:"ms"`
}

// writeExecJSON writes the object of a run.
func writeExecJSON(w io.Writer, s *exec.Summary) error {
	out := execObject{jsonHead: jsonHead{diag.SchemaVersion, "exec"}, Kernels: []execKernel{},
		Unsupported: s.Unsupported, Ended: s.EndText(), Code: s.Code(), Millis: s.Time.Milliseconds()}
	for _, k := range s.Kernels {
		out.Kernels = append(out.Kernels, execKernel{k.Name, k.Launches, k.Checked, k.Repeated, k.Shapes,
			k.LaneInstructions, k.Findings, k.Time.Milliseconds()})
	}
	return json.NewEncoder(w).Encode(out)
}
