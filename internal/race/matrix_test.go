package race

import (
	"testing"

	"heddle/internal/event"
)

// multiply issues a matrix operation that reads some chunks.
func (p *phases) multiply(w event.Warp, chunks ...uint64) {
	f := new(event.Footprint)
	for _, a := range chunks {
		f.Add(a)
	}
	p.d.Matrix(&event.Matrix{Warp: w, Site: p.next(), Mask: ^uint32(0), Active: ^uint32(0), Reads: f})
}

func (p *phases) group(w event.Warp, commit bool, pending uint32) {
	p.d.MatrixGroup(&event.MatrixGroup{Warp: w, Site: p.next(), Mask: ^uint32(0),
		Active: ^uint32(0), Commit: commit, Pending: pending})
}

// What orders a matrix operation behind and before other accesses: PTX ISA 9.7.15.4, 9.7.15.7.
func TestMatrix(t *testing.T) {
	for what, c := range map[string]struct {
		do    func(p *phases)
		races int
	}{
		"a write, a fence and an operation": {func(p *phases) {
			p.access(0, event.Write, 16, 4)
			p.fence(0)
			p.multiply(0, 16)
		}, 0},
		"without the fence": {func(p *phases) {
			p.access(0, event.Write, 16, 4)
			p.multiply(0, 16)
		}, 1},
		"the fence in front of the write": {func(p *phases) {
			p.fence(0)
			p.access(0, event.Write, 16, 4)
			p.multiply(0, 16)
		}, 1},
		"a write of another chunk": {func(p *phases) {
			p.access(0, event.Write, 32, 4)
			p.multiply(0, 16, 48)
			p.access(1, event.Write, 44, 4)
		}, 0},
		"a read": {func(p *phases) {
			p.multiply(0, 16)
			p.access(1, event.Read, 16, 4)
		}, 0},
		"a write before the wait": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.access(0, event.Write, 28, 4)
		}, 1},
		"a write behind the wait": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.group(0, false, 0)
			p.access(0, event.Write, 28, 4)
		}, 0},
		"a wait without a commit": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, false, 0)
			p.access(0, event.Write, 28, 4)
		}, 1},
		"a wait that leaves the group": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.group(0, false, 1)
			p.access(0, event.Write, 28, 4)
		}, 1},
		"a wait that leaves a later group": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.multiply(0, 32)
			p.group(0, true, 0)
			p.group(0, false, 1)
			p.access(0, event.Write, 28, 4)
		}, 0},
		// groups are "per warpgroup" (9.7.15.7.2): the wait covers the operations of all four warps
		"another warp's wait": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.multiply(1, 32)
			p.group(1, true, 0)
			p.group(1, false, 0)
			p.access(1, event.Write, 16, 4)
		}, 0},
		"a wait and a barrier": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.group(0, false, 0)
			p.sync()
			p.access(1, event.Write, 16, 4)
		}, 0},
		"a barrier without a wait": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.sync()
			p.access(1, event.Write, 16, 4)
		}, 1},
		"a copy before the wait": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.load(0, 0, 64)
		}, 1},
		"a copy over other chunks": {func(p *phases) {
			p.multiply(0, 16, 64)
			p.group(0, true, 0)
			p.load(0, 32, 32)
		}, 0},
		"a copy behind the wait, without a proxy fence": {func(p *phases) {
			p.multiply(0, 16)
			p.group(0, true, 0)
			p.group(0, false, 0)
			p.load(0, 0, 64)
		}, 0},
		"before the wait for a copy": {func(p *phases) {
			id := p.load(0, 0, 64)
			p.multiply(1, 16)
			p.signal(id)
		}, 1},
		"behind the wait for a copy": {func(p *phases) {
			id := p.load(0, 0, 64)
			p.bar(0, event.MBarrierArrive, 0)
			p.signal(id)
			p.bar(0, event.MBarrierComplete, 0)
			p.bar(1, event.MBarrierWait, 0)
			p.multiply(1, 16)
		}, 0},
		"two warps read one chunk": {func(p *phases) {
			p.multiply(0, 16)
			p.multiply(1, 16)
		}, 0},
	} {
		p := newPhases()
		c.do(p)
		p.want(t, what, c.races, 0)
	}
}
