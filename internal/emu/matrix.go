package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Matrix instructions of a warp, PTX ISA 9.7.14. They are .sync.aligned: a thread waits until all
// threads of the warp execute the same instruction. The exchange of fragments uses registers and
// orders no memory. Accesses to memory are weak operations (9.7.14.4.3, 9.7.14.5.15): ordinary
// loads and stores of single lanes, emitted before or after the exchange.
//
// The ISA does not specify which thread of the warp performs an access ("collectively"). For
// ldmatrix and stmatrix the emulator uses the thread that provides the row's address; for wmma see
// fragmentPlan. A race that exists only under another assignment is missed.

// wholeWarp emits an operation of all 32 lanes. "The behavior is undefined ... if any thread in the
// warp has exited": the operation waits forever for lanes that have exited or execute another
// instruction, which the run reports as a hang. A warp that never had 32 threads is unsupported.
// The values of the registers from are in x.coll.more when finish is called, which writes the
// registers of to for the lanes of m.
func (c *compiler) wholeWarp(in *ir.Instr, from []src, to []int32,
	finish func(x *exec, in *inst, m uint32)) {
	d, op := c.warpInst(in, func(x *exec, in *inst, m uint32) {
		if there := x.coll.lanes; there != full {
			x.fail(in, Unsupported, bits.TrailingZeros32(there),
				"%s is undefined unless all 32 threads of the warp "+
					"execute it; this one has only %d", in.ir.Text(), popcount(there))
			return
		}
		finish(x, in, m)
	})
	op.key.at = in
	op.sync, op.members = true, src{c: c.constant(uint64(full))}
	op.more, op.results = from, to
	d.s[0] = src{c: c.constant(0)}
	c.emit(d)
	if in.Guard != ir.NoReg { // lanes may part here: see isolate
		c.control(inst{run: runJoin})
	}
}

// collectMore adds the registers of a matrix operation to the values collected from the lanes of m.
func (x *exec) collectMore(op *warpOp, m uint32) {
	c := &x.coll
	for len(c.more) < len(op.more) {
		c.more = append(c.more, alu.Lanes{})
	}
	for i := range op.more {
		copyLanes(&c.more[i], x.src(&op.more[i]), m)
		if x.unk == nil {
			continue
		}
		if u, o := x.unk.ofSrc(&op.more[i]); u&m != 0 {
			c.unknown |= u & m
			c.origin = o
		}
	}
}

// hiddenList returns n registers that the kernel does not have.
func (c *compiler) hiddenList(n int) (regs []int32, srcs []src) {
	for range n {
		r := c.hidden()
		regs, srcs = append(regs, r), append(srcs, src{r: r})
	}
	return regs, srcs
}

// destinations returns the n registers of a brace list.
func (c *compiler) destinations(o ir.Operand, n int) ([]int32, error) {
	if o.Kind == ir.None {
		return nil, fmt.Errorf("%s: %d destination registers expected", opcodeText(c.cur), n)
	}
	list, err := c.elements(o, n, isa.NoType)
	if err != nil {
		return nil, err
	}
	var regs []int32
	for _, s := range list {
		if s.c != nil {
			return nil, fmt.Errorf("%s: a register to write to expected", opcodeText(c.cur))
		}
		regs = append(regs, s.r)
	}
	return regs, nil
}

// spaceOf returns the state space of a matrix instruction's address.
func spaceOf(in *ir.Instr) event.Space {
	if in.Space == event.NoSpace {
		return event.Generic
	}
	return in.Space
}

// Matrices of 8 rows of 16 bytes: ldmatrix (PTX ISA 9.7.14.5.15), stmatrix (9.7.14.5.16), movmatrix
// (9.7.14.5.17). A register of lane l holds elements 2(l%4) and 2(l%4)+1 of row l/4.

const rowWords = 4 // 32-bit words of a row

// rowMatrix checks the form and returns the number of matrices.
func rowMatrix(in *ir.Instr) (n int, trans bool, err error) {
	f := in.Matrix()
	n = f.Count
	if in.Action() == isa.ActMatrixMove {
		n = 1
	}
	if f.M != 8 || f.N != 8 || f.K != 0 || n == 0 || len(f.Types) != 1 || f.Types[0] != "b16" ||
		len(f.Other) != 0 {
		return 0, false, fmt.Errorf("%s is not supported: of its shapes only 8x8 matrices of .b16 are",
			opcodeText(in))
	}
	return n, f.Trans, nil
}

// notShared is for a generic address of an instruction that must refer to shared memory, as a section
// of the ISA says, and does not.
func notShared(section string) memFunc {
	return func(x *exec, in *inst, m uint32, _ survey) {
		l := bits.TrailingZeros32(m)
		x.fail(in, OutOfBounds, l, "%s needs an address of shared memory (PTX ISA %s); %#x is not one",
			in.ir.Op(), section, x.addr[l])
	}
}

// rowAccess decodes the access to a row by each of the lanes that provide an address.
func (c *compiler) rowAccess(in *ir.Instr, kind event.Kind, lanes uint32) (inst, error) {
	elsewhere := notShared("9.7.14.5")
	m := &memOp{space: spaceOf(in), kind: kind, size: 4, wide: 4 * rowWords, elem: 4, lanes: lanes,
		global: elsewhere, private: elsewhere, shared: loadShared}
	if kind == event.Write {
		m.shared = storeShared
	}
	d := inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if err := c.address(in.Src[0], &d, m); err != nil {
		return d, err
	}
	access := runGeneric
	switch m.space {
	case event.Shared:
		access = runShared
	case event.Generic:
	default:
		return d, fmt.Errorf("%s: an address of shared memory expected", opcodeText(in))
	}
	d.run = func(x *exec, in *inst) {
		x.uncount()
		if x.m &= lanes; x.m != 0 {
			access(x, in)
		}
	}
	return d, nil
}

// ldmatrix loads one row by each of the first 8n lanes, and then distributes the elements.
func (c *compiler) ldmatrix(in *ir.Instr) error {
	n, trans, err := rowMatrix(in)
	if err != nil {
		return err
	}
	if len(in.Dst) != 1 || len(in.Src) != 1 {
		return fmt.Errorf("%s: a list of registers and an address expected", opcodeText(in))
	}
	to, err := c.destinations(in.Dst[0], n)
	if err != nil {
		return err
	}
	d, err := c.rowAccess(in, event.Read, full>>(32-8*n))
	if err != nil {
		return err
	}
	rows, rowSrc := c.hiddenList(rowWords)
	d.mem.dst = rows
	c.emit(d)
	c.wholeWarp(in, rowSrc, to, func(x *exec, in *inst, m uint32) {
		for i, r := range to {
			if r < 0 {
				continue
			}
			for t := m; t != 0; t &= t - 1 {
				l := bits.TrailingZeros32(t) & 31
				x.regs[r][l] = ldFragment(x.coll.more, 8*i, l, trans)
			}
		}
	})
	return nil
}

// touchRows emits ldmatrix or stmatrix in a trace that needs no data: the accesses of the lanes that
// provide addresses, and that all lanes wait for each other.
func (c *compiler) touchRows(in *ir.Instr) error {
	n, _, err := rowMatrix(in)
	if err != nil {
		return err
	}
	kind := event.Read
	if in.Action() == isa.ActMatrixStore {
		kind = event.Write
	}
	d, err := c.rowAccess(in, kind, full>>(32-8*n))
	if err != nil {
		return err
	}
	d.mem.shared = touchShared
	if kind == event.Read {
		c.emit(d)
	}
	c.wholeWarp(in, nil, nil, func(*exec, *inst, uint32) {})
	if kind == event.Write {
		c.emit(d)
	}
	return nil
}

// ldFragment returns the value that lane l receives of the matrix whose rows are held by the lanes
// from first on, one each.
func ldFragment(words []alu.Lanes, first, l int, trans bool) uint64 {
	if !trans {
		return words[l%4][first+l/4]
	}
	// Transposed: the two elements are in one column, in adjacent rows.
	at := func(row, col int) uint64 { return words[col/2][first+row] >> (16 * (col % 2)) & 0xffff }
	return at(2*(l%4), l/4) | at(2*(l%4)+1, l/4)<<16
}

// stmatrix collects the elements of each row in one lane, which then stores the row.
func (c *compiler) stmatrix(in *ir.Instr) error {
	n, trans, err := rowMatrix(in)
	if err != nil {
		return err
	}
	if len(in.Src) != 2 {
		return fmt.Errorf("%s: an address and a list of registers expected", opcodeText(in))
	}
	from, err := c.elements(in.Src[1], n, isa.B32)
	if err != nil {
		return err
	}
	d, err := c.rowAccess(in, event.Write, full>>(32-8*n))
	if err != nil {
		return err
	}
	rows, rowSrc := c.hiddenList(rowWords)
	c.wholeWarp(in, from, rows, func(x *exec, in *inst, m uint32) {
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			if l/8 >= n {
				continue
			}
			for w, r := range rows {
				x.regs[r][l] = stRow(&x.coll.more[l/8], l%8, w, trans)
			}
		}
	})
	d.mem.src = rowSrc
	c.emit(d)
	return nil
}

// stRow returns word w of a row of the matrix whose fragments are in frag.
func stRow(frag *alu.Lanes, row, w int, trans bool) uint64 {
	if !trans {
		return frag[4*row+w] & 0xffffffff
	}
	at := func(r, c int) uint64 { return frag[4*r+c/2] >> (16 * (c % 2)) & 0xffff }
	return at(2*w, row) | at(2*w+1, row)<<16
}

// movmatrix transposes a matrix among the registers of a warp.
func (c *compiler) movmatrix(in *ir.Instr) error {
	if _, _, err := rowMatrix(in); err != nil {
		return err
	}
	if len(in.Dst) != 1 || len(in.Src) != 1 || in.Dst[0].Kind != ir.Register || c.isPred(in.Dst[0]) {
		return fmt.Errorf("%s: one destination register and one source expected", opcodeText(in))
	}
	from, err := c.srcOf(in.Src[0], isa.B32)
	if err != nil {
		return err
	}
	to := []int32{c.fc.slots[in.Dst[0].Reg]}
	c.wholeWarp(in, []src{from}, to, func(x *exec, in *inst, m uint32) {
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			x.regs[to[0]][l] = stRow(&x.coll.more[0], l/4, l%4, true)
		}
	})
	return nil
}
