package trace

import (
	"context"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/race"
)

// Kernels that synchronize by mbarriers and bulk copies (docs/theory/phases.md). One execution
// stands for all if its phases are the same in all of them, which race.Options.Execution checks. If
// they are not, the races of this execution decide nothing about others. Then more schedules are
// tried, since one of them may show a deadlock or a race; otherwise the verdict is unknown, and
// says which operation depends on the schedule.

// otherSeeds is the number of schedules that are tried, and otherSteps how many warp instructions
// they may have together.
const (
	otherSeeds = 64
	otherSteps = 200_000_000
)

// report returns the findings: races by causality, and misuse of barriers and phases by the order
// of execution.
func (s *traceSink) report() *race.Report {
	rep := s.Split.Report()
	rep.Proxies(s.writer, s.reads)
	if s.order != nil {
		order := s.order.Report()
		rep.Barriers, rep.Phases, rep.Lifetimes = order.Barriers, order.Phases, order.Lifetimes
	}
	return rep
}

// pass shows an access to the detector of the order of execution, to which it matters in lock step.
func (s *traceSink) pass(e *event.Access) {
	if s.order != nil {
		s.order.Access(e)
	}
}

// MBarrier implements event.Sink.
func (s *traceSink) MBarrier(e *event.MBarrier) {
	if e.Op == event.MBarrierComplete {
		s.barriers++
	}
	s.commands += lanes(e.Mask)
	s.Split.MBarrier(e)
	if s.order != nil {
		s.order.MBarrier(e)
	}
}

// Bulk implements event.Sink. What an operation does to global memory is not examined, and where it
// does it is not known.
func (s *traceSink) Bulk(e *event.Bulk) {
	s.commands++
	local := *e
	if local.From.Space != event.Shared {
		local.From.Size = 0
	}
	if local.To.Space != event.Shared {
		local.To.Size = 0
	}
	s.Split.Bulk(&local)
	if s.order != nil {
		s.order.Bulk(e)
	}
}

// Matrix implements event.Sink.
func (s *traceSink) Matrix(e *event.Matrix) {
	s.commands++
	s.Split.Matrix(e)
	if s.order != nil {
		s.order.Matrix(e)
	}
}

// MatrixGroup implements event.Sink.
func (s *traceSink) MatrixGroup(e *event.MatrixGroup) {
	s.Split.MatrixGroup(e)
	if s.order != nil {
		s.order.MatrixGroup(e)
	}
}

// Tensor implements event.Sink.
func (s *traceSink) Tensor(e *event.TensorAgent) {
	s.commands++
	s.Split.Tensor(e)
	if s.order != nil {
		s.order.Tensor(e)
	}
}

// TensorSync implements event.Sink.
func (s *traceSink) TensorSync(e *event.TensorSync) {
	s.commands++
	s.Split.TensorSync(e)
	if s.order != nil {
		s.order.TensorSync(e)
	}
}

// Signal implements event.Sink.
func (s *traceSink) Signal(e *event.Signal) {
	s.Split.Signal(e)
	if s.order != nil {
		s.order.Signal(e)
	}
}

// CopyArrive implements event.Sink.
func (s *traceSink) CopyArrive(e *event.CopyArrive) {
	s.Split.CopyArrive(e)
	if s.order != nil {
		s.order.CopyArrive(e)
	}
}

// WarpSync implements event.Sink.
func (s *traceSink) WarpSync(e *event.WarpSync) {
	s.Split.WarpSync(e)
	if s.order != nil {
		s.order.WarpSync(e)
	}
}

// Converge implements event.Sink.
func (s *traceSink) Converge(e *event.Converge) {
	s.Split.Converge(e)
	if s.order != nil {
		s.order.Converge(e)
	}
}

// Stall implements event.Sink.
func (s *traceSink) Stall(e *event.Stall) {
	s.Split.Stall(e)
	if s.order != nil {
		s.order.Stall(e)
	}
}

// Cluster implements event.Sink.
func (s *traceSink) Cluster(e *event.ClusterBarrier) {
	if e.Op == event.ClusterComplete {
		s.barriers++
	}
	s.commands += lanes(e.Mask)
	s.Split.Cluster(e)
	if s.order != nil {
		s.order.Cluster(e)
	}
}

// InitFence implements event.Sink.
func (s *traceSink) InitFence(e *event.InitFence) {
	s.Split.InitFence(e)
	if s.order != nil {
		s.order.InitFence(e)
	}
}

// otherSchedules looks for a finding in other schedules of a block whose phases may depend on them.
// shown becomes the execution with the finding. It returns false, since further blocks cannot show
// more.
func (t *tracer) otherSchedules(ctx context.Context, b uint32, rep *race.Report,
	shown *execution) bool {
	seeds, steps := uint64(0), uint64(0)
	defer func() {
		t.unstable = t.unstableVerdict(&rep.Phases[0], seeds)
	}()
	for seeds < otherSeeds && steps < otherSteps && ctx.Err() == nil {
		seeds++
		seed, sink := seeds, t.newSink()
		res, err := t.run.Machine.Run(ctx, t.running([]uint32{b}, seed), sink)
		if err != nil {
			return false
		}
		steps += res.Steps
		t.steps += res.Steps
		found := sink.report()
		found.Races = withoutDoubt(found.Races, res)
		t.strong(found)
		t.run.Findings(found, seed)
		if t.opt.Report != nil {
			t.opt.Report(t.run.Machine, res, found)
		}
		if !t.run.Ended(res, seed) || t.run.Bugs > 0 {
			*shown = execution{seed, found, res}
			return false
		}
	}
	return false
}

// withoutDoubt returns the races that are not on paths which perhaps no input takes.
func withoutDoubt(races []race.Race, res *emu.Result) []race.Race {
	out := races[:0]
	for _, rc := range races {
		if !res.Maybe[rc.First.Site] && !res.Maybe[rc.Second.Site] {
			out = append(out, rc)
		}
	}
	return out
}

// unstableVerdict is the verdict on a kernel of which one finding about phases shows that they may
// depend on the schedule.
func (t *tracer) unstableVerdict(e *race.PhaseError, tried uint64) *diag.Verdict {
	v := t.phaseVerdict(e)
	v.Reason += fmt.Sprintf("; %d other schedules show no deadlock and no race", tried)
	return v
}

// phaseText says what a finding about phases means.
func (t *tracer) phaseText(e *race.PhaseError) string { return t.phaseVerdict(e).Reason }

// phaseVerdict is the verdict because of a finding about phases, without other schedules.
func (t *tracer) phaseVerdict(e *race.PhaseError) *diag.Verdict {
	m := t.run.Machine
	object := m.ObjectName(e.Addr)
	text := func(a race.PhaseAt) string {
		at := m.Site(a.Site)
		return fmt.Sprintf("%s at %s", driver.OpText(at.Instr), t.job.Format(place(at).Start))
	}
	first := text(e.First)
	v := &diag.Verdict{
		Kind: diag.Unknown, Kernel: t.job.Kernel.Demangled, Span: place(m.Site(e.First.Site)),
	}
	switch e.Kind {
	case race.PhaseJoins:
		v.Span = place(m.Site(e.Second.Site))
		v.Reason = fmt.Sprintf("the phase of %s in which %s takes part depends on the schedule: nothing "+
			"orders it after %s, of phase %d", object, text(e.Second), first, e.Phase)
	case race.PhaseEarly:
		v.Reason = fmt.Sprintf("phase %d of %s may complete without %s: nothing else that the phase "+
			"needs comes after it", e.Phase, object, first)
	case race.PhaseAhead:
		v.Reason = fmt.Sprintf("%s, a wait for phase %d of %s, may come before phase %d is complete and "+
			"pass at once: both waits have the same parity", first, e.Phase, object, e.Phase-1)
	case race.PhaseLaps:
		v.Reason = fmt.Sprintf("%s, a wait for %s of %s, may come after phase %d is complete and then "+
			"block: no operation of phase %d comes after the wait", first, phaseName(e.Phase), object,
			e.Phase+1, e.Phase+1)
	case race.PhaseNoObject:
		v.Reason = fmt.Sprintf("nothing orders %s after the initialization of %s", first, object)
	case race.PhasePromise:
		v.Reason = fmt.Sprintf("%s may be the arrival that completes phase %d of %s: no other arrival "+
			"and no completion of bytes comes after it, and .noComplete promises that there is one "+
			"(PTX ISA 9.7.13.15.13)", first, e.Phase, object)
	case race.PhaseAllocates:
		v.Span = place(m.Site(e.Second.Site))
		v.Reason = fmt.Sprintf("nothing orders %s after %s: which columns of tensor memory are free "+
			"there, or of a pair of blocks which of the two the other block meets, depends on the "+
			"schedule", text(e.Second), first)
	case race.PhasePermit:
		v.Span = place(m.Site(e.Second.Site))
		v.Reason = fmt.Sprintf("nothing orders %s after %s: no thread of the block may allocate tensor "+
			"memory behind it (PTX ISA 9.7.16.7.1)", text(e.Second), first)
	case race.PhaseEnds:
		v.Reason = fmt.Sprintf("nothing orders %s before %s", first, text(e.Second))
	}
	return v
}

// phaseName names a phase for which a thread waits.
func phaseName(n uint64) string {
	if n == event.NoPhase {
		return "the phase before the first"
	}
	return fmt.Sprintf("phase %d", n)
}
