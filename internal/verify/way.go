package verify

import (
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Way is a set of relations between the iterations of a loop that the two accesses of a race are
// in. A relation is in the set unless it is disproved.
type Way uint8

const (
	Same    Way = 1 << iota // the same iteration of all loops around both
	BThenA                  // A in the iteration after that of B
	AThenB                  // B in the iteration after that of A
	Farther                 // more than one iteration apart
)

// ways asks for each race within a block in which iterations of the loops around both accesses it
// occurs. It runs last, so that pairs that do not race are asked once only.
func (p *prover) ways() {
	p.drain()
	found := p.pairs
	p.pairs, p.stopped, p.opt.Limit, p.asking = nil, false, 0, true
	type question struct {
		ways *Way
		way  Way
		pair *pair
	}
	var asked []question
	maybe := func(f Finding, q []smt.Term, x *pair) (asked *pair) { // nil: nothing was asked
		if asked = p.decide(q, x.terms, x.threads, f); p.stopped {
			p.stopped, asked = false, nil
		}
		return asked
	}
	inWarp := map[*pair]*pair{}
	for _, x := range found {
		if !x.bad || x.finding.Kind != Race || x.finding.OtherBlock || x.finding.SameThread {
			continue
		}
		x.finding.Ways = make([]Way, commonLoops(x)+1)
		ask := func(level int, way Way, extra ...smt.Term) {
			q := append(append([]smt.Term(nil), x.first...), extra...)
			if one := maybe(Finding{Kind: Race, A: x.finding.A, B: x.finding.B}, q, x); one != nil {
				asked = append(asked, question{&x.finding.Ways[level], way, one})
			} else {
				x.finding.Ways[level] |= way
			}
		}
		p.relate(x, ask)
		x.finding.OneWarp = false
		if p.opt.OneWarp != nil && p.opt.OneWarp(&x.finding) {
			q := append(append([]smt.Term(nil), x.first...), p.c.Not(p.sameWarp(x.threads)))
			if one := maybe(Finding{Kind: Race, A: x.finding.A, B: x.finding.B}, q, x); one != nil {
				inWarp[x] = one
			}
		}
	}
	p.drain()
	for x, q := range inWarp {
		x.finding.OneWarp = !q.bad
	}
	for _, q := range asked {
		if q.pair.bad {
			*q.ways |= q.way
		}
	}
	p.pairs = found
}

// commonLoops returns how many loops are around both accesses of a pair.
func commonLoops(x *pair) int {
	n := 0
	for n < min(len(x.iters[0]), len(x.iters[1])) && x.iters[0][n] == x.iters[1][n] {
		n++
	}
	return n
}

// relate calls ask for each relation between the iterations of the common loops of a pair.
func (p *prover) relate(x *pair, ask func(level int, way Way, extra ...smt.Term)) {
	c := p.c
	var outer []smt.Term // the iterations of the loops around are the same
	for i := range commonLoops(x) {
		a, b := x.threads[0].Apply(x.iters[0][i]), x.threads[1].Apply(x.iters[1][i])
		onward, back := c.Eq(a, c.AddConst(b, 1)), c.Eq(b, c.AddConst(a, 1))
		ask(i+1, BThenA, append(outer[:i:i], onward)...)
		ask(i+1, AThenB, append(outer[:i:i], back)...)
		ask(i+1, Farther, append(outer[:i:i], c.Not(c.Eq(a, b)), c.Not(onward), c.Not(back))...)
		outer = append(outer, c.Eq(a, b))
	}
	ask(0, Same, outer...)
}

// diverging asks for each barrier whether some thread of a block, or of a warp, reaches it in an
// iteration in which another does not.
func (p *prover) diverging(ends []thread.End, oneWarp bool) []*pair {
	p.pair[1] = symbol.Companion(p.c)
	for i := range ends {
		e := &ends[i]
		if e.Instr == nil || p.done() {
			continue
		}
		q := []smt.Term{p.pair[0].Apply(e.Guard), p.c.Not(p.pair[1].Apply(e.Guard)),
			p.differ(p.pair, p.th.Tid)}
		if oneWarp {
			q = append(q, p.sameWarp(p.pair))
		}
		p.decide(q, [2][]smt.Term{{e.Guard}, {e.Guard}}, p.pair, Finding{Kind: Divergence, A: e.Instr})
	}
	p.drain()
	return p.pairs
}
