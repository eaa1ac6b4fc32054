package run

import (
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
)

// The text of findings about bulk copies, proxies and mbarriers.

const (
	noProxyFence = "the first access is through the generic proxy and the second through the async " +
		"proxy: " +
		"synchronization alone does not order them, it needs a fence.proxy.async behind the first " +
		"access (PTX ISA 8.6, 8.9.5, 9.7.13.4)"
	noMapFence = "a copy reads its tensor map through a proxy of its own: behind the first access " +
		"it needs a fence.proxy.tensormap::generic.release (or tensormap.cp_fenceproxy), and behind " +
		"that, in the block that issues the copy, a fence.proxy.tensormap::generic.acquire of the map, " +
		"both of a scope that includes the other's thread (PTX ISA 9.7.13.4)"
	beforeBulk = "a bulk operation happens at some time between its issue, before which its thread " +
		"must " +
		"know of the other access, and its completion, for which the other thread must wait (PTX ISA " +
		"8.9.1.1)"
	beforeTensor = "a matrix operation reads its operands at some time between its issue, before " +
		"which its thread must know of the other access, and its completion, for which the other thread " +
		"must wait (PTX ISA 9.7.16.6)"
	beforeMatrix = "a matrix operation reads its operands at some time between its issue, before " +
		"which its warp must know of the other access, and its completion, for which the other thread " +
		"must wait (PTX ISA 9.7.15.7)"
)

// isBulk reports whether a side of a race is a bulk operation.
func isBulk(rc *race.Race) bool {
	return ofBulk(&rc.First) || ofBulk(&rc.Second)
}

// ofBulk reports whether an access is by a bulk operation, the read of a tensor map included.
func ofBulk(a *race.Access) bool {
	return a.Async && (a.Proxy == event.AsyncProxy || a.Proxy == event.TensorMapProxy)
}

// isMatrix reports whether an instruction is a matrix operation of a warpgroup.
func isMatrix(in *ir.Instr) bool { return in.Action() == isa.ActMatrixAsync }

// asyncName names the kind of an asynchronous operation.
func asyncName(in *ir.Instr) string {
	if isMatrix(in) || isTensor(in) {
		return "matrix operation"
	}
	return "bulk operation"
}

// notWaitedFor returns which access of a race is the asynchronous operation that was not waited
// for, from 1, and its instruction.
func (r *Run) notWaitedFor(rc *race.Race) (int, *ir.Instr) {
	if ofBulk(&rc.First) {
		return 1, r.Machine.Site(rc.First.Site).Instr
	}
	return 2, r.Machine.Site(rc.Second.Site).Instr
}

// beforeAsync says what orders another access before an asynchronous operation.
func (r *Run) beforeAsync(rc *race.Race) string {
	_, in := r.notWaitedFor(rc)
	if isMatrix(in) {
		return beforeMatrix
	}
	if isTensor(in) {
		return beforeTensor
	}
	return beforeBulk
}

// bulkNotWaited names the wait that would order a bulk operation before another access.
func (r *Run) bulkNotWaited(rc *race.Race) string {
	which, in := r.notWaitedFor(rc)
	if isMatrix(in) {
		return fmt.Sprintf("(%d) is a matrix operation that was not known to be complete: until a "+
			"wgmma.wait_group by its warp, nothing is ordered after what this warp reads of its operands"+
			" (PTX ISA 9.7.15.7.3); wait_group N leaves the last N groups under way", which)
	}
	if isTensor(in) {
		return fmt.Sprintf("(%d) is %s, which was not known to be complete: %s, and until then nothing is "+
			"ordered after what it reads of its operands (PTX ISA 9.7.16.6.2.1.1)", which, in.Op(),
			tensorDone(in))
	}
	use, _ := in.Desc.Async(len(in.Src))
	how := "cp.async.bulk.wait_group by the thread that issued it"
	if use.Track == isa.BarrierBytes {
		how = "a wait for the phase of the mbarrier that counts its bytes"
	}
	text := fmt.Sprintf("(%d) is a bulk operation that was not known to be complete: until %s, "+
		"nothing is ordered after it (PTX ISA 8.9.1.1, 9.7.9.25.4)", which, how)
	if use.Track != isa.BarrierBytes {
		text += "; wait_group.read waits for the reads of its source only"
	}
	return text
}

// lateFence is the diagnostic of an access that only a proxy fence of another thread orders.
func (r *Run) lateFence(rc *race.Race, seed uint64) diag.Diagnostic {
	d := r.raceFinding(diag.CodeProxyFenceLate, rc, seed)
	d.Severity = diag.Warning
	_, in := r.notWaitedFor(rc)
	d.Message = fmt.Sprintf("the only proxy fence between an access to %v and a %s is "+
		"by another thread", r.Example(rc).memory, asyncName(in))
	d.Notes = []string{"the memory model accepts a proxy fence by any thread of the block on the " +
		"way (PTX ISA 8.9.5); the CUDA C++ Programming Guide puts it with each thread that made an " +
		"access, in front of the barrier, and so should you"}
	return d
}

// stopKey identifies the finding of a run that has stopped: by its place, or by those at which
// threads wait.
func stopKey(code diag.Code, res *emu.Result) Key {
	key := Key{code, res.Stop.Site, res.Stop.Site}
	for _, w := range res.Waits {
		key.a, key.b = min(key.a, w.Site), max(key.b, w.Site)
	}
	return key
}

// waiting is the finding of threads that wait at mbarriers for ever.
func (r *Run) waiting(res *emu.Result, seed uint64) {
	s := res.Stop
	code := stopCodes[s.Kind]
	r.add(stopKey(code, res), nil, func() diag.Diagnostic {
		d := r.stopFinding(code, s, seed)
		d.Label = ""
		for _, w := range res.Waits {
			at, frames := r.userPlace(r.Machine.Site(w.Site))
			who := fullName(r.Config.Geometry, w.Thread)
			if w.Threads > 1 {
				who = fmt.Sprintf("%d threads, such as %s,", w.Threads, who)
			}
			text := fmt.Sprintf("%s wait here for %s", who, w.Text)
			if w.Threads == 1 {
				text = fmt.Sprintf("%s waits here for %s", who, w.Text)
			}
			if w.Site == s.Site && d.Label == "" {
				d.Label = text
				continue
			}
			d.Related = append(d.Related, diag.Related{Span: at, Stack: frames, Message: text})
		}
		r.holders(res, &d)
		return d
	})
}

// holders adds to a deadlock who holds the phases that miss arrivals.
func (r *Run) holders(res *emu.Result, d *diag.Diagnostic) {
	for _, w := range res.Waits {
		for _, h := range w.Holders {
			at, frames := r.userPlace(r.Machine.Site(h.Site))
			first := fullName(r.Config.Geometry, h.Thread)
			who := first
			if h.Threads > 1 {
				who = fmt.Sprintf("%d threads", h.Threads)
			}
			text := fmt.Sprintf("%s arrived here in the phase before; %s now %s", who, first, h.Text)
			d.Related = append(d.Related, diag.Related{Span: at, Stack: frames, Message: text})
		}
	}
}

// unfinished reports asynchronous operations that no thread waited for.
func (r *Run) unfinished(res *emu.Result, seed uint64) {
	for i := range res.Leftovers {
		o := &res.Leftovers[i]
		key := Key{diag.CodeAsyncUnfinished, o.Site, o.Site}
		r.add(key, nil, func() diag.Diagnostic {
			s := emu.Stop{Site: o.Site, Thread: o.Thread}
			op := driver.OpText(r.Machine.Site(o.Site).Instr)
			s.Message = fmt.Sprintf("no thread waits for the completion of %s, and the block has "+
				"ended", op)
			if o.Store {
				s.Message = fmt.Sprintf("the thread ends before %s has read its source", op)
			}
			d := r.errorFinding(diag.CodeAsyncUnfinished, &s, o.Count, seed)
			if o.Store {
				d.Severity = diag.Warning
				d.Notes = append(d.Notes, "libraries differ in this; the shared memory of a block may be "+
					"given to another one once all its threads have ended")
			}
			return d
		})
	}
}
