package invariant

import (
	"maps"
	"slices"

	"heddle/internal/smt"
)

// Rule proposes candidates.
type Rule struct {
	Name    string
	Why     string // which loops need it
	hard    int    // 1: solvers find it hard
	propose func(*loop)
}

// Rules is the table of rules. The order is that of --invariants.
var Rules = []Rule{
	{"non-negative", "indices that an unsigned comparison or an array requires to be non-negative",
		0, nonNegative},
	{"entry-bound", "a register that only rises, or only falls, stays on one side of its entry value",
		0, entryBound},
	{"step-bound", "a step that an iteration may make was made at most k times: a fill position",
		0, stepBound},
	{"loop-bound", "a value that each iteration compares with a bound passes it by one step at most",
		0, loopBound},
	{"constant-bound", "states of small machines, and flags that are numbers", 0, constantBound},
	{"power-of-two", "strides that double or halve in a way that has no closed form", 0, powerOfTwo},
	{"pair", "two registers that move together or in opposite directions: sum, difference or order",
		0, pairs},
	{"product", "one register doubles while another halves", 1, products},
	{"predicate", "a flag equals a comparison, or another flag", 0, predicates},
	{"guarded-form", "registers that change only while a condition on the thread holds have the " +
		"closed form of an unconditional change, until the condition fails for good", 0, guardedForms},
	{"trips", "a value that is halved or doubled has a bounded number of bits", 0, trips},
	{"candidate", "candidates of the source: __candidate_invariant", 0, guesses},
	{"barrier-tag", "each iteration passes a barrier, so the last one is of the previous iteration",
		0, tags},
}

// nonNegative proposes v >= 0, read as signed.
func nonNegative(l *loop) {
	for _, x := range l.open(0) {
		l.add(l.c.Sle(l.c.Const(0, x.width), x.v))
	}
}

// entryBound proposes v <= entry and v >= entry, signed and unsigned: one of each pair survives for
// a register that moves in one direction without wrapping.
func entryBound(l *loop) {
	for _, x := range l.open(0) {
		l.add(l.c.Sle(x.Init, x.v))
		l.add(l.c.Sle(x.v, x.Init))
		l.add(l.c.Ule(x.Init, x.v))
		l.add(l.c.Ule(x.v, x.Init))
	}
}

// stepBound proposes |v - entry| <= k*s for each constant s that an iteration may add. A counter
// that advances under a condition has no closed form, but it advances at most once in an iteration.
func stepBound(l *loop) {
	c := l.c
	for _, x := range l.open(0) {
		if x.width < 32 {
			continue
		}
		k := c.ZExt(l.k, x.width)
		up, down := c.Sub(x.v, x.Init), c.Sub(x.Init, x.v)
		l.add(c.Ule(up, k))
		l.add(c.Ule(down, k))
		l.add(c.Ule(x.v, k))
		for _, s := range l.steps(c.Sub(x.then, x.v)) {
			if n := signed(s, x.width); n > 1 {
				l.add(c.Ule(up, c.MulConst(k, s)))
			} else if n < -1 {
				l.add(c.Ule(down, c.MulConst(k, -s)))
			}
		}
	}
}

// steps returns the constants among which a term chooses.
func (l *loop) steps(t smt.Term) []uint64 {
	c := l.c
	var out []uint64
	c.Visit([]smt.Term{t}, func(u smt.Term) {
		if v, ok := c.Value(u); ok && c.Width(u) == c.Width(t) && v != 0 && len(out) < 4 {
			out = append(out, v)
		}
	})
	return out
}

// signed is the lower w bits of v, sign-extended.
func signed(v uint64, w int) int64 { return int64(v<<(64-w)) >> (64 - w) }

// loopBound: the comparison held before the step that led here, so weakly it often holds after it.
func loopBound(l *loop) {
	c := l.c
	for _, t := range l.comparisons() {
		for _, o := range [][2]smt.Term{{t.a, t.b}, {t.b, t.a}} {
			for _, le := range []func(a, b smt.Term) smt.Term{c.Ule, c.Sle} {
				weak := le(o[0], o[1])
				l.add(weak)
				for _, x := range l.open(c.Width(o[0])) {
					if l.mentions(weak, x.v) {
						l.add(c.Or(weak, c.Eq(x.v, x.Init)))
					}
				}
			}
		}
	}
}

// constantBound proposes v <= n for the constants that the loop assigns to v or compares.
func constantBound(l *loop) {
	c := l.c
	for _, x := range l.open(0) {
		seen := map[uint64]bool{}
		if v, ok := c.Value(x.Init); ok {
			seen[v] = true
		}
		for _, s := range l.steps(x.then) {
			seen[s] = true
		}
		for _, t := range l.comparisons() {
			for _, o := range []smt.Term{t.a, t.b} {
				if v, ok := c.Value(o); ok && c.Width(o) == x.width {
					seen[v] = true
				}
			}
		}
		for _, v := range slices.Sorted(maps.Keys(seen)) {
			if len(seen) <= 8 && signed(v, x.width) >= 0 {
				l.add(c.Ule(x.v, c.Const(v, x.width)))
			}
		}
	}
}

// powerOfTwo proposes v & (v-1) = 0 and v != 0.
func powerOfTwo(l *loop) {
	c := l.c
	for _, x := range l.open(0) {
		zero := c.Const(0, x.width)
		l.add(c.Eq(c.BvAnd(x.v, c.AddConst(x.v, ^uint64(0))), zero))
		l.add(c.Not(c.Eq(x.v, zero)))
	}
}

// pairs proposes v = w, v - w and v + w as at the entry, v <= w and w <= v.
func pairs(l *loop) {
	c := l.c
	for i, x := range l.values {
		for _, y := range l.values[:i] {
			if x.Closed && y.Closed || x.Tag || y.Tag || x.width != y.width || x.width < 8 {
				continue
			}
			l.add(c.Eq(x.now, y.now))
			l.add(c.Eq(c.Sub(x.now, y.now), c.Sub(x.Init, y.Init)))
			l.add(c.Eq(c.Add(x.now, y.now), c.Add(x.Init, y.Init)))
			l.add(c.Sle(x.now, y.now))
			l.add(c.Sle(y.now, x.now))
		}
	}
}

// products proposes that v*w is as at the entry, for registers that an iteration may shift: a
// stride that doubles and a count that halves, in reductions.
func products(l *loop) {
	c := l.c
	for i, x := range l.values {
		for _, y := range l.values[:i] {
			if (!x.Closed || !y.Closed) && x.width == y.width && l.scales(x) && l.scales(y) {
				l.add(c.Eq(c.Mul(x.now, y.now), c.Mul(x.Init, y.Init)))
			}
		}
	}
}

// scales reports whether an iteration may shift a register.
func (l *loop) scales(x *value) bool {
	c, found := l.c, false
	if x.Tag || x.width < 8 {
		return false
	}
	c.Visit([]smt.Term{x.then}, func(t smt.Term) {
		switch t {
		case c.MulConst(x.now, 2), c.LShr(x.now, c.Const(1, x.width)), c.AShr(x.now, c.Const(1, x.width)):
			found = true
		}
	})
	return found
}

// predicates proposes that a flag is constant, equals another flag or its negation, or equals a
// comparison of the loop or its negation.
func predicates(l *loop) {
	c := l.c
	var flags []smt.Term
	for _, x := range l.values {
		if x.width == 0 && !x.Closed {
			flags = append(flags, x.v)
		}
	}
	for i, p := range flags {
		l.add(p)
		l.add(c.Not(p))
		for _, q := range flags[:i] {
			l.add(c.Eq(p, q))
			l.add(c.Eq(p, c.Not(q)))
		}
		for _, t := range l.comparisons() {
			atom := c.Eq(t.a, t.b)
			switch t.op {
			case smt.OpUlt:
				atom = c.Ult(t.a, t.b)
			case smt.OpSlt:
				atom = c.Slt(t.a, t.b)
			}
			l.add(c.Eq(p, atom))
			l.add(c.Eq(p, c.Not(atom)))
		}
	}
}

// guesses proposes what the source proposes.
func guesses(l *loop) {
	for _, g := range l.Guesses {
		l.add(l.holders.Apply(g))
	}
}

// trips proposes k <= 32 and k <= 64: a value that is halved until it is zero has no more bits.
func trips(l *loop) {
	for _, n := range []uint64{32, 64} {
		l.add(l.c.Ule(l.k, l.c.Const(n, 32)))
	}
}

// tags proposes that the last barrier is of iteration k-1, for k > 0, or that it is one of the
// barriers that the loop contains.
func tags(l *loop) {
	c := l.c
	first := c.Eq(l.k, c.Const(0, 32))
	for _, x := range l.values {
		switch {
		case x.Closed || !x.Tag:
		case x.Own:
			l.add(c.Or(first, c.Eq(x.v, c.AddConst(l.k, ^uint64(0)))))
			l.add(c.Or(first, c.Ult(x.v, l.k)))
		default:
			for _, s := range l.steps(x.then) {
				l.add(c.Or(first, c.Eq(x.v, c.Const(s, x.width))))
			}
		}
	}
}
