package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/launch"
)

// pipelineOf traces a kernel of a file and returns its pipeline, and a short form of it: the stages
// and roles, a line for each mark, sorted within a phase, and a line for each missing order.
func pipelineOf(t *testing.T, name, kernel string, args ...string) (p *diag.Pipeline,
	short []string) {
	t.Helper()
	opt := check.Options{Mode: check.Trace}
	opt.Limit, opt.Kernel = 20, kernel
	for _, a := range args {
		spec, err := launch.ParseArg(a)
		if err != nil {
			t.Fatal(err)
		}
		opt.Launch.Args = append(opt.Launch.Args, spec)
	}
	opt.Trace.Pipeline = func(got *diag.Pipeline) { p = got }
	if _, err := check.Files(t.Context(), opt, []string{name}, func(diag.Diagnostic) {}); err != nil {
		t.Fatal(err)
	}
	if p == nil {
		t.Fatal("no pipeline")
	}
	for _, role := range p.Roles {
		short = append(short, role.Name)
	}
	for i := range p.Rings {
		r := &p.Rings[i]
		for j, s := range r.Stages {
			line := fmt.Sprintf("stage %d:", j)
			for _, o := range s.Objects {
				line += fmt.Sprintf(" %s of %d", o.Name, o.Count)
			}
			short = append(short, line)
		}
		short = append(short, fmt.Sprintf("phases %v, last %d", r.Phases, r.Last))
		for _, phase := range r.Phases {
			var lines []string
			for _, m := range r.Marks {
				if m.Phase == phase {
					lines = append(lines, markText(r, &m))
				}
			}
			slices.Sort(lines)
			short = append(short, lines...)
		}
	}
	for _, e := range p.Broken {
		line := "broken"
		for _, i := range []int{e.From, e.To} {
			if i < 0 {
				line += ", nothing"
			} else {
				line += ", " + markText(&p.Rings[e.Ring], &p.Rings[e.Ring].Marks[i])
			}
		}
		short = append(short, line+": "+string(e.Code)+", "+e.Label)
	}
	return p, short
}

// markText is a short form of a mark.
func markText(r *diag.PipelineRing, m *diag.PipelineMark) string {
	does := [...]string{"arrive", "expect", "copy", "wait", "wait for ever", "lacks", "read", "write",
		"fault"}[m.Kind]
	text := fmt.Sprintf("%s.%d: %s %s", r.Stages[m.Stage].Objects[m.Object].Name, m.Phase, m.Who, does)
	text = strings.ReplaceAll(text, ":  ", ": ")
	if m.Times > 1 {
		text += fmt.Sprintf(" %d times", m.Times)
	}
	if m.Arrivals != 0 {
		text += fmt.Sprintf(" %d", m.Arrivals)
	}
	if m.Bytes != 0 {
		text += fmt.Sprintf(" %+d bytes", m.Bytes)
	}
	return text
}

const suite = "../../../testdata/suite/mbarrier/"

// A ring of four stages that is filled 15 times: stages 0 to 2 four times, stage 3 three times. The
// producer waits for the phase of the empty barrier before the one that the consumers complete
// next, first for the one before the first. In each phase it expects the 128 bytes of one copy, 96
// threads wait for them, and one thread of each of three warps releases the stage.
func TestPipelineOfRing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	want := []string{"producer: thread 96", "asynchronous copies", "consumer: warps 0-2"}
	for s := range 4 {
		want = append(want, fmt.Sprintf("stage %d: bars[%d] of 1 bars[%d] of 3", s, s, s+4))
	}
	want = append(want, "phases [-1 0 1 2 3], last 3")
	for phase := -1; phase < 4; phase++ {
		var lines []string
		for s := range 4 {
			rounds := 4
			if s == 3 {
				rounds = 3
			}
			if phase < rounds-1 {
				lines = append(lines, fmt.Sprintf("bars[%d].%d: thread 96 wait", s+4, phase))
			}
			if phase >= 0 && phase < rounds {
				lines = append(lines,
					fmt.Sprintf("bars[%d].%d: thread 96 arrive 1 +128 bytes", s, phase),
					fmt.Sprintf("bars[%d].%d: thread 96 copy +128 bytes", s, phase),
					fmt.Sprintf("bars[%d].%d: 96 threads of warps 0-2 wait", s, phase),
					fmt.Sprintf("bars[%d].%d: 3 threads of warps 0-2 arrive 3", s+4, phase))
			}
		}
		slices.Sort(lines)
		want = append(want, lines...)
	}
	_, got := pipelineOf(t, suite+"ring_clean.ptx", "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Of 100 rounds the first three and the last two are kept.
func TestPipelineOfManyRounds(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	want := []string{"warps 0-1", "stage 0: full of 64", "phases [0 1 2 98 99], last 99"}
	for _, phase := range []int{0, 1, 2, 98, 99} {
		want = append(want, fmt.Sprintf("full.%d: 64 threads of warps 0-1 arrive 64", phase),
			fmt.Sprintf("full.%d: 64 threads of warps 0-1 wait", phase))
	}
	_, got := pipelineOf(t, "../../../testdata/trace/mbarrier_rounds.ptx", "", "n=100")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Of a ring that is filled 180 times, without the proxy fence in round 90: that is phase 22 of
// stage 2, whose next copy races with the reads. The phases around it are kept for all stages.
func TestPipelineAroundFinding(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	data, err := os.ReadFile(suite + "ring_clean.ptx")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, x := range [][2]string{
		{"setp.lt.u32 %p5, %r5, 5;", "setp.lt.u32 %p5, %r5, 60;"},
		{"\tfence.proxy.async.shared::cta;\n", "\tmad.lo.u32 %r17, %r4, 60, %r5;\n" +
			"\tsetp.ne.u32 %p8, %r17, 90;\n\t@%p8 fence.proxy.async.shared::cta;\n"},
	} {
		if strings.Count(text, x[0]) != 1 {
			t.Fatalf("%q", x[0])
		}
		text = strings.Replace(text, x[0], x[1], 1)
	}
	file := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, got := pipelineOf(t, file, "")
	r := &p.Rings[0]
	for _, want := range []int64{-1, 0, 1, 2, 22, 23, 43, 44} {
		if !slices.Contains(r.Phases, want) {
			t.Errorf("no phase %d among %v", want, r.Phases)
		}
	}
	if len(r.Phases) > 11 || r.Last != 44 {
		t.Errorf("phases %v, last %d", r.Phases, r.Last)
	}
	for _, phase := range r.Phases[1:] { // a phase is shown of all stages or of none
		for s := range 4 {
			for _, want := range []string{
				fmt.Sprintf("bars[%d].%d: thread 96 arrive 1 +128 bytes", s, phase),
				fmt.Sprintf("bars[%d].%d: 96 threads of warps 0-2 wait", s, phase),
				fmt.Sprintf("bars[%d].%d: 3 threads of warps 0-2 arrive 3", s+4, phase),
			} {
				if !slices.Contains(got, want) {
					t.Errorf("no %s", want)
				}
			}
		}
	}
	want := "read, bars[2].23: thread 96 copy +128 bytes: race-proxy, no proxy fence between"
	if last := got[len(got)-1]; !strings.HasPrefix(last, "broken, bars[2].22: thread ") ||
		!strings.HasSuffix(last, want) {
		t.Error(last)
	}
}

// Broken kernels, as read off their text. The comment above each kernel says what is wrong.
func TestPipelineOfBugs(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, x := range []struct {
		file, kernel string
		want         []string
	}{
		{suite + "deadlock.ptx", "too_few", []string{
			"warps 0-1",
			"stage 0: full of 65",
			"phases [0], last 0",
			"full.0: 64 threads of warps 0-1 arrive 64",
			"full.0: 64 threads, such as thread 0 wait for ever",
			"full.0: lacks 1",
			"broken, full.0: lacks 1, full.0: 64 threads, such as thread 0 wait for ever: " +
				"barrier-deadlock, waits for ever",
		}},
		{suite + "deadlock.ptx", "too_many_bytes", []string{
			"producer: thread 0",
			"asynchronous copies",
			"stage 0: full of 1",
			"phases [0], last 0",
			"full.0: 64 threads, such as thread 0 wait for ever",
			"full.0: lacks +16 bytes",
			"full.0: thread 0 arrive 1 +272 bytes",
			"full.0: thread 0 copy +256 bytes",
			"broken, full.0: lacks +16 bytes, full.0: 64 threads, such as thread 0 wait for ever: " +
				"mbarrier-tx-mismatch, waits for ever",
		}},
		// The copy of phase 1 overwrites what warp 1 reads behind its wait for phase 0. Thread 0 alone
		// completes both phases, so that this wait may come when phase 1 is complete.
		{suite + "bulk_racy.ptx", "no_release", []string{
			"thread 0",
			"asynchronous copies",
			"consumer: warp 1",
			"stage 0: full of 1",
			"phases [0 1], last 1",
			"full.0: 32 threads of warp 1 wait",
			"full.0: thread 0 arrive 1 +256 bytes",
			"full.0: thread 0 copy +256 bytes",
			"full.0: thread 0 wait",
			"full.0: thread 32 read",
			"full.1: thread 0 arrive 1 +256 bytes",
			"full.1: thread 0 copy +256 bytes",
			"full.1: thread 0 wait",
			"broken, full.0: thread 32 read, full.1: thread 0 copy +256 bytes: race-async-copy, " +
				"overwrites what is read",
			"broken, full.0: 32 threads of warp 1 wait, full.1: thread 0 copy +256 bytes: , " +
				"wait may come too late",
		}},
	} {
		if _, got := pipelineOf(t, x.file, x.kernel); cmp.Diff(x.want, got) != "" {
			t.Errorf("%s: %s", x.kernel, cmp.Diff(x.want, got))
		}
	}
}

// In the second tile of parity_reset, the consumers' wait for parity 0 of stage 1 finds phase 0
// once more, and the producer fills the stage twice in phase 1, which expects one arrival.
func TestPipelineOfParity(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, got := pipelineOf(t, suite+"ring_parity_reset.ptx", "")
	for _, want := range []string{
		"bars[1].0: 96 threads of warps 0-2 wait 2 times",
		"broken, nothing, bars[1].1: thread 96 arrive 1 +128 bytes: mbarrier-arrive-excess, one " +
			"arrival too many",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %s", want, strings.Join(got, "\n"))
		}
	}
}
