package slice

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// controlDependence computes for each block the blocks whose last branch decides whether it is
// executed, and for each branch the point where its paths merge. Paths that lead only to a failed
// assertion or a trap are left out: the slice assumes that no thread takes them (Slice.Assumes).
//
// Block b decides about a block if the block postdominates a successor of b but not b itself
// (Ferrante, Ottenstein, Warren, section 3.1). Behind a successor from which the function cannot
// end there are no postdominators; everything reachable there depends on b.
func (f *function) controlDependence() {
	g := f.pruned()
	pdom := ir.PostDominators(g)
	ends := ending(g)
	n := len(g.Blocks)
	f.ctl = make([][]ir.BlockID, n)
	f.target = make([]ir.BlockID, n)
	for _, b := range g.Blocks {
		join := pdom.IDom(b.ID)
		f.target[b.ID] = join
		exits := b.Last() != nil && b.Last().Guard != ir.NoReg && b.Last().Leaves()
		if len(b.Succs) < 2 && !exits {
			if len(b.Succs) == 1 {
				f.target[b.ID] = b.Succs[0]
			}
			continue
		}
		for _, s := range b.Succs {
			if !ends[s] { // nothing postdominates what lies behind
				f.dependAll(g, s, b.ID)
				continue
			}
			for at := s; at != join && at != ir.NoBlock; at = pdom.IDom(at) {
				f.ctl[at] = append(f.ctl[at], b.ID)
			}
		}
	}
}

// dependAll makes everything that can be reached from block s control dependent on block b.
func (f *function) dependAll(g *ir.Func, s, b ir.BlockID) {
	seen := make([]bool, len(g.Blocks))
	seen[s] = true
	for work := []ir.BlockID{s}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		f.ctl[at] = append(f.ctl[at], b)
		for _, n := range g.Blocks[at].Succs {
			if !seen[n] {
				seen[n] = true
				work = append(work, n)
			}
		}
	}
}

// ending marks the blocks from which the function can end, by a backward search from its exits.
// From the others control cannot leave an endless loop, and nothing postdominates them.
func ending(g *ir.Func) []bool {
	out := make([]bool, len(g.Blocks))
	var work []ir.BlockID
	for _, b := range g.Blocks {
		t := b.Last()
		if len(b.Succs) == 0 || t != nil && t.Leaves() {
			out[b.ID] = true
			work = append(work, b.ID)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range g.Blocks[b].Preds {
			if !out[p] {
				out[p] = true
				work = append(work, p)
			}
		}
	}
	return out
}

// pruned returns the function without the blocks that cannot be reached, or from which every path
// ends in a trap, and without guarded traps, and sets f.live: a trace assumes that no trap is
// executed. A loop that only a trap ends keeps its way there: it may go on for ever instead, so
// that threads that reach it are not left out. It shares the instructions; only the edges are
// new.
func (f *function) pruned() *ir.Func {
	doomed := f.doomedBlocks()
	if doomed[0] { // there is nothing else
		clear(doomed)
	}
	entered := make([]bool, len(doomed)) // from which ways to a trap are kept
	for {
		g := f.without(doomed, entered)
		ends, again := ending(g), false
		for i, b := range f.fn.Blocks {
			if f.live[i] && !ends[i] && !entered[i] && len(g.Blocks[i].Succs) < len(b.Succs) {
				entered[i], again = true, true
			}
		}
		if !again {
			return g
		}
	}
}

// without is one step of pruned. It leaves out the ways to doomed blocks, except those from the
// blocks that are entered.
func (f *function) without(doomed, entered []bool) *ir.Func {
	n := len(f.fn.Blocks)
	f.live = make([]bool, n)
	g := &ir.Func{Kernel: f.fn.Kernel, Blocks: make([]*ir.Block, n)}
	for i, b := range f.fn.Blocks {
		instrs := b.Instrs
		if last := b.Last(); last != nil && last.Action() == isa.ActTrap && last.Guard != ir.NoReg {
			instrs = instrs[:len(instrs)-1] // else what lies behind would not postdominate it
		}
		g.Blocks[i] = &ir.Block{ID: b.ID, Instrs: instrs}
	}
	work := []ir.BlockID{0}
	f.live[0] = true
	for len(work) > 0 {
		b := f.fn.Blocks[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, s := range b.Succs {
			if doomed[s] && !doomed[b.ID] && !entered[b.ID] {
				continue
			}
			g.Blocks[b.ID].Succs = append(g.Blocks[b.ID].Succs, s)
			g.Blocks[s].Preds = append(g.Blocks[s].Preds, b.ID)
			if !f.live[s] {
				f.live[s] = true
				work = append(work, s)
			}
		}
	}
	return g
}

// doomedBlocks marks the blocks from which every path ends in a trap or in an assertion that fails,
// and for certain: see dies.
func (f *function) doomedBlocks() []bool { return f.least((*function).dies) }

// least returns the smallest set of blocks that contains a block if holds says so, which may ask
// for other blocks. Since it is the smallest, no path from a block of it can stay in a loop.
func (f *function) least(holds func(f *function, b *ir.Block, set []bool) bool) []bool {
	set := make([]bool, len(f.fn.Blocks))
	for changed := true; changed; {
		changed = false
		for i := len(set) - 1; i >= 0; i-- {
			if b := f.fn.Blocks[i]; !set[i] && holds(f, b, set) {
				set[i], changed = true, true
			}
		}
	}
	return set
}

// dies reports whether each thread that reaches b executes a trap, or an assertion that fails, in
// every execution: every path leads to one, is finite, and has nothing in front of it that may keep
// the thread from it, end the run with another error, or be an error itself (quiet). Else there are
// executions without a trap that do what the block does: threads wait for ever in front of one.
func (f *function) dies(b *ir.Block, doomed []bool) bool {
	for _, in := range b.Instrs {
		if f.kindOf(in) == fails && in.Guard == ir.NoReg {
			return true
		}
		if !f.quiet(in) || in.Leaves() {
			return false
		}
	}
	return len(b.Succs) > 0 && all(b.Succs, doomed)
}

// all reports whether a set contains all blocks of a list.
func all(blocks []ir.BlockID, set []bool) bool {
	for _, b := range blocks {
		if !set[b] {
			return false
		}
	}
	return true
}

// quiet reports whether an instruction surely completes, whatever other threads do, and does
// nothing that a trace checks. What follows it is executed then.
func (f *function) quiet(in *ir.Instr) bool {
	switch f.kindOf(in) {
	case pure, input: // mma waits for the lanes of the warp, as the exchanges of old code do
		return in.Row.Category != isa.Matrix && (in.Row.Category != isa.WarpOp ||
			in.Action() == isa.ActActiveMask)
	case branch, always, fails, local, constant, argument, ignored:
		return true
	case calls:
		if in.Callee == nil {
			return false
		}
		if len(in.Callee.Blocks) == 0 {
			return !f.callActs(in)
		}
		return f.s.returns[in.Callee]
	}
	return false
}

// comesBack reports whether each thread that reaches b returns from the function, or dies.
func (f *function) comesBack(b *ir.Block, set []bool) bool {
	for _, in := range b.Instrs {
		if f.kindOf(in) == fails && in.Guard == ir.NoReg {
			return true
		}
		if !f.quiet(in) || in.Action() == isa.ActExit {
			return false
		}
	}
	return all(b.Succs, set)
}

// findFatal makes calls of functions that end in a trap, whatever happens, failed assertions. That
// a function does not return is not enough: it may end the thread, which is not an error, or wait
// or loop forever.
func (s *Slice) findFatal() {
	s.returns = make(map[*ir.Func]bool)
	fatal := make(map[*ir.Func]bool)
	for changed := true; changed; {
		changed = false
		for _, fn := range s.order {
			f := s.funcs[fn]
			if !s.returns[fn] && f.least((*function).comesBack)[0] {
				s.returns[fn], changed = true, true
			}
			if !fatal[fn] && f.doomedBlocks()[0] {
				fatal[fn], changed = true, true
			}
		}
		for _, fn := range s.order {
			f := s.funcs[fn]
			for i, in := range f.instrs {
				if f.kinds[i] == calls && in.Callee != nil && fatal[in.Callee] {
					f.kinds[i] = fails
				}
			}
		}
	}
}

// doomed reports whether pruned left out a path of a live block, so that the trace rests on an
// assertion, or if a trap may be behind a branch outside of the slice.
func (f *function) doomed() bool {
	for _, b := range f.fn.Blocks {
		if !f.live[b.ID] {
			continue
		}
		for _, s := range b.Succs {
			if !f.live[s] {
				return true
			}
		}
		for _, in := range b.Instrs {
			if f.kindOf(in) != fails || in.Guard != ir.NoReg {
				continue
			}
			for _, c := range f.ctl[b.ID] {
				if !f.kept[f.fn.Blocks[c].Last().Index] {
					return true
				}
			}
		}
	}
	return false
}

// The cells of memory in which addresses may be stored: one for each space, for textures and
// surfaces, and for what the threads of a warp or block pass to each other by operations that they
// execute together.
const (
	sharedCell = iota
	localCell
	globalCell
	paramCell
	surfaceCell
	exchangeCell
	numCells
)

// pointers finds the registers that may hold a generic address of shared or local memory: those
// that the result of a cvta from there can flow into, by registers or by a cell of memory that
// one was stored to, or copied to from another cell. An argument of a launch or a value in global
// memory that no thread stored is not an address of shared memory: no host knows one.
func (s *Slice) pointers() {
	generic := false
	for _, fn := range s.order {
		f := s.funcs[fn]
		n := len(fn.Regs)
		f.shared, f.private = make([]bool, n), make([]bool, n)
		generic = generic || f.hasGeneric()
		if fn != s.order[0] {
			for _, v := range append(append([]*ir.Var(nil), fn.Params...), fn.Results...) {
				if v.InReg {
					f.shared[v.Reg], f.private[v.Reg] = true, true
				}
			}
		}
	}
	if !generic {
		return
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range s.order {
			changed = s.funcs[fn].flow() || changed
		}
	}
}

// flow carries addresses one step further through each instruction of f. It reports whether one
// reached a register or cell where it was not known; pointers repeats it to a fixpoint.
func (f *function) flow() (changed bool) {
	set := func(to *bool, v bool) {
		if v && !*to {
			*to, changed = true, true
		}
	}
	for _, in := range f.instrs {
		to, values, from := f.moves(in)
		sh, lo := f.holds(values)
		for _, c := range from {
			sh, lo = sh || f.s.holdsShared[c], lo || f.s.holdsLocal[c]
		}
		for _, c := range to {
			set(&f.s.holdsShared[c], sh)
			set(&f.s.holdsLocal[c], lo)
		}
		if len(in.Dst) == 0 {
			continue
		}
		sh, lo = f.pointerSources(in)
		for i := range in.Dst {
			in.Dst[i].EachReg(func(r ir.RegID) {
				set(&f.shared[r], sh)
				set(&f.private[r], lo)
			})
		}
	}
	return changed
}

// bulkCells are the cells of memory between which bulk copies move data.
var bulkCells = map[event.Space]int{event.Shared: sharedCell, event.Global: globalCell}

// moves returns the cells to which an instruction writes, and the operands and cells from which the
// data comes. A copy is performed later, which makes no difference.
func (f *function) moves(in *ir.Instr) (to []int, values []ir.Operand, from []int) {
	if kind, ok := accessKind(in); ok && kind.Writes() {
		return f.cellsOf(in), in.Src[1:], nil
	}
	switch in.Action() {
	case isa.ActCopy:
		return []int{sharedCell}, nil, []int{globalCell}
	case isa.ActCancel: // an answer is no address
		return []int{sharedCell}, nil, nil
	case isa.ActBulkCopy, isa.ActAsyncStore:
		use, ok := in.Bulk()
		switch {
		case !ok: // a trace does not execute it
		case use.Value >= 0:
			return []int{sharedCell}, in.Src[use.Value : use.Value+1], nil
		default:
			return []int{bulkCells[use.To]}, nil, []int{bulkCells[use.From]}
		}
	case isa.ActTensorMap:
		switch use, ok := in.TensorMap(); {
		case !ok:
		case use.Copies:
			return []int{globalCell}, nil, []int{sharedCell}
		case use.Space == event.Shared:
			return []int{sharedCell}, in.Src[1:], nil
		default:
			return []int{globalCell}, in.Src[1:], nil
		}
	case isa.ActWriteSurface:
		return []int{surfaceCell}, in.Src, nil
	case isa.ActShuffle, isa.ActVote, isa.ActMatch, isa.ActWarpReduce, isa.ActNumberedBarrier:
		return []int{exchangeCell}, in.Src, nil
	}
	return nil, nil, nil
}

// cellsOf returns the cells that an access may be to.
func (f *function) cellsOf(in *ir.Instr) []int {
	switch in.Space {
	case event.Shared:
		return []int{sharedCell}
	case event.Local:
		return []int{localCell}
	case event.Global:
		return []int{globalCell}
	case event.Const:
		return nil
	case event.Param:
		if f.fn.Kernel && f.ownParam(in.Src[0].Var) {
			return nil
		}
		return []int{paramCell}
	}
	if f.readsOwnParam(in) {
		return nil
	}
	return []int{sharedCell, localCell, globalCell, paramCell}
}

// hasGeneric reports whether a function accesses memory without naming the space. Without one in
// the kernel, the search for pointers is not needed.
func (f *function) hasGeneric() bool {
	for _, in := range f.instrs {
		if in.Space == event.Generic {
			return true
		}
	}
	return false
}

// pointerSources reports whether the results of an instruction may hold addresses of shared or
// local memory.
func (f *function) pointerSources(in *ir.Instr) (sh, lo bool) {
	if comparesAddresses(in, func(o *ir.Operand) bool {
		s, l := f.holds([]ir.Operand{*o})
		return s || l || o.Kind == ir.VarAddr
	}) {
		return false, false
	}
	switch in.Action() {
	case isa.ActLoad, isa.ActAtomic, isa.ActClusterAccess, isa.ActMatrixLoad:
		for _, c := range f.cellsOf(in) {
			// What a caller passes is not looked at.
			sh = sh || f.s.holdsShared[c] || c == paramCell && !f.fn.Kernel
			lo = lo || f.s.holdsLocal[c] || c == paramCell && !f.fn.Kernel
		}
		return sh, lo
	case isa.ActCall:
		return true, true
	case isa.ActReadSurface, isa.ActReadTexture:
		return f.s.holdsShared[surfaceCell], f.s.holdsLocal[surfaceCell]
	case isa.ActShuffle, isa.ActVote, isa.ActMatch, isa.ActWarpReduce, isa.ActNumberedBarrier:
		return f.s.holdsShared[exchangeCell], f.s.holdsLocal[exchangeCell]
	case isa.ActTestSpace, isa.ActTestClusterSpace, isa.ActMBarrier, isa.ActQueryRank:
		return false, false
	case isa.ActMapAddress: // a variable is its generic address here
		sh = slices.ContainsFunc(in.Src, func(o ir.Operand) bool {
			return o.Kind == ir.VarAddr && o.Var.Space == event.Shared
		})
	case isa.ActConvertAddress, isa.ActConvertClusterAddress:
		sh, lo = in.Space == event.Shared, in.Space == event.Local
	}
	s, l := f.holds(in.Src)
	return sh || s, lo || l
}

// holds reports whether registers of operands may hold generic addresses of shared or local memory.
// The address of a variable is one in its own space, until a cvta makes it generic.
func (f *function) holds(operands []ir.Operand) (sh, lo bool) {
	for i := range operands {
		operands[i].EachReg(func(r ir.RegID) { sh, lo = sh || f.shared[r], lo || f.private[r] })
	}
	return sh, lo
}

// callsThatAct finds the functions that contain, or call one that contains, something that a trace
// must see.
func (s *Slice) callsThatAct() {
	for changed := true; changed; {
		changed = false
		for _, fn := range s.order {
			f := s.funcs[fn]
			if f.acts {
				continue
			}
			for _, in := range f.instrs {
				switch k := f.kindOf(in); {
				case f.endsThread(in), k == sync, k == object, k == order, k == shared, k == other, k == calls && f.callActs(in):
					f.acts, changed = true, true
				}
			}
		}
	}
}

// endsThread reports whether an instruction of a function that is called ends the thread: then
// nothing behind the call is executed.
func (f *function) endsThread(in *ir.Instr) bool {
	return in.Action() == isa.ActExit && f.fn != f.s.order[0]
}

// callActs reports whether a call may do what a trace must see. A store through a pointer to local
// memory that the callee got counts too, since the caller may load from there.
func (f *function) callActs(in *ir.Instr) bool {
	if in.Callee == nil {
		return true
	}
	if g := f.s.funcs[in.Callee]; g != nil {
		return g.acts || g.writesLocal()
	}
	switch in.Callee.Name {
	case "vprintf", "free", "malloc":
		return false
	}
	return true // no body: the emulator says what it is
}

// writesLocal reports whether a function stores to local memory.
func (f *function) writesLocal() bool {
	for _, in := range f.instrs {
		if in.Action() == isa.ActStore && f.kindOf(in) == local {
			return true
		}
	}
	return false
}
