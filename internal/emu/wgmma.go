package emu

import (
	"fmt"
	"math"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Matrix operations of a warpgroup, PTX ISA 9.7.15: four warps multiply 64 rows of A, from
// registers or shared memory, by a matrix B in shared memory. Each warp has 16 of the rows, and
// issues an operation of its own that reads them and all of B.
//
// The operation is asynchronous: it reads shared memory, and accesses its registers, at some time
// before the wait that covers its group. Here it is performed when it is issued. Other threads that
// change its operands meanwhile are races, which the detector finds from the event, and accesses to
// its registers are errors (wgmmaregs.go), so that no program without an error can tell.
//
// Products are exact and added in double precision by ascending k, as in mma.go.

// The steps of a warpgroup.
const (
	warpgroupFence = iota
	warpgroupMultiply
	warpgroupCommit
	warpgroupWait
)

// warpgroupOp is a decoded instruction of a warpgroup.
type warpgroupOp struct {
	step    int
	pending uint32 // of a wait

	form    isa.WarpgroupForm
	product *product
	// What the lanes put in: the descriptors of A (or none) and B, then, unless it is a trace, the
	// registers of A (or none) and of D.
	descriptors int
	computes    bool
	to          []int32 // registers of D
	d, a        []int32 // the registers, as watched ones (wgmmaregs.go)
	origin      uint32  // of the results in a trace; 0 if no values are tracked
}

// shape identifies the shape.
func (op *warpgroupOp) shape() uint32 { return uint32(op.form.N)<<16 | uint32(op.form.K) }

// warpMatrices are the matrix operations of a warp.
type warpMatrices struct {
	fences uint32 // wgmma.fence so far
	// fences before the last operation
	mmaFences uint32
	closed    uint32            // groups
	done      uint32            // groups that are complete, all before it
	slots     map[uint64]regUse // by address: local memory that holds accumulators (wgmmaslots.go)
}

// warpgroup is what the four warps of a warpgroup have executed: the same instructions with the
// same descriptors (.aligned; PTX ISA 9.7.15.5.2). The steps are those behind the first base ones,
// which all of them have taken.
type warpgroup struct {
	steps []warpgroupStep
	base  uint64
	at    [4]uint64
}

// warpgroupStep is one instruction.
type warpgroupStep struct {
	in   *ir.Instr
	site event.Site
	desc [2]uint64
}

// keptSteps is how many steps are kept at least before the common ones are dropped.
const keptSteps = 256

// footprintKey identifies what a warp reads.
type footprintKey struct {
	op   *warpgroupOp
	row  int
	desc [2]uint64
}

// maxFootprints bounds the footprints that are kept.
const maxFootprints = 1 << 12

// warpgroupStepInstr decodes wgmma.fence, commit_group and wait_group.
func (c *compiler) warpgroupStepInstr(in *ir.Instr) error {
	if c.slice == nil && c.p.track {
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	if !in.WarpgroupStep() {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	op := &warpgroupOp{step: warpgroupFence}
	if use, ok := in.Desc.Async(len(in.Src)); ok {
		op.step = warpgroupCommit
		if use.Step == isa.AsyncWait {
			if len(in.Src) != 1 || in.Src[0].Kind != ir.Imm {
				return fmt.Errorf("%s: a constant number of groups expected", opcodeText(in))
			}
			op.step, op.pending = warpgroupWait, uint32(min(in.Src[0].Val, 1<<31))
			c.wholeWarp(in, nil, nil, func(*exec, *inst, uint32) {})
			c.control(inst{guard: c.guard(), run: func(x *exec, in *inst) {
				x.awaitGroups(in, op.pending)
			}})
		}
	}
	c.warpgroupInst(in, op, psrc{}, nil, nil)
	return nil
}

// warpgroupInst emits an instruction that all lanes of a warp execute.
func (c *compiler) warpgroupInst(in *ir.Instr, op *warpgroupOp, scale psrc, from []src,
	to []int32) {
	c.wholeWarp(in, from, to, func(x *exec, in *inst, m uint32) { x.warpgroupStep(in, op, m) })
	at := len(c.fc.code) - 1
	if in.Guard != ir.NoReg { // a join follows
		at--
	}
	c.fc.code[at].ps[0] = scale
	c.fc.code[at].misc = &miscOp{matrix: op}
}

// warpgroupMultiplyInstr decodes wgmma.mma_async.
func (c *compiler) warpgroupMultiplyInstr(in *ir.Instr) error {
	if c.slice == nil && c.p.track {
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	at := in.WarpgroupScale()
	if len(in.Dst) != 1 || len(in.Src) <= at {
		return fmt.Errorf("%s: D, A, B and the scale of D expected", opcodeText(in))
	}
	var immediates []uint64
	for _, o := range in.Src[at+1:] {
		if o.Kind != ir.Imm {
			return fmt.Errorf("%s: constants expected behind the scale of D", opcodeText(in))
		}
		immediates = append(immediates, o.Val)
	}
	op := &warpgroupOp{step: warpgroupMultiply}
	var err error
	if op.form, err = in.Warpgroup(in.Src[isa.WarpgroupA].Kind == ir.Vector, immediates); err != nil {
		return err
	}
	if in := c.watch.inLocal; in != nil {
		return fmt.Errorf("wgmma.mma_async is not supported with registers that are kept in local "+
			"memory (%s %s); code that is compiled with -O 3 keeps them in registers", opcodeText(in),
			lineText(in))
	}
	op.computes = c.slice == nil || c.slice.Options().Data
	op.product = warpgroupProduct(&op.form)
	var descriptors, registers []src
	for i := range 2 {
		if i == isa.WarpgroupA && op.form.Registers {
			list, err := c.elements(in.Src[i], op.product.a.regs, isa.NoType)
			if err != nil {
				return err
			}
			registers = list
			continue
		}
		s, err := c.srcOf(in.Src[i], isa.B64)
		if err != nil {
			return err
		}
		descriptors = append(descriptors, s)
	}
	if op.to, err = c.destinations(in.Dst[0], op.product.d.regs); err != nil {
		return err
	}
	if err := c.distinct(in); err != nil {
		return err
	}
	op.a, op.d = c.watched(in.Src[isa.WarpgroupA]), c.watched(in.Dst[0])
	for _, r := range op.to {
		registers = append(registers, src{r: r})
	}
	for _, s := range registers {
		if s.c == nil && s.r < 0 {
			return fmt.Errorf("%s: a register expected, not _", opcodeText(in))
		}
	}
	op.descriptors = len(descriptors)
	if s := op.product.sparse; s != nil {
		meta, err := c.elements(in.Src[isa.WarpgroupMetadata], 1, isa.B32)
		if err != nil {
			return fmt.Errorf("%w: the metadata", err)
		}
		sel, choices := in.Src[isa.WarpgroupSelector], 4/s.lanes
		if sel.Kind != ir.Imm || sel.Val >= uint64(choices) {
			return fmt.Errorf("%s: the sparsity selector is a constant from 0 to %d (PTX ISA 9.7.15.6.1)",
				opcodeText(in), choices-1)
		}
		s.selector, s.reg = int(sel.Val), len(registers)
		registers = append(registers, meta...)
	}
	scale, err := c.psrcOf(in.Src[at])
	if err != nil {
		return err
	}
	if !op.computes {
		if c.slice.Track {
			op.origin = c.originOf(in)
		}
		c.warpgroupInst(in, op, psrc{}, descriptors, nil)
		return nil
	}
	c.warpgroupInst(in, op, scale, append(descriptors, registers...), op.to)
	return nil
}

// distinct checks that D, and A if it is in registers, are registers of 32 bits, and that each
// register of D is named once. Fragments of A with equal values may be one register.
func (c *compiler) distinct(in *ir.Instr) error {
	seen := make(map[ir.RegID]bool)
	for i, o := range []ir.Operand{in.Dst[0], in.Src[isa.WarpgroupA]} {
		for _, e := range o.Elems {
			switch {
			case e.Kind != ir.Register || c.fn.Regs[e.Reg].Type.Size() != 4:
				return fmt.Errorf("%s: D, and A if it is no descriptor, are registers of 32 bits",
					opcodeText(in))
			case seen[e.Reg]:
				return fmt.Errorf("%s uses register %s twice", opcodeText(in), c.fn.Regs[e.Reg].Name)
			}
			seen[e.Reg] = i == 0
		}
	}
	return nil
}

// warpgroupProduct is the product of one warp. Its fragments are those of mma.m16n8k16, one for
// each 8 columns (PTX ISA 9.7.15.5.1.1). Of a sparse A, those of the stored half are those of a dense
// matrix with half of the columns (9.7.15.6.2).
func warpgroupProduct(f *isa.WarpgroupForm) *product {
	p := &product{m: isa.WarpgroupRows / 4, n: f.N, k: f.K, count: 1, saturate: f.Satfinite,
		bitOp: isa.FnAnd}
	a, _ := elementOf(f.A)
	b, _ := elementOf(f.B)
	d, _ := elementOf(f.D)
	run := a.perRegister()
	stored := f.Stored()
	if f.Sparse {
		meta := f.Metadata()
		p.sparse = newSparsity(&meta)
		p.sparse.increase, p.sparse.section = false, "9.7.15.6.1"
	}
	p.a = newLayout(a, p.m*stored/32, p.m, stored, 1, func(l, i int) (int, int, int) {
		u := i / run
		return l>>2 + 8*(u%2), u/2*4*run + l%4*run + i%run, 0
	})
	p.b = operandLayout{element: b, size: p.n * p.k}
	p.d = newLayout(d, p.m*p.n/32, p.m, p.n, 1, func(l, i int) (int, int, int) {
		return l>>2 + 8*(i>>1&1), i/4*8 + l%4*2 + i&1, 0
	})
	p.c = p.d
	return p
}

// warpgroupStep executes an instruction of a warpgroup for the lanes of m. What the warp does as a
// whole belongs to lane 0.
func (x *exec) warpgroupStep(in *inst, op *warpgroupOp, m uint32) {
	w := x.warp
	if op.step == warpgroupMultiply {
		x.multiplyStep(in, op, m)
		return
	}
	if m&1 == 0 || !x.together(in, [2]uint64{}) {
		return
	}
	x.wrote, x.changed = true, true
	switch op.step {
	case warpgroupFence:
		w.matrices.fences++
		return
	case warpgroupCommit:
		w.matrices.closed++
		x.groupCommitted()
	case warpgroupWait:
		if c := w.matrices.closed; c > op.pending {
			w.matrices.done = max(w.matrices.done, c-op.pending)
		}
	}
	if x.sink != nil {
		x.evs.matrixGroup = event.MatrixGroup{Warp: w.id, Site: x.site(in), Mask: full, Active: x.mask,
			Commit: op.step == warpgroupCommit, Pending: op.pending}
		x.sink.MatrixGroup(&x.evs.matrixGroup)
	}
}

// multiplyStep issues an operation.
func (x *exec) multiplyStep(in *inst, op *warpgroupOp, m uint32) {
	if x.unk != nil && x.coll.unknown != 0 {
		x.dependsOn(in, bits.TrailingZeros32(x.coll.unknown),
			"a matrix descriptor of "+in.ir.Op(), x.coll.origin)
		return
	}
	var desc [2]uint64 // of A and B
	for i := range op.descriptors {
		v := &x.coll.more[i]
		desc[2-op.descriptors+i] = v[0]
		if same, _ := uniform(v, full); same != full {
			x.fail(in, WarpgroupDivergence, bits.TrailingZeros32(^same), "%s: the lanes of a warp have "+
				"different matrix descriptors; all threads of a warpgroup must have the same one (PTX ISA "+
				"9.7.15.5.2)", in.ir.Op())
			return
		}
	}
	first := m&1 != 0
	if first && !x.together(in, desc) || !x.useRegisters(in, op) {
		return
	}
	if b := isa.DescriptorOf(desc[1]); !op.form.TransposeB && !b.Fits(op.form.BytesOfB()) {
		x.fail(in, Unsupported, 0, "%s: B has %d bytes of K in a layout with a permutation of %d bytes, "+
			"which is not supported", opcodeText(in.ir), op.form.BytesOfB(), b.Swizzle.Width())
		return
	}
	reads := x.footprint(op, desc)
	if first && !x.readsMatrix(in, reads) {
		return
	}
	if op.computes {
		if l, why := op.product.undefined(x.coll.more[op.descriptors:]); why != "" {
			x.fail(in, Unsupported, l, "%s: %s", opcodeText(in.ir), why)
			return
		}
		x.multiplyNow(op, desc)
		op.product.deliver(x, op.to, m)
	} else if x.unk != nil {
		for _, r := range op.to {
			x.unk.set(r, full, op.origin, m)
		}
	}
	x.wrote, x.changed = true, true
	if first && x.sink != nil {
		x.evs.matrix = event.Matrix{Warp: x.warp.id, Site: x.site(in), Mask: full, Active: x.mask,
			Reads: reads}
		x.sink.Matrix(&x.evs.matrix)
	}
}

// footprint returns what the warp reads: the rows of A that it multiplies, if they are in shared
// memory, and B.
func (x *exec) footprint(op *warpgroupOp, desc [2]uint64) *event.Footprint {
	key := footprintKey{op: op, row: x.warp.index % 4 * op.product.m, desc: desc}
	if f := x.footprints[key]; f != nil {
		return f
	}
	f := new(event.Footprint)
	if !op.form.Registers {
		a := isa.DescriptorOf(desc[0])
		a.Chunks(uint64(key.row), uint64(key.row+op.product.m), isa.WarpgroupBytes, op.form.TransposeA,
			f.Add)
	}
	b := isa.DescriptorOf(desc[1])
	b.Chunks(0, uint64(op.form.N), op.form.BytesOfB(), op.form.TransposeB, f.Add)
	if x.footprints == nil {
		x.footprints = make(map[footprintKey]*event.Footprint)
	}
	if len(x.footprints) >= maxFootprints {
		clear(x.footprints)
	}
	x.footprints[key] = f
	return f
}

// readsMatrix reports whether what an operation reads is within the shared memory of the block and
// has no live mbarrier in it. If not, the run ends.
func (x *exec) readsMatrix(in *inst, f *event.Footprint) bool {
	b := x.block
	lo, hi := f.Bounds()
	if size := uint64(len(b.shared)); hi > size {
		x.fail(in, OutOfBounds, 0, "%s reads shared memory up to address %#x, outside of the %d bytes "+
			"that the block has", in.ir.Op(), hi, size)
		return false
	}
	if len(b.mbars) == 0 || hi <= b.mbarsAt || lo >= b.mbarsEnd {
		return true
	}
	for _, addr := range b.liveMBarriers() {
		for i := range f.Parts {
			p := &f.Parts[i]
			if addr&^(event.FootprintSize-1) != p.Base {
				continue
			}
			if _, ok := p.Chunks.First(addr-p.Base, addr-p.Base+8); ok {
				x.fail(in, MBarrierOverwritten, 0, "%s reads shared address %#x, among it %s, which is in "+
					"use", in.ir.Op(), addr, x.barrierText(addr))
				x.stop.Object = &ObjectAt{x.block.id, addr}
				return false
			}
		}
	}
	return true
}

// together reports whether the warps of the warpgroup have executed the same instructions so far,
// with the same descriptors. If not, the run ends.
func (x *exec) together(in *inst, desc [2]uint64) bool {
	b, i := x.block, x.warp.index
	if n := len(b.warps); i/4*4+4 > n {
		x.fail(in, WarpgroupDivergence, 0, "%s is executed by a warpgroup of four warps, of which "+
			"this block has only %d (PTX ISA 9.7.15.1)", in.ir.Op(), n-i/4*4)
		return false
	}
	if b.groups == nil {
		b.groups = make([]warpgroup, len(b.warps)/4)
	}
	g := &b.groups[i/4]
	n := g.at[i%4] - g.base
	if n == uint64(len(g.steps)) {
		if len(g.steps) >= keptSteps {
			n -= g.drop()
		}
		g.steps = append(g.steps, warpgroupStep{in.ir, x.site(in), desc})
	}
	g.at[i%4]++
	switch s := &g.steps[n]; {
	case s.in != in.ir:
		x.fail(in, WarpgroupDivergence, 0, "%s: another warp of the warpgroup has executed %s %s in "+
			"its place; all threads of a warpgroup must execute the same instructions (.aligned, PTX "+
			"ISA 9.7.15.5.2)", in.ir.Op(), s.in.Op(), lineText(s.in))
		return false
	case s.desc != desc:
		x.fail(in, WarpgroupDivergence, 0, "%s: another warp of the warpgroup has executed it with "+
			"another matrix descriptor; all threads of a warpgroup must have the same one (PTX ISA "+
			"9.7.15.5.2)", in.ir.Op())
		return false
	}
	return true
}

// lineText says where an instruction is.
func lineText(in *ir.Instr) string {
	pos := in.Span.Start
	if in.Loc != nil {
		pos = in.Loc.Pos
	}
	if !pos.IsValid() {
		return "elsewhere"
	}
	return fmt.Sprintf("(line %d)", pos.Line())
}

// drop forgets the steps that all warps have taken, and returns how many these are.
func (g *warpgroup) drop() uint64 {
	n := min(g.at[0], g.at[1], g.at[2], g.at[3]) - g.base
	g.steps = append(g.steps[:0], g.steps[n:]...)
	g.base += n
	return n
}

// groupsEnd ends the run if a warp of a warpgroup has ended before an instruction that another one
// has executed.
func (x *exec) groupsEnd(b *block) {
	for i := range b.groups {
		g := &b.groups[i]
		for k, at := range g.at {
			n := at - g.base
			if n == uint64(len(g.steps)) || x.stop != nil {
				continue
			}
			s := &g.steps[n]
			stop := x.stopFor(s.site, event.ThreadOf(b.warps[4*i+k].id, 0), WarpgroupDivergence,
				"the warp of this thread has not executed %s, which another warp of its warpgroup has "+
					"(.aligned, PTX ISA 9.7.15.5.2)", s.in.Op())
			x.stop = &stop
		}
	}
}

// multiplyNow computes the product into the dense matrix of results.
func (x *exec) multiplyNow(op *warpgroupOp, desc [2]uint64) {
	if x.matrix == nil {
		x.matrix = new(matrixScratch)
	}
	p, s, f := op.product, x.matrix, &op.form
	d := x.coll.more[op.descriptors:]
	if f.Registers {
		d = d[p.a.regs:]
	}
	at := [2]isa.MatrixDescriptor{isa.DescriptorOf(desc[0]), isa.DescriptorOf(desc[1])}
	result := s.d.sized(p.d.size)
	if p.a.float != nil {
		sum := gather(&s.c, &p.d, d, p.d.float)
		clearUnscaled(sum, &p.d, x.coll.pred)
		left := operandA(x, op, &at[0], &s.a, &s.x, p.a.float)
		right := fetch(x.block.shared, &s.b, &p.b.element, &at[1], 0, p.n, p.k, f.TransposeB, p.b.float)
		if f.NegateA != f.NegateB {
			for i := range left {
				left[i] = -left[i]
			}
		}
		multiply(p, sum, left, right)
		for i := range result {
			result[i] = p.d.round(sum[i])
		}
		return
	}
	sum := gather(&s.k, &p.d, d, p.d.integer())
	clearUnscaled(sum, &p.d, x.coll.pred)
	left := operandA(x, op, &at[0], &s.i, &s.y, p.a.integer())
	right := fetch(x.block.shared, &s.j, &p.b.element, &at[1], 0, p.n, p.k, false, p.b.integer())
	multiply(p, sum, left, right)
	for i := range result {
		if p.saturate {
			sum[i] = min(max(sum[i], math.MinInt32), math.MaxInt32)
		}
		result[i] = uint64(uint32(sum[i]))
	}
}

// operandA returns the rows of A of the warp, dense: from registers or from shared memory, and, if it
// is sparse, by its metadata.
func operandA[T int64 | float64](x *exec, op *warpgroupOp, d *isa.MatrixDescriptor,
	to, half *matrixOf[T], read func(v uint64) T) []T {
	p, f, regs := op.product, &op.form, x.coll.more[op.descriptors:]
	if f.Registers {
		return left(p, to, half, regs, read)
	}
	row := uint64(x.warp.index % 4 * p.m)
	if !f.Sparse {
		return fetch(x.block.shared, to, &p.a.element, d, row, p.m, p.k, f.TransposeA, read)
	}
	stored := fetch(x.block.shared, half, &p.a.element, d, row, p.m, f.Stored(), f.TransposeA, read)
	a := to.sized(p.m * p.k)
	expand(p.sparse, p.m, a, stored, regs)
	return a
}

// clearUnscaled sets the elements to 0 of lanes that do not add D.
func clearUnscaled[T int64 | float64](sum []T, o *operandLayout, adds uint32) {
	for l := range o.place {
		if adds>>l&1 == 0 {
			for _, i := range o.place[l] {
				sum[i] = 0
			}
		}
	}
}

// fetch reads rows of a matrix in shared memory, from row on, by rows.
func fetch[T any](shared []byte, to *matrixOf[T], e *element, d *isa.MatrixDescriptor, row uint64,
	rows, k int, transposed bool, read func(v uint64) T) []T {
	m := to.sized(rows * k)
	for r := range rows {
		for i := range k {
			bit := uint64(i) * uint64(e.bits)
			a := d.Address(row+uint64(r), bit/8)
			if transposed {
				a = d.Transposed(row+uint64(r), uint64(i))
			}
			v := loadUint(shared[a:], uint64(max(e.bits/8, 1)))
			m[r*k+i] = read(v >> (bit % 8) & (^uint64(0) >> (64 - e.bits)))
		}
	}
	return m
}
