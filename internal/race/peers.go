package race

import "heddle/internal/event"

// Named barriers in their common form: warps arrive as a unit, with all lanes in one epoch, so that
// their knowledge fits in one clock for each warp of the block. This is a fifth format besides
// Barracuda's four (§4.3.1): peers[v] is what all lanes of a warp know of all lanes of warp v of
// their block. Lanes that synchronize individually use trees.

// knowsWarp returns a clock that all lanes of w know of all lanes of warp v of their block.
func (w *warp) knowsWarp(v int) uint32 {
	if v < len(w.peers) {
		return max(w.blk, w.peers[v])
	}
	return w.blk
}

// uniform reports whether mask is the full warp in one epoch, and no single lane has knowledge of
// its own.
func (w *warp) uniform(mask, all uint32) bool { return mask == all && w.even && w.lane == nil }

// contribute adds what the lanes of a part know to the generation.
func (d *Detector) contribute(b *block, g *generation, p *part) {
	w := p.warp
	p.joined = true
	if !w.uniform(p.mask, d.lanesOf(w.id)) {
		g.known = d.addClocks(g.known, w, b, p.mask)
		w.tick(p.mask)
		return
	}
	if len(g.peers) == 0 {
		g.peers = grown(g.peers, len(b.warps))
	}
	for v, c := range w.peers {
		if c > g.peers[v] {
			g.peers[v] = c
		}
	}
	self := w.id - b.first
	g.peers[self] = max(g.peers[self], w.own[0])
	g.known = join(g.known, w.ext)
	g.blk = max(g.blk, w.blk)
	for l := range w.own {
		w.own[l]++
	}
}

// grown returns v resized to n zero elements, in its own memory if its capacity suffices.
func grown(v []uint32, n int) []uint32 {
	if cap(v) < n {
		return make([]uint32, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// inform passes the knowledge of a generation to lanes that waited for it.
func (d *Detector) inform(b *block, g *generation, p *part) {
	w, all := p.warp, d.lanesOf(p.warp.id)
	if len(g.peers) == 0 {
		w.learn(p.mask, g.known, all)
		return
	}
	if p.mask != all {
		w.learn(p.mask, g.tree(b), all)
		return
	}
	w.learn(p.mask, g.known, all)
	if len(w.peers) == 0 {
		w.peers = grown(w.peers, len(b.warps))
	}
	for v, c := range g.peers {
		if c > w.peers[v] {
			w.peers[v] = c
		}
	}
	w.intra = max(w.intra, w.peers[w.id-b.first])
}

// tree returns the knowledge of a generation as a tree.
func (g *generation) tree(b *block) *know {
	return withPeers(g.known.withWarps(b.first, b.end(), g.blk), b, g.peers, g.blk)
}

// withPeers adds clocks above floor of the warps of a block to a tree.
func withPeers(k *know, b *block, peers []uint32, floor uint32) *know {
	for v, c := range peers {
		if c > floor {
			k = k.withWarps(b.first+event.Warp(v), b.first+event.Warp(v)+1, c)
		}
	}
	return k
}
