package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// randomLoop returns a loop that waits for a value of a location, by a load or an atomic operation.
func randomLoop(r *rand.Rand, at, locs int) []Inst {
	in := Inst{Loc: r.IntN(locs), Dst: 0, Scope: pick(r, event.GPU, event.GPU, event.CTA)}
	in.Order = pick(r, event.Relaxed, event.Acquire)
	switch r.IntN(5) {
	case 0:
		in.Order, in.Scope = event.Weak, event.NoScope
		fallthrough
	case 1:
		in.Kind = Load
	case 2:
		in.Kind, in.Update, in.Args = Update, Swap, []Operand{Const(1)}
	case 3:
		in.Kind, in.Update, in.Args = Update, CompareAndSwap, []Operand{Const(0), Const(1)}
	case 4:
		in.Kind, in.Update, in.Args = Update, Modify, []Operand{Const(0)}
		in.Eval = func(a []int64) (int64, bool) { return a[0] + a[1], true }
	}
	wanted := int64(r.IntN(2))
	repeat := Inst{Kind: Branch, Dst: -1, Target: at, Args: []Operand{Reg(0)},
		Eval: func(a []int64) (int64, bool) {
			if a[0] != wanted {
				return 1, true
			}
			return 0, true
		}}
	if r.IntN(3) == 0 {
		return []Inst{in, randomFence(r, []event.Scope{event.GPU}), repeat}
	}
	return []Inst{in, repeat}
}

// randomLoops makes a program of 2 or 3 threads in which some wait.
func randomLoops(r *rand.Rand) *Program {
	p := &Program{Locations: []Location{{Name: "x"}, {Name: "y"}}}
	for t := range 2 + r.IntN(2) {
		th := Thread{Name: fmt.Sprint("P", t), Regs: make([]int64, 4)}
		th.Position.CTA = r.IntN(2)
		loop := -1
		if r.IntN(3) > 0 {
			loop = r.IntN(3)
		}
		for i := range 1 + r.IntN(2) {
			if i == loop {
				th.Code = append(th.Code, randomLoop(r, len(th.Code), 2)...)
			}
			scopes := []event.Scope{event.GPU, event.GPU, event.CTA}
			th.Code = append(th.Code, randomAccess(r, 2, 1, scopes))
		}
		for i := range th.Code { // barriers would make threads wait for those in loops
			if th.Code[i].Kind == Barrier {
				th.Code[i] = Inst{Kind: Fence, Dst: -1, Order: event.SeqCst, Scope: event.GPU}
			}
		}
		p.Threads = append(p.Threads, th)
	}
	return p
}

// outcomes returns the final states and the racing pairs of instructions that an exploration shows.
func outcomes(t *testing.T, p *Program, opt Options) (states, races map[string]bool, s Stats) {
	states, races = map[string]bool{}, map[string]bool{}
	rep, err := Survey(context.Background(), p, opt, func(e *Execution) {
		if e.End != Ended {
			return
		}
		var b strings.Builder
		for i := range p.Threads {
			for r := range p.Threads[i].Regs {
				fmt.Fprint(&b, e.Reg(i, r), " ")
			}
		}
		each := []string{b.String()} // a location with several last values may have each of them
		for l := range p.Locations {
			var more []string
			for _, before := range each {
				for _, v := range e.Last(l) {
					more = append(more, fmt.Sprint(before, v, " "))
				}
			}
			each = more
		}
		for _, state := range each {
			states[state] = true
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rep.Races {
		races[fmt.Sprint(r.First, r.Second)] = true
	}
	return states, races, rep.Stats
}

// TestIdleIterations: leaving out iterations that change nothing loses no final state and no race,
// as the exploration of a few such iterations shows, and makes none up. Where it may lose some, it
// says so.
func TestIdleIterations(t *testing.T) {
	n := 400
	if long.All() {
		n = 6000
	}
	compared, cut := 0, 0
	for seed := range n {
		p := randomLoops(rand.New(rand.NewPCG(uint64(seed), 11)))
		states, races, s := outcomes(t, p, Options{Unroll: 1})
		all, allRaces, full := outcomes(t, p, Options{Unroll: 1, repeat: true, MaxGraphs: 20000})
		if full.Stopped {
			continue
		}
		if s.Truncated > 0 {
			cut++
			continue
		}
		compared++
		lost, made := missing(all, states), missing(states, all)
		if races := missing(allRaces, races); len(lost)+len(made)+len(races) > 0 {
			t.Fatalf("seed %d: states lost: %q, made up: %q, races lost: %q%s", seed, lost, made, races, p)
		}
	}
	t.Logf("%d programs compared, %d with loops that were cut off", compared, cut)
	if compared < n/3 {
		t.Errorf("only %d programs were compared", compared)
	}
}

// TestIdleUnknown: an iteration is idle although a register that is used later has a value that is
// not known yet, if that is the same value as before: r1 while it is to be read from a store that
// appears when the other thread has passed its branch.
func TestIdleUnknown(t *testing.T) {
	p := two(t, "x=0; y=0; z=0;", `ld.relaxed.gpu r1, x; L: ; ld.acquire.gpu r0, y; bne r0, 1, L;
		st.relaxed.gpu z, r1`, "ld.relaxed.gpu r0, z; bne r0, 7, S; S: ; st.relaxed.gpu x, 1; st.release.gpu y, 1")
	s, err := Explore(t.Context(), p, Options{}, func(*Execution) {})
	if err != nil || s.Truncated > 0 || s.Complete != 2 {
		t.Errorf("%+v, %v; expected 2 complete executions, and none cut off", s, err)
	}
}
