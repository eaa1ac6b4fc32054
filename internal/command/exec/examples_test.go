package exec_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/host"
	"heddle/internal/source"
	"heddle/internal/testing/program"
)

// findings is a printer that keeps the codes of findings with the places.
func findings(files *source.Set, to *[]string) diag.Printer {
	return diag.FindingFunc(func(d *diag.Diagnostic) {
		if d.Suppressed != nil {
			return
		}
		p := d.Span.Start
		place := fmt.Sprintf("%s:%d", filepath.Base(files.File(p.File()).Name), p.Line())
		*to = append(*to, string(d.Code)+" "+place)
	})
}

// result is what a run of a program shows.
type result struct {
	*exec.Summary
	stdout, stderr string
	findings       []string
}

// codes returns the codes of the findings.
func (r *result) codes() (out []string) {
	for _, f := range r.findings {
		code, _, _ := strings.Cut(f, " ")
		out = append(out, code)
	}
	return out
}

// expect compares what heddle does not support and the codes of the findings with what they must
// be.
func (r *result) expect(t *testing.T, unsupported, codes []string) {
	t.Helper()
	if !slices.Equal(r.Unsupported, unsupported) {
		t.Errorf("unsupported %q, want %q", r.Unsupported, unsupported)
	}
	if !slices.Equal(r.codes(), codes) {
		t.Errorf("findings %q, want %q", r.findings, codes)
	}
}

// options returns those of a run whose findings go to a list.
func options(t testing.TB, to *[]string) *exec.Options {
	t.Helper()
	gpu, err := host.FindGPU("a100")
	if err != nil {
		t.Fatal(err)
	}
	opt := &exec.Options{GPU: gpu, Check: exec.DefaultPolicy,
		Printer: func(files *source.Set) diag.Printer { return findings(files, to) }}
	opt.Common.Limit = 20
	return opt
}

// start runs a program. change sets options; it may be nil.
func start(t testing.TB, args []string, change func(*exec.Options)) result {
	t.Helper()
	var out result
	opt := options(t, &out.findings)
	if change != nil {
		change(opt)
	}
	var stdout, stderr bytes.Buffer
	sum, err := exec.Run(t.Context(), exec.Program{Args: args, Stdout: &stdout, Stderr: &stderr}, opt)
	if err != nil {
		t.Fatal(err)
	}
	out.Summary, out.stdout, out.stderr = sum, stdout.String(), stderr.String()
	return out
}

// example is what a program of examples/programs must show. Each compares its results with those of
// the host and returns 1 if they differ, so code 0 says that kernels, copies and launches work.
type example struct {
	files    string // default: NAME.cu
	arch     string // default: that of the lowering
	args     []string
	code     int      // of heddle exec
	findings []string // in the order of the launches
	launches uint64   // of all kernels
	checked  uint64   // with first:3 of each kernel and shape
	stdout   string   // that the output contains
}

// The expectations follow from the programs: correct ones have no finding.
var examples = map[string]example{
	// There is memory from cuMemSetAccess to cuMemUnmap (CUDA Driver API, "Virtual Memory Management").
	"virtual_memory": {launches: 1, checked: 1, stdout: "0 wrong, 0 calls"},
	"virtual_memory unmapped": {files: "virtual_memory.cu", args: []string{"1"}, code: 1,
		findings: []string{"out-of-bounds virtual_memory.cu:9"}, launches: 2, checked: 2,
		stdout: "cudaErrorIllegalAddress"},
	"vector_add": {launches: 1, checked: 1, stdout: "10000 sums are right"},
	// The sums are exact in float. What wgmma reads must not be overwritten before wait_group (PTX
	// ISA 9.7.15.7.3); for A and for B.
	"hopper_gemm": {arch: "sm_90a", launches: 1, checked: 1, stdout: "0 wrong, no error"},
	"hopper_gemm racy": {files: "hopper_gemm.cu", arch: "sm_90a", args: []string{"racy"}, code: 1,
		findings: []string{"race-async-copy hopper_gemm.cu:67", "race-async-copy hopper_gemm.cu:68"},
		launches: 1, checked: 1},
	// The filtered signal is compared with sums by the definition of the transform.
	"low_pass":      {launches: 2, checked: 2, stdout: "0 wrong"},
	"managed_saxpy": {launches: 3, checked: 3, stdout: "3 calls, 0 wrong"},
	// 20 launches of one shape
	"heat_pingpong": {launches: 20, checked: 3, stdout: "0 of 2000 points"},
	// int and double, two launches each, of two shapes
	"reduce_template":   {launches: 4, checked: 4, stdout: "12497500 1.24975e+07"},
	"constant_filter":   {launches: 1, checked: 1, stdout: "8 blocks, 0 wrong"},
	"streams_events":    {launches: 5, checked: 4, stdout: "4 callbacks"},
	"cooperative_sum":   {launches: 1, checked: 1, stdout: "cudaSuccess, sum 30000; cudaErrorCooperativeLaunchTooLarge"},
	"histogram":         {launches: 1, checked: 1, stdout: "histogram of 20000 bytes by 6 blocks\nright"},
	"two_files":         {files: "two_files/main.cpp two_files/kernels.cu", launches: 2, checked: 2, stdout: "no error"},
	"pitched_transpose": {launches: 1, checked: 1, stdout: "0 wrong"},
	// The flag and the levels are written by atomics; level[v] is read plainly by the thread of v while
	// another thread may change it from -1 by atomicCAS: an atomic and a plain access that nothing orders
	// are a race (PTX ISA 8.7.1: not morally strong). It does no harm here, and compute-sanitizer's users
	// know the pattern.
	"bfs_levels": {code: 1, findings: []string{"race-global bfs_levels.cu:10"}, checked: 3, stdout: "right"},
	// One block reads and writes its own numbers only; four blocks read what others write.
	"running_sum_racy": {code: 1, findings: []string{"race-global running_sum_racy.cu:23"}, launches: 1,
		checked: 1, stdout: "0 wrong"},
	"running_sum_racy 200": {files: "running_sum_racy.cu", args: []string{"200"}, launches: 1, checked: 1,
		stdout: "0 wrong"},
	// 1024 threads write 1000 elements: 24 of them miss. The launch fails as on a GPU that notices.
	"overrun": {code: 1, findings: []string{"out-of-bounds overrun.cu:5"}, launches: 1, checked: 1,
		stdout: "0, an illegal memory access was encountered"},
	"errors": {launches: 1, checked: 1, stdout: "0 wrong"},
	// Conversions round to nearest even once, and saturate (CUDA Math API, "FP8 Conversion and Data
	// Movement").
	"fp8_convert": {launches: 1, checked: 1, stdout: "4096 numbers, 0 wrong"},
	// Members of a tile see what the others wrote before its sync; other tiles are apart (CUDA C++
	// Programming Guide, "Thread Block Tile").
	"large_tiles": {launches: 4, checked: 4,
		stdout: "32: 0 wrong\n64: 0 wrong\n128: 0 wrong\n512: 0 wrong\n"},
	// What the launch before writes is there behind the wait for it only (PTX ISA 9.7.13.13), and
	// that launch lets the next one begin.
	"dependent_launch": {arch: "sm_90", launches: 6, checked: 3, stdout: "0 wrong, no error"},
	"dependent_launch racy": {arch: "sm_90", files: "dependent_launch.cu", args: []string{"racy"}, code: 1,
		findings: []string{"pdl-early-access dependent_launch.cu:12"}, launches: 6, checked: 3,
		stdout: "0 wrong, no error"},
	"driver_api": {launches: 2, checked: 2, stdout: "0 wrong; CUDA_ERROR_NOT_INITIALIZED, " +
		"CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_HANDLE"},
	// Three kernels, launched twice as a graph; without the second event, two of them are unordered.
	"graph_capture": {launches: 6, checked: 6, stdout: "4 nodes, 0 wrong"},
	"graph_capture racy": {files: "graph_capture.cu", args: []string{"racy"}, code: 1,
		findings: []string{"race-stream graph_capture.cu:37"}, launches: 6, checked: 6,
		stdout: "not joined: cudaErrorStreamCaptureUnjoined\n4 nodes, 0 wrong"},
	// Memory of a graph is there from its allocation node to what frees it; a launch that would allocate
	// it twice fails (CUDA C++ Programming Guide, "Graph Memory Nodes").
	"graph_memory": {launches: 7, checked: 5, stdout: "0, 0 and 0 wrong"},
	"graph_nodes":  {launches: 6, checked: 6, stdout: "6 nodes, 6 edges, 0 wrong, no error"},
	"nvrtc": {launches: 1, checked: 1,
		stdout: "0 wrong; NVRTC_ERROR_COMPILATION, with a message"},
	"pools": {launches: 2, checked: 2, stdout: "used 4000 4000 0, most 4000; 0 wrong, no error"},
	// Tiles of a matrix that is no multiple of them: what is outside is read as 0, and not written
	// (PTX ISA 5.5.6). What threads write is only there for a copy behind a proxy fence (9.7.13.4).
	"tensor_copy": {launches: 1, checked: 1, stdout: "0 wrong, no error"},
	"tensor_copy racy": {files: "tensor_copy.cu", args: []string{"racy"}, code: 1,
		findings: []string{"race-proxy tensor_copy.cu:44"}, launches: 1, checked: 1,
		stdout: "0 wrong, no error"},
	// The kernel of one file calls a function of the other: 300 threads, twice.
	"separate": {files: "separate/main.cu separate/hash.cu", launches: 3, checked: 3,
		stdout: "600 calls, 0 wrong, no error"},
	"textures": {launches: 4, checked: 4, stdout: "0 wrong, no error"},
	// The last level but one is the fourth launch of halve, of which three are checked.
	"mipmaps": {launches: 9, checked: 7, stdout: "0 wrong, no error"},
	"mipmaps racy": {files: "mipmaps.cu", args: []string{"racy"}, code: 1,
		findings: []string{"race-noncoherent mipmaps.cu:31"}, launches: 10, checked: 8,
		stdout: "0 wrong, no error"},
	// Operations of system scope are atomic for the host (CUDA C++ Programming Guide, "Atomic
	// Functions"): 2048 threads count to 40, the host to 200,000.
	"system_atomics": {launches: 1, checked: 1, stdout: "81920 and 200000 increments: none is lost"},
	// Threads read through a texture what others write in the same launch.
	"texture_race": {code: 1, findings: []string{"race-global texture_race.cu:10"}, launches: 1,
		checked: 1, stdout: "no error"},
	"texture_race elsewhere": {files: "texture_race.cu", args: []string{"1"}, launches: 1, checked: 1,
		stdout: "no error"},
	// The third round fills the buffer of the first one, which consume may still read (CUDA C++
	// Programming Guide, "Streams": commands of different streams may execute out of order or
	// concurrently). One emulated order gives the right result.
	"pipeline_racy": {code: 1, findings: []string{"race-stream pipeline_racy.cu:39"}, launches: 12,
		checked: 6, stdout: "6 rounds, 0 wrong"},
	"pipeline": {launches: 12, checked: 6, stdout: "6 rounds, 0 wrong"},
}

// TestExamples runs the programs that the documentation shows.
func TestExamples(t *testing.T) {
	dir := "../../../examples/programs"
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		t.Run(name, func(t *testing.T) {
			want := examples[name]
			if want.files == "" {
				want.files = name + ".cu"
			}
			var files []string
			for f := range strings.FieldsSeq(want.files) {
				files = append(files, filepath.Join(dir, f))
			}
			got := start(t, append([]string{program.BuildFor(t, want.arch, files...)}, want.args...), nil)
			var launches, checked uint64
			for _, k := range got.Kernels {
				launches, checked = launches+k.Launches, checked+k.Checked
			}
			if code := got.Exit(); code != want.code || !strings.Contains(got.stdout, want.stdout) ||
				got.stderr != "" {
				t.Errorf("exit code %d, want %d; output %q, want %q; messages %q", code, want.code, got.stdout,
					want.stdout, got.stderr)
			}
			if !slices.Equal(slices.Compact(slices.Clone(got.findings)), want.findings) {
				t.Errorf("findings %q, want %q", got.findings, want.findings)
			}
			if want.launches != 0 && launches != want.launches || checked != want.checked {
				t.Errorf("%d launches, %d checked; want %d and %d", launches, checked, want.launches, want.checked)
			}
		})
	}
	// Each program has an expectation.
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := examples[strings.TrimSuffix(e.Name(), ".cu")]; !ok {
			t.Errorf("%s has no expectation", e.Name())
		}
	}
}
