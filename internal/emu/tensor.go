package emu

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/order"
	"heddle/internal/tensormap"
)

// Copies of tensors in runs, PTX ISA 9.7.9.27.1.2, and prefetches.
// Their tensor maps are those of a program under heddle exec, or of one of its launches that was
// saved: nothing else says what a map holds. A copy is an agent as other bulk copies are. It moves
// the pieces of the box that are in the array; shared memory has the whole box, of which the rest
// is filled, and the mbarrier counts all of it (docs/support.md).
//
// A copy reads its map at its issue. The event says that it reads it at any time until it is
// complete, so that whoever changes the map in between is found.

// tensorOp is a decoded copy of a tensor. In its instruction, the address of the tensor map is that
// of the side in global memory.
type tensorOp struct {
	at      *memOp // of the map
	s       int    // the operand with it in inst.s
	coords  []src
	mode    isa.TensorMode
	offsets []src // of im2col; nil: none are written
}

// tensorBox is the box that an agent copies.
type tensorBox struct {
	m      *tensormap.Map
	from   event.Range // the map; it has no size outside of global memory
	pieces []tensormap.Piece
	bytes  uint64
	copied uint64  // bytes that an mbarrier counts
	elem   *memOp  // of a reduction: an element
	rmw    rmwFunc // of a reduction
}

// reducedTypes has the types of elements for reductions, by their numbers in CUtensorMapDataType,
// and what bit operations take them for. Bytes and 16-bit integers are not reduced (9.7.9.27.1.3).
var reducedTypes = [...]struct{ number, bits isa.Type }{{}, {}, {isa.U32, isa.B32}, {isa.S32, isa.B32},
	{isa.U64, isa.B64}, {isa.S64, isa.B64}, {isa.F16, isa.F16}, {isa.F32, isa.F32}, {isa.F64, isa.F64},
	{isa.BF16, isa.BF16}, {}, {}, {}, {}, {}, {}}

// reduces sets how a reduction changes elements, and reports whether it can.
func (b *tensorBox) reduces(fn isa.Fn) bool {
	t := reducedTypes[b.m.Type]
	typ := t.number
	if fn == isa.FnAnd || fn == isa.FnOr || fn == isa.FnXor {
		typ = t.bits
	}
	if typ == isa.NoType {
		return false
	}
	if typ == isa.S64 && fn == isa.FnAdd { // PTX has the unsigned form only, and the bits are the same
		typ = isa.U64
	}
	n := b.m.Element()
	b.elem = &memOp{size: n, wide: n, scope: event.GPU}
	b.rmw = bulkReduction(fn, typ)
	return b.rmw != nil
}

// knowsMaps reports whether a run has tensor maps: in the memory of a program, or in an argument.
func (c *compiler) knowsMaps() bool {
	return c.mapped != nil || slices.ContainsFunc(c.cfg.Args, func(a launch.Arg) bool {
		return holdsMap(a.Bits)
	})
}

// tensorCopy decodes a copy of a tensor, of which d has the mbarrier.
func (c *compiler) tensorCopy(in *ir.Instr, op *bulkOp, d *inst) (err error) {
	side := 0
	if op.use.To == event.Shared {
		side = 1
	}
	op.tensor, err = c.tensorOp(in, side, op.use.Mode, op.use.Offsets, d)
	return err
}

// tensorOp decodes the operand in.Src[side] with a tensor map and coordinates, the map into the
// same place of d.s, and the offsets of im2col.
func (c *compiler) tensorOp(in *ir.Instr, side int, mode isa.TensorMode, offsets int,
	d *inst) (*tensorOp, error) {
	if mode.Wide() && offsets < 0 {
		return nil, fmt.Errorf("%s is not supported: a store has no such mode", opcodeText(in))
	}
	o := in.Src[side]
	if len(o.Elems) != 1 {
		return nil, fmt.Errorf("%s: a tensor map and a vector of coordinates expected", opcodeText(in))
	}
	t := &tensorOp{at: &memOp{space: event.Generic}, s: side, mode: mode}
	var err error
	if t.coords, err = c.parts(o.Elems[0], isa.B32); err != nil {
		return nil, err
	}
	if offsets >= 0 {
		if offsets >= len(in.Src) {
			return nil, fmt.Errorf("%s: a vector of offsets expected", opcodeText(in))
		}
		if t.offsets, err = c.parts(in.Src[offsets], isa.U16); err != nil {
			return nil, err
		}
		want := len(t.coords) - 2
		if mode.Wide() {
			want = 2
		}
		if len(t.offsets) != want {
			return nil, fmt.Errorf("%s: %d im2col offsets for %d coordinates", opcodeText(in),
				len(t.offsets), len(t.coords))
		}
	}
	o.Elems = nil
	var p inst
	if err := c.address(o, &p, t.at); err != nil {
		return nil, err
	}
	d.s[side] = p.s[0]
	return t, nil
}

// noMaps is the error of an instruction that needs tensor maps, in a run that has none; nil if the
// run has them.
func (c *compiler) noMaps(in *ir.Instr) error {
	switch {
	case !c.knowsMaps():
		return fmt.Errorf("%s is not supported: what its tensor map holds is not known "+
			"(heddle exec knows it)", opcodeText(in))
	case c.p.track:
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	return nil
}

// prefetchTensor decodes cp.async.bulk.prefetch.tensor, PTX ISA 9.7.9.27.1.4: a hint, which reads
// its tensor map and changes nothing.
func (c *compiler) prefetchTensor(in *ir.Instr) error {
	mode, offsets, ok := in.PrefetchedTensor()
	switch {
	case !ok:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	case c.slice != nil:
		return c.nop(in)
	}
	if err := c.noMaps(in); err != nil {
		return err
	}
	d := inst{guard: c.guard(), run: runPrefetch, misc: &miscOp{bulk: &bulkOp{}}}
	t, err := c.tensorOp(in, 0, mode, offsets, &d)
	if err != nil {
		return err
	}
	d.misc.bulk.tensor = t
	c.control(d)
	return nil
}

// runPrefetch reads the maps of the lanes.
func runPrefetch(x *exec, in *inst) {
	for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		b := x.boxOf(in, l)
		if b == nil {
			return
		}
		if x.touched != nil {
			x.touched.Origin = x.origin + uint32(x.site(in))
		}
		x.touchMap(b)
		if x.sink == nil || b.from.Size == 0 {
			continue
		}
		x.agentID++
		x.evs.bulk = event.Bulk{ID: x.agentID, Warp: x.warp.id, Site: x.site(in), Mask: 1 << l,
			Active: x.mask, Map: b.from, MapBefore: x.changedMap(b.from), Grouped: true}
		x.sink.Bulk(&x.evs.bulk)
	}
}

// boxOf returns the box that a lane's copy moves, or nil after a failure.
func (x *exec) boxOf(in *inst, l int) *tensorBox {
	t := in.misc.bulk.tensor
	addr := (x.src(&in.s[t.s])[l] + t.at.off) & t.at.amask
	text, where, from := x.tensorMap(t.at.space, addr)
	m, err := tensormap.Decode(text)
	if text == nil {
		err = tensormap.ErrNotMap
	}
	if err == nil {
		err = t.check(m)
	}
	b := &tensorBox{m: m, from: from}
	if err == nil {
		at, offsets := x.integers(t.coords, l), x.integers(t.offsets, l)
		for i := range offsets {
			offsets[i] &= 1<<16 - 1 // .u16
		}
		b.bytes, b.copied = m.Bytes(), m.Copied()
		if err = m.CheckFirst(at[0]); err == nil && in.misc.bulk.use.To == event.Global {
			err = m.CheckStore()
		}
		switch {
		case err != nil:
		case t.mode == isa.RowsMode:
			b.pieces, b.bytes, b.copied = m.Gather(at), 4*b.bytes, 4*b.copied
		case t.mode == isa.ColumnMode:
			b.pieces, err = m.Column(at, offsets)
		case t.mode.Wide():
			b.pieces, err = m.WideColumn(at, offsets[0], offsets[1])
		default:
			b.pieces = m.Pieces(at)
		}
	}
	switch {
	case errors.Is(err, tensormap.ErrUnsupported):
		x.fail(in, Unsupported, l, "%s: the tensor map at %s: %v", in.ir.Op(), where, err)
		return nil
	case err != nil:
		x.fail(in, OutOfBounds, l, "%s: the tensor map at %s: %v", in.ir.Op(), where, err)
		return nil
	case addr%64 != 0:
		x.fail(in, Misaligned, l, "%s: the tensor map at %s is not aligned to 64 bytes", in.ir.Op(),
			where)
		return nil
	}
	if fn := in.misc.bulk.use.Reduce; fn != isa.NoFn && !b.reduces(fn) {
		x.fail(in, Unsupported, l, "%s of elements of the type %d of a tensor map is not supported", in.ir.Op(),
			m.Type)
		return nil
	}
	return b
}

// check returns an error if a copy cannot use a map: the copy has other coordinates, or is in
// another mode.
func (t *tensorOp) check(m *tensormap.Map) error {
	wide := map[isa.TensorMode]tensormap.Wide{isa.WideColumnMode: tensormap.W,
		isa.WideColumn128Mode: tensormap.W128}[t.mode]
	switch column := t.mode == isa.ColumnMode || t.mode.Wide(); {
	case column && m.Im2col == nil:
		return errors.New("the copy is in mode im2col, and the map is of cuTensorMapEncodeTiled")
	case !column && m.Im2col != nil:
		return errors.New("the copy is in mode tile, and the map is of cuTensorMapEncodeIm2col")
	case column && m.Im2col.Wide != wide:
		return fmt.Errorf("the copy is in mode %s, and the map is for %s", columnModes[wide],
			columnModes[m.Im2col.Wide])
	case t.mode != isa.RowsMode && m.Rank != len(t.coords):
		return fmt.Errorf("it has %d dimensions, and the copy %d coordinates", m.Rank, len(t.coords))
	case t.mode == isa.RowsMode && (m.Rank != 2 || len(t.coords) != 5 || m.Count(1) != 1):
		return fmt.Errorf("the copy is of four rows, and the map has boxes of %v", m.Box[:m.Rank])
	}
	return nil
}

// columnModes are the names of the modes of a column.
var columnModes = [...]string{"im2col", "im2col::w", "im2col::w::128"}

// integers returns what a lane has in some operands of 32 bits; nil of none.
func (x *exec) integers(operands []src, l int) []int32 {
	if operands == nil {
		return nil
	}
	out := make([]int32, len(operands))
	for i := range out {
		out[i] = int32(x.src(&operands[i])[l])
	}
	return out
}

// tensorMap returns the bytes of the tensor map at an address, what to call the address, and where
// it is in global memory; nil bytes if there is no room for a map.
func (x *exec) tensorMap(space event.Space, addr uint64) (text []byte, where string,
	at event.Range) {
	sp := &x.prog.space
	params := x.prog.params.data
	if space != event.Param && addr>>sp.shift == 0 && sp.windowOf(addr) == paramWindow {
		space, addr = event.Param, addr&(1<<sp.window-1)
	}
	if space == event.Param {
		where = fmt.Sprintf("byte %d of the parameters", addr)
		if addr+tensormap.Size <= uint64(len(params)) {
			text = params[addr : addr+tensormap.Size]
		}
		return text, where, at
	}
	if o := x.find(addr); o != nil && o.contains(addr-o.base, tensormap.Size) {
		text = make([]byte, tensormap.Size)
		o.read(addr, text)
		if o.space == event.Global {
			at = event.Range{Space: event.Global, Addr: addr, Size: tensormap.Size}
		}
	}
	return text, x.describe(addr), at
}

// touchMap notes that the launch reads a tensor map.
func (x *exec) touchMap(b *tensorBox) {
	if x.touched != nil && b.from.Size > 0 {
		x.touched.Mark(order.Read, b.from.Addr, b.from.Size)
	}
}

// checkBox reports whether what a copy accesses in the array is in global memory.
func (x *exec) checkBox(in *inst, l int, b *tensorBox) bool {
	what := "read"
	if in.misc.bulk.use.To == event.Global {
		what = "write"
	}
	for _, p := range b.pieces {
		if !x.bulkInside(in, l, event.Global, p.Addr, p.Size, what) {
			return false
		}
	}
	return true
}

// noteRows puts the pieces of a box in global memory into an event, and notes that the launch
// touches them.
func (x *exec) noteRows(e *event.Bulk, b *tensorBox) {
	how, side := order.Read, &e.From
	if e.To.Space == event.Global {
		how, side = order.Write, &e.To
	}
	*side, e.Map = event.Range{Space: event.Global, Addr: b.m.Addr}, b.from
	e.MapBefore = x.changedMap(b.from)
	x.touchMap(b)
	e.Rows = make([]event.Range, len(b.pieces))
	for i, p := range b.pieces {
		e.Rows[i] = event.Range{Space: event.Global, Addr: p.Addr, Size: p.Size}
		if x.touched != nil {
			x.touched.Mark(how, p.Addr, p.Size)
		}
	}
}

// readTensor reads the source of a copy: a box, in its own order.
func (x *exec) readTensor(a *agent) {
	b := a.tensor
	if a.op.use.From == event.Shared {
		b.eachChunk(a.from, a.data, func(at uint64, data []byte) { copy(data, x.block.shared[at:]) })
		b.m.Pack(a.data)
		return
	}
	b.m.Fill(a.data)
	for _, p := range b.pieces {
		if o := x.find(p.Addr); o != nil { // else the program has freed it
			o.read(p.Addr, a.data[p.At:p.At+p.Size])
		}
	}
}

// writeTensor writes the destination of a copy.
func (x *exec) writeTensor(a *agent) {
	b := a.tensor
	if a.op.use.To == event.Shared {
		b.eachChunk(a.to, a.data, func(at uint64, data []byte) { copy(a.home.shared[at:], data) })
		return
	}
	for _, p := range b.pieces {
		for at, left := p.Addr, a.data[p.At:p.At+p.Size]; len(left) > 0; {
			o := x.find(at)
			if o == nil {
				break
			}
			page := o.at(at)[at&pageMask:]
			n := min(len(left), len(page))
			if b.rmw == nil {
				copy(page, left[:n])
			}
			for i := uint64(0); b.rmw != nil && i < uint64(n); i += b.elem.size {
				b.elem.modify(b.rmw, page[i:], loadUint(left[i:], b.elem.size), 0)
			}
			at, left = at+uint64(n), left[n:]
		}
	}
}

// eachChunk visits the parts of a box in shared memory that a swizzle keeps together: the address
// and the bytes of data. The box would begin at an address without swizzle.
func (b *tensorBox) eachChunk(addr uint64, data []byte, visit func(at uint64, data []byte)) {
	if b.m.Swizzle == tensormap.NoSwizzle {
		visit(addr, data)
		return
	}
	for i := 0; i < len(data); i += 16 {
		visit(b.m.Swizzle.Place(addr+uint64(i)), data[i:min(i+16, len(data))])
	}
}

// checkSwizzle reports whether a swizzle keeps a box within its own bytes of shared memory: whole
// lines of 128 bytes do.
func (x *exec) checkSwizzle(in *inst, l int, b *tensorBox) bool {
	if b.m.Swizzle == tensormap.NoSwizzle || b.bytes%128 == 0 {
		return true
	}
	x.fail(in, Unsupported, l, "%s: a swizzle of a box of %d bytes, which is no multiple of 128, is not "+
		"supported", in.ir.Op(), b.bytes)
	return false
}

// holdsMap reports whether a tensor map begins at some multiple of 64 of an argument.
func holdsMap(arg []byte) bool {
	for at := 0; at+tensormap.Size <= len(arg); at += 64 {
		if _, err := tensormap.Decode(arg[at:]); err == nil {
			return true
		}
	}
	return false
}
