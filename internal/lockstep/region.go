package lockstep

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/annotation"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/loop"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// edge is a state on its way to a block.
type edge struct {
	to ir.BlockID
	st *state
}

// region executes the blocks of a loop, or those of the function outside loops, once. It returns
// the edges back to the loop's header, and those that leave the loop.
func (x *exec) region(l *ir.Loop, in *state) (back, exits []edge) {
	first := ir.BlockID(0)
	if l != nil {
		first = l.Header
	}
	waiting := map[ir.BlockID][]*state{first: {in}}
	deliver := func(e edge) {
		switch {
		case e.st.pred == smt.False:
		case l != nil && e.to == l.Header:
			back = append(back, e)
		case l != nil && !l.Contains(e.to):
			exits = append(exits, e)
		default:
			waiting[e.to] = append(waiting[e.to], e.st)
		}
	}
	for _, b := range x.k.Order() {
		states := waiting[b]
		if len(states) == 0 {
			continue
		}
		inner := x.k.LoopOf(b) // l, or a loop in it of which b is the header: loops have no other entry
		delete(waiting, b)
		st := x.joinAt(b, states)
		x.Pause()
		if inner != l {
			for _, e := range x.loop(inner, st) {
				deliver(e)
			}
			continue
		}
		for _, e := range x.block(x.f.Blocks[b], st) {
			deliver(e)
		}
	}
	return back, exits
}

// joinAt merges the states that reach a block from outside the loop that it may be the header of:
// at most one of them is taken.
func (x *exec) joinAt(b ir.BlockID, states []*state) *state {
	r := x.join(b, states)
	if d := x.k.SharedReach(b); len(states) > 1 && d != ir.NoBlock && x.reach[d] != join.Undefined {
		r.pred = x.reach[d]
	}
	return r
}

// join merges the states that reach a block.
func (x *exec) join(b ir.BlockID, states []*state) *state {
	if len(states) == 1 {
		return states[0].clone()
	}
	r := &state{regs: make([]smt.Term, len(x.f.Regs))}
	preds := make([]smt.Term, len(states))
	mems := make([]*memory.State, len(states))
	notes := make([]*annotation.State, len(states))
	for i, s := range states {
		preds[i], mems[i], notes[i] = s.pred, &s.mem, &s.notes
	}
	var paths []smt.Term
	r.pred, paths = join.Conditions(x.c, preds)
	for reg := range r.regs {
		if !x.k.Live(b, reg) {
			r.regs[reg] = join.Undefined
			continue
		}
		r.regs[reg] = join.Values(x.c, paths, func(p int) smt.Term { return states[p].regs[reg] },
			func() smt.Term {
				name := fmt.Sprintf("%sj%d.%d", symbol.Private, b, reg)
				return symbol.Apply(x.c, name, x.k.Width(reg), x.Counters()...)
			})
	}
	tags := x.mem.JoinTags(mems, paths)
	r.notes = x.notes.Join(notes, paths)
	r.mem = x.mem.Join(b, mems, paths)
	r.mem.Tags = tags
	r.copies = joinCopies(states)
	return r
}

// block executes one block and returns its successors' states.
func (x *exec) block(b *ir.Block, st *state) []edge {
	x.merge(b, st)
	for _, in := range b.Instrs {
		x.at, x.unknown = in, 0
		x.guard = x.condition(in, st)
		if in.IsTerminator() && in == b.Last() {
			x.reach[b.ID] = st.pred
			return x.terminator(b, in, st)
		}
		x.instr(in, st)
	}
	var out []edge
	for _, s := range b.Succs {
		out = append(out, edge{s, st})
	}
	x.reach[b.ID] = st.pred
	if len(b.Succs) == 0 {
		x.exit(nil, st)
	}
	return out
}

// terminator executes the last instruction of a block, if it transfers control.
func (x *exec) terminator(b *ir.Block, in *ir.Instr, st *state) []edge {
	taken, rest := st, (*state)(nil)
	if in.Guard != ir.NoReg {
		taken, rest = st.clone(), st
		taken.pred = x.c.And(st.pred, x.guard)
		rest.pred = x.c.And(st.pred, x.c.Not(x.guard))
	}
	var out []edge
	switch in.Action() {
	case isa.ActBranch:
		out = append(out, edge{b.Succs[0], taken})
	case isa.ActIndexedBranch:
		index := x.read(in.Src[0], 32, taken)
		n := len(in.Src) - 1
		for i := range n { // an index beyond the table is undefined behaviour
			s := taken.clone()
			s.pred = x.c.And(taken.pred, x.c.Eq(index, x.c.Const(uint64(i), 32)))
			out = append(out, edge{b.Succs[i], s})
		}
	case isa.ActReturn, isa.ActExit:
		x.exit(in, taken)
	case isa.ActTrap: // ends the whole grid: nothing happens after it
		x.notes.Trap(site{x, in, taken})
		x.ended = append(x.ended, taken.pred)
	case isa.ActCall: // does not return
		if in.Callee == nil || in.Callee.Name != "__assertfail" {
			thread.Unsupported(in, "a call of %s, whose body is unknown", calleeName(in))
		}
		x.notes.State(site{x, in, taken}, thread.Asserted, smt.False)
		x.ended = append(x.ended, taken.pred)
	default:
		thread.Unsupported(in, "%s as the last instruction of a block", in.Text())
	}
	if rest != nil {
		out = append(out, edge{b.Succs[len(b.Succs)-1], rest})
	}
	return out
}

// exit ends the thread, by an instruction (nil: at the end of the function).
func (x *exec) exit(in *ir.Instr, st *state) {
	if in != nil {
		x.notes.Ended(site{x, in, st})
	}
	x.ended = append(x.ended, st.pred)
	if !x.final {
		return
	}
	at := thread.Tag{Barrier: x.c.Const(thread.ExitTag, thread.TagWidth)}
	for range x.k.TagLoops() {
		at.Iters = append(at.Iters, x.c.Const(0, thread.TagWidth))
	}
	end := thread.End{
		Guard: x.here(st), Bare: x.bare(st, smt.True), Start: x.mem.Tag(&st.mem, event.OrdersAll), At: at,
	}
	x.end(end, st, true, true)
}

// end records the end of an interval of the block, of the warp and of the grid.
func (x *exec) end(end thread.End, st *state, block, grid bool) {
	if block {
		x.th.Ends = append(x.th.Ends, end)
	}
	if x.k.WarpPart() > 0 && !x.opt.Lockstep {
		end.Start = x.mem.WarpTag(&st.mem)
		x.th.WarpEnds = append(x.th.WarpEnds, end)
	}
	if grid && x.k.GridPart() > 0 {
		end.Start = x.mem.GridTag(&st.mem)
		x.th.GridEnds = append(x.th.GridEnds, end)
	}
}

// loop executes one arbitrary iteration of a loop, and returns the states that leave it.
func (x *exec) loop(l *ir.Loop, entry *state) []edge {
	if header := x.f.Blocks[l.Header]; x.endless(l) && len(header.Instrs) > 0 {
		x.guard = smt.True
		x.notes.Never(site{x, header.Instrs[0], entry}, thread.NotEndless)
	}
	info := x.loops.Of(l)
	info.Enter(x.Counters(), x.c.And(x.outer, entry.pred))
	head := entry.clone()
	for _, s := range info.Slots() {
		*x.slot(head, s.Index) = info.At(s, *x.slot(entry, s.Index))
	}
	head.pred = info.Act()
	x.mem.AtHeader(memory.Loop{Loop: info.Loop, Around: info.Around(), Counter: info.Counter},
		&head.mem)
	known := x.notes.EnterLoop(&head.notes)
	outer, ended := x.outer, x.ended
	x.outer = info.Entry()
	x.around = append(x.around, l)
	x.notes.AtHeader(l, func(in *ir.Instr) annotation.Site {
		x.guard = smt.True
		return site{x, in, head}
	})
	x.ended = nil
	back, exits := x.region(l, head)
	x.settledAtBack(entry, back)
	it := loop.Iteration{Ends: x.ended}
	x.ended = ended
	x.around = x.around[:len(x.around)-1]
	x.outer = outer
	x.notes.LeaveLoop(known)
	x.learn(l, it, entry, back, exits)
	return x.leave(info, it, entry, exits)
}

// endless reports whether nothing leaves a loop: no branch, return or trap. A thread that reaches it
// stays there, and the assumption that loops end would make everything true.
func (x *exec) endless(l *ir.Loop) bool {
	for _, b := range l.Blocks {
		block := x.f.Blocks[b]
		if slices.ContainsFunc(block.Succs, func(s ir.BlockID) bool { return !l.Contains(s) }) ||
			len(block.Succs) == 0 {
			return false
		}
		for _, in := range block.Instrs {
			switch in.Action() {
			case isa.ActReturn, isa.ActExit, isa.ActTrap:
				return false
			}
		}
	}
	return true
}

// slot returns where a state has a slot of a loop.
func (x *exec) slot(st *state, i int) *smt.Term {
	if n := len(x.f.Regs); i >= n {
		return &st.mem.Tags[i-n]
	}
	return &st.regs[i]
}

// learn takes from one execution of the body what it says of the loop.
func (x *exec) learn(l *ir.Loop, it loop.Iteration, entry *state, back, exits []edge) {
	it.Back, it.Kept = smt.False, smt.True
	for _, e := range exits {
		it.Exits = append(it.Exits, e.st.pred)
	}
	var latch *state
	if len(back) > 0 {
		states := make([]*state, len(back))
		for i, e := range back {
			states[i] = e.st
		}
		latch = x.join(l.Header, states)
		it.Back, it.Kept = latch.pred, latch.notes.Known()
	}
	it.Next = func(i int) smt.Term {
		if latch == nil {
			return join.Undefined
		}
		return *x.slot(latch, i)
	}
	x.ends[l] = &loopEnds{entry, latch}
	x.loops.Of(l).Learn(it)
}

// leave returns the states at the edges that leave the loop, in the iteration in which the thread
// leaves.
func (x *exec) leave(info *loop.Info, it loop.Iteration, entry *state, exits []edge) []edge {
	c := x.c
	s := c.Substitute()
	s.Replace(info.Counter, info.Last())
	for _, g := range it.Ends {
		x.ended = append(x.ended, c.And(entry.pred, s.Apply(g)))
	}
	out := make([]edge, len(exits))
	for i, e := range exits {
		st := e.st.clone()
		st.pred = entry.pred
		if len(exits)+len(it.Ends) > 1 {
			st.pred = c.And(entry.pred, s.Apply(e.st.pred))
		}
		for r, v := range st.regs {
			if v != join.Undefined && x.k.Live(e.to, r) {
				st.regs[r] = s.Apply(v)
			} else {
				st.regs[r] = join.Undefined
			}
		}
		x.notes.Exit(&st.notes, &entry.notes, s)
		x.mem.Rename(&st.mem, s)
		out[i] = edge{e.to, st}
	}
	return out
}
