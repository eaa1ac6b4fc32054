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
	{"non-negative", "indices that an unsigned comparison or an array assumes are not below zero", 0,
		nonNegative},
	{"entry-bound", "a register that only rises, or only falls, stays on one side of its value at the entry", 0, entryBound},
	{"step-bound", "what an iteration may add once has been added at most k times: a fill position",
		0, stepBound},
	{"loop-bound", "what is compared with a bound each time does not pass it by more than a step", 0,
		loopBound},
	{"constant-bound", "state of small machines, and flags that are numbers", 0, constantBound},
	{"power-of-two", "strides that double or halve by a way that closed forms do not see", 0,
		powerOfTwo},
	{"pair", "two registers that move together, or against each other: the sum or the difference is kept, or which is larger", 0, pairs},
	{"product", "one register doubles while another halves", 1, products},
	{"predicate", "a flag says what a comparison says, or what another flag says", 0, predicates},
	{"guarded-form", "registers that change only while a condition on the thread holds are as in a loop without it, until it fails for good", 0, guardedForms},
	{"trips", "a value that is halved or doubled has so many bits", 0, trips},
	{"candidate", "what the source proposes: __candidate_invariant", 0, guesses},
	{"barrier-tag", "each iteration passes a barrier: the last one was passed in the iteration before", 0, tags},
}

func nonNegative(l *loop) {
	for _, x := range l.open(0) {
		l.add(l.c.Sle(l.c.Const(0, x.width), x.v))
	}
}

func entryBound(l *loop) {
	for _, x := range l.open(0) {
		l.add(l.c.Sle(x.Init, x.v))
		l.add(l.c.Sle(x.v, x.Init))
		l.add(l.c.Ule(x.Init, x.v))
		l.add(l.c.Ule(x.v, x.Init))
	}
}

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

func powerOfTwo(l *loop) {
	c := l.c
	for _, x := range l.open(0) {
		zero := c.Const(0, x.width)
		l.add(c.Eq(c.BvAnd(x.v, c.AddConst(x.v, ^uint64(0))), zero))
		l.add(c.Not(c.Eq(x.v, zero)))
	}
}

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

func guesses(l *loop) {
	for _, g := range l.Guesses {
		l.add(l.holders.Apply(g))
	}
}

func trips(l *loop) {
	for _, n := range []uint64{32, 64} {
		l.add(l.c.Ule(l.k, l.c.Const(n, 32)))
	}
}

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
