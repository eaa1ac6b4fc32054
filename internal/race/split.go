package race

import "heddle/internal/event"

// Split is a sink for kernels with barriers or fences that order the memory of one space only. It
// runs two detectors; each reports the races in one space and respects only what orders that space.
// Both receive every event, since synchronization through one space can order accesses of the
// other.
type Split struct {
	shared, global *Detector
	// clustered says that shared finds all races, and global is of the order of execution.
	clustered bool
}

var _ event.Sink = (*Split)(nil)

// NewSplit returns the detectors for one launch. It ignores opt.Only.
func NewSplit(opt Options) *Split {
	var s Split
	dependent := opt.Dependent
	opt.Only, opt.Dependent = event.Shared, false
	s.shared = New(opt)
	opt.Only, opt.Dependent = event.Global, dependent
	s.global = New(opt)
	return &s
}

// Access passes the event to both detectors, as all methods do.
func (s *Split) Access(e *event.Access) { s.shared.Access(e); s.global.Access(e) }

// Fence implements event.Sink.
func (s *Split) Fence(e *event.Fence) { s.shared.Fence(e); s.global.Fence(e) }

// Copy implements event.Sink.
func (s *Split) Copy(e *event.Copy) { s.shared.Copy(e); s.global.Copy(e) }

// CopyGroup implements event.Sink.
func (s *Split) CopyGroup(e *event.CopyGroup) { s.shared.CopyGroup(e); s.global.CopyGroup(e) }

// CopyArrive implements event.Sink.
func (s *Split) CopyArrive(e *event.CopyArrive) { s.shared.CopyArrive(e); s.global.CopyArrive(e) }

// Bulk implements event.Sink.
func (s *Split) Bulk(e *event.Bulk) { s.shared.Bulk(e); s.global.Bulk(e) }

// BulkGroup implements event.Sink.
func (s *Split) BulkGroup(e *event.BulkGroup) { s.shared.BulkGroup(e); s.global.BulkGroup(e) }

// Matrix implements event.Sink.
func (s *Split) Matrix(e *event.Matrix) { s.shared.Matrix(e); s.global.Matrix(e) }

// MatrixGroup implements event.Sink.
func (s *Split) MatrixGroup(e *event.MatrixGroup) { s.shared.MatrixGroup(e); s.global.MatrixGroup(e) }

// Signal implements event.Sink.
func (s *Split) Signal(e *event.Signal) { s.shared.Signal(e); s.global.Signal(e) }

// MBarrier implements event.Sink.
func (s *Split) MBarrier(e *event.MBarrier) { s.shared.MBarrier(e); s.global.MBarrier(e) }

// ProxyFence implements event.Sink.
func (s *Split) ProxyFence(e *event.ProxyFence) { s.shared.ProxyFence(e); s.global.ProxyFence(e) }

// Arrive implements event.Sink.
func (s *Split) Arrive(e *event.Arrive) { s.shared.Arrive(e); s.global.Arrive(e) }

// Complete implements event.Sink.
func (s *Split) Complete(e *event.Complete) { s.shared.Complete(e); s.global.Complete(e) }

// Cluster implements event.Sink.
func (s *Split) Cluster(e *event.ClusterBarrier) { s.shared.Cluster(e); s.global.Cluster(e) }

// InitFence implements event.Sink.
func (s *Split) InitFence(e *event.InitFence) { s.shared.InitFence(e); s.global.InitFence(e) }

// WarpSync implements event.Sink.
func (s *Split) WarpSync(e *event.WarpSync) { s.shared.WarpSync(e); s.global.WarpSync(e) }

// Converge implements event.Sink.
func (s *Split) Converge(e *event.Converge) { s.shared.Converge(e); s.global.Converge(e) }

// Exit implements event.Sink.
func (s *Split) Exit(e *event.Exit) { s.shared.Exit(e); s.global.Exit(e) }

// Stall implements event.Sink.
func (s *Split) Stall(e *event.Stall) { s.shared.Stall(e); s.global.Stall(e) }

// Fault passes the lanes to both detectors.
func (s *Split) Fault(w event.Warp, mask uint32) { s.shared.Fault(w, mask); s.global.Fault(w, mask) }

// Memory returns the bytes that both take, nearly.
func (s *Split) Memory() uint64 { return s.shared.Memory() + s.global.Memory() }

// Report joins the findings of both detectors. Misuse of barriers does not depend on the memory
// that they order, so both found the same, and it is taken from one.
func (s *Split) Report() *Report {
	r, g := s.shared.Report(), s.global.Report()
	if s.clustered {
		r.Lifetimes = g.Lifetimes
		return r
	}
	r.Races = append(r.Races, g.Races...)
	r.Late = append(r.Late, g.Late...)
	r.Early = g.Early
	r.Exchanges = append(r.Exchanges, g.Exchanges...)
	r.Tolerated += g.Tolerated
	return r
}
