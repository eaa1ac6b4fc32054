package irgen

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// callParts are the operands of a call as written: call (results), target, (args), list.
type callParts struct {
	results, args []ptx.Operand
	target        ptx.Operand
	list          ptx.Operand // prototype, .calltargets list or call table; nil if absent
}

// split sorts the operands of a call (PTX ISA 9.7.12.5).
func splitCall(ops []ptx.Operand) (callParts, bool) {
	var p callParts
	if r, ok := first[*ptx.Paren](&ops); ok {
		p.results = r.Elems
	}
	if len(ops) == 0 {
		return p, false
	}
	p.target, ops = ops[0], ops[1:]
	if a, ok := first[*ptx.Paren](&ops); ok {
		p.args = a.Elems
	}
	if len(ops) > 0 {
		p.list, ops = ops[0], ops[1:]
	}
	return p, len(ops) == 0
}

// first takes the first operand if it is of type T.
func first[T ptx.Operand](ops *[]ptx.Operand) (T, bool) {
	var none T
	if len(*ops) == 0 {
		return none, false
	}
	t, ok := (*ops)[0].(T)
	if ok {
		*ops = (*ops)[1:]
	}
	return t, ok
}

// shape is what a call's operands are checked against: the parameters of a function or prototype.
type signature struct {
	name            string
	params, results []formal
	open            bool // ends with an array without bound, which may be left out
}

type formal struct {
	typ  isa.Type
	size int // bytes; -1 for an array without bound
}

func (f *fgen) call(in *ir.Instr, s *ptx.Inst) bool {
	p, ok := splitCall(s.Operands)
	if !ok {
		f.g.errorf(s.OpSpan, "malformed call: expected (results), function, (arguments), list")
		return false
	}
	sig, ok := f.callee(in, &p)
	if !ok {
		return false
	}
	p.results, p.args = f.spread(p.results), f.spread(p.args)
	if sig != nil && !f.counts(s, sig, &p) {
		return false
	}
	for i, o := range p.results {
		out, ok := f.argument(o, sig.result(i))
		if !ok {
			return false
		}
		if k := out.Kind; k != ir.Register && k != ir.VarVal && k != ir.None || out.Neg {
			f.g.errorf(o.Span(), "expected a register or a .param variable for a result")
			return false
		}
		in.Dst = append(in.Dst, out)
	}
	for i, o := range p.args {
		out, ok := f.argument(o, sig.param(i))
		if !ok {
			return false
		}
		if k := out.Kind; k != ir.Register && k != ir.VarVal && k != ir.Imm || out.Neg {
			f.g.errorf(o.Span(), "expected a register, a .param variable or a constant for an argument")
			return false
		}
		in.Src = append(in.Src, out)
	}
	return true
}

// spread puts the components of vectors in their place.
func (f *fgen) spread(ops []ptx.Operand) []ptx.Operand {
	var out []ptx.Operand
	for _, o := range ops {
		switch o := o.(type) {
		case *ptx.Vector:
			out = append(out, o.Elems...)
			continue
		case *ptx.Name:
			sym := f.scope.lookup(f, o.Name)
			if sym == nil || sym.kind != symReg || !sym.vector || o.Field != "" {
				break
			}
			for i := range sym.regs {
				c := *o
				c.Field = components[i:][:1]
				out = append(out, &c)
			}
			continue
		}
		out = append(out, o)
	}
	return out
}

// callee resolves the target: a function, or a register with a list of candidates or a prototype.
func (f *fgen) callee(in *ir.Instr, p *callParts) (*signature, bool) {
	if n, ok := p.target.(*ptx.Name); ok && n.Field == "" {
		if sym := f.scope.lookup(f, n.Name); sym != nil && sym.kind == symFunc {
			if p.list != nil {
				f.g.errorf(p.list.Span(), "a direct call of %s takes no list of targets", n.Name)
				return nil, false
			}
			if sym.fn.Kernel {
				f.g.errorf(n.Span(), "%s is a kernel and cannot be called", n.Name)
				return nil, false
			}
			in.Callee = sym.fn
			return f.g.signatureOf(sym.fn), true
		}
	}
	out, ok := f.value(p.target, isa.NoType)
	if !ok {
		return nil, false
	}
	if out.Kind != ir.Register {
		f.g.errorf(p.target.Span(), "expected a function, or a register with the address of one")
		return nil, false
	}
	in.Src = append(in.Src, out)
	if p.list == nil {
		f.g.errorf(p.target.Span(), "an indirect call needs a .callprototype, a .calltargets list or a call table (PTX ISA 9.7.12.5)")
		return nil, false
	}
	return f.candidates(in, p.list)
}

// candidates resolves the last operand of an indirect call.
func (f *fgen) candidates(in *ir.Instr, o ptx.Operand) (*signature, bool) {
	n, ok := o.(*ptx.Name)
	if !ok {
		f.g.errorf(o.Span(), "expected a .callprototype, a .calltargets list or a call table")
		return nil, false
	}
	sym := f.scope.lookup(f, n.Name)
	switch {
	case sym == nil:
		f.g.errorf(o.Span(), "%s is not declared; expected a .callprototype, a .calltargets list or a call table", n.Name)
		return nil, false
	case sym.kind == symProto:
		return f.g.protoSignature(sym.proto), true
	case sym.kind == symTargets && sym.list.Name == ".calltargets":
		for _, a := range sym.list.Args {
			n, ok := a.(*ptx.Name)
			var fn *symbol
			if ok {
				fn = f.scope.lookup(f, n.Name)
			}
			if fn == nil || fn.kind != symFunc {
				f.g.errorf(a.Span(), "expected the name of a function")
				return nil, false
			}
			in.Targets = append(in.Targets, fn.fn)
		}
	case sym.kind == symVar:
		for _, r := range sym.v.Relocs {
			if r.Func != nil {
				in.Targets = append(in.Targets, r.Func)
			}
		}
	default:
		f.g.errorf(o.Span(), "%s is %s; expected a .callprototype, a .calltargets list or a call table", n.Name, f.describe(sym))
		return nil, false
	}
	if len(in.Targets) == 0 {
		f.g.errorf(o.Span(), "%s names no function", n.Name)
		return nil, false
	}
	return f.g.signatureOf(in.Targets[0]), true
}

func (g *gen) signatureOf(fn *ir.Func) *signature {
	s := &signature{name: fn.Name}
	for _, v := range fn.Params {
		s.params = append(s.params, formalOf(v))
		s.open = v.Unsized
	}
	for _, v := range fn.Results {
		s.results = append(s.results, formalOf(v))
	}
	return s
}

func formalOf(v *ir.Var) formal {
	switch {
	case v.Unsized:
		return formal{isa.NoType, -1}
	case v.Size != v.Type.Size() && v.Type != isa.Pred:
		return formal{isa.NoType, v.Size}
	}
	return formal{v.Type, v.Size}
}

func (g *gen) protoSignature(p *ptx.Prototype) *signature {
	s := &signature{name: p.Name}
	add := func(to []formal, decls []*ptx.Var) []formal {
		for _, d := range decls {
			t, ok := g.typeOf(d)
			if !ok {
				continue
			}
			if d.Space == "reg" && d.Vec > 0 {
				for range d.Vec * max(len(d.Names), 1) {
					to = append(to, formal{t, t.Size()})
				}
				continue
			}
			for i := range d.Names {
				v := ir.Var{Type: t}
				if g.shape(&v, d, &d.Names[i], event.Param) {
					to = append(to, formalOf(&v))
				}
			}
			if len(d.Names) == 0 {
				to = append(to, formal{t, t.Size()})
			}
		}
		return to
	}
	s.params = add(s.params, p.Params)
	s.results = add(s.results, p.Results)
	if n := len(s.params); n > 0 {
		s.open = s.params[n-1].size < 0
	}
	return s
}

func (s *signature) param(i int) formal {
	if i < len(s.params) {
		return s.params[i]
	}
	return formal{size: -1}
}

func (s *signature) result(i int) formal {
	if i < len(s.results) {
		return s.results[i]
	}
	return formal{size: -1}
}

func (f *fgen) counts(s *ptx.Inst, sig *signature, p *callParts) bool {
	n, least := len(sig.params), len(sig.params)
	if sig.open {
		least--
	}
	if len(p.args) < least || len(p.args) > n {
		f.g.errorf(s.OpSpan, "%s takes %d arguments, found %d", sig.name, n, len(p.args))
		return false
	}
	if len(p.results) != len(sig.results) {
		f.g.errorf(s.OpSpan, "%s has %d results, found %d", sig.name, len(sig.results), len(p.results))
		return false
	}
	return true
}

// argument resolves an argument or result: a register, a constant, or the value of a .param variable of
// the same size as the formal.
func (f *fgen) argument(o ptx.Operand, want formal) (ir.Operand, bool) {
	out, ok := f.value(o, want.typ)
	if !ok {
		return out, false
	}
	size := 0
	switch out.Kind {
	case ir.VarAddr:
		if out.Var.Space != event.Param || out.Val != 0 {
			f.g.errorf(o.Span(), "%s is a .%s variable; a call passes registers, constants and .param variables", out.Var.Name, out.Var.Space)
			return out, false
		}
		out.Kind = ir.VarVal
		size = out.Var.Size
	case ir.Register:
		size = f.f.Regs[out.Reg].Type.Size()
		if f.isPred(out.Reg) != (want.typ == isa.Pred) && want.size >= 0 {
			f.mismatch(o.Span(), want)
			return out, false
		}
	default:
		return out, true
	}
	if want.size >= 0 && size != want.size {
		f.mismatch(o.Span(), want)
		return out, false
	}
	return out, true
}

func (f *fgen) isPred(r ir.RegID) bool { return f.f.Regs[r].Type == isa.Pred }

func (f *fgen) mismatch(span source.Span, want formal) {
	if want.typ == isa.Pred {
		f.g.errorf(span, "the called function has a .pred here")
		return
	}
	f.g.errorf(span, "the called function has %d bytes here", want.size)
}
