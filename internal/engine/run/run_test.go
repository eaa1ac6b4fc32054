package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/lower"
)

// ptx is a kernel with a body between the usual declarations.
func ptx(body string) []byte {
	return []byte(`.version 8.7
.target sm_90
.address_size 64
// heddle: grid=1 block=64
.visible .entry k(.param .u64 p)
{
	.reg .pred %q;
	.reg .b64 %a;
	.reg .b32 %x;
	ld.param.u64 %a, [p];
	mov.u32 %x, %tid.x;
` + body + "\tret;\n}\n")
}

// examine runs the kernel of a text under two schedules.
func examine(t *testing.T, body string, common driver.Options) (v diag.Verdict, codes string) {
	t.Helper()
	v = examineWith(t, body, common, func(g diag.Diagnostic) { codes += " " + string(g.Code) })
	return v, codes
}

// examineWith is examine with what is done with each finding.
func examineWith(t *testing.T, body string, common driver.Options,
	found func(diag.Diagnostic)) (v diag.Verdict) {
	t.Helper()
	d := driver.New(common, found)
	in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: ptx(body)}}
	d.Run(t.Context(), []driver.Input{in}, func(ctx context.Context, job *driver.Job) {
		r := run.New(job, &run.Options{Seeds: 2}, job.Config())
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		r.All(ctx)
		v = r.Verdict()
		if v.Kind == diag.Clean && !r.Complete() ||
			strings.Contains(v.Reason, "reached its limit") && r.Complete() {
			t.Errorf("%v (%s): complete %v", v.Kind, v.Reason, r.Complete())
		}
	})
	return v
}

// A bug outweighs everything, and what was not covered is never clean.
func TestVerdict(t *testing.T) {
	const (
		store = "\tst.global.u32 [%a], %x;\n" // by all threads
		spin  = "L:\n\tbra L;\n"
		trap  = "\ttrap;\n"
	)
	for _, c := range []struct {
		name, body string
		kind       diag.VerdictKind
		codes      string
		text       string // in the reason or the scope
	}{
		{"nothing", "", diag.Clean, "", "2 runs with "},
		{"a race", store, diag.Bug, " race-global", ""},
		{"no end", spin, diag.Unknown, "", "the run reached its limit of 1000 warp instructions"},
		{"a race without an end", store + spin, diag.Bug, " race-global", "reached its limit"},
		{"a stop", trap, diag.Bug, " trap", ""},
	} {
		v, codes := examine(t, c.body, driver.Options{MaxSteps: 1000})
		if v.Kind != c.kind || codes != c.codes ||
			!strings.Contains(v.Reason+v.Scope, c.text) {
			t.Errorf("%s: %v,%s, %q", c.name, v.Kind, codes, v.Reason+v.Scope)
		}
	}
}

// A finding that is known is not a bug, and what follows a run that it ended is not clean.
func TestKnown(t *testing.T) {
	known := func(*diag.Diagnostic) bool { return true }
	v, _ := examine(t, "\ttrap;\n", driver.Options{Known: known})
	if v.Kind != diag.Unknown || v.Known != 1 || !strings.Contains(v.Reason, "suppressed or known") {
		t.Errorf("%+v", v)
	}
}

// A run goes on after an invalid access. What its thread does later is reported, and says so; a
// known finding of this kind does not make the rest clean.
func TestAfterFault(t *testing.T) {
	const body = "\tst.global.u32 [%a], %x;\n" + // a race, before anything else
		"\tld.global.u32 %x, [%a+2];\n\tst.global.u32 [%a+64], %x;\n"
	var got []string
	report := func(g diag.Diagnostic) {
		after := strings.Contains(strings.Join(g.Notes, "\n"), "after an access out of bounds")
		got = append(got, fmt.Sprintf("%s %v", g.Code, after))
	}
	in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: ptx(body)}}
	check := func(common driver.Options) (v diag.Verdict) {
		driver.New(common, report).Run(t.Context(), []driver.Input{in},
			func(ctx context.Context, job *driver.Job) {
				r := run.New(job, &run.Options{Seeds: 1}, job.Config())
				if err := r.Start(); err != nil {
					t.Fatal(err)
				}
				r.All(ctx)
				v = r.Verdict()
			})
		return v
	}
	want := []string{"race-global false", "race-global true", "misaligned false"}
	if v := check(driver.Options{}); v.Kind != diag.Bug || !slices.Equal(got, want) {
		t.Errorf("%+v, %q, want %q", v, got, want)
	}
	v := check(driver.Options{Known: func(*diag.Diagnostic) bool { return true }})
	if v.Kind != diag.Unknown || !strings.Contains(v.Reason, "made up") {
		t.Errorf("%+v", v)
	}
}

// A block that stalls is not covered. If no finding says at what its threads wait, the verdict must
// not be clean; a finding says more.
func TestStallWithoutFinding(t *testing.T) {
	for _, racy := range []bool{false, true} {
		d := driver.New(driver.Options{}, func(diag.Diagnostic) {})
		body := ""
		if racy {
			body = "\tst.global.u32 [%a], %x;\n"
		}
		in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: ptx(body)}}
		d.Run(t.Context(), []driver.Input{in}, func(ctx context.Context, job *driver.Job) {
			r := run.New(job, &run.Options{}, job.Config())
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			r.All(ctx)
			if !r.Ended(&emu.Result{Status: emu.Stalled}, 7) {
				t.Error("another schedule may show more")
			}
			want, text := diag.Unknown, "threads wait forever, and no finding says at what, with 0 of 1 "+
				"blocks done (seed 7)"
			if racy {
				want, text = diag.Bug, ""
			}
			if v := r.Verdict(); v.Kind != want || v.Reason != text {
				t.Errorf("racy %v: %v (%s), want %v (%s)", racy, v.Kind, v.Reason, want, text)
			}
		})
	}
}
