package race

import "heddle/internal/event"

// Split is a sink for kernels with barriers or fences that order the memory of one space only: two
// detectors, each of which reports the races in one space and lets order what orders that space.
// Both see everything: what synchronizes by one space can order accesses of the other.
type Split struct{ shared, global *Detector }

var _ event.Sink = (*Split)(nil)

// NewSplit returns the detectors for one launch. opt.Only is not looked at.
func NewSplit(opt Options) *Split {
	var s Split
	opt.Only = event.Shared
	s.shared = New(opt)
	opt.Only = event.Global
	s.global = New(opt)
	return &s
}

// Access goes to both detectors, as all events do.
func (s *Split) Access(e *event.Access) { s.shared.Access(e); s.global.Access(e) }

// Fence implements event.Sink.
func (s *Split) Fence(e *event.Fence) { s.shared.Fence(e); s.global.Fence(e) }

// Copy implements event.Sink.
func (s *Split) Copy(e *event.Copy) { s.shared.Copy(e); s.global.Copy(e) }

// CopyGroup implements event.Sink.
func (s *Split) CopyGroup(e *event.CopyGroup) { s.shared.CopyGroup(e); s.global.CopyGroup(e) }

// Arrive implements event.Sink.
func (s *Split) Arrive(e *event.Arrive) { s.shared.Arrive(e); s.global.Arrive(e) }

// Complete implements event.Sink.
func (s *Split) Complete(e *event.Complete) { s.shared.Complete(e); s.global.Complete(e) }

// WarpSync implements event.Sink.
func (s *Split) WarpSync(e *event.WarpSync) { s.shared.WarpSync(e); s.global.WarpSync(e) }

// Converge implements event.Sink.
func (s *Split) Converge(e *event.Converge) { s.shared.Converge(e); s.global.Converge(e) }

// Exit implements event.Sink.
func (s *Split) Exit(e *event.Exit) { s.shared.Exit(e); s.global.Exit(e) }

// Stall implements event.Sink.
func (s *Split) Stall(e *event.Stall) { s.shared.Stall(e); s.global.Stall(e) }

// Report joins what the detectors found. Misuse of barriers does not depend on what they order, so
// that both found the same.
func (s *Split) Report() *Report {
	r, g := s.shared.Report(), s.global.Report()
	r.Races = append(r.Races, g.Races...)
	r.Tolerated += g.Tolerated
	return r
}
