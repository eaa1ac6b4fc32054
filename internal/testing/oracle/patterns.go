package oracle

import "heddle/internal/event"

// Fence is a release fence for later writes, and an acquire fence for the observations of earlier
// strong reads (PTX ISA 8.8, third forms).
func (o *Oracle) Fence(f *event.Fence) {
	if f.Grid { // of other grids
		return
	}
	for _, t := range lanes(f.Warp, f.Mask) {
		if !o.orders(f.Orders, f.Warp) {
			continue
		}
		s := &o.sync[t]
		if f.Order.Acquires() {
			for _, heads := range s.observed {
				o.acquire(t, f.Scope, heads)
			}
		}
		if f.Order == event.SeqCst && f.Scope >= event.GPU {
			o.vc[t].join(s.seenSC)
			o.vc[t].join(o.block(t).behind)
			s.fenceSC = o.vc[t].copy()
		}
		if f.Order.Releases() {
			s.fences[f.Scope] = o.vc[t].copy()
		}
		o.vc[t][t]++
	}
	o.endInstruction(f.Warp, f.Active)
}

// acquire joins the clocks that release patterns publish, if the pattern's first operation and the
// acquiring one are morally strong: their scopes include each other's threads (8.9.4).
func (o *Oracle) acquire(t event.Thread, scope event.Scope, heads []head) {
	g := o.opt.Geometry
	for _, h := range heads {
		if g.Includes(scope, t, h.thread) && g.Includes(h.scope, h.thread, t) {
			o.vc[t].join(h.vc)
		}
	}
}

// synchronize applies one lane's access to the patterns.
func (o *Oracle) synchronize(a *event.Access, t event.Thread) {
	op := opOf(a, t)
	at := place{o.byteOf(a.Space, op, a.Peer, 0), a.Size}
	var seen []head // observed by the read part
	var chain []*access
	sc := make(clock, o.threads) // of fences.sc before the observed write
	if a.Order.Strong() && a.Kind != event.Write {
		if w := o.observe(a, t, op); w != nil {
			seen, chain = w.heads, w.chain
			sc.join(w.sc)
		}
		if a.Kind != event.Reduce {
			o.sync[t].seenSC.join(sc)
		}
		if a.Kind != event.Reduce {
			for _, x := range chain {
				x.observers = append(x.observers, observer{t, o.current[t].at})
			}
		}
		if a.Kind != event.Reduce { // the read of a reduction forms no acquire pattern (8.8)
			s := &o.sync[t]
			s.observed[at] = append(s.observed[at], seen...)
			if a.Order.Acquires() {
				o.acquire(t, a.Scope, s.observed[at])
			}
		}
	}
	if a.Stored>>t.Lane()&1 == 0 {
		return
	}
	w := &write{op: op, sc: make(clock, o.threads)}
	if a.Order.Strong() {
		w.sc.join(o.sync[t].fenceSC)
		w.sc.join(o.block(t).before)
		if a.Kind.RMW() {
			w.sc.join(sc)
			w.heads = append(w.heads, seen...) // observation order goes through the atomic (8.9.2)
			w.chain = append(w.chain, chain...)
		}
		w.heads = append(w.heads, o.ownHeads(a, t, at)...)
		w.chain = append(w.chain, o.current[t])
	}
	for i := range int(a.Size) {
		o.last[o.byteOf(a.Space, op, a.Peer, i)] = w
	}
}

// observe returns the write that a strong read observes, if it is a single write and they are
// morally strong; else nil.
func (o *Oracle) observe(a *event.Access, t event.Thread, op event.Op) *write {
	w := o.last[o.byteOf(a.Space, op, a.Peer, 0)]
	for i := range int(a.Size) {
		if w == nil || o.last[o.byteOf(a.Space, op, a.Peer, i)] != w {
			return nil
		}
	}
	if w.op.Thread != t && !event.MorallyStrong(o.opt.Geometry, w.op, op) {
		return nil
	}
	if w.op.Addr != op.Addr || w.op.Size != op.Size {
		return nil
	}
	return w
}

// ownHeads returns the release patterns that a strong write of t to a location completes.
func (o *Oracle) ownHeads(a *event.Access, t event.Thread, at place) []head {
	s := &o.sync[t]
	if a.Order.Releases() {
		s.released[at] = append(s.released[at], head{t, a.Scope, o.vc[t].copy()})
	}
	var heads []head
	heads = append(heads, s.released[at]...)
	for scope, vc := range s.fences {
		heads = append(heads, head{t, scope, vc})
	}
	return heads
}
