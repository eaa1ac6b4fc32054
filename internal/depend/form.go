package depend

import (
	"encoding/binary"
	"fmt"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// form is constant + sum of factor * node, with the terms in the order of the nodes.
type form struct {
	constant int64
	terms    []term
}

// term is a node with its factor, which is not 0.
type term struct {
	node   int32
	factor int64
}

// plus returns a + b*k.
func (a *form) plus(b *form, k int64) *form {
	out := &form{constant: a.constant + b.constant*k}
	i, j := 0, 0
	for i < len(a.terms) || j < len(b.terms) {
		switch {
		case j == len(b.terms) || i < len(a.terms) && a.terms[i].node < b.terms[j].node:
			out.terms = append(out.terms, a.terms[i])
			i++
		case i == len(a.terms) || b.terms[j].node < a.terms[i].node:
			out.terms = append(out.terms, term{b.terms[j].node, b.terms[j].factor * k})
			j++
		default:
			out.terms = append(out.terms, term{a.terms[i].node, a.terms[i].factor + b.terms[j].factor*k})
			i, j = i+1, j+1
		}
	}
	out.terms = slices.DeleteFunc(out.terms, func(t term) bool { return t.factor == 0 })
	return out
}

// minus returns the terms in which a and b differ.
func (a *form) minus(b *form) []term { return a.plus(b, -1).terms }

// key is equal for equal forms.
func (a *form) key(buf []byte) []byte {
	buf = binary.AppendVarint(buf, a.constant)
	buf = binary.AppendUvarint(buf, uint64(len(a.terms)))
	for _, t := range a.terms {
		buf = binary.AppendVarint(buf, int64(t.node))
		buf = binary.AppendVarint(buf, t.factor)
	}
	return buf
}

// node returns the form of one node, which is made if there is none with that key.
func (k *Kernel) node(key string, v *value) *form {
	n, ok := k.nodes[key]
	if !ok {
		n = int32(len(k.list))
		k.nodes[key] = n
		k.list = append(k.list, *v)
	}
	return &form{terms: []term{{n, 1}}}
}

// addressFacts returns all that the addresses of an access depend on, or the target of an indirect
// call.
func (f *function) addressFacts(in *ir.Instr) bits {
	var set bits
	if in.IsCall() && in.Callee == nil && len(in.Src) > 0 {
		set.add(f.operand(in, &in.Src[0]).from)
	}
	for _, ops := range [2][]ir.Operand{in.Dst, in.Src} {
		for i := range ops {
			if ops[i].Kind == ir.Mem {
				set.add(f.operand(in, &ops[i]).from)
			}
		}
	}
	return set
}

// form returns the value of an operand of an instruction as a form.
func (f *function) form(in *ir.Instr, o *ir.Operand) *form {
	switch o.Kind {
	case ir.Imm:
		return &form{constant: int64(o.Val)}
	case ir.Register:
		return f.formOf(in, o.Reg)
	case ir.VarAddr:
		return f.variable(o.Var).plus(&form{constant: int64(o.Val)}, 1)
	case ir.Mem:
		out := &form{constant: int64(o.Val)}
		if o.Reg != ir.NoReg {
			out = out.plus(f.formOf(in, o.Reg), 1)
		}
		if o.Var != nil {
			out = out.plus(f.variable(o.Var), 1)
		}
		return out
	}
	key := append([]byte("operand "), byte(o.Kind), byte(o.Sreg))
	return f.k.node(string(binary.AppendUvarint(key, o.Val)), f.operand(in, o))
}

// variable is the address of a variable.
func (f *function) variable(v *ir.Var) *form {
	return f.k.node("address of "+v.Name, &value{objects: []*ir.Var{v}})
}

// formOf returns the value of a register that an instruction reads: that of its definition, if one
// reaches the instruction.
func (f *function) formOf(in *ir.Instr, r ir.RegID) *form {
	m := f.reach.at(in, r)
	if len(m.defs) != 1 {
		key := fmt.Sprintf("merge %s %d %v", f.fn.Name, r, m.defs)
		return f.k.node(key, f.register(in, r))
	}
	d := m.defs[0]
	if got := f.forms[d]; got != nil {
		return got
	}
	if f.busy[d] || f.reach.defs[d].in == nil {
		return f.whole(d)
	}
	f.busy[d] = true
	got := f.definition(f.reach.defs[d].in, d)
	f.busy[d] = false
	f.forms[d] = got
	return got
}

// whole is a definition as a node of its own.
func (f *function) whole(d int) *form {
	return f.k.node(fmt.Sprintf("definition %s %d", f.fn.Name, d), &f.regs[d])
}

// definition returns what an instruction computes into its one register, as definition d.
func (f *function) definition(in *ir.Instr, d int) *form {
	if len(in.Dst) != 1 || in.Dst[0].Kind != ir.Register || in.Guard != ir.NoReg {
		return f.whole(d)
	}
	switch in.Action() {
	case isa.ActConvertAddress:
		return f.form(in, &in.Src[0])
	case isa.ActLoad:
		return f.loaded(in, d)
	case isa.ActCompute:
	default:
		return f.whole(d)
	}
	if in.UsesCarry() || in.Type.IsFloat() {
		return f.whole(d)
	}
	return f.computed(in, d)
}

// loaded is the result of a load: a node for each address, since memory that the kernel does not
// write has one value there.
func (f *function) loaded(in *ir.Instr, d int) *form {
	o := operand(in, false)
	if o == nil || in.Vec > 1 {
		return f.whole(d)
	}
	key := append([]byte("load "), byte(in.Space), byte(in.Type))
	return f.k.node(string(f.form(in, o).key(key)), &f.regs[d])
}

// computed is the result of integer arithmetic.
func (f *function) computed(in *ir.Instr, d int) *form {
	src := make([]*form, len(in.Src))
	for i := range in.Src {
		src[i] = f.form(in, &in.Src[i])
		if in.Src[i].Kind == ir.Imm && in.Type.Size() <= 4 { // the sign of a 32-bit factor
			src[i] = &form{constant: int64(int32(in.Src[i].Val))}
		}
	}
	switch op := in.Operation(); op {
	case isa.Move, isa.Conversion:
		if len(src) == 1 && in.Src[0].Kind != ir.Vector {
			return src[0]
		}
	case isa.Sum:
		return src[0].plus(src[1], 1)
	case isa.Difference:
		return src[0].plus(src[1], -1)
	case isa.Product, isa.ShortProduct, isa.ProductSum, isa.ShortProductSum:
		if in.Fn == isa.FnHi {
			break
		}
		p := f.product(src[0], src[1])
		if op == isa.ProductSum || op == isa.ShortProductSum {
			return p.plus(src[2], 1)
		}
		return p
	case isa.LeftShift:
		if len(src[1].terms) == 0 && src[1].constant >= 0 && src[1].constant < 63 {
			return (&form{}).plus(src[0], 1<<src[1].constant)
		}
	}
	key := append([]byte("compute "), in.Text()...)
	for _, s := range src {
		key = s.key(append(key, 0))
	}
	return f.k.node(string(key), &f.regs[d])
}

// product is a multiple of one side if the other is constant, and else a node.
func (f *function) product(a, b *form) *form {
	if len(a.terms) == 0 {
		a, b = b, a
	}
	if len(b.terms) == 0 {
		return (&form{}).plus(a, b.constant)
	}
	one, two := a.key(nil), b.key(nil)
	if slices.Compare(one, two) > 0 {
		one, two = two, one
	}
	var v value
	for _, t := range append(slices.Clone(a.terms), b.terms...) {
		v.merge(&f.k.list[t.node])
	}
	return f.k.node("product "+string(one)+"\x00"+string(two), &v)
}

// Factors returns the factors of the indices of the block and of the thread in the address of an
// access, in bytes and by dimension: 256 and 4 in dimension x for p[blockIdx.x*64 + threadIdx.x] of 4
// bytes. An index that has no constant factor, or that is not in the address, has 0.
func (k *Kernel) Factors(in *ir.Instr) (block, thread [3]int64) {
	f := k.home[in]
	if f == nil {
		return block, thread
	}
	o := operand(in, true)
	if o == nil {
		o = operand(in, false)
	}
	if o == nil {
		return block, thread
	}
	var bad [2][3]bool // indices that are in the address in another way, too
	for _, t := range f.form(in, o).terms {
		facts := k.facts(k.list[t.node].from)
		for _, s := range facts {
			switch {
			case s.Kind != BlockIndex && s.Kind != ThreadIndex:
			case len(facts) > 1:
				bad[s.Kind-ThreadIndex][s.Offset] = true
			case s.Kind == BlockIndex:
				block[s.Offset] = t.factor
			default:
				thread[s.Offset] = t.factor
			}
		}
	}
	for d := range 3 {
		if bad[0][d] {
			thread[d] = 0
		}
		if bad[1][d] {
			block[d] = 0
		}
	}
	return block, thread
}
