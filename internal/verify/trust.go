package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/lockstep/thread"
)

// trust decides which barrier invariants are used behind their barriers (Chong et al., OOPSLA
// 2013): those for which no other thread writes what they read, in the interval that the barrier
// ends, or from another block at any time. Each is checked under the remaining ones: up to the
// first interval in which one cannot be trusted, all that have been used can. That they hold when a
// thread reaches the barrier is an assertion like others.
//
// In lock step a lane may write what another one has read without a race, so none is trusted.
func (p *prover) trust() {
	if p.th.Lockstep {
		return
	}
	facts := slices.Clone(p.th.BarrierFacts)
	for changed := true; changed; {
		changed = false
		p.trusted = nil
		for i := range facts {
			p.trusted = append(p.trusted, facts[i].Trusted)
		}
		kept := facts[:0:0]
		for i := range facts {
			if p.undisturbed(facts[i].Reads) {
				kept = append(kept, facts[i])
			} else {
				changed = true
			}
		}
		facts = kept
	}
}

// undisturbed reports whether it is proved that no other thread writes what a condition reads.
func (p *prover) undisturbed(reads []thread.Access) bool {
	sub := newProver(p.ctx, p.th, p.opt.aside())
	sub.trusted, sub.res.Invariants = p.trusted, p.res.Invariants
	defer func() { p.res.Invariants = sub.res.Invariants }() // they are searched once
	for i := range reads {
		r := &reads[i]
		for j := range p.th.Accesses {
			w := &p.th.Accesses[j]
			if !sub.comparable(r, w) {
				continue
			}
			sub.race(r, w, false)
			if r.Space != event.Shared && w.Space != event.Shared && p.th.Geometry.Grid.Count() > 1 {
				sub.race(r, w, true)
			}
		}
	}
	ok := sub.failures() == 0
	p.res.Counters = p.res.Counters || ok && sub.res.Counters
	return ok
}
