package depend

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// value is what is known of a register, a node or the contents of an object.
type value struct {
	from   bits  // the facts that it depends on
	coords uint8 // bits 0 to 2: the index of the thread; bits 3 to 5: that of the block
	varies bool  // one thread may have several values, or two threads different ones
	// objects into which it may point: parameters and variables
	objects []*ir.Var
}

// merge adds what w depends on, and reports whether v changed.
func (v *value) merge(w *value) bool {
	changed := v.from.add(w.from)
	if c := v.coords | w.coords; c != v.coords {
		v.coords, changed = c, true
	}
	if w.varies && !v.varies {
		v.varies, changed = true, true
	}
	for _, o := range w.objects {
		if !slices.Contains(v.objects, o) {
			v.objects, changed = append(v.objects, o), true
		}
	}
	return changed
}

// function is one function during the analysis.
type function struct {
	k     *Kernel
	fn    *ir.Func
	reach *reaching
	regs  []value // by definition, see reaching
	forms map[int]*form
	busy  map[int]bool
	dom   *ir.DomTree // nil until Coincidence asks for it
}

// newFunction finds the definitions that reach each use of a register.
func newFunction(k *Kernel, fn *ir.Func) *function {
	f := &function{k: k, fn: fn, forms: make(map[int]*form), busy: make(map[int]bool)}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			k.home[in] = f
		}
	}
	f.reach = newReaching(fn)
	f.regs = make([]value, len(f.reach.defs))
	return f
}

// register returns what a register depends on where an instruction reads it. Several definitions
// that reach it are several values, and what selects one of them counts.
func (f *function) register(in *ir.Instr, r ir.RegID) *value {
	m := f.reach.at(in, r)
	if len(m.defs) == 1 {
		return &f.regs[m.defs[0]]
	}
	v := &value{varies: true}
	for _, d := range m.defs {
		v.merge(&f.regs[d])
	}
	for _, t := range m.choices {
		if t.Guard != ir.NoReg && f.reach.at(t, t.Guard) != m {
			f.only(v, f.direct(t, t.Guard))
		}
	}
	return v
}

// direct is register without what selects a definition, which would lead in a circle.
func (f *function) direct(in *ir.Instr, r ir.RegID) *value {
	v := &value{}
	for _, d := range f.reach.at(in, r).defs {
		v.merge(&f.regs[d])
	}
	return v
}

// flow carries dependences through all instructions once.
func (f *function) flow() {
	for _, b := range f.fn.Blocks {
		for _, in := range b.Instrs {
			f.instr(in)
		}
	}
}

// instr carries dependences from the sources of an instruction to its results.
func (f *function) instr(in *ir.Instr) {
	if in.IsCall() {
		f.call(in)
		return
	}
	var v value
	for i := range in.Src {
		v.merge(f.operand(in, &in.Src[i]))
	}
	if in.Guard != ir.NoReg && len(in.Dst) > 0 {
		f.only(&v, f.register(in, in.Guard))
	}
	if accesses, ok := in.Accesses(); len(accesses) > 0 || !ok {
		f.memory(in, &v)
	}
	for i := range in.Dst {
		in.Dst[i].EachReg(func(r ir.RegID) { f.define(in, r, &v) })
	}
}

// only adds the facts of w, and not where it points to.
func (f *function) only(v, w *value) {
	v.merge(&value{from: w.from, coords: w.coords, varies: w.varies})
}

// define records what a definition of a register depends on.
func (f *function) define(in *ir.Instr, r ir.RegID, v *value) {
	if f.regs[f.reach.def(in, r)].merge(v) {
		f.k.changed = true
	}
}

// operand returns what an operand of an instruction depends on.
func (f *function) operand(in *ir.Instr, o *ir.Operand) *value {
	v := &value{}
	switch o.Kind {
	case ir.Register:
		v.merge(f.register(in, o.Reg))
	case ir.Special:
		f.k.special(v, o.Sreg)
	case ir.VarAddr:
		v.objects = []*ir.Var{o.Var}
	case ir.VarVal:
		v.merge(f.k.contents(o.Var))
	case ir.Mem:
		if o.Reg != ir.NoReg {
			v.merge(f.register(in, o.Reg))
		}
		if o.Var != nil && o.Var.Space != event.Param {
			v.objects = append(v.objects, o.Var)
		}
	}
	for i := range o.Elems {
		v.merge(f.operand(in, &o.Elems[i]))
	}
	return v
}

// special adds what a special register depends on.
func (k *Kernel) special(v *value, s ir.Sreg) {
	add := func(kind Kind, first ir.Sreg, coord uint8) {
		d := int(s - first)
		v.from.set(k.source(Source{Kind: kind, Offset: d}))
		if coord != 0 {
			v.coords |= coord << d
		}
	}
	switch {
	case s >= ir.TidX && s <= ir.TidZ:
		add(ThreadIndex, ir.TidX, 1)
	case s >= ir.NtidX && s <= ir.NtidZ:
		add(BlockSize, ir.NtidX, 0)
	case s >= ir.CtaidX && s <= ir.CtaidZ:
		add(BlockIndex, ir.CtaidX, 8)
	case s >= ir.NctaidX && s <= ir.NctaidZ:
		add(GridSize, ir.NctaidX, 0)
	case s == ir.LaneID, s == ir.WarpID, s >= ir.LanemaskEQ && s <= ir.LanemaskGT:
		for d := range 3 {
			v.from.set(k.source(Source{Kind: ThreadIndex, Offset: d}))
		}
		v.coords |= 7
	case s == ir.WarpSz, s == ir.NWarpID:
	default: // clocks, the place on the hardware, clusters
		v.varies = true
	}
}

// contents is what is known of the memory of a variable, or of the array of a parameter.
func (k *Kernel) contents(v *ir.Var) *value {
	c := k.vars[v]
	if c == nil {
		c = &value{}
		k.vars[v] = c
	}
	return c
}

// memory changes v, which is what the operands of an access depend on, to what the access returns,
// and adds what it stores to the contents of memory.
func (f *function) memory(in *ir.Instr, v *value) {
	if in.Space == event.Param {
		f.parameter(in, v)
		return
	}
	objects := v.objects
	if len(objects) == 0 {
		objects = []*ir.Var{nil}
	}
	if !in.ReadsMemory() {
		stored := value{from: v.from, coords: v.coords, varies: true, objects: v.objects}
		for _, o := range objects {
			if !f.k.written[o] {
				f.k.written[o], f.k.changed = true, true
			}
			if f.k.contents(o).merge(&stored) {
				f.k.changed = true
			}
		}
	}
	// Where a pointer leads that comes from memory of others is not known.
	v.objects = nil
	for _, o := range objects {
		v.from.set(f.k.source(Source{Kind: Contents, Var: o}))
		c := f.k.contents(o)
		f.only(v, c)
		if o != nil && o.Space == event.Local {
			v.objects = append(v.objects, c.objects...)
		}
	}
	if f.k.written[nil] || in.Action() != isa.ActLoad {
		v.varies = true
	}
	if f.k.written[nil] {
		f.only(v, f.k.contents(nil))
	}
}

// parameter is memory for the space of parameters: arguments of the kernel, and of calls.
func (f *function) parameter(in *ir.Instr, v *value) {
	var m *ir.Operand
	for i := range in.Src {
		if in.Src[i].Kind == ir.Mem {
			m = &in.Src[i]
			break
		}
	}
	if m == nil {
		v.varies = true
		return
	}
	params, offset := f.parameters(in, m)
	for _, p := range params {
		switch {
		case in.WritesMemory():
			if f.k.contents(p).merge(v) {
				f.k.changed = true
			}
		case slices.Contains(f.k.kernel.Params, p):
			v.from.set(f.k.source(Source{Kind: Argument, Var: p, Offset: offset}))
			if !slices.Contains(v.objects, p) {
				v.objects = append(v.objects, p)
			}
		default:
			v.merge(f.k.contents(p))
		}
	}
	if len(params) == 0 || offset == AnyOffset {
		v.varies = true
	}
}

// parameters returns the parameters that an address in their space may be in, and the offset in
// bytes. A struct is addressed by a register: that of its variable plus a constant, or plus an index,
// for an array in it.
func (f *function) parameters(in *ir.Instr, m *ir.Operand) (params []*ir.Var, offset int) {
	if m.Var != nil {
		if m.Reg != ir.NoReg {
			return []*ir.Var{m.Var}, AnyOffset
		}
		return []*ir.Var{m.Var}, int(m.Val)
	}
	if m.Reg == ir.NoReg {
		return nil, 0
	}
	for _, o := range f.register(in, m.Reg).objects {
		// A number is passed by itself: if its parameter is among the objects, it is the index.
		if o.Space == event.Param && o.Size != o.Type.Size() {
			params = append(params, o)
		}
	}
	if at, ok := f.constant(in, m.Reg); ok && len(params) == 1 {
		return params, at + int(m.Val)
	}
	return params, AnyOffset
}

// constant returns the distance of the value of a register from the address of a variable, if it is
// a constant.
func (f *function) constant(in *ir.Instr, r ir.RegID) (distance int, ok bool) {
	for range 1000 { // long chains are not worth more
		m := f.reach.at(in, r)
		if len(m.defs) != 1 || f.reach.defs[m.defs[0]].in == nil {
			return 0, false
		}
		in = f.reach.defs[m.defs[0]].in
		if in.Guard != ir.NoReg || len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register {
			return 0, false
		}
		o := &in.Src[0]
		switch op := in.Operation(); {
		case in.Action() == isa.ActConvertAddress, op == isa.Move && len(in.Src) == 1:
		case op == isa.Sum && in.Src[1].Kind == ir.Imm:
			distance += int(int64(in.Src[1].Val))
		default:
			return 0, false
		}
		switch o.Kind {
		case ir.VarAddr:
			return distance + int(o.Val), true
		case ir.Register:
			r = o.Reg
		default:
			return 0, false
		}
	}
	return 0, false
}

// call passes arguments to the callee and its results back. What a function that is not known
// returns depends on its arguments.
func (f *function) call(in *ir.Instr) {
	var all value
	for i := range in.Src {
		a := f.operand(in, &in.Src[i])
		all.merge(a)
		if g := in.Callee; g != nil && i < len(g.Params) {
			f.k.pass(g, g.Params[i], a)
		}
	}
	for i := range in.Dst {
		r := &all
		if g := in.Callee; g != nil && i < len(g.Results) && f.k.funcs[g] != nil {
			r = f.k.result(g, g.Results[i])
		}
		if o := &in.Dst[i]; o.Kind == ir.VarVal && o.Var != nil {
			if f.k.contents(o.Var).merge(r) {
				f.k.changed = true
			}
		}
		in.Dst[i].EachReg(func(reg ir.RegID) { f.define(in, reg, r) })
	}
}

// pass merges an argument into a parameter of a function.
func (k *Kernel) pass(g *ir.Func, p *ir.Var, a *value) {
	arg := *a
	arg.varies = true // each call passes its own
	if h := k.funcs[g]; h != nil && p.InReg {
		if h.regs[h.reach.entry(p.Reg)].merge(&arg) {
			k.changed = true
		}
		return
	}
	if k.contents(p).merge(&arg) {
		k.changed = true
	}
}

// result is what a result of a function depends on.
func (k *Kernel) result(g *ir.Func, p *ir.Var) *value {
	if !p.InReg {
		return k.contents(p)
	}
	v, h := &value{}, k.funcs[g]
	for d := range h.reach.defs {
		if h.reach.defs[d].reg == p.Reg {
			v.merge(&h.regs[d])
		}
	}
	return v
}
