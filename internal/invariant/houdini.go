// Package invariant finds what holds at the header of a loop in every iteration, where closed forms
// do not express it: a table of rules proposes candidates, traces refute those that are false in
// one, and Houdini keeps the largest set of the others that is inductive.
//
// It follows Flanagan and Leino, "Houdini, an annotation assistant for ESC/Java" (FME 2001), with
// the rules that users of GPUVerify needed most. A candidate survives if it holds at the entry of
// its loop, and if an iteration before which all survivors hold preserves it. The iteration is
// arbitrary, and so are all values that it loads: memory at the last barrier is a free function of
// the address and the barrier instance, as in all queries about a thread.Thread.
//
// Deviation: the axioms describe earlier iterations too, so the survivors are assumed of those as
// well (k-induction, with as many steps as levels of axioms are unfolded).
//
// Why candidates of all loops may be assumed together: order the visits of loop headers by time. A
// query about a visit mentions earlier visits only: the earlier iterations of its own loop, the
// current iteration of the loops around, and the last iterations of loops that have ended. So all
// survivors hold by induction over time.
//
// What it can miss: invariants that no rule proposes, and candidates for which steps run out. It
// never keeps one that is not proved.
package invariant

import (
	"context"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Candidate is what a rule proposed for a loop.
type Candidate struct {
	Rule *Rule
	Loop int    // index in thread.Thread.Loops
	Died string // why it was dropped; empty: it is an invariant

	formula smt.Term // over placeholders for the values of registers and the iteration
	at      smt.Term // over the loop's own symbols: in iteration Counter
	proved  bool
}

// Set is the result of a search.
type Set struct {
	Candidates []*Candidate
	Queries    int
	Steps      int64 // that the search took
	Done       bool  // false: it ran out of steps, or of time
	th         *thread.Thread
}

// Found reports whether there are invariants.
func (s *Set) Found() bool {
	for _, c := range s.Candidates {
		if c.Died == "" {
			return true
		}
	}
	return false
}

// MaxSteps bounds a search, in steps (smt.Answer), so that the result does not depend on the machine:
// about ten seconds. A single query is bounded by the solvers' own limit; a candidate that needs
// more is dropped.
const MaxSteps = 200_000_000

// querySteps is what a query counts for before any solver is asked.
const querySteps = 20_000

// depths are how many levels of axioms are tried.
var depths = []int{1, 3}

// Find proposes candidates for the loops of th, and adds those that are invariants to its axioms.
// If steps run out, or ctx ends, undecided candidates are dropped.
func Find(ctx context.Context, th *thread.Thread, solvers []smt.Solver, steps int64) *Set {
	h := newHoudini(ctx, th, solvers, steps)
	h.trace()
	return h.find()
}

// newHoudini proposes candidates for the loops of th.
func newHoudini(ctx context.Context, th *thread.Thread, solvers []smt.Solver,
	steps int64) *houdini {
	h := &houdini{ctx: ctx, th: th, c: th.Context, solvers: solvers, steps: steps, set: &Set{th: th}}
	for i := range th.Loops {
		l := propose(th, i)
		h.loops = append(h.loops, l)
		h.set.Candidates = append(h.set.Candidates, l.candidates...)
	}
	return h
}

// find drops the candidates that are not inductive: first among those that solvers find easy, then
// among all.
func (h *houdini) find() *Set {
	for h.hard = range 2 {
		h.fixpoint()
	}
	h.set.Done = !h.out()
	return h.set
}

// out reports whether the search must end.
func (h *houdini) out() bool {
	return h.set.Steps > h.steps || h.ctx.Err() != nil || h.c.Exceeded()
}

// fixpoint drops candidates until the remaining ones are inductive together with those that are
// proved already. If the search must end before that, it drops them all: an intermediate set is not
// inductive, and keeping any of it would be unsound.
func (h *houdini) fixpoint() {
	for i := range h.loops {
		h.assume(i)
	}
	for again := true; again && !h.out(); {
		again = false
		for i := range h.loops {
			again = h.check(i, h.entry(i), "does not hold when the loop is entered") || again
			again = h.check(i, h.iteration(i), "an iteration does not preserve it") || again
		}
	}
	if !h.out() {
		for _, c := range h.set.Candidates {
			c.proved = c.proved || c.Died == "" && h.now(c)
		}
		return
	}
	why := "out of steps"
	if h.ctx.Err() != nil {
		why = "out of time"
	}
	for i := range h.loops {
		for _, c := range h.alive(i) {
			c.Died = "undecided: " + why
		}
		h.assume(i)
	}
}

// houdini is the state of one search.
type houdini struct {
	ctx     context.Context
	th      *thread.Thread
	c       *smt.Context
	solvers []smt.Solver
	steps   int64 // limit of the search
	loops   []*loop
	hard    int // 0: the rules that solvers find easy; 1: all
	set     *Set
}

// now reports whether it is a candidate's turn: candidates of hard rules are checked when the
// others are proved.
func (h *houdini) now(c *Candidate) bool { return c.Rule.hard <= h.hard }

// alive returns the candidates of a loop whose turn it is and that are neither proved nor dropped.
func (h *houdini) alive(i int) []*Candidate {
	var out []*Candidate
	for _, c := range h.loops[i].candidates {
		if c.Died == "" && !c.proved && h.now(c) {
			out = append(out, c)
		}
	}
	return out
}

// assume adds to the axioms what is proved of a loop, and what may be.
func (h *houdini) assume(i int) {
	var inv []smt.Term
	for _, c := range h.loops[i].candidates {
		if c.proved {
			inv = append(inv, c.at)
		}
	}
	for _, c := range h.alive(i) {
		inv = append(inv, c.at)
	}
	h.th.Axioms.Assume(h.loops[i].Loop, inv)
}

// step is an obligation of induction: under the premises from, of(candidate) must hold.
type step struct {
	from []smt.Term
	of   func(*Candidate) smt.Term
}

// entry: the thread enters the loop.
func (h *houdini) entry(i int) step {
	l := h.loops[i]
	s := l.first()
	return step{[]smt.Term{l.Entry}, func(c *Candidate) smt.Term { return s.Apply(c.formula) }}
}

// iteration: the thread is in an iteration and continues. There is a next one: loops run at most
// 2^32 times.
func (h *houdini) iteration(i int) step {
	l := h.loops[i]
	s := l.next()
	last := h.c.Eq(l.Counter, h.c.Const(1<<32-1, 32))
	return step{[]smt.Term{l.Entry, l.Back, h.c.Not(last)},
		func(c *Candidate) smt.Term { return s.Apply(c.formula) }}
}

// check drops the candidates of a loop for which an obligation fails, and reports whether it
// dropped any. A counterexample drops all candidates that are false in it.
func (h *houdini) check(i int, o step, why string) bool {
	dropped := false
	drop := func(c *Candidate, why string) {
		c.Died, dropped = why, true
		h.assume(i)
	}
	for {
		live := h.alive(i)
		if len(live) == 0 {
			return dropped
		}
		ans := h.refute(o, live)
		if ans.Status == smt.Unsat || h.out() {
			return dropped
		}
		if ans.Status == smt.Sat && ans.Model != nil {
			e, n := h.c.Evaluate(ans.Model), 0
			for _, c := range live {
				if !e.Holds(o.of(c)) {
					drop(c, why)
					n++
				}
			}
			if n > 0 {
				continue
			}
		}
		if len(live) == 1 {
			drop(live[0], "undecided: "+ans.Reason)
			continue
		}
		for _, c := range live { // one by one: some are easier than all
			switch ans := h.refute(o, []*Candidate{c}); ans.Status {
			case smt.Sat:
				drop(c, why)
			case smt.Unknown:
				drop(c, "undecided: "+ans.Reason)
			}
		}
		if len(h.alive(i)) == len(live) { // each holds, so all do
			return dropped
		}
	}
}

// refute asks for a state in which an obligation fails for one of the candidates.
func (h *houdini) refute(o step, of []*Candidate) (ans smt.Answer) {
	var holds []smt.Term
	for _, c := range of {
		holds = append(holds, o.of(c))
	}
	q := append(append([]smt.Term(nil), o.from...), h.c.Not(h.c.And(holds...)))
	for _, d := range depths {
		h.set.Queries++
		ans = h.c.Decide(h.ctx, append(h.th.Axioms.For(q, d), q...), h.solvers...)
		h.set.Steps += querySteps + ans.Steps
		if ans.Status == smt.Unsat || h.out() {
			break
		}
	}
	return ans
}

// At is the candidate in iteration Counter of its loop.
func (c *Candidate) At() smt.Term { return c.at }
