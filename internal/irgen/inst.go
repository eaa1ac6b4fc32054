package irgen

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// inst builds one instruction and appends it to the current block. After an error the instruction
// is left out: there will be no module, and the remaining errors are more useful than those that a
// half-built instruction would cause.
func (f *fgen) inst(s ptx.Inst) {
	d := f.g.decode(s)
	if d.err != nil {
		f.g.errorf(s.OpSpan(), "%s", d.err)
		return
	}
	in := f.newInstr()
	*in = ir.Instr{Desc: d.desc, Guard: ir.NoReg, Span: s.Span(), Loc: f.frame, Orders: f.orders,
		Grid: f.grid, Split: f.split}
	f.orders, f.grid, f.split = event.OrdersAll, false, false
	if in.Orders != event.OrdersAll && in.Row != nil && in.Row.Effect != isa.Orders &&
		!in.Order.Strong() {
		f.g.errorf(s.OpSpan(),
			"%s does not order memory; a .pragma \"heddle.order\" must precede a barrier, a fence "+
				"or a strong operation", s.Text())
		return
	}
	if u, ok := in.Fence(); ok && u.Kind == isa.SharedFence {
		if in.Orders = event.OrdersShared; u.Own {
			in.Orders = event.OrdersOwn
		}
	}
	if in.Grid && (in.Row == nil || in.Row.Category != isa.Barrier || in.Fn != isa.FnSync) {
		f.g.errorf(s.OpSpan(),
			"%s is not a block barrier; a .pragma \"heddle.grid\" must precede one", s.Text())
		return
	}
	if p, ok := s.Guard(); ok && !f.guard(in, p) {
		return
	}
	var to []*label
	ok := false
	switch in.Action() {
	case isa.ActCall:
		ok = f.call(in, s)
	case isa.ActBranch:
		to, ok = f.branch(in, s)
	case isa.ActIndexedBranch:
		to, ok = f.indexedBranch(in, s)
	default:
		ok = f.operands(in, s, d.roles)
	}
	if !ok {
		return
	}
	for _, e := range ir.CheckTypes(f.f, in) {
		f.g.errorf(e.Operand.Span, "%s", e.Msg)
		ok = false
	}
	if ok {
		f.emit(in, to)
	}
}

// newInstr allocates instructions 32 at a time: a large module has hundreds of thousands, and each
// would cost an allocation. Instructions are never freed one by one.
func (f *fgen) newInstr() *ir.Instr {
	if len(f.free) == 0 {
		f.free = make([]ir.Instr, 32)
	}
	in := &f.free[0]
	f.free = f.free[1:]
	return in
}

// decode decodes an opcode with its modifiers, once for each spelling of the file (ptx.Inst.Word
// numbers them). Errors are kept too and reported at each use.
func (g *gen) decode(s ptx.Inst) *decoded {
	d := g.decoded[s.Word()]
	if d == nil {
		d = &decoded{}
		g.decoded[s.Word()] = d
		if d.desc, d.err = isa.Decode(s.Opcode(), s.Mods()); d.err == nil {
			d.roles = d.desc.Roles()
		}
	}
	return d
}

// guard resolves the @p or @!p of an instruction (PTX ISA 9.3): a scalar register of type .pred.
func (f *fgen) guard(in *ir.Instr, p ptx.Guard) bool {
	sym := f.scope.lookup(f, p.Name)
	switch {
	case sym == nil:
		f.g.errorf(p.Span, "register %s is not declared", p.Name)
	case sym.kind != symReg || sym.vector || f.f.Regs[sym.regs[0]].Type != isa.Pred:
		f.g.errorf(p.Span, "%s is %s; a guard needs a register of type .pred", p.Name, f.describe(sym))
	default:
		in.Guard, in.Neg = sym.regs[0], p.Neg
		return true
	}
	return false
}

// describe is symbol.what, with the type of a register: messages about a wrong register are useful
// only with its type.
func (f *fgen) describe(sym *symbol) string {
	if sym.kind == symReg && !sym.vector {
		return "a register of type ." + f.f.Regs[sym.regs[0]].Type.String()
	}
	return sym.what()
}

// item is one operand as roles count them: the two halves of p|q are two items.
type item struct {
	op     ptx.Operand
	second bool // q of p|q
}

// items splits operands into items and appends them to out.
func items(out []item, ops ptx.Operands) []item {
	for _, o := range ops.All() {
		if o.Kind() == ptx.Pair {
			out = append(out, item{op: o.X()}, item{op: o.Y(), second: true})
			continue
		}
		out = append(out, item{op: o})
	}
	return out
}

// operands assigns the operands of the text to the roles of the instruction, in order. Optional
// roles are filled from the left, as far as there are operands for them.
//
// An opcode that is not executable may have forms that its row does not tell apart; all its
// operands are kept, and only names are resolved.
func (f *fgen) operands(in *ir.Instr, s ptx.Inst, want []isa.Role) bool {
	its := items(f.items[:0], s.Operands())
	f.items = its
	roles, ok := assign(want, its)
	switch {
	case !in.Row.Executable:
		roles = looseRoles(roles, its)
	case !ok:
		f.g.errorf(s.OpSpan(), "%s takes %s, found %d", s.Text(), takes(want), s.Operands().Len())
		return false
	}
	nd := 0
	for _, r := range roles {
		if r == isa.Dst || r == isa.DstPred {
			nd++
		}
	}
	if in.Row.Category == isa.Video {
		return f.videoOperands(in, its)
	}
	ops := make([]ir.Operand, len(its))
	in.Dst, in.Src = ops[:0:nd], ops[nd:nd]
	for i, it := range its {
		var o ir.Operand
		switch role := roles[i]; role {
		case isa.Dst, isa.DstPred:
			o, ok = f.dst(it.op, in.DstType(len(in.Dst)))
			in.Dst = append(in.Dst, o)
		default:
			t := in.SrcType(len(in.Src))
			if role == isa.PredSrc {
				t = isa.Pred
			}
			if it.op.Kind() == ptx.Vector && in.Operation() == isa.Move {
				t = ir.PartType(&in.Desc, t, it.op.Parts().Len())
			}
			o, ok = f.src(in, it.op, role, t)
			in.Src = append(in.Src, o)
		}
		if !ok {
			return false
		}
	}
	return true
}

// looseRoles keeps the destinations, as far as roles could be assigned and no operand contradicts
// them, and makes optional sources of everything else.
func looseRoles(roles []isa.Role, its []item) []isa.Role {
	out := make([]isa.Role, len(its))
	for i := range out {
		out[i] = isa.SrcOpt
		if i < len(roles) && (roles[i] == isa.Dst || roles[i] == isa.DstPred) &&
			its[i].op.Kind() != ptx.Mem {
			out[i] = isa.Dst
		}
	}
	return out
}

// assign gives each item its role, in order. A p|q pair takes DstPred for its second half, and
// nothing else does. Optional sources are filled from the left until the spare operands are used
// up, so the mandatory roles behind them always get one. It returns false if the numbers do not
// fit.
func assign(roles []isa.Role, its []item) ([]isa.Role, bool) {
	if fixed(roles, its) {
		return roles, true
	}
	spare := len(its)
	for _, r := range roles {
		if !optional(r) {
			spare--
		}
	}
	for _, it := range its {
		if it.second {
			spare--
		}
	}
	out := make([]isa.Role, 0, len(its))
	for _, r := range roles {
		switch {
		case len(out) < len(its) && its[len(out)].second != (r == isa.DstPred):
			if !optional(r) {
				return nil, false
			}
			continue
		case r == isa.DstPred:
		case optional(r):
			if spare <= 0 {
				continue
			}
			spare--
		}
		out = append(out, r)
	}
	return out, len(out) == len(its)
}

// fixed reports whether there is exactly one item for each role and no pair. It is the common case,
// in which assign need not copy the roles.
func fixed(roles []isa.Role, its []item) bool {
	if len(roles) != len(its) {
		return false
	}
	for i, r := range roles {
		if r == isa.DstPred || its[i].second {
			return false
		}
	}
	return true
}

// optional reports whether an instruction may be written without an operand of the role.
func optional(r isa.Role) bool { return r == isa.DstPred || r == isa.SrcOpt }

// takes says in words how many operands a list of roles takes. The second half of a pair is part of
// its operand and does not count.
func takes(roles []isa.Role) string {
	least, most := 0, 0
	for _, r := range roles {
		if r == isa.DstPred { // part of d|p
			continue
		}
		most++
		if !optional(r) {
			least++
		}
	}
	switch {
	case most == 0:
		return "no operands"
	case least == most && most == 1:
		return "1 operand"
	case least == most:
		return itoa(most) + " operands"
	}
	return itoa(least) + " to " + itoa(most) + " operands"
}
