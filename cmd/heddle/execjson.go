package main

import (
	"encoding/json"
	"io"
	"time"

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
	// With --gpu native.
	GPU *execGPU `json:"gpu,omitempty"`
}

// execGPU is what the log of a kernel on a GPU took. Times are means of one launch, in
// microseconds.
type execGPU struct {
	Logged  uint64 `json:"logged_launches"`
	Records uint64 `json:"records"`
	Bytes   uint64 `json:"log_bytes"`
	Time    int64  `json:"logged_us"`
	Timed   uint64 `json:"timed_launches"`
	Plain   int64  `json:"plain_us"`
}

// gpuOf returns the object of a kernel; nil if it did not run on a GPU.
func gpuOf(k *exec.Kernel) *execGPU {
	if k.Logged == 0 && k.Timed == 0 {
		return nil
	}
	mean := func(d time.Duration, n uint64) int64 { return d.Microseconds() / int64(max(n, 1)) }
	return &execGPU{k.Logged, k.Records, k.LogBytes, mean(k.Time, k.Logged), k.Timed,
		mean(k.Plain, k.Timed)}
}

// writeExecJSON writes the object of a run.
func writeExecJSON(w io.Writer, s *exec.Summary) error {
	out := execObject{jsonHead: jsonHead{diag.SchemaVersion, "exec"}, Kernels: []execKernel{},
		Unsupported: s.Unsupported, Ended: s.EndText(), Code: s.Code(), Millis: s.Time.Milliseconds()}
	for _, k := range s.Kernels {
		out.Kernels = append(out.Kernels, execKernel{k.Name, k.Launches, k.Checked, k.Repeated, k.Shapes,
			k.LaneInstructions, k.Findings, k.Time.Milliseconds(), gpuOf(&k)})
	}
	return json.NewEncoder(w).Encode(out)
}
