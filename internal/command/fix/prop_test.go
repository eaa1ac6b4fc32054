package fix

import (
	"context"
	"fmt"
	mrand "math/rand"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/long"
)

// barrierText is a kernel with barriers that can be taken out, moved or doubled.
type barrierText struct {
	rng      *rand.Rand
	b        strings.Builder
	barriers int
	labels   int
	loops    int
	broken   int // the barrier that is not as it should be; -1: none
	how      int // 0: left out, 1: only half of the block comes, 2: there twice
}

func (g *barrierText) line(format string, args ...any) { fmt.Fprintf(&g.b, "\t"+format+"\n", args...) }

func (g *barrierText) label() string {
	g.labels++
	return fmt.Sprintf("L%d", g.labels)
}

func (g *barrierText) barrier() {
	n := g.barriers
	g.barriers++
	switch {
	case n != g.broken:
		g.line("bar.sync 0;")
	case g.how == 1:
		l := g.label()
		g.line("@%%h bra %s;", l)
		g.line("bar.sync 0;")
		fmt.Fprintf(&g.b, "%s:\n", l)
	case g.how == 2:
		g.line("bar.sync 0;")
		g.line("bar.sync 0;")
	}
}

// access is a read or a write of one element of the array by each thread, a bijection, with
// barriers around.
func (g *barrierText) access() {
	g.line("add.u32 %%x, %%t, %d;", g.rng.IntN(64))
	g.line("and.b32 %%x, %%x, 63;")
	g.line("shl.b32 %%x, %%x, 2;")
	g.line("add.u32 %%x, %%x, %%s;")
	if g.rng.IntN(2) == 0 {
		g.line("st.shared.u32 [%%x], %%v;")
		return
	}
	g.line("ld.shared.u32 %%y, [%%x];")
	g.line("add.u32 %%v, %%v, %%y;")
}

func (g *barrierText) body(depth int) {
	for range 1 + g.rng.IntN(3) {
		switch k := g.rng.IntN(6); {
		case k == 0 && depth < 2: // a loop of a fixed or a given number of rounds
			c := fmt.Sprintf("%%c%d", g.loops)
			g.loops++
			head, end := g.label(), g.label()
			g.line("mov.u32 %s, 0;", c)
			fmt.Fprintf(&g.b, "%s:\n", head)
			bound := "3"
			if g.rng.IntN(2) == 0 {
				bound = "%n"
			}
			g.line("setp.ge.u32 %%p, %s, %s;", c, bound)
			g.line("@%%p bra %s;", end)
			g.body(depth + 1)
			g.line("add.u32 %s, %s, 1;", c, c)
			g.line("bra %s;", head)
			fmt.Fprintf(&g.b, "%s:\n", end)
		case k == 1 && depth < 2: // a part that some threads do, without a barrier in it
			l := g.label()
			g.line("setp.lt.u32 %%p, %%t, %d;", g.rng.IntN(64))
			g.line("@%%p bra %s;", l)
			g.access()
			fmt.Fprintf(&g.b, "%s:\n", l)
			g.barrier()
		case k == 2 && depth < 2: // a part that all do or none, with barriers
			l := g.label()
			g.line("setp.lt.u32 %%p, %%n, %d;", g.rng.IntN(4))
			g.line("@%%p bra %s;", l)
			g.body(depth + 1)
			fmt.Fprintf(&g.b, "%s:\n", l)
		default:
			g.access()
			g.barrier()
		}
	}
}

// generate returns a kernel that is right but for one barrier.
func generate(seed uint64, broken, how int) (text string, barriers int) {
	g := &barrierText{rng: rand.New(rand.NewPCG(seed, 7)), broken: broken, how: how}
	g.body(0)
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
// heddle: grid=1 block=64 n=3
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .pred %%p, %%h;
	.reg .b32 %%t, %%v, %%x, %%y, %%s, %%n, %%c<%d>;
	.reg .b64 %%o, %%d;
	.shared .align 4 .b8 s[256];
	ld.param.u64 %%o, [out];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%v, %%t;
	mov.u32 %%s, s;
	setp.lt.u32 %%h, %%t, 32;
%s	mul.wide.u32 %%d, %%t, 4;
	add.u64 %%o, %%o, %%d;
	st.global.u32 [%%o], %%v;
	ret;
}
`, g.loops+1, g.b.String()), g.barriers
}

// costOf adds up what the barriers of a kernel cost.
func costOf(t *testing.T, text []byte) float64 {
	t.Helper()
	p, err := parseKernel("k.ptx", "k", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return barrierCost(p)
}

// A random kernel with a barrier removed, moved under a condition that holds for half of the block,
// or doubled is restored: heddle fix produces a verified kernel whose barriers cost no more than
// those of the original.
func TestFixRestores(t *testing.T) {
	runs := 8
	if long.All() {
		runs = 2000
	}
	causes := map[string]int{}
	bad, changed := 0, 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 9))
		right, n := generate(seed, -1, 0)
		if n == 0 {
			continue
		}
		how := rng.IntN(3)
		wrong, _ := generate(seed, rng.IntN(n), how)
		opt := Options{
			Prove:     prove.Options{Timeout: 30 * time.Second},
			Redundant: how == 2, Budget: 5 * time.Minute,
		}
		in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: []byte(wrong)}}
		res, err := File(context.Background(), opt, in, func(d diag.Diagnostic) {
			if d.Severity == diag.Error {
				t.Errorf("%s", d.Message)
			}
		})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, wrong)
		}
		f := &res.Fixes[0]
		if f.Status == Repaired {
			changed++
		}
		was, is := costOf(t, []byte(right)), costOf(t, res.PTX)
		cause := ""
		switch {
		case f.Status != Repaired && f.Status != NothingToFix:
			cause = f.Status.String() + ": " + f.Why
		case f.After.Kind != diag.Verified:
			cause = "not verified after: " + f.Verdict()
		case is > was:
			cause = "costs more"
		}
		if seed%100 == 99 {
			t.Logf("%d kernels, %d changed, %d not restored", seed+1, changed, bad)
		}
		if cause != "" {
			bad++
			causes[cause]++
			if bad < 4 {
				t.Logf("seed %d, how %d: %s (cost %v, was %v)\n%s\n%s",
					seed, how, cause, is, was, wrong, res.PTX)
			}
		}
	}
	t.Logf("%d of %d not restored; %d changed; %v", bad, runs, changed, causes)
	if bad*100 > runs {
		t.Errorf("more than one in a hundred")
	}
}

// Whatever the kernel, heddle fix ends with a text that is valid PTX, and one that it calls
// verified shows nothing under other schedules either.
func TestFixRandom(t *testing.T) {
	runs := 40
	if long.All() {
		runs = 1000
	}
	var counts [NotChecked + 1]int
	verified, why := 0, map[string]int{}
	for seed := range runs {
		k := gen.Random(mrand.New(mrand.NewSource(int64(seed))), gen.Options{BlockBarriers: true})
		mem := launch.ArgSpec{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Fill: launch.FillRandom}
		common := driver.Options{
			Launch:   launch.Request{Grid: &k.Grid, Block: &k.Block, Args: []launch.ArgSpec{mem}},
			MaxSteps: 100_000,
		}
		in := driver.Input{Input: lower.Input{Name: "k.ptx", Content: []byte(k.PTX)}}
		res, err := File(t.Context(), Options{Common: common, Atomic: seed%2 == 0}, in, func(d diag.Diagnostic) {
			if d.Severity == diag.Error {
				t.Errorf("seed %d: %s", seed, d.Message)
			}
		})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
		}
		f := &res.Fixes[0]
		counts[f.Status]++
		if f.Status >= NotRepaired {
			why[f.Why]++
		}
		if f.Status != Repaired && f.Status != PartlyRepaired && string(res.PTX) != k.PTX {
			t.Errorf("seed %d: %v, and the text is another", seed, f.Status)
		}
		if f.After.Kind != diag.Verified {
			continue
		}
		verified++
		opt := check.Options{Options: common, SkipProof: true, Run: run.Options{Seed: 100, Seeds: 3}}
		again := driver.Input{Input: lower.Input{Name: "again.ptx", Content: res.PTX}}
		if _, err := check.Inputs(t.Context(), opt, []driver.Input{again}, func(d diag.Diagnostic) {
			if prove.Synchronization(d.Code) {
				t.Errorf("seed %d: verified, and a run shows: %s\n%s", seed, d.Message, res.PTX)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d unchanged, %d repaired, %d in part, %d not repaired, %d not checked; %d verified; %v",
		counts[0], counts[1], counts[2], counts[3], counts[4], verified, why)
	if counts[Repaired] == 0 || verified == 0 {
		t.Error("the generator reaches too little")
	}
}
