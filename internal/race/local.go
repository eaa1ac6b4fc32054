package race

import "heddle/internal/event"

// Races on shared memory, block by block.
//
// Only the threads of a block access its shared memory, if there are no clusters, and only events
// of these threads order its accesses, if nothing orders blocks. Then a detector of its own can
// examine it, which needs none of the accesses to global memory, while that of the launch needs
// none of the weak accesses to shared memory: an access leaves traces in the shadow of its own
// memory only, and a weak one orders nothing. (It ends a release pattern at its address; strong
// accesses are for the detector of the launch, as all that is to be reported.)
//
// So a local detector decides only whether there is nothing to report. If there is, the block is
// executed again for the detector of the launch alone. Its report is the same in both cases, since
// it does not depend on accesses that show nothing.

// local is the detector of one block at a time.
type local struct{ Detector }

var (
	_ event.Divided = (*Detector)(nil)
	_ event.Divided = (*Split)(nil)
)

// BlockSink implements event.Divided.
func (d *Detector) BlockSink() event.BlockSink {
	if d.opt.Only != event.NoSpace {
		return nil
	}
	return newLocal(d.opt)
}

// BlockSink implements event.Divided. The first of two parts is the one of shared memory.
func (s *Split) BlockSink() event.BlockSink {
	if len(s.parts) != 2 {
		return nil
	}
	return newLocal(s.parts[0].opt)
}

// newLocal returns the local detector of one with these options; nil if there can be none. In lock
// step every access orders the lanes of its warp.
func newLocal(opt Options) event.BlockSink {
	if opt.Model == event.Lockstep || opt.Geometry.Ranks() > 1 || opt.Execution || opt.Static {
		return nil
	}
	return &local{*New(Options{Geometry: opt.Geometry, Model: opt.Model, Benign: opt.Benign,
		SharedBytes: opt.SharedBytes, Only: opt.Only, StrictScopes: opt.StrictScopes, local: true})}
}

// Access examines an access to shared memory.
func (d *local) Access(e *event.Access) {
	if e.Space != event.Shared {
		return
	}
	d.noted = d.noted || e.Order.Strong()
	d.Detector.Access(e)
}

// End implements event.BlockSink. A block of which threads are left has not ended well.
func (d *local) End() (nothing bool) {
	nothing = !d.noted && d.cached == nil
	if b := d.cached; b != nil {
		d.endBlock(b)
	}
	d.noted = false
	return nothing
}
