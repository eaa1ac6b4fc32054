package run_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

const arenaBase = 32 << 40

// program is one kernel whose launches are examined in an arena of 1 MiB.
type program struct {
	t     testing.TB
	arena *emu.Arena
	mem   []byte
	code  *emu.Program
	job   *driver.Job
	*run.Program
}

// programOf calls f with a program for the kernel of ptx(body), whose findings go to sink.
func programOf(t testing.TB, body string, common driver.Options, sink func(diag.Diagnostic),
	f func(*program)) {
	t.Helper()
	in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: ptx(body)}}
	driver.New(common, sink).Run(t.Context(), []driver.Input{in},
		func(_ context.Context, job *driver.Job) {
			mem := make([]byte, 1<<20)
			a := emu.NewArena(arenaBase, mem)
			code, err := emu.NewProgram(job.Kernel, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			f(&program{t, a, mem, code, job, run.NewProgram(job, &run.Options{})})
		})
}

// alloc allocates size bytes at an offset in the arena.
func (p *program) alloc(name string, off, size uint64) uint64 {
	p.t.Helper()
	addr := uint64(arenaBase) + off
	err := p.arena.Alloc(emu.Allocation{Name: name, Addr: addr, Size: size, Space: event.Global})
	if err != nil {
		p.t.Fatal(err)
	}
	return addr
}

// launch launches the kernel with blocks of 64 threads.
func (p *program) launch(grid uint32, arg uint64, check bool) *emu.Result {
	p.t.Helper()
	params := binary.LittleEndian.AppendUint64(nil, arg)
	g := event.Geometry{Grid: event.Dim3{X: grid, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1},
		Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
	cfg := launch.OfProgram(p.job.Kernel, g, 0, params, func(addr uint64) *launch.Memory {
		al, ok := p.arena.Find(addr)
		if !ok {
			return nil
		}
		return &launch.Memory{Name: al.Name, Addr: al.Addr, Size: al.Size}
	})
	m, err := p.code.Machine(cfg, params)
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := p.Launch(p.t.Context(), cfg, m, check)
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

// element is a store by each thread of a block to its own element, at %a.
const element = "\tmad.wide.u32 %a, %x, 4, %a;\n\tst.global.u32 [%a], %x;\n"

// A finding of a launch is an error, is reported once, and has no word of guesses.
func TestProgramRace(t *testing.T) {
	var found []diag.Diagnostic
	sink := func(g diag.Diagnostic) { found = append(found, g) }
	programOf(t, "\tst.global.u32 [%a], %x;\n", driver.Options{}, sink, func(p *program) {
		p.Reproduce = "heddle exec k.cu"
		out := p.alloc("d_out", 4096, 256)
		for range 3 {
			p.launch(2, out+16, true)
		}
		v := p.Verdict()
		if v.Kind != diag.Bug || p.Bugs() != 1 || len(found) != 1 {
			t.Fatalf("%+v, %d findings", v, len(found))
		}
		g := found[0]
		text := g.Message + "\n" + strings.Join(g.Remarks(), "\n")
		for _, want := range []string{"on global d_out (bytes 16-19)", "grid 2 (program), block 64 (program), " +
			"p: d_out, 256 bytes from byte 16 (program)"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in:\n%s", want, text)
			}
		}
		if g.Severity != diag.Error || strings.Contains(text, "guess") || g.Reproduce != p.Reproduce {
			t.Errorf("%v, reproduce %q:\n%s", g.Severity, g.Reproduce, text)
		}
	})
}

// What launches end as, and what the verdict on all of them says.
func TestProgramVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		checks     []bool
		arg        uint64 // offset in the arena; 4096 is the start of 256 bytes
		kind       diag.VerdictKind
		text       string
		status     emu.Status
	}{
		{"clean", element, []bool{true, true}, 4096, diag.Clean,
			"2 of 2 launches by this program, one schedule each", emu.Completed},
		{"partly checked", element, []bool{true, false, false}, 4096, diag.Clean,
			"1 of 3 launches by this program, one schedule each; the others ran without the race detector",
			emu.Completed},
		{"not checked", element, []bool{false}, 4096, diag.Unknown,
			"none of 1 launches was checked for races", emu.Completed},
		{"out of bounds", element, []bool{true}, 4096 + 128, diag.Bug, "", emu.Stopped},
		{"out of bounds, not checked", element, []bool{false}, 4096 + 128, diag.Bug, "", emu.Stopped},
		{"no end", "L:\n\tbra L;\n", []bool{true, false}, 4096, diag.Unknown,
			"2 of 2 launches were not checked to their end; launch 1: the run reached its limit of 1000",
			emu.StepLimit},
		{"unsupported", "\tfma.rn.oob.f16x2 %x, %x, %x, %x;\n\tsetp.eq.u32 %q, %x, 0;\n\t@%q bra E;\nE:\n",
			[]bool{true}, 4096, diag.Unsupported, "launch 1: ", emu.Stopped},
		{"barrier that not all reach", "\tsetp.lt.u32 %q, %x, 32;\n\t@%q bra E;\n\tbar.sync 0;\n" +
			"\tbar.sync 1;\nE:\n\tbar.sync 2;\n", []bool{false}, 4096, diag.Unknown, "wait forever",
			emu.Stalled},
	} {
		codes := ""
		sink := func(g diag.Diagnostic) { codes += fmt.Sprintln(g.Code, g.Message) }
		programOf(t, c.body, driver.Options{MaxSteps: 1000}, sink, func(p *program) {
			p.alloc("d_out", 4096, 256)
			var res *emu.Result
			for _, check := range c.checks {
				res = p.launch(1, arenaBase+c.arg, check)
			}
			v := p.Verdict()
			if v.Kind != c.kind || !strings.Contains(v.Scope+v.Reason, c.text) || res.Status != c.status {
				t.Errorf("%s: %v %q, status %v, want %v %q %v\n%s", c.name, v.Kind, v.Scope+v.Reason,
					res.Status, c.kind, c.text, c.status, codes)
			}
		})
	}
}

// TestProgramLimit: the verdict says how many findings are beyond the limit, alone or before the
// reason for which a launch ended early.
func TestProgramLimit(t *testing.T) {
	const races = "\tst.global.u32 [%a], %x;\n\tst.global.u32 [%a+4], %x;\n"
	const early = "launch 1: the run reached its limit of 1000"
	for _, c := range []struct {
		body  string
		limit int
		want  string
	}{
		{races, 2, ""},
		{races, 1, "1 more finding is not shown (--limit is 1)"},
		{races + "\tst.global.u32 [%a+8], %x;\n", 1, "2 more findings are not shown (--limit is 1)"},
		{races + "L:\n\tbra L;\n", 2, early},
		{races + "L:\n\tbra L;\n", 1, "1 more finding is not shown (--limit is 1); " + early},
	} {
		printed := 0
		sink := func(diag.Diagnostic) { printed++ }
		opt := driver.Options{MaxSteps: 1000, Limit: c.limit}
		programOf(t, c.body, opt, sink, func(p *program) {
			p.launch(1, p.alloc("d_out", 4096, 256), true)
			v := p.Verdict()
			reason, _, _ := strings.Cut(v.Reason, " warp instructions")
			if v.Kind != diag.Bug || reason != c.want || printed != c.limit {
				t.Errorf("%q, limit %d: %v %q, %d printed; want %q", c.body, c.limit, v.Kind, v.Reason,
					printed, c.want)
			}
		})
	}
}

func benchmarkLaunch(b *testing.B, body string, grid uint32, check bool) {
	programOf(b, body, driver.Options{}, func(diag.Diagnostic) {}, func(p *program) {
		for i := range uint64(100) {
			p.alloc("other", 1<<16+8192*i, 4096)
		}
		out := p.alloc("d_out", 4096, 256)
		b.ReportAllocs()
		b.ResetTimer()
		for b.Loop() {
			p.launch(grid, out, check)
		}
	})
}

// An empty kernel, and a small one: the cost of a launch as such.
func BenchmarkLaunch(b *testing.B) {
	for _, check := range []bool{false, true} {
		b.Run(fmt.Sprintf("empty/check=%v", check), func(b *testing.B) { benchmarkLaunch(b, "", 1, check) })
		b.Run(fmt.Sprintf("small/check=%v", check), func(b *testing.B) {
			benchmarkLaunch(b, element, 1, check)
		})
		b.Run(fmt.Sprintf("blocks/check=%v", check), func(b *testing.B) {
			benchmarkLaunch(b, element, 16, check)
		})
	}
}
