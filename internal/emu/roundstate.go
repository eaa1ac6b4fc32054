package emu

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// The state of a moment at which rounds begin (rounds.go): what decides which operations are
// possible from there on, and which of them are errors. Numbers that only grow, such as phases,
// groups of matrix operations and fences, are counted from where they are now, and what was long
// ago enough not to matter any more is the same as what never was. Registers are apart, since they
// may differ by known numbers.

// roundState returns the state of a block, without the registers of threads that begin a round, and
// the number of complete phases of each mbarrier.
func (x *exec) roundState(b *block) ([]byte, map[uint64]uint64) {
	var out []byte
	put := func(v ...uint64) {
		for _, n := range v {
			out = binary.AppendUvarint(out, n)
		}
	}
	phases := make(map[uint64]uint64, len(b.mbars))
	for _, addr := range b.liveMBarriers() {
		m := b.mbars[addr]
		phases[addr] = m.phase
		put(addr, uint64(m.expected), uint64(m.pending), uint64(m.tx), m.phase&1, m.serial)
	}
	put(1 << 63)
	for i := range b.bars {
		if bar := &b.bars[i]; bar.active {
			put(uint64(i), uint64(bar.count), uint64(bar.arrivals))
			for _, lanes := range bar.lanes {
				put(uint64(lanes))
			}
		}
	}
	b.putWarpgroups(put)
	b.tensor.putState(put)
	for i := range b.warps {
		w := &b.warps[i]
		put(1<<63, uint64(w.exited), uint64(w.clusterNow), uint64(w.clusterDone), uint64(w.columns),
			// how far the warps of a warpgroup are ahead of the first one
			uint64(w.matrices.closed-warpgroupOf(b, w)[0].matrices.closed))
		if w.alive() != 0 {
			w.putMatrices(put)
		}
		waiting := slices.Clone(w.waiting)
		slices.SortFunc(waiting, func(a, b *fragment) int { return lowest(a.mask) - lowest(b.mask) })
		for _, g := range waiting {
			put(uint64(g.mask), uint64(g.pc), uint64(g.wait.kind), uint64(g.wait.bar),
				uint64(g.wait.members), uint64(g.wait.count))
			for j := g.join; j != nil; j = j.parent {
				put(uint64(j.pc), uint64(j.live), uint64(j.arrived))
			}
			if g.wait.kind == atPhase {
				// the parity of the phase follows from that of the object
				put(g.mwait.addr, phases[g.mwait.addr]-g.mwait.phase)
			}
		}
	}
	return append(out, b.contents()...), phases
}

// contents identifies the bytes of shared memory whose values a trace knows, and these values.
func (b *block) contents() []byte {
	h := sha256.New()
	var line [1 + 8]byte
	for at := 0; at < len(b.shared) && b.unk != nil; {
		unknown := b.unk[at/64]
		if unknown == ^uint64(0) {
			at += 64
			continue
		}
		for end := min(at+64, len(b.shared)); at < end; at++ {
			if unknown>>(at%64)&1 == 0 {
				line[0] = b.shared[at]
				binary.LittleEndian.PutUint64(line[1:], uint64(at))
				h.Write(line[:])
			}
		}
	}
	return h.Sum(nil)
}

// putWarpgroups puts what some warps of each warpgroup have executed and others have not: the
// latter have to do the same.
func (b *block) putWarpgroups(put func(...uint64)) {
	put(uint64(len(b.groups)))
	for i := range b.groups {
		g := &b.groups[i]
		first := min(g.at[0], g.at[1], g.at[2], g.at[3])
		for _, at := range g.at {
			put(at - first)
		}
		for _, s := range g.steps[first-g.base:] {
			put(uint64(s.in.Index), uint64(s.site), s.desc[0], s.desc[1])
		}
	}
}

// putMatrices puts the groups and fences of a warp's matrix operations, and how the registers have
// been used that such operations name. Of a register whose group is complete, only that, its role
// and its shape matter. An access in front of the last fence that an operation has followed is as
// none: mayUse compares with the last fence, and copyRegister puts accesses no further back.
func (w *warp) putMatrices(put func(...uint64)) {
	m := &w.matrices
	put(uint64(m.closed-m.done), uint64(m.fences-m.mmaFences), uint64(min(m.fences, 1)),
		uint64(len(w.root.uses)))
	bit := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	access := func(a touchAt) {
		if a.fences <= m.mmaFences {
			put(0)
			return
		}
		put(uint64(a.fences-m.mmaFences), bit(a.maybe))
	}
	for i := range w.root.uses {
		u := &w.root.uses[i]
		switch {
		case u.group == 0:
			put(0)
		case u.group <= m.done:
			put(1)
		default:
			put(uint64(2 + m.closed + 1 - u.group))
		}
		put(uint64(u.shape), bit(u.accumulator), uint64(u.operand), bit(u.fenced == m.fences+1), u.home)
		access(u.read)
		access(u.written)
	}
}

// putState puts which columns are allocated, and what further allocations depend on.
func (t *tensorMemory) putState(put func(...uint64)) {
	if t == nil {
		put(0)
		return
	}
	relinquished := uint64(0)
	if t.relinquished != nil {
		relinquished = 1
	}
	put(1, uint64(len(t.allocated)), uint64(t.last), relinquished)
	for _, a := range t.allocated {
		named := uint64(0)
		if a.named {
			named = 1
		}
		put(uint64(a.column), uint64(a.columns), named)
	}
}
