package emu

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Matrices whose rows of 16 bytes are named by the addresses of lanes: ldmatrix (PTX ISA
// 9.7.14.5.15), stmatrix (9.7.14.5.16); and movmatrix (9.7.14.5.17), which has the registers of
// them. A row in memory is a row of the matrix or, with .trans, a column.
//
// The ISA shows in figures which elements a lane has. Of elements of 16 bits it has 2(l%4) and
// 2(l%4)+1 of row l/4. Of elements of 8 bits a register has four columns of row l/4, from 4(l%4)
// on; .m16n16 has a second register for row l/4+8. In stmatrix.m16n8 a register has two columns of
// the rows l/4 and l/4+8, as accumulators of mma do. The texts about 16x16 matrices that say "4
// consecutive columns across 2 rows", and 16 addresses for each of them, agree with that.

const rowWords = 4 // 32-bit words of a row

// rowForm is a decoded ldmatrix, stmatrix or movmatrix.
type rowForm struct {
	count int  // matrices
	rows  int  // rows of a matrix in memory
	regs  int  // registers of a lane
	trans bool // a row in memory is a column
	bits  uint // of an element in memory: 16, 8, 6 or 4
}

// Elements of 6 and 4 bits fill the first 12 and 8 bytes of a row, and become bytes whose upper bits
// are zero.
const sixBits, fourBits = "b8x16.b6x16_p32", "b8x16.b4x16_p64"

// elementBits are the types of elements, and how many bits one has in memory.
var elementBits = map[string]uint{"b16": 16, "b8": 8, sixBits: 6, fourBits: 4}

// rowShapes are the shapes of each instruction, with the types of elements for which they exist.
var rowShapes = map[isa.Action]map[[2]int][]string{
	isa.ActMatrixLoad: {{8, 8}: {"b16"}, {8, 16}: {sixBits, fourBits},
		{16, 16}: {"b8", sixBits, fourBits}},
	isa.ActMatrixStore: {{8, 8}: {"b16"}, {16, 8}: {"b8"}},
	isa.ActMatrixMove:  {{8, 8}: {"b16"}},
}

// rowFormOf decodes the modifiers and says what the ISA does not have.
func rowFormOf(in *ir.Instr) (rowForm, error) {
	f, a := in.Matrix(), in.Action()
	typ := strings.Join(f.Types, ".")
	bad := func(format string, args ...any) (rowForm, error) {
		return rowForm{}, fmt.Errorf("%s: %s (PTX ISA %s)", opcodeText(in),
			fmt.Sprintf(format, args...), in.Section)
	}
	types := rowShapes[a][[2]int{f.M, f.N}]
	var shapes []string
	for _, s := range [][2]int{{8, 8}, {8, 16}, {16, 8}, {16, 16}} {
		if rowShapes[a][s] != nil {
			shapes = append(shapes, fmt.Sprintf(".m%dn%d", s[0], s[1]))
		}
	}
	shape := fmt.Sprintf(".m%dn%d", f.M, f.N)
	largest := 4
	if f.M == 16 && f.N == 16 {
		largest = 2
	}
	switch {
	case len(f.Other) != 0:
		return bad("modifier .%s is not one of %s", f.Other[0], in.Op())
	case types == nil || f.K != 0:
		return bad("expected a shape among %s", strings.Join(shapes, ", "))
	case !slices.Contains(types, typ):
		return bad("a matrix of shape %s has elements of .%s", shape, strings.Join(types, " or ."))
	case a == isa.ActMatrixMove && f.Count != 0:
		return bad("it moves one matrix: remove .x%d", f.Count)
	case a != isa.ActMatrixMove && (f.Count == 0 || f.Count > largest):
		return bad("expected a number of matrices from .x1 to .x%d", largest)
	case !f.Trans && (f.M == 16 || a == isa.ActMatrixMove):
		return bad("shape %s needs .trans", shape)
	case f.Trans && f.N == 16 && f.M == 8:
		return bad("shape %s has no .trans", shape)
	}
	s := rowForm{count: max(f.Count, 1), rows: 8, trans: f.Trans, bits: elementBits[typ]}
	s.regs = s.count
	if f.M == 16 && f.N == 16 {
		s.rows, s.regs = 16, 2*s.count
	}
	return s, nil
}

// lanes are those whose addresses name rows.
func (s *rowForm) lanes() uint32 { return full >> (32 - s.count*s.rows) }

// element returns an element of the row that lane row has loaded.
func (s *rowForm) element(words []alu.Lanes, row, i int) uint64 {
	at := uint(i) * s.bits
	v := words[at/32][row] >> (at % 32)
	if at%32+s.bits > 32 {
		v |= words[at/32+1][row] << (32 - at%32)
	}
	return v & (1<<s.bits - 1)
}

// loaded returns register i of lane l after ldmatrix of elements of at most 8 bits.
func (s *rowForm) loaded(words []alu.Lanes, i, l int) uint64 {
	v := uint64(0)
	for q := range 4 {
		col := 4*(l%4) + q
		e := uint64(0)
		if s.trans {
			e = s.element(words, 16*(i/2)+col, l/4+8*(i%2))
		} else {
			e = s.element(words, 8*i+l/4, col)
		}
		v |= e << (8 * q)
	}
	return v
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
	if c.clustered() {
		m.shared = inCluster(true, m.shared)
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

// ldmatrix loads one row by each of the first lanes, and then distributes the elements.
func (c *compiler) ldmatrix(in *ir.Instr) error {
	s, err := rowFormOf(in)
	if err != nil {
		return err
	}
	if len(in.Dst) != 1 || len(in.Src) != 1 {
		return fmt.Errorf("%s: a list of registers and an address expected", opcodeText(in))
	}
	to, err := c.destinations(in.Dst[0], s.regs)
	if err != nil {
		return err
	}
	d, err := c.rowAccess(in, event.Read, s.lanes())
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
				if s.bits == 16 {
					x.regs[r][l] = ldFragment(x.coll.more, 8*i, l, s.trans)
				} else {
					x.regs[r][l] = s.loaded(x.coll.more, i, l)
				}
			}
		}
	})
	return nil
}

// touchRows emits ldmatrix or stmatrix in a trace that needs no data: the accesses of the lanes that
// provide addresses, and that all lanes wait for each other.
func (c *compiler) touchRows(in *ir.Instr) error {
	s, err := rowFormOf(in)
	if err != nil {
		return err
	}
	kind := event.Read
	if in.Action() == isa.ActMatrixStore {
		kind = event.Write
	}
	d, err := c.rowAccess(in, kind, s.lanes())
	if err != nil {
		return err
	}
	d.mem.shared = touchShared
	if c.clustered() {
		d.mem.shared = inCluster(true, touchShared)
	}
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
	s, err := rowFormOf(in)
	if err != nil {
		return err
	}
	if len(in.Src) != 2 {
		return fmt.Errorf("%s: an address and a list of registers expected", opcodeText(in))
	}
	from, err := c.elements(in.Src[1], s.regs, isa.B32)
	if err != nil {
		return err
	}
	d, err := c.rowAccess(in, event.Write, s.lanes())
	if err != nil {
		return err
	}
	rows, rowSrc := c.hiddenList(rowWords)
	c.wholeWarp(in, from, rows, func(x *exec, in *inst, m uint32) {
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			if l/8 >= s.count {
				continue
			}
			frag := &x.coll.more[l/8]
			for w, r := range rows {
				if s.bits == 16 {
					x.regs[r][l] = stRow(frag, l%8, w, s.trans)
				} else {
					x.regs[r][l] = stColumn(frag, l%8, w)
				}
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

// stColumn returns word w of a column of the 16x8 matrix of bytes whose fragments are in frag.
func stColumn(frag *alu.Lanes, col, w int) uint64 {
	v := uint64(0)
	for q := range 4 {
		row := 4*w + q
		v |= frag[4*(row%8)+col/2] >> (8 * (col%2 + row/8*2)) & 0xff << (8 * q)
	}
	return v
}

// movmatrix transposes a matrix among the registers of a warp.
func (c *compiler) movmatrix(in *ir.Instr) error {
	if _, err := rowFormOf(in); err != nil {
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
