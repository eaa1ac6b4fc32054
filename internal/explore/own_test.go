package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/internal/memmodel"
	"heddle/internal/testing/long"
)

// addressed returns a program whose accesses have addresses, some of which depend on what was read.
// Address 8*l+n is that of location l+n, modulo their number.
func addressed(r *rand.Rand, p *Program) *Program {
	n := int64(len(p.Locations) + r.IntN(3))
	out := &Program{Locate: func(_ int, _ *Inst, addr int64) (Location, error) {
		l := (addr/8 + addr%8) % n
		return Location{Name: fmt.Sprint("m", l), Addr: uint64(8 * l), Size: 8}, nil
	}}
	for _, t := range p.Threads {
		t.Code = slices.Clone(t.Code)
		for i := range t.Code {
			in := &t.Code[i]
			if in.Kind > Update {
				continue
			}
			addr := Const(0)
			if r.IntN(4) == 0 {
				addr = Reg(r.IntN(2))
			}
			in.Addr, in.Offset, in.Size = &addr, 8*r.Int64N(n), 8
		}
		out.Threads = append(out.Threads, t)
	}
	return out
}

// found is what an exploration finds: final states with how many executions end so, and races.
type found struct {
	states map[string]int
	races  map[string]bool
	stats  Stats
}

// finds explores an addressed program, with events for all locations or only where they are needed.
func finds(t *testing.T, p *Program, opt Options, quiet bool) *found {
	t.Helper()
	var f *found
	begin := func() { f = &found{states: map[string]int{}, races: map[string]bool{}} }
	begin()
	if quiet {
		opt.Restart = begin
	}
	s, err := Explore(context.Background(), p, opt, func(e *Execution) {
		for _, race := range e.Derived.Races() {
			a, b := e.Graph.Events[race.First].Thread, e.Graph.Events[race.Second].Thread
			i, j := e.Sites[race.First], e.Sites[race.Second]
			if a > b {
				a, b, i, j = b, a, j, i
			}
			f.races[fmt.Sprint(a, i, b, j)] = true
		}
		var parts []string
		for i := range p.Threads {
			for r := range p.Threads[i].Regs {
				parts = append(parts, fmt.Sprint(e.Reg(i, r)))
			}
		}
		regs := len(parts)
		for l, c := range e.Cells() {
			last := e.Last(l)
			if slices.Sort(last); !slices.Equal(last, []int64{0}) {
				parts = append(parts, fmt.Sprint(c.Name, last))
			}
		}
		slices.Sort(parts[regs:])
		f.states[fmt.Sprint(e.End, parts)]++
	})
	if limit := new(LimitError); errors.As(err, &limit) {
		s.Stopped = true // a loop that grows too long
	} else if err != nil {
		t.Fatal(err)
	}
	f.stats = s
	return f
}

// TestQuiet: leaving out the events of locations that no two threads share changes neither the
// executions nor the data races. The expectation is the exploration with all events, which
// TestBruteForce compares with the axioms.
func TestQuiet(t *testing.T) {
	n := 250
	if long.All() {
		n = 20000
	}
	fewer, compared := 0, 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		p := randomProgram(r)
		if seed%3 == 0 {
			p = randomLoops(r)
		}
		p = addressed(r, p)
		opt := Options{Unroll: 2, MaxStates: 4000}
		want := finds(t, p, opt, false)
		got := finds(t, p, opt, true)
		if want.stats.Stopped || got.stats.Stopped || want.stats.Truncated != got.stats.Truncated {
			continue // an iteration may be idle without its events, and then needs no bound
		}
		compared++
		if seed%3 == 0 { // how often an idle iteration is executed may depend on its events
			for _, states := range []map[string]int{want.states, got.states} {
				for state := range states {
					if states[state] = 1; strings.HasPrefix(state, fmt.Sprint(Prefix)) {
						delete(states, state) // left out with Options.Restart
					}
				}
			}
		}
		if fmt.Sprint(want.states) != fmt.Sprint(got.states) {
			t.Fatalf("seed %d: final states %v, expected %v%s", seed, got.states, want.states, p)
		}
		if fmt.Sprint(want.races) != fmt.Sprint(got.races) {
			t.Fatalf("seed %d: races %v, expected %v%s", seed, got.races, want.races, p)
		}
		if got.stats.States < want.stats.States {
			fewer++
		}
	}
	t.Logf("%d programs compared, %d of them with fewer partial executions", compared, fewer)
	if compared < n*3/4 || fewer == 0 {
		t.Errorf("%d of %d programs compared, %d with fewer partial executions", compared, n, fewer)
	}
}

// TestQuietEvents: what one thread writes and reads needs no events, and what a second one only
// reads needs none as long as nobody writes.
func TestQuietEvents(t *testing.T) {
	at := func(l int64) *Operand { o := Const(8 * l); return &o }
	store := func(l int64) Inst {
		return Inst{Kind: Store, Dst: -1, Addr: at(l), Size: 8, Args: []Operand{Const(7)}}
	}
	load := func(l int64) Inst { return Inst{Kind: Load, Dst: 0, Addr: at(l), Size: 8} }
	for _, c := range []struct {
		what   string
		a, b   []Inst
		events int // with initial writes
	}{
		{"each its own", []Inst{store(0), load(0)}, []Inst{store(1), load(1)}, 0},
		{"both read", []Inst{load(0)}, []Inst{load(0)}, 0},
		{"one writes", []Inst{load(0), store(0)}, []Inst{load(0)}, 4},
		{"one writes after", []Inst{load(0)}, []Inst{load(1), store(0)}, 3},
	} {
		p := addressed(rand.New(rand.NewPCG(1, 1)), &Program{Locations: make([]Location, 4)})
		for i, code := range [][]Inst{c.a, c.b} {
			p.Threads = append(p.Threads, Thread{Name: fmt.Sprint("P", i), Code: code,
				Regs: make([]int64, 1), Position: memmodel.Position{CTA: i}})
		}
		seen := ""
		_, err := Survey(context.Background(), p, Options{}, func(e *Execution) {
			if n := len(e.Graph.Events); n != c.events {
				t.Errorf("%s: %d events, expected %d", c.what, n, c.events)
			}
			seen += fmt.Sprint(e.Reg(0, 0), e.Ran(0, 0), " ")
		})
		if err != nil || seen == "" || !strings.Contains(seen, "true") {
			t.Errorf("%s: executions %q, error %v", c.what, seen, err)
		}
	}
}

// TestOrder: the order in which alternatives are tried changes nothing about what there is, and
// decides which execution comes first. A bound on partial executions is kept.
func TestOrder(t *testing.T) {
	firsts := map[string]bool{}
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 23))
		p := addressed(r, randomProgram(r))
		want := finds(t, p, Options{}, true)
		for order := range uint64(4) {
			got := finds(t, p, Options{Order: order + 1}, true)
			if fmt.Sprint(got.states, got.races) != fmt.Sprint(want.states, want.races) ||
				got.stats.Executions != want.stats.Executions {
				t.Fatalf("seed %d, order %d: %v, expected %v", seed, order, got, want)
			}
			one := finds(t, p, Options{Order: order + 1, MaxGraphs: 1}, true)
			firsts[fmt.Sprint(seed, one.states)] = true
		}
	}
	if len(firsts) < 22 {
		t.Errorf("only %d different executions of 15 programs come first", len(firsts))
	}
	p := two(t, "x=0; y=0;", "ld.relaxed.gpu r0, x; ld.relaxed.gpu r1, y",
		"st.relaxed.gpu x, 1; st.relaxed.gpu y, 1")
	for most := 1; most < 4; most++ {
		s, err := Explore(t.Context(), p, Options{MaxStates: most}, func(*Execution) {})
		if err != nil || s.States != most || !s.Stopped {
			t.Errorf("at most %d: %v, %v", most, s, err)
		}
	}
}
