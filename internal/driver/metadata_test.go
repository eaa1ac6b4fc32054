package driver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/launch"
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

// The text of an open document has the file beside it; a text without a file has none.
func TestMetadataOfText(t *testing.T) {
	t.Chdir(t.TempDir())
	beside := []byte(`{"num_warps": 8, "num_ctas": 1, "shared": 16}`)
	if err := os.WriteFile("k.json", beside, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: kernels(1)}}
		driver.New(driver.Options{}, func(diag.Diagnostic) {}).Run(t.Context(), []driver.Input{in},
			func(_ context.Context, job *driver.Job) {
				if cfg := job.Config(); cfg == nil || (cfg.Geometry.Block.X == 256) != want {
					t.Errorf("a file %v: %+v", want, cfg)
				}
			})
		if err := os.WriteFile("k.ptx", kernels(1), 0o644); err != nil {
			t.Fatal(err)
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

// Of files that were found in a directory with one PTX and one launch, the first is examined; what
// differs, what has no metadata, and what the user has named is examined as often as it is there.
func TestRepeats(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var inputs []driver.Input
	add := func(sub, hash string, warps int, found bool) {
		in := driver.Input{Input: lower.Input{Name: write(sub+"/k.ptx", kernels(1))}, Found: found}
		if warps > 0 {
			write(sub+"/k.json", fmt.Appendf(nil,
				`{"hash": %q, "num_warps": %d, "num_ctas": 1, "shared": 0, "name": "k0"}`, hash, warps))
		}
		inputs = append(inputs, in)
	}
	add("a", "1", 4, true)
	add("b", "2", 4, true) // repeats a
	add("c", "3", 8, true)
	add("d", "4", 4, true) // repeats a
	add("e", "", 0, true)
	add("f", "", 0, true)
	add("g", "5", 4, false)
	for _, configured := range []bool{false, true} {
		want := "a c e f g"
		var opt driver.Options
		if configured { // settings may differ between directories
			want = "a b c d e f g"
			opt.Settings = func(string, *ir.Func) driver.Setting {
				return driver.Setting{Launch: []launch.Setting{{}}}
			}
		}
		var got, notes []string
		d := driver.New(opt, func(g diag.Diagnostic) { notes = append(notes, g.Message) })
		d.Run(t.Context(), inputs, func(_ context.Context, job *driver.Job) {
			got = append(got, filepath.Base(filepath.Dir(job.Module.Name)))
		})
		if g := strings.Join(got, " "); g != want {
			t.Errorf("configured %v: examined %s, want %s", configured, g, want)
		}
		if text := strings.Join(notes, "\n"); configured != (text == "") || !configured &&
			!strings.HasPrefix(text, "2 files have the same kernels and launches as others, such as ") {
			t.Errorf("configured %v: notes %q", configured, text)
		}
	}
}
