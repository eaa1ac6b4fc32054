package irgen

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// maxVarSize bounds the bytes of one variable, and of a function's areas: what no machine has is a
// mistake, and sums of sizes must not overflow.
const maxVarSize = 1 << 40

// spaceByName has the state spaces that can hold variables (PTX ISA 5.1).
var spaceByName = map[string]event.Space{
	"global": event.Global, "shared": event.Shared, "local": event.Local, "const": event.Const,
	"param": event.Param,
	// the state space .tex, not the opcode: .tex .u32 t is .global .texref t (PTX ISA 5.1.8)
	"tex": event.Global,
}

// typeOf returns the type of a declaration. A .tex variable is a texture reference whatever type it
// is written with (PTX ISA 5.1.8).
func (g *gen) typeOf(d *ptx.Var) (isa.Type, bool) {
	if d.Space == "tex" {
		return isa.TexRef, true
	}
	t, ok := isa.TypeOf(d.Type)
	if !ok {
		g.errorf(d.TypeSpan, "unknown type .%s", d.Type)
	}
	return t, ok
}

// variables makes the variables of one declaration, which may declare several, and notes their
// initialisers. Registers are declared by register. Names that an error concerns are left out.
func (g *gen) variables(s *scope, d *ptx.Var) []*ir.Var {
	t, ok := g.typeOf(d)
	if !ok {
		return nil
	}
	space, ok := spaceByName[d.Space]
	if !ok {
		g.errorf(d.Span(), "state space .%s cannot hold a variable here", d.Space)
		return nil
	}
	if t == isa.Pred {
		g.errorf(d.TypeSpan, "a .pred variable can be in state space .reg only (PTX ISA 5.2.1)")
		return nil
	}
	var out []*ir.Var
	for i := range d.Names {
		n := &d.Names[i]
		v := &ir.Var{Name: n.Name, Source: variableName(n.Name), Space: space, Type: t,
			Extern: d.Linkage == ptx.Extern, Span: n.Span, Reg: ir.NoReg}
		if !g.shape(v, d, n, space) {
			continue
		}
		if n.Init != nil && t.Class() != isa.Opaque {
			g.inits = append(g.inits, pendingInit{v, d, n, s})
		}
		if n.Range > 0 {
			out = append(out, expandRange(v, n)...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// maxRanged bounds the variables that all name<n> of a module declare in memory, each an object.
const maxRanged = 1 << 16

// expandRange makes the variables of name<n> (PTX ISA 5.4.6), which differ in their names only.
func expandRange(v *ir.Var, n *ptx.VarName) []*ir.Var {
	out := make([]*ir.Var, n.Range)
	for i := range out {
		c := *v
		c.Name = rangeName(n.Name, i)
		out[i] = &c
	}
	return out
}

// shape sets size, stride and alignment in bytes from type, vector length, dimensions and .align
// (PTX ISA 5.4). Without .align a variable is aligned to its element, a vector as a whole (5.4.2);
// where that size is not a power of two, to one component. Shapes that no device could hold are
// rejected, so that later sums of sizes cannot overflow.
func (g *gen) shape(v *ir.Var, d *ptx.Var, n *ptx.VarName, space event.Space) bool {
	elem := max(v.Type.Size(), 1) * max(d.Vec, 1)
	if v.Type.Class() == isa.Opaque {
		elem = 8 // a handle
	}
	v.Align = elem
	if elem&(elem-1) != 0 {
		v.Align = v.Type.Size()
	}
	if d.Align != 0 {
		if d.Align < 0 || d.Align&(d.Align-1) != 0 || d.Align > 1<<20 {
			g.errorf(d.Span(), ".align %d: expected a power of two", d.Align)
			return false
		}
		v.Align = int(d.Align)
	}
	if g.ranged += min(n.Range, maxRanged+1); g.ranged > maxRanged {
		g.errorf(n.Span, "%s<%d>: more than %d such variables in one module", n.Name, n.Range, maxRanged)
		return false
	}
	v.Size, v.Stride = elem, elem
	for i, dim := range n.Dims {
		switch {
		case dim == -1 && i == 0:
			dim = initCount(n.Init)
			if n.Init == nil {
				v.Unsized = true
			}
		case dim < 0:
			g.errorf(n.Span, "%s: only the first dimension of an array may be left open", n.Name)
			return false
		}
		if dim > 0 && v.Size > maxVarSize/int(min(dim, maxVarSize)) {
			g.errorf(n.Span, "%s is larger than 2^40 bytes", n.Name)
			return false
		}
		if v.Size *= int(dim); i > 0 {
			v.Stride *= int(dim)
		}
	}
	if space != event.Param && (d.Type != "b8" || len(n.Dims) == 0) { // compilers declare all arrays as .b8
		v.Shape.Elem = elem
		for _, dim := range n.Dims {
			v.Shape.Dims = append(v.Shape.Dims, int(max(dim, 0)))
		}
	}
	if v.Unsized && space != event.Param {
		if !v.Extern {
			g.errorf(n.Span, "%s: an array without a bound needs an initialiser or .extern", n.Name)
			return false
		}
		v.Unsized = space == event.Shared
	}
	return true
}

// initCount is the length that an initialiser gives an array whose first dimension is open. A
// string counts its terminating zero.
func initCount(in *ptx.Init) int64 {
	switch {
	case in == nil:
		return 0
	case in.Value.Kind() == ptx.String:
		return int64(len(in.Value.Str())) + 1
	case in.Value.Kind() != ptx.NoOperand:
		return 1
	}
	return int64(len(in.List))
}

// register adds the registers of a .reg declaration to the scope. A range is only noted: its
// registers are created when they are named, since compilers declare thousands more than they use.
func (f *fgen) register(d *ptx.Var) {
	g := f.g
	t, ok := g.typeOf(d)
	if !ok {
		return
	}
	if t.Size() == 0 && t != isa.Pred {
		g.errorf(d.TypeSpan, "a register cannot have type .%s", d.Type)
		return
	}
	for i := range d.Names {
		n := &d.Names[i]
		switch {
		case len(n.Dims) > 0 || n.Init != nil:
			g.errorf(n.Span, "%s: a register can be neither an array nor initialised", n.Name)
		case n.Range > 0:
			f.scope.ranges = append(f.scope.ranges, regRange{n.Name, n.Range, t, d.Vec, n.Span})
		default:
			g.define(f.scope, n.Name, f.newReg(n.Name, t, d.Vec, n.Span))
		}
	}
}

// place gives a variable its byte offset in an area that is filled up to *top, at its alignment (a
// power of two), and advances *top behind it.
func (g *gen) place(v *ir.Var, top *int) {
	at := (*top + v.Align - 1) &^ (v.Align - 1)
	if at+v.Size > maxVarSize {
		g.errorf(v.Span, "the variables of this function are larger than 2^40 bytes in total")
		return
	}
	v.Offset = at
	*top = at + v.Size
}
