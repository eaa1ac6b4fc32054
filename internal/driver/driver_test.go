package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/lower"
)

// kernels is a module of PTX with n empty kernels k0, k1, ...
func kernels(n int) []byte {
	var b strings.Builder
	b.WriteString(".version 8.7\n.target sm_90\n.address_size 64\n")
	for i := range n {
		fmt.Fprintf(&b, ".visible .entry k%d()\n{\n\tret;\n}\n", i)
	}
	return []byte(b.String())
}

func input(n int) []driver.Input {
	return []driver.Input{{Input: lower.Input{Name: "k.ptx", Content: kernels(n)}}}
}

// Findings, verdicts and decisions are those of one worker, in the order of the kernels, although
// the first kernels take the longest.
func TestOrder(t *testing.T) {
	const n = 9
	for _, workers := range []int{1, 3, 16} {
		var got []string
		opt := driver.Options{Workers: workers}
		opt.Decisions = func(d driver.Decisions) { got = append(got, "decided "+d.Kernel) }
		d := driver.New(opt, func(g diag.Diagnostic) { got = append(got, g.Message) })
		d.Run(t.Context(), input(n), func(_ context.Context, job *driver.Job) {
			k := job.Kernel.Name
			end := job.Asks(driver.Emulation, "test")
			time.Sleep(time.Duration(n-len(k)) * time.Millisecond)
			job.Report(diag.Diagnostic{Code: diag.CodeLaunch, Message: "found " + k})
			v := diag.Verdict{Kind: diag.Clean, Kernel: k}
			end(&v)
			job.AddFindings(1, 2)
			job.AddVerdict(v)
		})
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("found k%d", i), fmt.Sprintf("decided k%d", i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: %v", workers, got)
		}
		sum := d.Summary()
		if len(sum.Verdicts) != n || sum.Bugs != n || sum.Guessed != 2*n {
			t.Errorf("%d workers: %+v", workers, sum)
		}
		for i, v := range sum.Verdicts {
			if v.Kernel != fmt.Sprintf("k%d", i) || v.Input != "k.ptx" {
				t.Errorf("%d workers: verdict %d is of %s in %s", workers, i, v.Kernel, v.Input)
			}
		}
	}
}

// A panic of a job reaches the caller, after the other jobs have ended.
func TestPanic(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "job k1") {
			t.Errorf("recovered %v", p)
		}
	}()
	d := driver.New(driver.Options{Workers: 4}, func(diag.Diagnostic) {})
	d.Run(t.Context(), input(5), func(_ context.Context, job *driver.Job) {
		if job.Kernel.Name == "k1" {
			panic("job k1")
		}
	})
	t.Error("no panic")
}

// A configuration skips kernels with a note, and gives the others an engine and a timeout. A kernel
// that no name matches is an input error that lists what there is.
func TestSelection(t *testing.T) {
	var notes []string
	opt := driver.Options{Settings: func(input string, k *ir.Func) driver.Setting {
		if k.Name == "k1" {
			return driver.Setting{Skip: "too slow"}
		}
		return driver.Setting{Engine: driver.Proof, Timeout: time.Second}
	}}
	d := driver.New(opt, func(g diag.Diagnostic) { notes = append(notes, g.Message) })
	var seen []string
	d.Run(t.Context(), input(3), func(_ context.Context, job *driver.Job) {
		seen = append(seen, job.Kernel.Name)
		if job.Engine != driver.Proof || job.Timeout != time.Second {
			t.Errorf("%s: engine %v, timeout %v", job.Kernel.Name, job.Engine, job.Timeout)
		}
	})
	slices.Sort(seen)
	if !slices.Equal(seen, []string{"k0", "k2"}) || d.Summary().Skipped != 1 ||
		len(notes) != 1 || !strings.Contains(notes[0], "too slow") {
		t.Errorf("examined %v, %d skipped, %v", seen, d.Summary().Skipped, notes)
	}
	var help []string
	d = driver.New(driver.Options{Kernel: "other"}, func(g diag.Diagnostic) { help = g.Help })
	d.Run(t.Context(), input(2), func(context.Context, *driver.Job) { t.Error("examined") })
	if d.Summary().InputErrors != 1 || len(help) != 1 || help[0] != "the kernels are: k0, k1" {
		t.Errorf("%d input errors, %v", d.Summary().InputErrors, help)
	}
}

// Comments and known findings set a finding aside once, whichever engine finds it.
func TestSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(path, kernels(1), 0o644); err != nil {
		t.Fatal(err)
	}
	asked := 0
	opt := driver.Options{Known: func(*diag.Diagnostic) bool { asked++; return true }}
	d := driver.New(opt, func(diag.Diagnostic) { t.Error("a known finding was sent") })
	d.Run(t.Context(), []driver.Input{{Input: lower.Input{Name: path}}},
		func(_ context.Context, job *driver.Job) {
			var aside driver.Aside
			g := diag.Diagnostic{Code: diag.CodeTrap, Span: driver.KernelPlace(job.Kernel)}
			for range 2 {
				if !job.SetAside(&aside, &g) {
					t.Error("not set aside")
				}
			}
			if !aside.Any() || aside.Known != 1 || aside.Hits != 2 || asked != 1 {
				t.Errorf("%+v, asked %d times", aside, asked)
			}
		})
}

// Each verdict is sent as soon as those of the earlier kernels are known, with its input and among
// the findings: the first one before the last kernel is examined.
func TestVerdictsAsKnown(t *testing.T) {
	const n = 4
	var got []string
	first := make(chan struct{})
	opt := driver.Options{Workers: 2, Verdict: func(v *diag.Verdict) {
		if got = append(got, v.Input+" "+v.Kernel); v.Kernel == "k0" {
			close(first)
		}
	}}
	d := driver.New(opt, func(g diag.Diagnostic) { got = append(got, g.Message) })
	d.Run(t.Context(), input(n), func(_ context.Context, job *driver.Job) {
		if job.Kernel.Name == "k3" {
			<-first
		}
		job.Report(diag.Diagnostic{Code: diag.CodeLaunch, Message: "found"})
		job.AddVerdict(diag.Verdict{Kernel: job.Kernel.Name})
	})
	want := []string{"found", "k.ptx k0", "found", "k.ptx k1", "found", "k.ptx k2", "found", "k.ptx k3"}
	if !slices.Equal(got, want) || len(d.Summary().Verdicts) != n {
		t.Errorf("got %v", got)
	}
}

// After the end of the context everything that was not examined has an unknown verdict with the
// cause, kernels and files alike, and no error in the input is counted. The reason of a kernel that
// was being examined begins with the cause; a result that it has by then stays as it is.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	d := driver.New(driver.Options{Workers: 1}, func(g diag.Diagnostic) { t.Error(g.Message) })
	inputs := append(input(4), driver.Input{Input: lower.Input{Name: "no.cu"}})
	d.Run(ctx, inputs, func(ctx context.Context, job *driver.Job) {
		switch job.Kernel.Name {
		case "k0":
			job.AddVerdict(diag.Verdict{Kind: diag.Unknown, Kernel: "k0", Reason: "too long"})
		case "k1":
			cancel(errors.New("the power failed"))
			job.AddVerdict(diag.Verdict{Kind: diag.Unknown, Kernel: "k1", Reason: "half of it"})
			job.AddVerdict(diag.Verdict{Kind: diag.Bug, Kernel: "k1"})
		default:
			t.Errorf("%s is examined", job.Kernel.Name)
		}
	})
	var got []string
	for _, v := range d.Summary().Verdicts {
		got = append(got, fmt.Sprintf("%v %s %s", v.Kind, v.Input, v.Text()))
	}
	want := []string{
		"unknown k.ptx kernel k0: too long",
		"unknown k.ptx kernel k1: the power failed: half of it",
		"bug k.ptx kernel k1",
		"unknown k.ptx kernel k2: not examined: the power failed",
		"unknown k.ptx kernel k3: not examined: the power failed",
		"unknown no.cu all kernels of no.cu: not examined: the power failed",
	}
	if !slices.Equal(got, want) || d.Summary().InputErrors > 0 || d.Summary().Unread != 1 {
		t.Errorf("got %q\nerrors: %d, unread: %d", got, d.Summary().InputErrors, d.Summary().Unread)
	}
	if why := driver.Stopped(t.Context()); why != "" {
		t.Errorf("a context that goes on: %s", why)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if why := driver.Stopped(ended); why != "the run was interrupted" {
		t.Errorf("a context without a cause: %s", why)
	}
}
