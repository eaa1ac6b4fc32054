package emu

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// wmma.load, wmma.store and wmma.mma: PTX ISA 9.7.14.4.
//
// "The distribution of fragments loaded by the threads in a warp is unspecified" (9.7.14.4.1). Here
// every lane holds a run of elements of one row of A, C or D, or of one column of B. The runs of
// the matrix are assigned to the lanes in order, starting over if there are fewer runs than lanes,
// as for .f16 fragments, which hold every element at least twice. So one lane performs the same
// access in every program. A race with a wmma.load that exists only under another distribution is
// missed.

// fragmentPlan is the distribution of a matrix over the lanes.
type fragmentPlan struct {
	element
	regs         int // of a lane
	elems        int // of a lane
	outer, inner int // rows and columns of A, C, D; columns and rows of B
}

// planOf returns the distribution of operand "a", "b", "c" or "d" with elements of type e.
func planOf(f *isa.MatrixForm, operand string, e element) fragmentPlan {
	p := fragmentPlan{element: e, outer: f.M, inner: f.N}
	switch operand {
	case "a":
		p.inner = f.K
	case "b":
		p.outer, p.inner = f.N, f.K
	}
	p.elems = max(p.outer*p.inner/event.WarpSize, e.perRegister())
	if e.name == "f16" && (operand == "a" || operand == "b") {
		p.elems = 16 // eight registers for every shape (9.7.14.4.1)
	}
	p.regs = p.elems / e.perRegister()
	return p
}

// run returns the run of elements that a lane holds: its outer index and the first inner index.
func (p *fragmentPlan) run(l int) (outer, inner int) {
	first := l * p.elems % (p.outer * p.inner)
	return first / p.inner, first % p.inner
}

// layout returns the positions of the lanes' elements.
func (p *fragmentPlan) layout() operandLayout {
	return newLayout(p.element, p.elems, p.outer, p.inner, 1, func(l, i int) (int, int, int) {
		o, first := p.run(l)
		return o, first + i, 0
	})
}

// wmmaShapes maps the type of A to the shapes of wmma, as m, n, k.
var wmmaShapes = map[string][][3]int{
	"f16": {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}}, "bf16": {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}},
	"s8": {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}}, "u8": {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}},
	"tf32": {{16, 16, 8}}, "f64": {{8, 8, 4}},
	"s4": {{8, 8, 32}}, "u4": {{8, 8, 32}}, "b1": {{8, 8, 128}},
}

// wmmaShape reports whether the ISA defines the shape for the multiplicand type name, or for any
// type if name is empty.
func wmmaShape(f *isa.MatrixForm, name string) bool {
	for a, shapes := range wmmaShapes {
		for _, s := range shapes {
			if s == [3]int{f.M, f.N, f.K} && (name == "" || name == a) {
				return true
			}
		}
	}
	return false
}

// wmmaMMA decodes wmma.mma.
func (c *compiler) wmmaMMA(in *ir.Instr) error {
	f := in.Matrix()
	names := f.Types // D, A, B, C; or D, C with .f16 multiplicands
	if len(names) == 2 {
		names = []string{names[0], "f16", "f16", names[1]}
	}
	if len(names) != 4 || len(f.Other) != 0 || len(f.Layouts) != 2 || !wmmaShape(&f, names[1]) {
		return fmt.Errorf("%s: this combination of shape and types does not exist or is not supported",
			opcodeText(in))
	}
	var t [4]element
	for i, name := range names {
		t[i], _ = elementOf(name)
	}
	p := &product{m: f.M, n: f.N, k: f.K, count: 1, round: f.Round, saturate: f.Satfinite,
		bitOp: f.BitOp}
	if names[1] != names[2] || !p.accumulates(t) {
		return fmt.Errorf("%s: these types cannot be combined", opcodeText(in))
	}
	for i, o := range []*operandLayout{&p.d, &p.a, &p.b, &p.c} {
		plan := planOf(&f, []string{"d", "a", "b", "c"}[i], t[i])
		*o = plan.layout()
	}
	return c.matrixProduct(in, p)
}

// accumulates reports whether the types of D, A, B and C can be combined.
func (p *product) accumulates(t [4]element) bool {
	narrow := func(e element) bool { return e.name == "f16" || e.name == "f32" }
	a, b, c, d := t[1], t[2], t[3], t[0]
	if p.saturate && a.float != nil || p.round != isa.NoRounding && a.name != "f64" {
		return false
	}
	switch a.name {
	case "f16":
		return b.name == "f16" && narrow(c) && narrow(d)
	case "bf16", "tf32":
		return b.name == a.name && c.name == "f32" && d.name == "f32"
	case "f64":
		return b.name == "f64" && c.name == "f64" && d.name == "f64"
	case "b1":
		return b.name == "b1" && c.name == "s32" && d.name == "s32" &&
			(p.bitOp == isa.FnAnd || p.bitOp == isa.FnXor)
	}
	return b.float == nil && b.bits == a.bits && c.name == "s32" && d.name == "s32"
}

// wmmaAccess is a wmma.load or wmma.store while it is decoded.
type wmmaAccess struct {
	fragmentPlan
	in     *ir.Instr
	load   bool
	runs   bool // elements of a run are adjacent in memory
	space  event.Space
	addr   int32 // register with the address of the lane's next access
	stride src   // in elements
	regs   []src // the fragment
}

// matrixLoad is wmma.load or ldmatrix.
func (c *compiler) matrixLoad(in *ir.Instr) error {
	if in.Row.Fragment {
		return c.wmmaMemory(in, true)
	}
	return c.ldmatrix(in)
}

// matrixStore is wmma.store or stmatrix.
func (c *compiler) matrixStore(in *ir.Instr) error {
	if in.Row.Fragment {
		return c.wmmaMemory(in, false)
	}
	return c.stmatrix(in)
}

// matrixMultiply is wmma.mma or mma.
func (c *compiler) matrixMultiply(in *ir.Instr) error {
	if in.Row.Fragment {
		return c.wmmaMMA(in)
	}
	return c.mma(in)
}

// wmmaMemory decodes wmma.load and wmma.store: first the warp synchronizes, then each lane accesses
// its elements.
func (c *compiler) wmmaMemory(in *ir.Instr, load bool) error {
	f := in.Matrix()
	if len(f.Types) != 1 || len(f.Layouts) != 1 || len(f.Other) != 0 || f.Operand == "" {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	e, ok := elementOf(f.Types[0])
	multiplicand := f.Operand == "a" || f.Operand == "b"
	shapeOf := ""
	if multiplicand {
		shapeOf = e.name
	}
	if !ok || !wmmaShape(&f, shapeOf) || !multiplicand && e.name != "f16" && e.name != "f32" &&
		e.name != "s32" && e.name != "f64" {
		return fmt.Errorf("%s: this combination of shape and type does not exist or is not supported",
			opcodeText(in))
	}
	a := &wmmaAccess{fragmentPlan: planOf(&f, f.Operand, e), in: in, load: load}
	// A run is along a row of A, C or D and along a column of B: adjacent in memory if the layout has
	// the same direction.
	a.runs = (f.Layouts[0] == "row") == (f.Operand != "b")
	if !a.runs && e.bits < 8 {
		return fmt.Errorf(
			"%s: elements of less than a byte must be .row for A and .col for B (PTX ISA 9.7.14.4.3)",
			opcodeText(in))
	}
	addr, list, stride, err := a.operands()
	if err != nil {
		return err
	}
	n := a.fragmentPlan.regs
	if a.regs, err = c.elements(list, n, isa.NoType); err != nil {
		return err
	}
	for _, s := range a.regs {
		if !load && s.c == nil && s.r < 0 || load && s.c != nil {
			return fmt.Errorf("%s: %d registers expected", opcodeText(in), n)
		}
	}
	// Without a stride operand the matrix is dense.
	lead := a.outer // elements from one row or column of memory to the next
	if a.runs {
		lead = a.inner
	}
	a.stride = src{c: c.constant(uint64(lead))}
	if stride != nil {
		if a.stride, err = c.srcOf(*stride, isa.U32); err != nil {
			return err
		}
	}
	c.wholeWarp(in, nil, nil, func(*exec, *inst, uint32) {})
	if err := a.start(c, addr); err != nil {
		return err
	}
	return a.accesses(c)
}

// operands returns the address, the list of registers, and the stride or nil.
func (a *wmmaAccess) operands() (addr, list ir.Operand, stride *ir.Operand, err error) {
	s := a.in.Src
	switch {
	case a.load && len(a.in.Dst) == 1 && len(s) > 0:
		addr, list, s = s[0], a.in.Dst[0], s[1:]
	case !a.load && len(a.in.Dst) == 0 && len(s) > 1:
		addr, list, s = s[0], s[1], s[2:]
	default:
		s = append(s, s...) // an error below
	}
	if len(s) > 1 || addr.Kind != ir.Mem {
		return addr, list, nil,
			fmt.Errorf("%s: an address, a list of registers and perhaps a stride expected", opcodeText(a.in))
	}
	if len(s) == 1 {
		stride = &s[0]
	}
	return addr, list, stride, nil
}

// start emits the computation of the address of each lane's first element.
func (a *wmmaAccess) start(c *compiler, o ir.Operand) error {
	m := &memOp{space: spaceOf(a.in)}
	var d inst
	if err := c.address(o, &d, m); err != nil {
		return err
	}
	if a.space = m.space; a.space != event.Global && a.space != event.Shared &&
		a.space != event.Generic {
		return fmt.Errorf("%s: an address of global or shared memory expected", opcodeText(a.in))
	}
	a.addr = c.hidden()
	c.emit(inst{guard: c.guard(), d: [2]int32{a.addr, -1}, pd: [2]int32{-1, -1},
		s: [4]src{d.s[0], a.stride}, sources: 2,
		run: func(x *exec, in *inst) {
			x.uncount()
			base, stride, to := x.src(&in.s[0]), x.src(&in.s[1]), &x.regs[in.d[0]]
			for l := range to {
				if x.m>>l&1 == 0 {
					continue
				}
				outer, inner := a.run(l)
				// The position of the lane's first element, in elements.
				at := uint64(outer)*uint64(uint32(stride[l])) + uint64(inner)
				if !a.runs {
					at = uint64(inner)*uint64(uint32(stride[l])) + uint64(outer)
				}
				to[l] = (base[l] + m.off + at*uint64(a.bits)/8) & m.amask
			}
		}})
	return nil
}

// maxWide bounds one access, in bytes, as for vector loads and stores. The rows of a matrix are
// aligned to it or to their run.
const maxWide = 16

// accesses emits the loads or stores: 16 bytes at a time for adjacent elements, else element by
// element.
func (a *wmmaAccess) accesses(c *compiler) error {
	size := uint64(a.register() / 8)
	if a.runs {
		per := int(min(maxWide/size, uint64(len(a.regs))))
		for i := 0; i < len(a.regs); i += per {
			if err := a.access(c, a.regs[i:i+per], size, uint64(i)*size); err != nil {
				return err
			}
		}
		return nil
	}
	per := a.perRegister()
	for i := range a.elems {
		r := a.regs[i/per]
		if per == 1 {
			if err := a.step(c, i, []src{r}); err != nil {
				return err
			}
			continue
		}
		if i%per != 0 {
			continue
		}
		// Several elements share a register: access them separately, and pack or unpack.
		hidden, parts := c.hiddenList(per)
		whole := &miscOp{vecSrc: parts, width: a.bits, vecDst: []int32{r.r}, to: a.register()}
		if !a.load {
			whole = &miscOp{vecSrc: []src{r}, width: a.register(), vecDst: hidden, to: a.bits}
			c.emitParts(whole)
		}
		for k := range per {
			if err := a.step(c, i+k, parts[k:k+1]); err != nil {
				return err
			}
		}
		if a.load {
			c.emitParts(whole)
		}
	}
	return nil
}

// emitParts emits the packing or unpacking of registers that hold several elements.
func (c *compiler) emitParts(m *miscOp) {
	c.emit(inst{guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}, misc: m,
		run: func(x *exec, in *inst) {
			x.uncount()
			runMovVector(x, in)
		}})
}

// step emits the access of element i, one row or column of memory after the previous one.
func (a *wmmaAccess) step(c *compiler, i int, r []src) error {
	if i > 0 {
		size := uint64(a.bits / 8)
		c.emit(inst{guard: c.guard(), d: [2]int32{a.addr, -1}, pd: [2]int32{-1, -1},
			s: [4]src{{r: a.addr}, a.stride}, sources: 2,
			run: func(x *exec, in *inst) {
				x.uncount()
				stride, to := x.src(&in.s[1]), &x.regs[in.d[0]]
				for l := range to {
					if x.m>>l&1 != 0 {
						to[l] += uint64(uint32(stride[l])) * size
					}
				}
			}})
	}
	return a.access(c, r, uint64(a.bits/8), 0)
}

// access emits one load or store of registers of size bytes each.
func (a *wmmaAccess) access(c *compiler, regs []src, size, off uint64) error {
	m := &memOp{space: a.space, size: size, wide: size * uint64(len(regs)), off: off,
		amask: ^uint64(0)}
	if a.load {
		m.kind, m.global, m.shared, m.private = event.Read, loadGlobal, loadShared, loadPrivate
		for _, r := range regs {
			m.dst = append(m.dst, r.r)
		}
	} else {
		m.kind, m.global, m.shared, m.private = event.Write, storeGlobal, storeShared, storePrivate
		m.src = regs
	}
	return c.finishMem(a.in, inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		s: [4]src{{r: a.addr}}})
}
