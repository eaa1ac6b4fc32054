package queue

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ptx/instrument"
)

// record is one decoded record. Entries of lanes outside of mask are undefined.
type record struct {
	site   int
	flags  uint32
	warp   event.Warp
	mask   uint32
	active uint32
	form   uint32
	row    int
	stride int32
	step   int32
	ticket uint32 // lower half
	stored uint32
	slots  int
	addr   [event.WarpSize]uint64
	data   [4][event.WarpSize]uint64
	known  bool // data holds what the lanes store, or values that are equal exactly where those are
}

// reader reads the records of one queue.
type reader struct {
	h       *Host
	number  int
	ring    int    // place of its first slot
	next    uint64 // number of the next slot
	rec     record
	pending bool // rec has been read and not been delivered: it waits for earlier tickets
	buf     [instrument.MaxSlots * instrument.SlotSize]byte
}

// place returns the place of a slot.
func (q *reader) place(n uint64) int {
	return q.ring + int(n&uint64(q.h.opt.Slots-1))*instrument.SlotSize
}

// read reads the next record into rec, and frees its slots. ok is false if there is none yet. An
// error means that the memory holds something else: the kernel has overwritten it.
func (q *reader) read() (ok bool, err error) {
	mem := q.h.opt.Memory
	want := instrument.ReadyBit | uint32(q.next)
	switch got := mem.Load32(q.place(q.next)); {
	case got == 0:
		return false, nil
	case got != want:
		return false, q.corrupt("the word %#x instead of %#x", got, want)
	}
	head := q.buf[:instrument.SlotSize]
	mem.Read(q.place(q.next)+4, head[4:])
	if err := q.header(head); err != nil {
		return false, err
	}
	for i := 1; i < q.rec.slots; i++ {
		at := i * instrument.SlotSize
		mem.Read(q.place(q.next+uint64(i)), q.buf[at:at+instrument.SlotSize])
	}
	if q.rec.flags&instrument.FlagTicket != 0 {
		q.rec.ticket = binary.LittleEndian.Uint32(q.buf[instrument.SlotSize:])
		q.rec.stored = binary.LittleEndian.Uint32(q.buf[instrument.SlotSize+4:]) & q.rec.mask
	}
	q.lanes()
	// A slot that holds part of a record may become the first of another one.
	for i := range q.rec.slots {
		mem.Store32(q.place(q.next+uint64(i)), 0)
	}
	q.next += uint64(q.rec.slots)
	mem.Store64(instrument.TailAt(q.number), q.next)
	return true, nil
}

// corrupt is the error for memory that holds no record.
func (q *reader) corrupt(format string, args ...any) error {
	return fmt.Errorf("slot %d of queue %d holds no record (%s): the kernel has overwritten it, or "+
		"the module is not the one that was instrumented", q.next, q.number, fmt.Sprintf(format, args...))
}

// header decodes the first slot of a record.
func (q *reader) header(b []byte) error {
	r := &q.rec
	word := binary.LittleEndian.Uint32(b[4:])
	r.site, r.flags = int(word&(1<<instrument.SiteBits-1)), word&^(1<<instrument.SiteBits-1)
	r.form, r.row = word>>instrument.FormShift&instrument.FormMask, int(word>>instrument.RowShift)
	r.warp = event.Warp(binary.LittleEndian.Uint32(b[8:]))
	r.mask, r.active = binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	r.stride = int32(binary.LittleEndian.Uint32(b[20:]))
	if r.row != 0 {
		r.step, r.active = int32(r.active), r.mask
	}
	g := &q.h.opt.Geometry
	if r.site >= len(q.h.sites) {
		return q.corrupt("site %d of %d", r.site, len(q.h.sites))
	}
	if warps := g.Blocks() * uint64(g.WarpsPerBlock()); uint64(r.warp) >= warps {
		return q.corrupt("warp %d of %d", r.warp, warps)
	}
	if r.mask == 0 || r.mask&^g.Lanes(r.warp) != 0 || r.mask&^r.active != 0 {
		return q.corrupt("lanes %#x, active %#x", r.mask, r.active)
	}
	r.slots = 1 + q.addresses()
	if r.flags&instrument.FlagData != 0 {
		r.slots += q.values()
	}
	return nil
}

// inSlots is the number of slots that values of 8 bytes for some lanes take.
func inSlots(lanes int) int { return (lanes + 3) / 4 }

// layout returns the size of an address and the byte of the first one behind the first slot.
func (r *record) layout() (size, start int) {
	ticket := r.flags&instrument.FlagTicket != 0
	switch r.form {
	case instrument.FormAffine:
		size = 0
	case instrument.FormWide:
		size = 8
	default:
		if size = 1 << (r.form - instrument.FormByte); ticket {
			return size, 8
		}
	}
	if ticket {
		start = instrument.SlotSize
	}
	return size, start
}

// addresses is the number of slots behind the first one with the ticket and the addresses.
func (q *reader) addresses() int {
	size, start := q.rec.layout()
	n := bits.OnesCount32(q.rec.mask)
	if q.h.opt.Result.Options.Fixed {
		n = event.WarpSize
	}
	return (start + size*n + instrument.SlotSize - 1) / instrument.SlotSize
}

// values is the number of slots with data.
func (q *reader) values() int {
	if q.rec.flags&instrument.FlagSame != 0 {
		return 1
	}
	return q.h.sites[q.rec.site].Words * inSlots(bits.OnesCount32(q.rec.mask))
}

// lanes decodes the addresses and the data.
func (q *reader) lanes() {
	r := &q.rec
	base := binary.LittleEndian.Uint64(q.buf[24:])
	size, start := r.layout()
	first := bits.TrailingZeros32(r.mask)
	in := instrument.SlotSize + start
	for m := r.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		switch i := l - first; {
		case size == 8:
			r.addr[l] = binary.LittleEndian.Uint64(q.buf[in:])
		case size == 4:
			r.addr[l] = base + uint64(int64(int32(binary.LittleEndian.Uint32(q.buf[in:]))))
		case size == 2:
			r.addr[l] = base + uint64(int64(int16(binary.LittleEndian.Uint16(q.buf[in:]))))
		case size == 1:
			r.addr[l] = base + uint64(4*int64(int8(q.buf[in])))
		case r.row != 0:
			r.addr[l] = base + uint64(int64(i%r.row)*int64(r.stride)+int64(i/r.row)*int64(r.step))
		default:
			r.addr[l] = base + uint64(int64(i)*int64(r.stride))
		}
		in += size
	}
	at := (1 + q.addresses()) * instrument.SlotSize
	words := q.h.sites[r.site].Words
	r.known = r.flags&(instrument.FlagData|instrument.FlagSame) != 0
	switch {
	case r.flags&instrument.FlagData == 0:
		for k := range words {
			r.data[k] = [event.WarpSize]uint64{} // if they are known, they are equal
		}
	case r.flags&instrument.FlagSame != 0:
		for k := range words {
			v := binary.LittleEndian.Uint64(q.buf[at+8*k:])
			for l := range r.data[k] {
				r.data[k][l] = v
			}
		}
	default:
		n := inSlots(bits.OnesCount32(r.mask)) * instrument.SlotSize
		for k := range words {
			q.spread(&r.data[k], at+k*n)
		}
	}
}

// spread copies the values from place at on to the lanes of mask, in ascending order.
func (q *reader) spread(to *[event.WarpSize]uint64, at int) {
	for m := q.rec.mask; m != 0; m &= m - 1 {
		to[bits.TrailingZeros32(m)] = binary.LittleEndian.Uint64(q.buf[at:])
		at += 8
	}
}
