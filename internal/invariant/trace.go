package invariant

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Most candidates are wrong, and a solver needs at least one query to refute a few of them. Traces
// refute them without queries: they evaluate the loops of the thread on numbers, with the same
// terms as in the queries. A state in which a trace reaches a header is allowed by the axioms, so a
// candidate that is false in it is not an invariant.
//
// They are traces of the abstraction, not of the emulator: loads yield arbitrary values in both,
// and nothing is launched, so a trace costs microseconds. What they miss is left to Houdini.

// Limits of the traces. A trace through nested loops visits at most mostVisits headers.
const (
	mostTraces = 48  // that come to a loop
	mostTries  = 400 // that may miss all loops
	idleTraces = 12  // that drop nothing, before it is enough
	mostVisits = 64
	mostTurns  = 12 // of one loop
)

// tracer runs the loops.
type tracer struct {
	h      *houdini
	inner  map[smt.Term][]int // loops by the counter of the loop directly around; smt.False: none
	inputs []smt.Term
	known  map[string]bool // functions that a trace defines
	m      *smt.Model
	e      *smt.Evaluator
	seed   uint64
	number int // of the traces before this one
	visits int // of headers in this trace
	drops  int // of candidates, so far
}

// numbers are the inputs to choose from in addition to small ones: bounds to which loops are
// sensitive.
var numbers = []uint64{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 255, 256, 1000,
	1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<64 - 1}

// trace drops candidates that are false in some trace.
func (h *houdini) trace() {
	t := &tracer{h: h, inner: map[smt.Term][]int{}, known: map[string]bool{}, seed: 1}
	var terms []smt.Term
	counters := map[smt.Term]bool{}
	for i := range h.th.Loops {
		l := &h.th.Loops[i]
		counters[l.Counter] = true
		around := smt.False
		if n := len(l.Around); n > 0 {
			around = l.Around[n-1]
		}
		t.inner[around] = append(t.inner[around], i)
		terms = append(terms, l.Entry, l.Back)
		t.defines(l.Act, l.Last)
		for _, s := range l.Slots {
			terms = append(terms, s.At, s.Init, s.Next)
			t.defines(s.Symbol)
		}
		for _, c := range h.loops[i].candidates {
			terms = append(terms, c.at)
		}
	}
	h.c.Visit(terms, func(v smt.Term) {
		if h.c.Op(v) == smt.OpVar && !counters[v] && !strings.HasPrefix(h.c.Name(v), holder) {
			t.inputs = append(t.inputs, v)
		}
	})
	for idle, tries := 0, 0; t.number < mostTraces && idle < idleTraces && tries < mostTries &&
		h.ctx.Err() == nil; tries++ {
		had := t.drops
		t.begin()
		t.run(smt.False)
		if t.visits > 0 {
			t.number++
			idle++
		}
		if t.drops > had {
			idle = 0
		}
	}
}

// begin chooses the inputs of a trace.
func (t *tracer) begin() {
	c := t.h.c
	t.m = &smt.Model{Vars: map[string]uint64{}, Funcs: map[string]map[string]uint64{}}
	for _, v := range t.inputs {
		lo, hi := c.Unsigned(v)
		x := t.choose()
		switch {
		case c.Width(v) == 0:
			x &= 1
		case x < lo || x > hi:
			x = lo + t.random()%(hi-lo+1) // not all numbers: x is not among them
		}
		t.m.Vars[c.Name(v)] = x
	}
	seed := t.random()
	t.e = c.Evaluate(t.m)
	t.e.Else = func(f string, args []uint64) uint64 { // memory, and whatever else may be anything
		h := seed
		for _, b := range []byte(f) {
			h = (h ^ uint64(b)) * 0x100000001b3
		}
		for _, a := range args {
			h = (h ^ a) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		return pick(h ^ h>>32)
	}
	t.visits = 0
}

// random is Marsaglia's xorshift (2003): the same numbers in each run, so that a result never
// depends on chance.
func (t *tracer) random() uint64 {
	t.seed ^= t.seed << 13
	t.seed ^= t.seed >> 7
	t.seed ^= t.seed << 17
	return t.seed
}

// choose draws the next value of a symbol; the lowest bits of xorshift are weak and are dropped.
func (t *tracer) choose() uint64 { return pick(t.random() >> 16) }

// pick turns random bits into a value that is likely to matter: a quarter are below 8, the others
// are from numbers.
func pick(r uint64) uint64 {
	if r&3 == 0 {
		return r >> 2 % 8
	}
	return numbers[r>>2%uint64(len(numbers))]
}

// run executes the loops directly inside one, in order, and reports whether all of them terminated
// within the bounds. A loop that did not ends the trace: the values after it are unknown, and a
// candidate must not be refuted by values that no execution has.
func (t *tracer) run(counter smt.Term) bool {
	for _, i := range t.inner[counter] {
		if !t.loop(i) {
			return false
		}
	}
	return true
}

// loop executes one loop in the current iteration of the loops around it, and reports whether it
// terminated. One that takes more than mostTurns iterations, or mostVisits in all, counts as not
// terminating.
func (t *tracer) loop(i int) bool {
	l := &t.h.th.Loops[i]
	t.e.Reset()
	if !t.e.Holds(l.Entry) {
		return true
	}
	values := t.values(l, func(s *thread.Slot) smt.Term { return s.Init })
	for k := range uint64(mostTurns) {
		if t.visits++; t.visits > mostVisits {
			return false
		}
		t.m.Vars[t.h.c.Name(l.Counter)] = k
		t.e.Reset()
		t.define(l.Act, 1)
		for j := range l.Slots {
			if s := &l.Slots[j]; !s.Closed {
				t.define(s.Symbol, values[j])
			}
		}
		t.e.Reset()
		t.refute(i, k)
		if !t.run(l.Counter) {
			return false
		}
		t.e.Reset()
		if !t.e.Holds(l.Back) {
			t.define(l.Last, k)
			return true
		}
		values = t.values(l, func(s *thread.Slot) smt.Term { return s.Next })
	}
	return false
}

// values evaluates the slots of a loop without a closed form, all before any of them changes.
func (t *tracer) values(l *thread.Loop, of func(*thread.Slot) smt.Term) []uint64 {
	out := make([]uint64, len(l.Slots))
	for j := range l.Slots {
		if s := &l.Slots[j]; !s.Closed {
			out[j] = t.e.Value(of(s))
		}
	}
	return out
}

// define sets the value of a symbol in the current iterations of the loops.
func (t *tracer) define(symbol smt.Term, v uint64) {
	c := t.h.c
	if c.Op(symbol) == smt.OpVar {
		t.m.Vars[c.Name(symbol)] = v
		return
	}
	if c.Op(symbol) != smt.OpApp {
		return
	}
	args := make([]uint64, len(c.Args(symbol)))
	for i, a := range c.Args(symbol) {
		args[i] = t.e.Value(a)
	}
	name := c.Name(symbol)
	if t.m.Funcs[name] == nil {
		t.m.Funcs[name] = map[string]uint64{}
	}
	t.m.Funcs[name][smt.Key(args)] = v
}

// defines notes that traces define the values of symbols.
func (t *tracer) defines(symbols ...smt.Term) {
	for _, s := range symbols {
		if t.h.c.Op(s) == smt.OpApp {
			t.known[t.h.c.Name(s)] = true
		}
	}
}

// free reports whether a candidate is about a value that is arbitrary in a trace but may not be so
// in a query: axioms can tie contents of memory at a header to the previous iteration.
func (t *tracer) free(c *Candidate) bool {
	free := false
	t.h.c.Visit([]smt.Term{c.at}, func(v smt.Term) {
		free = free || t.h.c.Op(v) == smt.OpApp && !t.known[t.h.c.Name(v)]
	})
	return free
}

// refute drops the candidates of a loop that are false now.
func (t *tracer) refute(i int, k uint64) {
	for _, c := range t.h.loops[i].candidates {
		if c.Died == "" && !t.e.Holds(c.at) && !t.free(c) {
			c.Died = fmt.Sprintf("false in iteration %d of trace %d%s", k, t.number+1, t.where(c))
			t.drops++
		}
	}
}

// where returns the inputs that a candidate depends on, with their values in the trace.
func (t *tracer) where(c *Candidate) string {
	ctx := t.h.c
	var out []string
	ctx.Visit([]smt.Term{c.at}, func(v smt.Term) {
		if slices.Contains(t.inputs, v) {
			out = append(out, fmt.Sprintf("%s = %d", ctx.Name(v), t.m.Vars[ctx.Name(v)]))
		}
	})
	if len(out) == 0 {
		return ""
	}
	return " with " + strings.Join(out, ", ")
}
