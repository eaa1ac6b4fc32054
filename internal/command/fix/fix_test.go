package fix

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// wanted is what stands above a kernel of testdata/fix.
type wanted struct {
	kernel string
	result string // repaired, not repaired, redundant, unchanged
	why    string // of not repaired: what the reason contains
	atomic bool   // repaired with --allow atomic
	ref    bool   // there is NAME_ref
}

var (
	wantLine   = regexp.MustCompile(`^// (repaired|not repaired|redundant|unchanged|atomic): (.*)$`)
	kernelLine = regexp.MustCompile(`(?:__global__ void |\.entry )(\w+)\(`)
)

// readWanted reads the expectations of one file. A kernel without one is to be left as it is.
func readWanted(t *testing.T, path string) []wanted {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []wanted
	next := wanted{result: "unchanged"}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := wantLine.FindStringSubmatch(line); m != nil {
			if m[1] == "atomic" {
				next.atomic = true
			} else {
				next.result, next.why = m[1], m[2]
			}
		}
		if m := kernelLine.FindStringSubmatch(line); m != nil {
			next.kernel = m[1]
			out = append(out, next)
			next = wanted{result: "unchanged"}
		}
	}
	for i := range out {
		for j := range out {
			if out[j].kernel == out[i].kernel+"_ref" {
				out[i].ref = true
			}
		}
	}
	return out
}

func fixFile(t *testing.T, path, kernel string, fix Options) (
	*Result, *ir.Module, *launch.SourceFacts) {
	t.Helper()
	fix.Common = driver.Options{Files: source.NewSet(), Limit: 20, Kernel: kernel}
	res, err := File(context.Background(), fix, driver.Input{Input: lower.Input{Name: path}}, func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			t.Errorf("%s: %s", path, d.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := source.NewSet()
	user, err := set.Add("user"+filepath.Ext(path), text)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Fixes) == 0 {
		t.Fatalf("%s: no kernel", path)
	}
	p, err := parseKernel("fixed.ptx", mangled(res), res.PTX)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.PTX)
	}
	return res, p.kernel.Module, launch.Scan(user, nil)
}

// mangled is the name of some kernel of a result.
func mangled(res *Result) string { return res.Fixes[0].Name }

func kernelOf(m *ir.Module, name string) *ir.Func {
	for _, f := range m.Funcs {
		if f.Kernel && launch.BaseName(f.Demangled) == name {
			return f
		}
	}
	return nil
}

// memoryOf runs a kernel and returns what its buffers hold in the end.
func memoryOf(t *testing.T, f *ir.Func, facts *launch.SourceFacts, contents, seed uint64,
	more int) []byte {
	t.Helper()
	var req launch.Request
	plain, errs := launch.Resolve(f, req, facts)
	if len(errs) > 0 {
		t.Fatalf("%s: %s", f.Demangled, errs[0].Msg)
	}
	for i, v := range f.Params {
		spec := launch.ArgSpec{Param: fmt.Sprint(i), Offset: -1}
		if v.Pointer {
			spec.Kind, spec.Fill, spec.Seed = launch.ArgBuffer, launch.FillRandom, contents
		} else {
			spec.Kind, spec.Text = launch.ArgValue, fmt.Sprint(int(plain.Args[i].Bits[0])+more)
		}
		req.Args = append(req.Args, spec)
	}
	cfg, errs := launch.Resolve(f, req, facts)
	if len(errs) > 0 {
		t.Fatalf("%s: %s", f.Demangled, errs[0].Msg)
	}
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(t.Context(), emu.Options{Seed: seed, MaxSteps: 5_000_000, Workers: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != emu.Completed {
		t.Fatalf("%s: the run ended with status %d: %+v", f.Demangled, res.Status, res.Stop)
	}
	var out []byte
	for _, a := range cfg.Args {
		if a.Buffer != nil {
			b := make([]byte, 4096)
			if _, err := res.Read(a.Buffer.Name, 0, b); err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
	}
	return out
}

// Each kernel of testdata/fix has the result that the comment above it states. A repaired one
// computes what its reference does, for several contents of its buffers, schedules and sizes.
func TestFix(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/fix/*.*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	seeds := uint64(3)
	if long.All() {
		seeds = 20
	}
	broken, repaired := 0, 0
	for _, path := range files {
		if !long.Keep(filepath.Base(path), 2) {
			continue
		}
		want := readWanted(t, path)
		res, mod, facts := fixFile(t, path, "", Options{})
		for i, w := range want {
			if i >= len(res.Fixes) {
				t.Fatalf("%s: %d kernels, want %d", path, len(res.Fixes), len(want))
			}
			f := &res.Fixes[i]
			t.Run(w.kernel, func(t *testing.T) {
				if got := launch.BaseName(f.Kernel); got != w.kernel {
					t.Fatalf("kernel %s, want %s", got, w.kernel)
				}
				status := f.Status.String()
				if len(f.Redundant) > 0 {
					status = "redundant"
				}
				if w.result == "unchanged" && status == "redundant" && f.After.Kind == diag.Verified {
					status = w.result // what is reported is proved
				}
				if status != w.result ||
					w.result == "not repaired" && !strings.Contains(f.Why, strings.SplitN(w.why, ":", 2)[0]) {
					t.Errorf("%s (%s), want %s: %s", status, f.Why, w.result, w.why)
				}
				if w.result == "repaired" && f.Status == Repaired {
					if len(f.Wrong) == 0 || len(f.Changes) == 0 ||
						f.After.Kind != diag.Verified && f.After.Kind != diag.Clean {
						t.Errorf("wrong %d, changes %d, after %v", len(f.Wrong), len(f.Changes), f.After)
					}
				}
				t.Logf("%s, %s; %d texts in %v, all %v", status, f.Verdict(), f.Judged, f.Checks, f.Total)
				switch {
				case w.result == "repaired":
					broken++
					if f.Status == Repaired {
						repaired++
					}
				case w.result == "not repaired":
					broken++
				}
				in := mod
				if w.atomic {
					var res *Result
					if res, in, _ = fixFile(t, path, w.kernel, Options{Atomic: true}); res.Fixes[0].Status != Repaired {
						t.Fatalf("with atomics: %v, %s", res.Fixes[0].Status, res.Fixes[0].Why)
					}
				}
				if !w.ref || w.result == "not repaired" && !w.atomic {
					return
				}
				for seed := range seeds {
					for more := -1; more <= 1; more++ {
						a := memoryOf(t, kernelOf(in, w.kernel), facts, seed+1, seed, more)
						b := memoryOf(t, kernelOf(in, w.kernel+"_ref"), facts, seed+1, seed, more)
						if !bytes.Equal(a, b) {
							t.Fatalf("contents %d, schedule %d, size %+d: another result than the reference",
								seed+1, seed, more)
						}
					}
				}
			})
		}
	}
	t.Logf("%d of %d broken kernels repaired", repaired, broken)
}

// The repair of a kernel without the checks of its candidates, and with them.
func BenchmarkFix(b *testing.B) {
	var proper, whole, most, mostProper time.Duration
	n := 0
	for b.Loop() {
		opt := Options{Common: driver.Options{Files: source.NewSet(), Limit: 20}}
		res, err := File(context.Background(), opt, driver.Input{
			Input: lower.Input{Name: "../../../testdata/fix/table.cu"},
		}, func(diag.Diagnostic) {})
		if err != nil {
			b.Fatal(err)
		}
		for i := range res.Fixes {
			if f := &res.Fixes[i]; f.Status == Repaired {
				n++
				proper += f.Total - f.Checks
				whole += f.Total
				most, mostProper = max(most, f.Total), max(mostProper, f.Total-f.Checks)
			}
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(proper)/float64(n), "repair-ms/kernel")
	b.ReportMetric(ms(mostProper), "repair-ms-max")
	b.ReportMetric(ms(whole)/float64(n), "whole-ms/kernel")
	b.ReportMetric(ms(most), "whole-ms-max")
}
