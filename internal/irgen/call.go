package irgen

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// callParts are the operands of a call as written: call (results), target, (arguments), list (PTX
// ISA 9.7.12.5). The parenthesised lists and the last operand are optional.
type callParts struct {
	results, args ptx.Operands
	target        ptx.Operand
	list          ptx.Operand // prototype, .calltargets list or call table; none if absent
}

// splitCall sorts the operands of a call into their parts. It returns false if there is no target
// or if operands are left over.
func splitCall(ops ptx.Operands) (callParts, bool) {
	var p callParts
	p.results = parenthesised(&ops)
	if ops.Len() == 0 {
		return p, false
	}
	p.target, ops = ops.At(0), ops.From(1)
	p.args = parenthesised(&ops)
	if ops.Len() > 0 {
		p.list, ops = ops.At(0), ops.From(1)
	}
	return p, ops.Len() == 0
}

// parenthesised removes the first operand if it is a list in parentheses, and returns the list's
// elements.
func parenthesised(ops *ptx.Operands) ptx.Operands {
	if ops.Len() == 0 || ops.At(0).Kind() != ptx.Paren {
		return ptx.Operands{}
	}
	list := ops.At(0).Parts()
	*ops = ops.From(1)
	return list
}

// signature is what the arguments and results of a call are checked against: the formals of a
// function or of a prototype.
type signature struct {
	name            string
	params, results []formal
	open            bool // ends with an array without bound, which may be left out
}

// formal is one parameter or result. Only its size decides whether a .param variable fits; the type
// gives constants their bits, and is NoType for an array, which no constant can be passed to.
type formal struct {
	typ  isa.Type
	size int // bytes; -1 for an array without bound
}

// call resolves the operands of a call: the callee or its candidates, then results and arguments,
// each compared with the formal at its place. sig is never nil here; a call whose signature could
// not be found has been reported.
func (f *fgen) call(in *ir.Instr, s ptx.Inst) bool {
	p, ok := splitCall(s.Operands())
	if !ok {
		f.g.errorf(s.OpSpan(), "malformed call: expected (results), function, (arguments), list")
		return false
	}
	sig, ok := f.callee(in, &p)
	if !ok {
		return false
	}
	results, args := f.spread(p.results), f.spread(p.args)
	if sig != nil && !f.counts(s, sig, len(results), len(args)) {
		return false
	}
	for i, o := range results {
		out, ok := f.argument(o, sig.result(i))
		if !ok {
			return false
		}
		if k := out.Kind; k != ir.Register && k != ir.VarVal && k != ir.None || out.Neg {
			f.g.errorf(o.op.Span(), "expected a register or a .param variable for a result")
			return false
		}
		in.Dst = append(in.Dst, out)
	}
	for i, o := range args {
		out, ok := f.argument(o, sig.param(i))
		if !ok {
			return false
		}
		if k := out.Kind; k != ir.Register && k != ir.VarVal && k != ir.Imm || out.Neg {
			f.g.errorf(o.op.Span(), "expected a register, a .param variable or a constant for an argument")
			return false
		}
		in.Src = append(in.Src, out)
	}
	return true
}

// passed is an argument or a result of a call as written, or one component of it.
type passed struct {
	op   ptx.Operand
	part int // -1: all of it
}

// spread replaces vector registers and lists in braces by their components, since each is passed as
// a parameter of its own (PTX ISA 6.4.3).
func (f *fgen) spread(ops ptx.Operands) []passed {
	var out []passed
	for _, o := range ops.All() {
		n := 0
		switch o.Kind() {
		case ptx.Vector:
			n = o.Parts().Len()
		case ptx.Name:
			if sym := f.scope.lookup(f, o.Name()); sym != nil && sym.kind == symReg && sym.vector &&
				o.Field() == "" {
				n = len(sym.regs)
			}
		}
		for i := range n {
			out = append(out, passed{o, i})
		}
		if n == 0 {
			out = append(out, passed{o, -1})
		}
	}
	return out
}

// callee resolves the target: a function for a direct call, or a register that holds its address.
// An indirect call must name its candidates or a prototype, since without either neither the
// arguments nor the possible callees can be checked. A kernel cannot be called.
func (f *fgen) callee(in *ir.Instr, p *callParts) (*signature, bool) {
	if t := p.target; t.Kind() == ptx.Name && t.Field() == "" {
		if sym := f.scope.lookup(f, t.Name()); sym != nil && sym.kind == symFunc {
			if p.list.Kind() != ptx.NoOperand {
				f.g.errorf(p.list.Span(), "a direct call of %s does not take a list of targets", t.Name())
				return nil, false
			}
			if sym.fn.Kernel {
				f.g.errorf(t.Span(), "%s is a kernel and cannot be called", t.Name())
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
	if p.list.Kind() == ptx.NoOperand {
		f.g.errorf(p.target.Span(),
			"an indirect call needs a .callprototype, a .calltargets list or a call table (PTX ISA 9.7.12.5)")
		return nil, false
	}
	return f.candidates(in, p.list)
}

// candidates resolves the last operand of an indirect call: a .callprototype, which gives the
// signature only, or a .calltargets list or a table of addresses in an initialised variable, which
// give the functions too. All candidates must agree with each other by the language; the first
// one's signature is checked.
func (f *fgen) candidates(in *ir.Instr, o ptx.Operand) (*signature, bool) {
	if o.Kind() != ptx.Name {
		f.g.errorf(o.Span(), "expected a .callprototype, a .calltargets list or a call table")
		return nil, false
	}
	name := o.Name()
	sym := f.scope.lookup(f, name)
	switch {
	case sym == nil:
		f.g.errorf(o.Span(),
			"%s is not declared; expected a .callprototype, a .calltargets list or a call table", name)
		return nil, false
	case sym.kind == symProto:
		return f.g.protoSignature(sym.proto), true
	case sym.kind == symTargets && sym.list.Name == ".calltargets":
		for _, a := range sym.list.Args.All() {
			var fn *symbol
			if a.Kind() == ptx.Name {
				fn = f.scope.lookup(f, a.Name())
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
		f.g.errorf(o.Span(), "%s is %s; expected a .callprototype, a .calltargets list or a call table",
			name, f.describe(sym))
		return nil, false
	}
	if len(in.Targets) == 0 {
		f.g.errorf(o.Span(), "%s does not contain the address of any function", name)
		return nil, false
	}
	return f.g.signatureOf(in.Targets[0]), true
}

// signatureOf returns the signature of a function. Only the last parameter can be an array without
// bound.
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

// formalOf describes a variable as a formal. An array has no type, because its elements are passed
// as bytes; a predicate has size 0 and keeps its type.
func formalOf(v *ir.Var) formal {
	switch {
	case v.Unsized:
		return formal{isa.NoType, -1}
	case v.Size != v.Type.Size() && v.Type != isa.Pred:
		return formal{isa.NoType, v.Size}
	}
	return formal{v.Type, v.Size}
}

// protoSignature returns the signature that a .callprototype declares (PTX ISA 11.3.3). Its
// parameters may be unnamed ("_"), and its vector registers count as one formal for each component.
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

// param returns formal i. Beyond the last one, which counts rules out, it accepts any size.
func (s *signature) param(i int) formal {
	if i < len(s.params) {
		return s.params[i]
	}
	return formal{size: -1}
}

// result returns the formal of result i, in the way of param.
func (s *signature) result(i int) formal {
	if i < len(s.results) {
		return s.results[i]
	}
	return formal{size: -1}
}

// counts reports whether a call has as many arguments and results as its signature. The array
// without bound at the end of an open signature may be omitted.
func (f *fgen) counts(s ptx.Inst, sig *signature, results, args int) bool {
	n, least := len(sig.params), len(sig.params)
	if sig.open {
		least--
	}
	if args < least || args > n {
		f.g.errorf(s.OpSpan(), "%s takes %d arguments, found %d", sig.name, n, args)
		return false
	}
	if results != len(sig.results) {
		f.g.errorf(s.OpSpan(), "%s has %d results, found %d", sig.name, len(sig.results), results)
		return false
	}
	return true
}

// argument resolves an argument or result: a register, a constant, or the value of a .param
// variable of the same size as the formal. The name of a .param variable denotes its bytes here and
// not its address, which is why VarAddr becomes VarVal. Predicates and other registers cannot be
// exchanged.
func (f *fgen) argument(a passed, want formal) (ir.Operand, bool) {
	o := a.op
	out, ok := f.value(o, want.typ)
	if !ok {
		return out, false
	}
	if a.part >= 0 {
		out = out.Elems[a.part]
	}
	size := 0
	switch out.Kind {
	case ir.VarAddr:
		if out.Var.Space != event.Param || out.Val != 0 {
			f.g.errorf(o.Span(),
				"%s is a .%s variable; a call passes registers, constants and .param variables", out.Var.Name, out.Var.Space)
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

// isPred reports whether a register is a predicate, which has no size and no place in .param
// memory.
func (f *fgen) isPred(r ir.RegID) bool { return f.f.Regs[r].Type == isa.Pred }

// mismatch reports an argument or result whose size differs from the formal's.
func (f *fgen) mismatch(span source.Span, want formal) {
	if want.typ == isa.Pred {
		f.g.errorf(span, "the called function has a .pred here")
		return
	}
	f.g.errorf(span, "the called function has %d bytes here", want.size)
}
