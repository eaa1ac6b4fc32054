package run_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
)

// listed is a kernel with a row of neighbours for each thread, a level, a weight and a counter.
const listed = `.version 8.0
.target sm_80
.address_size 64
// heddle: grid=2 block=64 COMMENT
.visible .entry k(.param .u64 row, .param .u64 col, .param .u64 level, .param .u64 weight,
	.param .u64 count, .param .u64 bytes, .param .u32 now) {
	.reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<20>; .reg .f32 %f<3>;
	ld.param.u64 %rd1, [row];
	ld.param.u64 %rd2, [col];
	ld.param.u64 %rd3, [level];
	ld.param.u64 %rd4, [weight];
	ld.param.u64 %rd5, [count];
	ld.param.u64 %rd6, [bytes];
	ld.param.u32 %r5, [now];
	ld.global.u64 %rd7, [%rd1];
	ld.global.u64 %rd8, [%rd1+8];
	setp.ge.u64 %p1, %rd7, %rd8;
	@%p1 bra END;
	shl.b64 %rd9, %rd7, 2;
	add.s64 %rd10, %rd2, %rd9;
	ld.global.u32 %r1, [%rd10];
	mul.wide.s32 %rd11, %r1, 4;
	add.s64 %rd12, %rd3, %rd11;
	ld.global.u32 %r2, [%rd12];
	setp.ne.s32 %p2, %r2, %r5;
	@%p2 bra END;
	ld.global.f32 %f1, [%rd4];
	ld.global.s8 %r4, [%rd6];
	atom.global.add.u32 %r3, [%rd5], 1;
END:
	ret;
}
`

// Locks and counters keep their zeros, and floats; rows rise, indices are below the extents, and a
// level is one of the numbers that it is compared with. Nothing that somebody specified changes.
func TestFills(t *testing.T) {
	for _, tt := range []struct {
		comment string
		want    []string
	}{
		{"now=9", []string{
			"row=small:9 col=small:9 level=small:9 bytes=small:9",
			"row=csr:9,72,1 col=small:9,1 level=oneof@1:9,9,8,10,0,1 bytes=oneof@1:0,1",
			"row=csr:9,72,2 col=small:9,2 level=oneof@2:9,9,8,10,0,1 bytes=oneof@2:0,1",
			"row=iota col=iota level=iota bytes=iota",
		}},
		{"row=zero level=iota now=-1 bytes=null", []string{
			"col=small:128", "col=small:32,1", "col=small:32,2", "col=iota",
		}},
		{"row=zero col=zero level=zero bytes=zero", nil},
	} {
		m := kernels.PTX(t, strings.Replace(listed, "COMMENT", tt.comment, 1))
		k := m.Kernel("k")
		cfg, errs := launch.Resolve(k, launch.Request{}, launch.Scan(m.Files.File(m.File), nil))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		var got []string
		before := strings.Count(cfg.Flags(), "--arg")
		for _, f := range run.Fills(cfg, k) {
			words := strings.Split(f.Flags(), " --arg ")[1+before:]
			got = append(got, strings.Join(words, " "))
			for key, o := range cfg.Origins {
				if f.Origins[key] != o {
					t.Errorf("%s: %s is %v", tt.comment, key, f.Origins[key])
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.comment, got, tt.want)
		}
	}
}

// refill runs a kernel as heddle check does before a proof.
func refill(t *testing.T, body string) (v diag.Verdict, found []diag.Diagnostic) {
	t.Helper()
	d := driver.New(driver.Options{}, func(g diag.Diagnostic) { found = append(found, g) })
	in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: ptx(body)}}
	d.Run(t.Context(), []driver.Input{in}, func(ctx context.Context, job *driver.Job) {
		cfg := job.Config()
		r := run.New(job, &run.Options{}, cfg)
		r.Guess = run.NewGuesses(job, cfg, 0)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		r.All(ctx)
		v = r.Refill(ctx, r.Verdict())
	})
	return v, found
}

// What runs with other contents decide. All threads read p[tid], at offset 64 and up.
func TestRefill(t *testing.T) {
	const load = `	.reg .b64 %i, %j, %o;
	.reg .b32 %y;
	mul.wide.u32 %o, %x, 4;
	add.s64 %i, %a, %o;
	ld.global.u32 %y, [%i+64];
	setp.eq.u32 %q, %y, 0;
	@%q bra END;
`
	for _, c := range []struct {
		name, body string
		kind       diag.VerdictKind
		severity   diag.Severity
		findings   bool
	}{
		// two weak writes of one place (PTX ISA 8.7), whichever thread reaches them
		{"same place", load + "\tst.global.u32 [%a], %x;\nEND:\n", diag.Bug, diag.Error, true},
		// only equal contents make two threads write one place
		{"place from memory", load + `	and.b32 %y, %y, 7;
	mul.wide.u32 %o, %y, 4;
	add.s64 %j, %a, %o;
	st.global.u32 [%j], %x;
END:
`, diag.Unknown, diag.Warning, true},
		// a barrier in a branch on contents: undefined only if they differ (PTX ISA 9.7.13.1)
		{"barrier", load + "\tbar.sync 0;\nEND:\n", diag.Unknown, diag.Warning, true},
		// runs that end early say nothing
		{"trap", load + "\tst.global.u32 [%a], %x;\n\ttrap;\nEND:\n", diag.Clean, 0, false},
		{"out of bounds", load + `	st.global.u32 [%a], %x;
	mov.u64 %j, 0;
	st.global.u32 [%j], %x;
END:
`, diag.Clean, 0, false},
		{"endless", load + "\tst.global.u32 [%a], %x;\nL:\n\tbra L;\nEND:\n", diag.Clean, 0, false},
		{"right", load + "\tst.global.u32 [%i+64], %x;\nEND:\n", diag.Clean, 0, false},
	} {
		v, found := refill(t, c.body)
		if v.Kind != c.kind || len(found) > 0 != c.findings {
			t.Errorf("%s: %v (%s), %d findings", c.name, v.Kind, v.Reason, len(found))
			continue
		}
		for _, f := range found {
			if f.Severity != c.severity || !strings.Contains(f.Reproduce, "heddle run") ||
				!strings.Contains(f.Reproduce, "--arg p=") {
				t.Errorf("%s: %v, %s", c.name, f.Severity, f.Reproduce)
			}
		}
	}
}
