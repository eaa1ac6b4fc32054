package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Observation order (PTX ISA 8.9.5, second rule).
//
// Causality order has one rule besides synchronization: a write X precedes Y if X precedes some Z
// in observation order, and Z happens before Y. So the thread that increments a counter last, and
// recognizes this by the value, may reset the counter by a plain store: its atomic has observed all
// others through the chain of atomics (8.9.2). The rule orders X alone, not what precedes X in its
// thread.
//
// The rule is applied only when a race would be reported otherwise. The list of strong writes of a
// word is in order of time. If all of them after the first are atomics, and all are morally strong
// with each other, each observes all before it.
//
// For a strong store X that is not an atomic, the loads and atomics that observed it are in the
// shadow of exchange.go.
//
// Cases that remain reported as races although the rule orders them: words of a size other than 4
// bytes in a chain, X and Z by lanes of one instruction, Z that is not among the last few atomics,
// and every X once another strong store follows.

// chain reports whether the strong entries of the list are one chain of observation.
func (l *list) chain() bool {
	return !l.broken && len(l.strong) > 1 && l.class.wide() && uint8(l.class) == 4
}

// checkChain checks a weak access against the chain.
func (d *Detector) checkChain(t *touching, chain []entry) {
	var until [event.WarpSize]int // by lane: the entries before it are ordered
	looked := uint32(0)
	for i, e := range chain {
		racing, _ := d.unordered(t, e)
		if racing == 0 {
			continue
		}
		if !d.sites[e.site].fails {
			for m := racing; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m)
				if looked>>l&1 == 0 {
					looked |= 1 << l
					until[l] = d.observer(t, l, chain)
				}
				if i < until[l] {
					racing &^= 1 << l
				}
			}
		}
		if racing != 0 {
			part := *t
			part.mask = racing
			d.checkEntry(&part, e)
			t.kept = part.kept
		}
	}
}

// maxLook bounds the search for an observer, from the end of the chain.
const maxLook = 16

// observer returns the position in the chain of the last atomic that happens before the access by
// lane l; 0 if there is none. A reduction does not count: its read forms no pattern (8.11.1).
func (d *Detector) observer(t *touching, l int, chain []entry) int {
	thread := event.ThreadOf(t.w.id, l)
	for i := len(chain) - 1; i > 0 && i >= len(chain)-maxLook; i-- {
		z := chain[i]
		if d.sites[z.site].kind != event.Atomic {
			continue
		}
		if d.knowsAny(thread, event.Warp(z.warp), z.mask) >= z.clk {
			return i
		}
	}
	return 0
}
