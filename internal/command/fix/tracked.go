package fix

import (
	"context"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/engine/trace"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
	"heddle/internal/repair"
)

// What the judge knows of mbarriers, asynchronous operations and clusters. No proof models them. A
// text of a kernel that has them is accepted if its runs are clean and a trace verifies its shared
// memory and its barriers for all inputs, or, if a trace is unsupported, by its runs alone. A trace
// that leaves open whether phases depend on the schedule is not enough for a repair.

// trace asks for a trace of a text that is clean so far. Of the first text, one that does not
// decide leaves the result as it is: nothing is known to be wrong.
func (j *judge) trace(ctx context.Context, p *parsed, out *repair.Judgement) error {
	if out.Grade != repair.Clean || !repair.Tracks(p.kernel) {
		return nil
	}
	scope := ""
	for _, host := range j.hosts {
		job := j.f.d.Job(j.f.in, p.kernel).Into(func(diag.Diagnostic) {})
		job.Launch = j.request(host)
		found := &repair.Judgement{}
		opt := trace.Options{Report: func(m *emu.Machine, res *emu.Result, rep *race.Report) {
			j.shown(p, m, rep, found)
			if res.Status == emu.Stopped {
				j.stopped(p, m, res, found)
			}
		}}
		v, steps := trace.Ask(ctx, job, &opt)
		j.f.ran += steps
		switch v.Kind {
		case diag.Bug:
			out.Grade, out.Findings, out.Reason = repair.Buggy, found.Findings, v.Reason
			return ctx.Err()
		case diag.Verified:
			scope = v.Scope
			continue
		case diag.Unsupported:
		default:
			if j.before != nil {
				out.Grade = repair.Unknown
			}
		}
		out.Reason = "a trace does not decide: " + v.Reason
		return ctx.Err()
	}
	if scope != "" {
		out.Grade, out.Reason = repair.Traced, ""
		out.Scope += "; verified by a trace: " + scope
	}
	return ctx.Err()
}

// wrongTraced returns the findings of a trace, of a kernel of which no run of the judge shows a bug.
func (x *kernelFix) wrongTraced(ctx context.Context) (out []diag.Diagnostic) {
	if !repair.Tracks(x.k) {
		return nil
	}
	job := x.d.Job(x.in, x.k).Into(func(g diag.Diagnostic) {
		if g.Code != "" && aboutOrder(g.Code) {
			out = append(out, g)
		}
	})
	for _, host := range x.judge.hosts {
		job.Launch = x.judge.request(host)
		if trace.Ask(ctx, job, &trace.Options{}); len(out) > 0 {
			return out
		}
	}
	return nil
}

// seedsFor is how many schedules each text of a kernel is run under: no fewer than heddle check
// takes for a kernel that synchronizes through memory, if it uses mbarriers.
func seedsFor(k *ir.Func) int {
	if repair.Tracks(k) {
		return max(fixSeeds, run.SyncSeeds)
	}
	return fixSeeds
}

// mostSchedules bounds the schedules that are run until one shows more than a deadlock.
const mostSchedules = 16

// moreSchedules runs the first text under more schedules, if all that those of the judge show is
// that threads wait for ever: if that is the consequence of a missing wait, another schedule shows
// the race.
func (j *judge) moreSchedules(ctx context.Context, p *parsed, out *repair.Judgement) error {
	other := func(f repair.Finding) bool { return f.Kind != repair.Stuck }
	last := j.launches[len(j.launches)-1]
	for range mostSchedules {
		if slices.ContainsFunc(out.Findings, other) || ctx.Err() != nil {
			break
		}
		last.Seed++
		if err := j.runOnce(ctx, p, last, out); err != nil {
			return err
		}
		if slices.ContainsFunc(out.Findings, other) {
			j.witnesses = append(j.witnesses, last)
		}
	}
	out.Grade = repair.Buggy
	return nil
}

// aboutOrder reports whether a change of the synchronization may repair findings with a code.
func aboutOrder(code diag.Code) bool {
	switch code {
	case diag.CodeRaceProxy, diag.CodeMBarrierUninitialized, diag.CodeMBarrierExcess,
		diag.CodeMBarrierBytes, diag.CodeMBarrierState, diag.CodePeerNotStarted, diag.CodePeerExited,
		diag.CodeBadBarrier, diag.CodeAsyncUnfinished, diag.CodeWarpgroupFence,
		diag.CodeWarpgroupRegister, diag.CodeRaceTensor, diag.CodeTensorAllocation, diag.CodeTensorBounds:
		return true
	}
	return prove.Synchronization(code)
}

// proxyFinding describes a race that misses a proxy fence: A is the ordinary access.
func proxyFinding(g event.Geometry, rc *race.Race, f *repair.Finding) {
	f.Kind, f.Memory = repair.Proxy, "global"
	ordinary := rc.First
	if ordinary.Proxy == event.AsyncProxy {
		ordinary = rc.Second
		f.A, f.B = f.B, f.A
	}
	if rc.Space != event.Shared {
		return
	}
	f.Memory = "shared::cta"
	if g.BlockOf(ordinary.Thread.Warp()) != rc.Block {
		f.Memory = "shared::cluster"
	}
}

// lateFences returns the accesses that only a proxy fence by another thread orders, if the first
// text has none: that is a warning of heddle check, and no repair should cause one.
func (j *judge) lateFences(rep *race.Report) []race.Race {
	if j.before == nil {
		j.late = j.late || len(rep.Late) > 0
	}
	if j.late {
		return nil
	}
	return rep.Late
}

// stopKinds are the findings of errors at one place that a change of the synchronization may repair.
var stopKinds = map[emu.StopKind]repair.Kind{
	emu.MBarrierUninitialized: repair.NoObject,
	emu.MBarrierState:         repair.NoState,
	emu.MBarrierExcess:        repair.Surplus,
	emu.PeerExited:            repair.MayHaveEnded,
	emu.WarpgroupFence:        repair.NoMatrixFence,
	emu.WarpgroupRegister:     repair.EarlyRegister,
	emu.TensorLeft:            repair.TensorLeft,
	emu.TensorFreed:           repair.TensorFreed,
	emu.TensorNoAllocation:    repair.NoAllocation,
	emu.TensorRelinquished:    repair.NoPermit,
}

// stopped adds the findings of a run that an error of the kernel has stopped, if a change of its
// synchronization may repair it.
func (j *judge) stopped(p *parsed, m *emu.Machine, res *emu.Result, out *repair.Judgement) bool {
	add := func(kind repair.Kind, s event.Site) *repair.Finding {
		at := siteOffset(p, m, s)
		f := repair.Finding{Kind: kind, A: at, B: at, Reach: repair.InBlock, Shown: true,
			Text: res.Stop.Message}
		out.Findings = append(out.Findings, f)
		return &out.Findings[len(out.Findings)-1]
	}
	switch res.Stop.Kind {
	case emu.Deadlock, emu.BytesMismatch:
		for i := range res.Waits {
			w := &res.Waits[i]
			if w.Numbered {
				continue
			}
			f := add(repair.Stuck, w.Site)
			if w.Object != nil && w.Phase == w.Now {
				f.Arrivals, f.Bytes = w.Arrivals, w.Bytes
			}
		}
	case emu.BadBarrier:
		if m.Site(res.Stop.Site).Instr.Action() != isa.ActClusterBarrier {
			return false
		}
		add(repair.ClusterUse, res.Stop.Site)
	default:
		kind, ok := stopKinds[res.Stop.Kind]
		if !ok {
			return false
		}
		add(kind, res.Stop.Site)
	}
	return len(out.Findings) > 0
}
