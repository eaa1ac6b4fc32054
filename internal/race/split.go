package race

import "heddle/internal/event"

// Split is a sink with several detectors, each of which examines what only some of the barriers and
// fences of a kernel order: one for global and one for shared memory, or one for the shared memory
// of each rank of a cluster. All of them receive every event, since synchronization through one
// memory can order accesses of another.
type Split struct {
	parts []*Detector
	order *Detector // of the order of execution, for clusters; nil: none
}

var _ event.Sink = (*Split)(nil)

// NewSplit returns the detectors for one launch of a kernel with barriers or fences that order part
// of memory. own says that some fence orders the shared memory of its own block only. It ignores
// opt.Only.
func NewSplit(opt Options, own bool) *Split {
	shared := opt
	shared.Only, shared.Dependent = event.Shared, false
	s := NewSplitShared(shared, own)
	opt.Only = event.Global
	s.parts = append(s.parts, New(opt))
	if opt.Geometry.Ranks() > 1 {
		s.order = newOrder(opt)
	}
	return s
}

// NewSplitShared returns those of them that examine shared memory: one, with the options as they
// are, unless the memory of blocks is ordered one by one.
func NewSplitShared(opt Options, own bool) *Split {
	var s Split
	if n := opt.Geometry.Ranks(); own && n > 1 {
		opt.Only, opt.Ranked = event.Shared, true
		for opt.Rank = range n {
			s.parts = append(s.parts, New(opt))
		}
	} else {
		s.parts = []*Detector{New(opt)}
	}
	return &s
}

// NewClustered returns the detectors for one launch with clusters: one of races, and one of the
// order of execution, which finds accesses to the memory of blocks that may not have started or may
// have ended.
func NewClustered(opt Options) *Split {
	return &Split{parts: []*Detector{New(opt)}, order: newOrder(opt)}
}

// newOrder returns a detector of the order of execution of a run.
func newOrder(opt Options) *Detector {
	opt.Execution, opt.Observes, opt.Recycling, opt.Only = true, true, false, event.NoSpace
	return New(opt)
}

// each passes an event to all detectors.
func (s *Split) each(do func(d *Detector)) {
	for _, d := range s.parts {
		do(d)
	}
	if s.order != nil {
		do(s.order)
	}
}

// Access passes the event to all detectors, as all methods do.
func (s *Split) Access(e *event.Access) {
	for _, d := range s.parts {
		d.Access(e)
	}
	if s.order != nil {
		s.order.Access(e)
	}
}

// Fence implements event.Sink.
func (s *Split) Fence(e *event.Fence) { s.each(func(d *Detector) { d.Fence(e) }) }

// Copy implements event.Sink.
func (s *Split) Copy(e *event.Copy) { s.each(func(d *Detector) { d.Copy(e) }) }

// CopyGroup implements event.Sink.
func (s *Split) CopyGroup(e *event.CopyGroup) { s.each(func(d *Detector) { d.CopyGroup(e) }) }

// CopyArrive implements event.Sink.
func (s *Split) CopyArrive(e *event.CopyArrive) { s.each(func(d *Detector) { d.CopyArrive(e) }) }

// Bulk implements event.Sink.
func (s *Split) Bulk(e *event.Bulk) { s.each(func(d *Detector) { d.Bulk(e) }) }

// BulkGroup implements event.Sink.
func (s *Split) BulkGroup(e *event.BulkGroup) { s.each(func(d *Detector) { d.BulkGroup(e) }) }

// Matrix implements event.Sink.
func (s *Split) Matrix(e *event.Matrix) { s.each(func(d *Detector) { d.Matrix(e) }) }

// MatrixGroup implements event.Sink.
func (s *Split) MatrixGroup(e *event.MatrixGroup) { s.each(func(d *Detector) { d.MatrixGroup(e) }) }

// Tensor implements event.Sink.
func (s *Split) Tensor(e *event.TensorAgent) { s.each(func(d *Detector) { d.Tensor(e) }) }

// TensorSync implements event.Sink.
func (s *Split) TensorSync(e *event.TensorSync) { s.each(func(d *Detector) { d.TensorSync(e) }) }

// Signal implements event.Sink.
func (s *Split) Signal(e *event.Signal) { s.each(func(d *Detector) { d.Signal(e) }) }

// MBarrier implements event.Sink.
func (s *Split) MBarrier(e *event.MBarrier) { s.each(func(d *Detector) { d.MBarrier(e) }) }

// ProxyFence implements event.Sink.
func (s *Split) ProxyFence(e *event.ProxyFence) { s.each(func(d *Detector) { d.ProxyFence(e) }) }

// Arrive implements event.Sink.
func (s *Split) Arrive(e *event.Arrive) { s.each(func(d *Detector) { d.Arrive(e) }) }

// Complete implements event.Sink.
func (s *Split) Complete(e *event.Complete) { s.each(func(d *Detector) { d.Complete(e) }) }

// Cluster implements event.Sink.
func (s *Split) Cluster(e *event.ClusterBarrier) { s.each(func(d *Detector) { d.Cluster(e) }) }

// InitFence implements event.Sink.
func (s *Split) InitFence(e *event.InitFence) { s.each(func(d *Detector) { d.InitFence(e) }) }

// WarpSync implements event.Sink.
func (s *Split) WarpSync(e *event.WarpSync) { s.each(func(d *Detector) { d.WarpSync(e) }) }

// Converge implements event.Sink.
func (s *Split) Converge(e *event.Converge) { s.each(func(d *Detector) { d.Converge(e) }) }

// Exit implements event.Sink.
func (s *Split) Exit(e *event.Exit) { s.each(func(d *Detector) { d.Exit(e) }) }

// Stall implements event.Sink.
func (s *Split) Stall(e *event.Stall) { s.each(func(d *Detector) { d.Stall(e) }) }

// Fault passes the lanes to all detectors.
func (s *Split) Fault(w event.Warp, mask uint32) {
	s.each(func(d *Detector) { d.Fault(w, mask) })
}

// Examples is Detector.Examples of all.
func (s *Split) Examples() (n int) {
	s.each(func(d *Detector) { n += d.Examples() })
	return n
}

// Memory returns the bytes that all take, nearly.
func (s *Split) Memory() (n uint64) {
	s.each(func(d *Detector) { n += d.Memory() })
	return n
}

// Report joins the findings of the detectors. Misuse of barriers does not depend on the memory that
// they order, so all found the same, and it is taken from one.
func (s *Split) Report() *Report {
	r := s.parts[0].Report()
	for _, d := range s.parts[1:] {
		g := d.Report()
		r.Races = append(r.Races, g.Races...)
		r.Late = append(r.Late, g.Late...)
		r.Early = append(r.Early, g.Early...)
		r.Maps = append(r.Maps, g.Maps...)
		r.Exchanges = append(r.Exchanges, g.Exchanges...)
		r.Tolerated += g.Tolerated
	}
	if s.order != nil {
		r.Lifetimes = s.order.Report().Lifetimes
	}
	return r
}
