package driver_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/triton"
)

// A file of metadata counts for the kernel that it names, or for the only one. What is beside a PTX
// file by chance is ignored, and what looks like metadata and cannot be used is a warning.
func TestMetadata(t *testing.T) {
	const plain = `{"num_warps": 8, "num_ctas": 1, "shared": 16`
	for _, tt := range []struct {
		name    string
		kernels int
		json    string // empty: no file
		opt     driver.Options
		block   uint32 // 0: guessed
		warning string
	}{
		{name: "no file", kernels: 1},
		{name: "the only kernel", kernels: 1, json: plain + `}`, block: 256},
		{name: "its name", kernels: 2, json: plain + `, "name": "k0"}`, block: 256},
		{name: "no name", kernels: 2, json: plain + `}`,
			warning: "k.json does not name its kernel; the kernels of K.PTX are: k0, k1"},
		{name: "another name", kernels: 1, json: plain + `, "name": "x"}`,
			warning: `k.json is about kernel "x"; the kernels of K.PTX are: k0`},
		{name: "another GPU", kernels: 1, json: plain + `, "target": {"backend": "hip"}}`,
			warning: "k.json is for the backend hip"},
		{name: "other JSON", kernels: 1, json: `{"version": 1}`},
		{name: "not JSON", kernels: 1, json: `{"num_warps"`, warning: "k.json is not JSON: "},
		{name: "large", kernels: 1, json: strings.Repeat(" ", triton.MaxSize+1),
			warning: "heddle reads at most 1048576"},
		{name: "confined", kernels: 1, json: plain + `}`,
			opt: driver.Options{MayRead: func(string) bool { return false }}},
	} {
		dir := t.TempDir()
		path, beside := filepath.Join(dir, "k.PTX"), filepath.Join(dir, "k.json")
		write := func(name string, text []byte) {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(path, kernels(tt.kernels))
		if tt.json != "" {
			write(beside, []byte(tt.json))
		}
		var got []string
		d := driver.New(tt.opt, func(g diag.Diagnostic) {
			if got = append(got, g.Message); g.Severity != diag.Warning {
				t.Errorf("%s: %q is no warning", tt.name, g.Message)
			}
		})
		in := driver.Input{Input: lower.Input{Name: path, Lang: lower.PTX}}
		d.Run(t.Context(), []driver.Input{in}, func(_ context.Context, job *driver.Job) {
			cfg := job.Config()
			if job.Kernel.Name != "k0" || cfg == nil {
				return
			}
			block := cfg.Geometry.Block.X
			if cfg.Origins["block"].Guessed() {
				block = 0
			}
			if block != tt.block {
				t.Errorf("%s: a block of %d threads, want %d", tt.name, block, tt.block)
			}
		})
		want := tt.warning != ""
		text := strings.NewReplacer(beside, "k.json", path, "K.PTX").Replace(strings.Join(got, "\n"))
		if (len(got) == 1) != want || !strings.Contains(text, tt.warning) {
			t.Errorf("%s: %q, want a warning with %q", tt.name, text, tt.warning)
		}
	}
}

// A directory, or anything that is no regular file, is not read.
func TestMetadataIsNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(path, kernels(1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "k.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	var got []string
	d := driver.New(driver.Options{}, func(g diag.Diagnostic) { got = append(got, g.Message) })
	d.Run(t.Context(), []driver.Input{{Input: lower.Input{Name: path}}},
		func(_ context.Context, job *driver.Job) { job.Config() })
	if len(got) != 1 || !strings.Contains(got[0], "is a directory") {
		t.Errorf("%q", got)
	}
}
