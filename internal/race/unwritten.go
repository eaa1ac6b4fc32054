package race

import (
	"context"
	"math/bits"

	"heddle/internal/event"
)

// Objects lets a detector leave out most reads of global memory: those of an object that nothing
// has written so far. They race with nothing if that remains so, and most kernels never write what
// they read. If an object is written after all, the run is repeated with a detector that records
// all reads of this object, so that the report is the same as without Objects. A kernel that reads
// and writes one array tends to do both soon.
type Objects struct {
	// Shift is the logarithm of the distance between objects of global memory: two addresses are in
	// one object if and only if they agree in the bits from Shift on.
	Shift uint

	written map[uint64]bool // objects of which reads are recorded from the beginning, by number
	repeats int
	repeat  context.CancelFunc // ends the run; nil: all reads are recorded
	again   bool               // the run has been ended
}

// maxRepeats is how often a launch may be repeated before all reads are recorded.
const maxRepeats = 4

// Run calls once, which executes a launch with a new detector, until its report is complete. Each
// run must do the same.
func (o *Objects) Run(ctx context.Context, once func(context.Context) error) error {
	for {
		attempt, cancel := context.WithCancel(ctx)
		if o.again, o.repeat = false, cancel; o.repeats >= maxRepeats {
			o.repeat = nil
		}
		err := once(attempt)
		cancel()
		if !o.again || err != nil {
			return err
		}
		o.repeats++
	}
}

// use is what a run has done with an object.
type use uint8

const (
	unused use = iota
	readOnly
	recorded // it has been written, or will be
)

// useOf returns the use of the object with a number.
func (d *Detector) useOf(no uint64) *use {
	for uint64(len(d.uses)) <= no {
		u := unused
		if d.opt.Objects.written[uint64(len(d.uses))] {
			u = recorded
		}
		d.uses = append(d.uses, u)
	}
	return &d.uses[no]
}

// objectOf returns the number of the object that all lanes of an access are in; false if they are in
// several.
func objectOf(e *event.Access, shift uint) (no uint64, one bool) {
	first := e.Addr[bits.TrailingZeros32(e.Mask)&31]
	differ := uint64(0)
	if n := int(e.Row); n != 0 {
		for l := 0; l < event.WarpSize; l += n {
			differ |= first ^ e.Addr[l&31] | first ^ e.Addr[(l+n-1)&31]
		}
	} else {
		for m := e.Mask; m != 0; m &= m - 1 {
			differ |= first ^ e.Addr[bits.TrailingZeros32(m)&31]
		}
	}
	return first >> shift, differ>>shift == 0
}

// leavesOut reports whether an access to global memory need not be recorded.
func (d *Detector) leavesOut(e *event.Access) bool {
	shift := d.opt.Objects.Shift
	no, one := objectOf(e, shift)
	if e.Kind == event.Read {
		if !one || e.Order.Strong() {
			return false
		}
		u := d.useOf(no)
		if *u == unused {
			*u = readOnly
		}
		return *u == readOnly
	}
	if one {
		d.writes(no)
		return false
	}
	for m := e.Mask; m != 0; m &= m - 1 {
		d.writes(e.Addr[bits.TrailingZeros32(m)&31] >> shift)
	}
	return false
}

// writes notes that an object is written.
func (d *Detector) writes(no uint64) {
	u := d.useOf(no)
	if *u == readOnly {
		d.opt.Objects.record(no)
	}
	*u = recorded
}

// record repeats the run with all reads of an object recorded.
func (o *Objects) record(no uint64) {
	if o.written == nil {
		o.written = make(map[uint64]bool)
	}
	o.written[no], o.again = true, true
	o.repeat()
}

// Told implements event.Divided: reads of the objects with these numbers were left out.
func (d *Detector) Told(objects []uint64) {
	for _, no := range objects {
		switch u := d.useOf(no); *u {
		case unused:
			*u = readOnly
		case recorded:
			d.opt.Objects.record(no)
		}
	}
}
