package ir

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/isa"
)

// InferPointers marks the parameters of f, and of the functions that it can reach, whose values are
// used as addresses of global or constant memory: as the base of an access or in a cvta, directly
// or through moves, additions, selections, call arguments, and memory cells that are stored to and
// loaded from at one constant place of a variable. Of a struct parameter it collects the offsets of
// such fields (PtrFields). Marks are never removed.
//
// PTX does not declare which parameters are pointers, so this is a guess, which errs where registers
// do not show the use: a pointer kept in memory at a computed address is missed, and of two parameters
// whose sum is an address only one is taken. Where the other side of a sum may be the pointer, the
// mark is also noted as a guess (Guessed).
func InferPointers(f *Func) {
	funcs := ReachableFuncs(f)
	for _, guess := range []bool{false, true} { // first what is sure
		for changed := true; changed; {
			changed = false
			for _, g := range slices.Backward(funcs) { // callees first, mostly
				if len(g.Blocks) > 0 && newInference(g, guess).run() {
					changed = true
				}
			}
		}
	}
}

// place is Var+off, a constant place in memory.
type place struct {
	v   *Var
	off int64
}

// inference works over nodes: the registers of the function, then the cells, memory places of
// pointer size that are loaded from or stored to. An edge leads from a node to those whose value it
// may hold.
type inference struct {
	f     *Func
	size  int // of a pointer
	defs  [][]*Instr
	cells map[place]int32
	from  graph // copies
	sums  []sum
	add   map[int32][]int // indices in sums of the sums that a node may hold
	need  []bool          // must hold a pointer
	carry []bool          // may hold the value of a parameter
	named []bool          // may hold the address of a variable
	alien []bool          // may hold a pointer from elsewhere, see aliens
	masks graph           // like from, for what keeps most of a pointer
	guess bool            // sums are decided of which either side may be the pointer
}

// sum is d = a + b.
type sum struct{ d, a, b int32 }

// newInference builds the graph of one function. Marks of callees are read later, by callRoots, so
// functions must be visited until nothing changes.
func newInference(f *Func, guess bool) *inference {
	x := &inference{f: f, guess: guess, size: 8, defs: make([][]*Instr, len(f.Regs)),
		cells: make(map[place]int32), add: make(map[int32][]int)}
	if f.Module != nil && f.Module.AddressSize == 32 {
		x.size = 4
	}
	x.from, x.masks = make(graph, len(f.Regs)), make(graph, len(f.Regs))
	x.eachInstr(func(in *Instr) {
		for _, r := range destinations(in) {
			x.defs[r] = append(x.defs[r], in)
		}
	})
	x.eachInstr(x.copies)
	x.need = make([]bool, len(x.from))
	x.carry = make([]bool, len(x.from))
	x.named = make([]bool, len(x.from))
	x.alien = make([]bool, len(x.from))
	return x
}

// eachInstr visits the instructions of the function in block order.
func (x *inference) eachInstr(visit func(*Instr)) {
	for _, b := range x.f.Blocks {
		for _, in := range b.Instrs {
			visit(in)
		}
	}
}

// destinations lists the registers that an instruction writes, components of vectors included.
func destinations(in *Instr) []RegID {
	var out []RegID
	var walk func(ops []Operand)
	walk = func(ops []Operand) {
		for i := range ops {
			if ops[i].Kind == Register {
				out = append(out, ops[i].Reg)
			}
			walk(ops[i].Elems)
		}
	}
	walk(in.Dst)
	return out
}

// copies adds the edges of one instruction.
func (x *inference) copies(in *Instr) {
	switch {
	case in.IsPlainLoad():
		x.cellCopies(in, in.Src, in.Dst,
			func(cell, reg int32) { x.from[reg] = append(x.from[reg], cell) })
	case in.Action() == isa.ActStore:
		x.cellCopies(in, in.Src, in.Src[min(1, len(in.Src)):],
			func(cell, reg int32) { x.from[cell] = append(x.from[cell], reg) })
	case passesPointer(in):
		if len(in.Dst) != 1 || in.Dst[0].Kind != Register || x.regSize(in.Dst[0].Reg) != x.size {
			return
		}
		x.regCopies(in, int32(in.Dst[0].Reg))
	case in.Operation().Bitwise():
		for i := range in.Src {
			if d, o := in.Dst[0], &in.Src[i]; d.Kind == Register && o.Kind == Register &&
				x.regSize(d.Reg) == x.size {
				x.masks[d.Reg] = append(x.masks[d.Reg], int32(o.Reg))
			}
		}
	}
}

// copiesAddress reports whether the result of an instruction is the address that its source is.
func copiesAddress(in *Instr) bool {
	return in.Operation() == isa.Move || in.Action() == isa.ActConvertAddress
}

// passesPointer reports whether the result of an instruction may be a pointer because a source is.
func passesPointer(in *Instr) bool {
	if in.ReadsCarry() {
		return false
	}
	switch in.Operation() {
	case isa.Move, isa.Selection, isa.Sum, isa.Difference, isa.ProductSum, isa.Minimum, isa.Maximum:
		return true
	}
	return in.Action() == isa.ActConvertAddress
}

// regCopies adds the edges of an instruction that passes a pointer from its sources to register d.
// A sum of two registers is kept apart, since either side may be the pointer; of a difference only
// the left side can be one, of a product-sum only the addend.
func (x *inference) regCopies(in *Instr, d int32) {
	var regs []int32
	for i := range in.Src {
		if o := &in.Src[i]; o.Kind == Register && x.regSize(o.Reg) == x.size {
			regs = append(regs, int32(o.Reg))
		}
	}
	switch in.Operation() {
	case isa.Sum:
		if len(regs) == 2 {
			x.add[d] = append(x.add[d], len(x.sums))
			x.sums = append(x.sums, sum{d, regs[0], regs[1]})
			return
		}
	case isa.Difference:
		regs = regs[:min(len(regs), 1)]
		if in.Src[0].Kind != Register {
			regs = nil
		}
	case isa.ProductSum:
		if n := len(in.Src); n < 3 || in.Src[2].Kind != Register {
			return
		}
		regs = []int32{int32(in.Src[2].Reg)}
	}
	x.from[d] = append(x.from[d], regs...)
}

// regSize is the size of a register in bytes; only those of pointer size can hold a pointer.
func (x *inference) regSize(r RegID) int { return x.f.Regs[r].Type.Size() }

// cellCopies pairs the registers of a load or store with the cells that it accesses.
func (x *inference) cellCopies(in *Instr, src, data []Operand, edge func(cell, reg int32)) {
	if in.Type.Size() != x.size || len(src) == 0 || len(data) == 0 {
		return
	}
	p, ok := x.resolve(&src[0])
	if !ok {
		return
	}
	elems := data[:1]
	if data[0].Kind == Vector {
		elems = data[0].Elems
	}
	for i := range elems {
		if elems[i].Kind == Register {
			edge(x.cell(place{p.v, p.off + int64(i*x.size)}), int32(elems[i].Reg))
		}
	}
}

// cell returns the node of a place in memory, which it creates on first use.
func (x *inference) cell(p place) int32 {
	n, ok := x.cells[p]
	if !ok {
		n = int32(len(x.from))
		x.cells[p] = n
		x.from = append(x.from, nil)
	}
	return n
}

// resolve finds the constant place that an address denotes, by following registers that have one
// definition.
func (x *inference) resolve(o *Operand) (place, bool) {
	p := place{off: int64(o.Val)}
	if o.Kind != Mem && o.Kind != VarAddr {
		return p, false
	}
	if o.Var != nil {
		p.v = o.Var
		return p, true
	}
	r := o.Reg
	for range 16 {
		if r == NoReg || len(x.defs[r]) != 1 {
			return p, false
		}
		in := x.defs[r][0]
		sum := in.Operation() == isa.Sum && !in.ReadsCarry()
		if in.Guard != NoReg || len(in.Src) == 0 || !sum && !copiesAddress(in) {
			return p, false
		}
		if sum {
			if len(in.Src) != 2 || in.Src[1].Kind != Imm {
				return p, false
			}
			p.off += int64(in.Src[1].Val)
		}
		switch s := &in.Src[0]; s.Kind {
		case VarAddr:
			p.v = s.Var
			p.off += int64(s.Val)
			return p, true
		case Register:
			r = s.Reg
		default:
			return p, false
		}
	}
	return p, false
}

// run marks pointers and reports whether it marked any that was not.
func (x *inference) run() bool {
	x.spread()
	x.eachInstr(x.roots)
	// Sums of two registers that may both be parameters are decided last: when one side holds what is
	// a pointer for another reason, the other is an index.
	known := make([]bool, len(x.from))
	to := x.from.reverse()
	for n := range x.need {
		if x.need[n] {
			to.mark(known, int32(n))
		}
	}
	for _, s := range x.sums {
		if x.guess && x.need[s.d] && !known[s.a] && !known[s.b] && x.carry[s.a] && x.carry[s.b] &&
			x.named[s.a] == x.named[s.b] {
			x.require(s.a)
			to.mark(known, s.a)
		}
	}
	return x.mark()
}

// spread finds the nodes that may hold a parameter's value, the address of a variable, or a pointer
// from elsewhere, by following the copies forwards.
func (x *inference) spread() {
	to := x.from.reverse()
	for _, s := range x.sums {
		to[s.a] = append(to[s.a], s.d)
		to[s.b] = append(to[s.b], s.d)
	}
	var params []int32
	for p, n := range x.cells {
		if slices.Contains(x.f.Params, p.v) {
			params = append(params, n)
		}
	}
	for _, v := range x.f.Params {
		if v.InReg {
			params = append(params, int32(v.Reg))
		}
	}
	to.mark(x.carry, params...)
	var named []int32
	for r, defs := range x.defs {
		for _, in := range defs {
			if len(in.Src) == 1 && in.Src[0].Kind == VarAddr {
				named = append(named, int32(r))
			}
		}
	}
	to.mark(x.named, named...)
	for d, sources := range x.masks {
		for _, n := range sources {
			to[n] = append(to[n], int32(d))
		}
	}
	alien := x.aliens()
	for d, sources := range x.masks { // a pointer that was aligned, or in which bits were changed
		if slices.ContainsFunc(sources, func(n int32) bool { return x.carry[n] }) {
			alien = append(alien, int32(d))
		}
	}
	to.mark(x.alien, alien...)
}

// aliens are the nodes that may hold a pointer that is not a parameter's, or no longer known as
// one: one that was loaded from memory which other code writes, the result of an atomic operation
// or a call, or one that came from another lane or in parts.
func (x *inference) aliens() []int32 {
	var out []int32
	for r, defs := range x.defs {
		for _, in := range defs {
			switch {
			case in.IsPlainLoad():
				if p, ok := x.resolve(&in.Src[0]); ok && own(p.v) {
					continue
				}
				out = append(out, int32(r))
			case in.ReadsMemory(), in.Action() == isa.ActAtomic, in.IsCall(),
				x.regSize(RegID(r)) == x.size && rebuilds(in):
				out = append(out, int32(r))
			}
		}
	}
	for p, n := range x.cells {
		if !own(p.v) {
			out = append(out, n)
		}
	}
	return out
}

// rebuilds reports whether the result of an instruction may be a pointer that another lane had, or
// one that was in several registers.
func rebuilds(in *Instr) bool {
	switch {
	case in.Action() == isa.ActShuffle:
		return true
	case in.Operation() == isa.Move:
		return len(in.Src) == 1 && in.Src[0].Kind == Vector
	}
	switch in.Op() {
	case "bfi", "prmt", "shf":
		return true
	case "shl": // of the high half
		return len(in.Src) == 2 && in.Src[1].Kind == Imm && 2*int(in.Src[1].Val) >= 8*in.Type.Size()
	}
	return false
}

// own reports whether a variable is of one thread, or a parameter.
func own(v *Var) bool { return v.Space == event.Param || v.Space == event.Local }

// roots requires pointers where an instruction uses a register as one.
func (x *inference) roots(in *Instr) {
	switch {
	case in.IsCall():
		x.callRoots(in)
		return
	case in.Action() == isa.ActConvertAddress:
		if len(in.Src) == 1 && in.Src[0].Kind == Register && in.Dst[0].Kind == Register &&
			pointerSpace(in.Space) && in.Has(isa.ToSpace) {
			x.require(int32(in.Src[0].Reg))
			x.require(int32(in.Dst[0].Reg))
		}
		return
	case in.Action() == isa.ActCopy: // cp.async, into shared memory
		x.requireBase(in, 1)
		return
	case in.Action() == isa.ActBulkCopy:
		if use, ok := in.Bulk(); ok && use.Size >= 0 { // of a tensor it is the tensor map
			if use.To == event.Global {
				x.requireBase(in, 0)
			}
			if use.From == event.Global {
				x.requireBase(in, 1)
			}
		}
		return
	case in.Action() == isa.ActBulkPrefetch: // of a tensor: its map
		return
	case in.Action() == isa.ActTensorMap && in.Space == event.Global:
		x.requireBase(in, 0)
		return
	case !pointerSpace(in.Space) || in.Row == nil:
		return
	}
	switch in.Row.Category {
	case isa.Memory, isa.Async, isa.Misc, isa.Matrix:
	default:
		return
	}
	for i := range in.Src {
		x.requireBase(in, i)
	}
}

// requireBase marks the base register of an operand in memory as a pointer.
func (x *inference) requireBase(in *Instr, i int) {
	if i >= len(in.Src) {
		return
	}
	if o := &in.Src[i]; o.Kind == Mem && o.Var == nil && o.Reg != NoReg {
		x.require(int32(o.Reg))
	}
}

// pointerSpace reports whether an access of the space goes through a pointer that a host can pass.
func pointerSpace(s event.Space) bool {
	return s == event.Generic || s == event.Global || s == event.Const || s == event.NoSpace
}

// callRoots requires pointers for arguments whose parameter is one.
func (x *inference) callRoots(in *Instr) {
	if in.Callee == nil {
		return
	}
	for i, p := range in.Callee.Params {
		if i >= len(in.Src) {
			break
		}
		o := &in.Src[i]
		fields := p.PtrFields
		if p.Pointer {
			fields = []int{0}
		}
		for _, off := range fields {
			switch {
			case !x.guess && slices.Contains(p.Guessed, off): // by the callee, for another kernel
			case o.Kind == Register && off == 0:
				x.require(int32(o.Reg))
			case o.Kind == VarVal:
				if n, ok := x.cells[place{o.Var, int64(off)}]; ok {
					x.require(n)
				}
			}
		}
	}
}

// require marks a node as a pointer, and with it all nodes that its value may come from. Of a sum
// it marks the side that carries a parameter's value if the other side does not; a sum in which
// both might be the pointer is left to run.
func (x *inference) require(n int32) {
	work := []int32{n}
	push := func(m int32) {
		if !x.need[m] {
			x.need[m] = true
			work = append(work, m)
		}
	}
	if x.need[n] {
		return
	}
	x.need[n] = true
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, m := range x.from[n] {
			push(m)
		}
		for _, i := range x.add[n] {
			switch s := x.sums[i]; {
			case x.named[s.a] != x.named[s.b]: // the other side is an index
			case x.carry[s.a] && !x.carry[s.b] && (x.guess || !x.alien[s.b]):
				push(s.a)
			case x.carry[s.b] && !x.carry[s.a] && (x.guess || !x.alien[s.a]):
				push(s.b)
			}
		}
	}
}

// mark sets Pointer and PtrFields of the parameters that are needed.
func (x *inference) mark() bool {
	changed := false
	for _, v := range x.f.Params {
		if v.InReg && x.need[v.Reg] && !v.Pointer && v.Size == x.size {
			v.Pointer, changed = true, true
		}
	}
	for p, n := range x.cells {
		if !x.need[n] || p.off < 0 || p.off+int64(x.size) > int64(p.v.Size) ||
			!slices.Contains(x.f.Params, p.v) {
			continue
		}
		switch off := int(p.off); {
		case p.v.Size == x.size:
			if !p.v.Pointer {
				p.v.Pointer, changed = true, true
				x.guessed(p.v, 0)
			}
		case !slices.Contains(p.v.PtrFields, off):
			p.v.PtrFields = append(p.v.PtrFields, off)
			slices.Sort(p.v.PtrFields)
			changed = true
			x.guessed(p.v, off)
		}
	}
	return changed
}

// guessed notes that the mark of a field was decided in the guessing pass.
func (x *inference) guessed(v *Var, off int) {
	if x.guess {
		v.Guessed = append(v.Guessed, off)
	}
}
