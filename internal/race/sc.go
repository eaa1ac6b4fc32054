package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Fences of a block before and behind its barrier: the threads of a block store data, execute
// fence.sc and meet at a barrier, and one of them then tells others with an atomic; those learn of
// it, meet at a barrier, and execute fence.sc each. Neither side is a release or an acquire pattern,
// whose fence and access belong to one thread (PTX ISA 8.8). But let F and G be the fences, let F
// precede the store W and the load R precede G in base causality order, and let R observe W. If G
// preceded F in Fence-SC order, R would precede W in causality order, which it observes. Fence-SC
// order relates the two if they are morally strong (8.9.3), so F precedes G, and the fences
// synchronize (8.9.4).
//
// Deviations and limits: of the ways in which a fence may precede a store of another thread, the
// barrier of the whole block alone counts, and so behind the load. Fences of a narrower scope than
// the device do not count, nor do loads by reductions (red).

// scFences are the fences.sc of the lanes of a warp, and what the lanes observed.
type scFences struct {
	fences          // the last one of each lane of fresh
	fresh    uint32 // lanes with one since the last barrier of the block
	past     fences // the last one of each lane of passed before that barrier
	passed   uint32
	observed [event.WarpSize]*know // by strong reads: what fences before the stores knew
	any      uint32                // lanes that observed something since the last barrier
}

// blockSC is what the threads of a block share of such fences since its last barrier.
type blockSC struct {
	before *know // what their own fences knew, those in past apart
	behind *know // what they observed
	past   bool  // some warp has a fence in past
}

func (b *blockSC) any() bool { return b.before != nil || b.past }

// observe records that a lane observed a store, and what fences before it knew.
func (p *scFences) observe(l int, k *know) {
	p.observed[l] = join(p.observed[l], k)
	p.any |= 1 << l
}

// fenceSC makes lanes learn what they or their block observed, and records what they know.
func (d *Detector) fenceSC(w *warp, b *block, mask uint32) {
	p, all := &w.patterns().sc, d.lanesOf(w.id)
	w.learn(mask, b.sc.behind, all)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.learn(1<<l, p.observed[l], all)
	}
	for m := p.lazy &^ mask; m != 0; m &= m - 1 {
		p.at(w, b, all, bits.TrailingZeros32(m))
	}
	d.snapshot(w, b, &p.fences, mask)
	p.fresh |= mask
}

// passSC is called for each warp at a barrier of the whole block.
func (d *Detector) passSC(w *warp, b *block) {
	if w.pat == nil {
		return
	}
	p := &w.pat.sc
	if p.fresh != 0 {
		if p.passed&^p.fresh != 0 { // which the fences since then do not include
			b.sc.before = join(b.sc.before, d.knownAt(w, b, &p.past, p.passed))
		}
		p.past, p.passed, p.fresh, b.sc.past = p.fences, p.fresh, 0, true
		p.fences = fences{} // later fences must not change what those in past knew
	}
	for m := p.any; m != 0; m &= m - 1 {
		b.sc.behind = join(b.sc.behind, p.observed[bits.TrailingZeros32(m)])
	}
	p.any = 0
}

// knownToSC returns what the fences.sc knew that precede what a lane does now: its own, and those of
// its block before the last barrier.
func (d *Detector) knownToSC(w *warp, b *block, l int) *know {
	if b.sc.past {
		for i := range b.warps {
			v := &b.warps[i]
			if v.pat != nil && v.pat.sc.passed != 0 {
				b.sc.before = join(b.sc.before, d.knownAt(v, b, &v.pat.sc.past, v.pat.sc.passed))
				v.pat.sc.passed = 0
			}
		}
		b.sc.past = false
	}
	k := b.sc.before
	if w.pat != nil && w.pat.sc.fresh>>l&1 != 0 {
		k = join(k, w.pat.sc.at(w, b, d.lanesOf(w.id), l))
	}
	return k
}

// knownAt returns what lanes knew at their last fence.
func (d *Detector) knownAt(w *warp, b *block, f *fences, mask uint32) *know {
	var k *know
	if lazy := f.lazy & mask; lazy != 0 {
		k = f.ext.withWarps(b.first, b.end(), f.blk)
		var lanes [event.WarpSize]uint32
		for m := d.lanesOf(w.id); m != 0; m &= m - 1 {
			u := bits.TrailingZeros32(m)
			lanes[u] = max(f.mates, f.blk)
			if lazy>>u&1 != 0 {
				lanes[u] = f.own[u]
			}
		}
		k = k.withLanes(w.id, &lanes)
	}
	for m := mask &^ f.lazy; m != 0; m &= m - 1 {
		k = join(k, f.of(bits.TrailingZeros32(m)))
	}
	return k
}
