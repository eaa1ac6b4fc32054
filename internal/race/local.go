package race

import "heddle/internal/event"

// What can be examined block by block, by the worker that executes the block.
//
// Races on shared memory: only the threads of a block access it, if there are no clusters, and only
// events of these threads order its accesses, if nothing orders blocks. Then a detector of its own
// can examine it, which needs none of the accesses to global memory, while that of the launch needs
// none of the weak accesses to shared memory: an access leaves traces in the shadow of its own
// memory only, and a weak one orders nothing. (It ends a release pattern at its address; strong
// accesses are for the detector of the launch, as all that is to be reported.) The local detector
// decides only whether there is nothing to report. If there is, the block is executed again for the
// detector of the launch alone. Its report is the same in both cases, since it does not depend on
// accesses that show nothing.
//
// Reads of objects that are not written (Options.Objects): the detector of the launch is told of
// which objects a block reads, and not of each access. Whether an object was written is known from
// the batches before. If it was written since, the launch is repeated, as it is if an object is
// written that was read before.

// local is the detector of one block at a time.
type local struct {
	Detector
	of     *Detector // of global memory
	leaves bool      // Options.Objects are there
	// by the number of an object: the use that the detector of the launch makes of it, or will, and
	// readOnly where the block has left out reads
	known []use
	left  []uint64 // those objects
}

var (
	_ event.Divided = (*Detector)(nil)
	_ event.Divided = (*Split)(nil)
)

// BlockSink implements event.Divided.
func (d *Detector) BlockSink() event.BlockSink {
	if d.opt.Only != event.NoSpace {
		return nil
	}
	return newLocal(d.opt, d)
}

// BlockSink implements event.Divided. The first of two parts is the one of shared memory.
func (s *Split) BlockSink() event.BlockSink {
	if len(s.parts) != 2 {
		return nil
	}
	return newLocal(s.parts[0].opt, s.parts[1])
}

// Told implements event.Divided.
func (s *Split) Told(told []uint64) { s.parts[1].Told(told) }

// newLocal returns a local detector for that of global memory, and options of that of shared memory;
// nil if there can be none. In lock step every access orders the lanes of its warp.
func newLocal(opt Options, of *Detector) event.BlockSink {
	if opt.Model == event.Lockstep || opt.Geometry.Ranks() > 1 || opt.Execution || opt.Static {
		return nil
	}
	l := &local{Detector: *New(Options{Geometry: opt.Geometry, Model: opt.Model, Benign: opt.Benign,
		SharedBytes: opt.SharedBytes, Only: opt.Only, StrictScopes: opt.StrictScopes, local: true}),
		of: of, leaves: of.opt.Objects != nil}
	if l.leaves {
		for no := range of.opt.Objects.written {
			*l.use(no) = recorded
		}
		l.Refresh()
	}
	return l
}

// use returns what is known of the object with a number.
func (d *local) use(no uint64) *use {
	for uint64(len(d.known)) <= no {
		d.known = append(d.known, unused)
	}
	return &d.known[no]
}

// Refresh implements event.BlockSink.
func (d *local) Refresh() {
	for no, u := range d.of.uses {
		if u == recorded {
			*d.use(uint64(no)) = recorded
		}
	}
}

// Takes implements event.BlockSink.
func (d *local) Takes(e *event.Access) bool {
	switch {
	case e.Space == event.Shared:
		d.Detector.Access(e)
		d.noted = d.noted || e.Order.Strong()
		return !e.Order.Strong()
	case d.leaves && e.Space == event.Global && e.Kind == event.Read && !e.Order.Strong():
		no, one := objectOf(e, d.of.opt.Objects.Shift)
		return one && d.leaveOut(no)
	}
	return false
}

// leaveOut reports whether a read of an object is left out.
func (d *local) leaveOut(no uint64) bool {
	u := d.use(no)
	if *u == unused {
		*u = readOnly
		d.left = append(d.left, no)
	}
	return *u == readOnly
}

// End implements event.BlockSink. A block of which threads are left has not ended well.
func (d *local) End(told []uint64) (_ []uint64, nothing bool) {
	nothing = !d.noted && d.cached == nil
	if b := d.cached; b != nil {
		d.endBlock(b)
	}
	d.noted = false
	told = append(told, d.left...)
	for _, no := range d.left {
		d.known[no] = unused
	}
	d.left = d.left[:0]
	return told, nothing
}
