package run

import (
	"fmt"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/isa"
	"heddle/internal/lazyregexp"
	"heddle/internal/race"
)

// What a report advises on barriers that threads miss, and on accesses outside of an array. As in
// remedy.go this is advice: nothing here is proved.

// barrierRemedy says what would end a barrier error; empty if there is no advice but that of
// heddle explain. waiting are the barriers of a deadlock.
func (r *Run) barrierRemedy(be *race.BarrierError, waiting []awaited) string {
	switch be.Kind {
	case race.Divergence:
		return r.divergenceRemedy(be)
	case race.Deadlock:
		return r.deadlockRemedy(waiting)
	case race.WarpSyncHang:
		return "name in the mask exactly the lanes that reach this place, or move it out of the " +
			"conditional code"
	case race.CountMismatch:
		return fmt.Sprintf("use barrier %d with one count and one form in all of its places", be.Barrier)
	case race.NoWaiter:
		return fmt.Sprintf("let the threads that need the data wait at barrier %d, and count them", be.Barrier)
	case race.Recycled, race.TooMany:
		return "let the threads that arrive early wait at another barrier first, or use two barrier " +
			"numbers in turn"
	case race.SplitBarrier:
		return outOfCondition
	}
	return ""
}

// divergenceRemedy is the remedy for threads of a block that do not reach one barrier.
func (r *Run) divergenceRemedy(be *race.BarrierError) string {
	name := r.barrierName(be)
	switch {
	case len(be.Exited) > 0:
		if cond := r.conditionsOf(r.Machine.Site(be.Groups[0].Site)); len(cond) == 1 {
			return fmt.Sprintf("do not return before %s: instead of leaving at %s, skip only the accesses "+
				"of the threads that leave there, so that all threads reach the barrier", name, cond[0])
		}
		return fmt.Sprintf("let all threads of the block reach %s: a thread without work skips the work, "+
			"not the barrier", name)
	case arrivedTwice(be.Groups):
		return fmt.Sprintf("let all threads of the block execute %s equally often: move it out of the "+
			"conditional code, and let the loop around it have one number of iterations for all", name)
	}
	return outOfCondition
}

// outOfCondition is the remedy for a barrier of which threads reach another one, or none.
const outOfCondition = "move the barrier out of the conditional code, so that all threads of the " +
	"block reach the same one"

// undefined says why it is an error that threads have exited before a barrier, although most
// devices continue.
const undefined = "all threads of a block must reach a barrier, or the behavior is undefined (PTX ISA " +
	"9.7.13.1); devices since sm_70 wait only for threads that have not exited, which hides the mistake"

// deadlockRemedy is the remedy for threads that wait at barriers with counts.
func (r *Run) deadlockRemedy(waiting []awaited) string {
	var first []string // arrivals of warps that write nothing to shared memory before them
	crossed := true    // all of them wait at both barriers
	for _, w := range waiting {
		switch {
		case w.count > uint32(r.Config.Geometry.ThreadsPerBlock()):
			return fmt.Sprintf("give barrier %d the number of threads that use it in one generation, at "+
				"most %d", w.barrier, r.Config.Geometry.ThreadsPerBlock())
		case len(w.missing) == 0:
			return fmt.Sprintf("give barrier %d the number of threads that arrive or wait at it in one "+
				"generation, or let the missing ones arrive", w.barrier)
		}
		m := w.missing[0]
		to, from := r.lineOf(emu.SiteInfo{Instr: m.arrival}), r.lineOf(r.Machine.Site(m.at.Site))
		if to == 0 || from == 0 {
			return "let all warps use the barriers in one order"
		}
		b, _ := m.arrival.NumberedBarrier()
		crossed = crossed && b.Waits
		if !b.Waits && !r.storesBetween(from, to) {
			first = append(first, fmt.Sprintf("move the arrival at barrier %d in line %d to before the wait in "+
				"line %d", w.barrier, to, from))
		}
	}
	if crossed {
		return "let all warps wait at these barriers in the same order"
	}
	const cycle = "break the cycle: one of these warps must arrive before it waits"
	if len(first) == 1 {
		return cycle + ", usually the one that announces a free buffer; here, " + first[0]
	}
	return cycle
}

// storesBetween reports whether the kernel writes to shared memory between two of its lines.
func (r *Run) storesBetween(from, to int) bool {
	for _, b := range r.Job.Kernel.Blocks {
		for _, in := range b.Instrs {
			n := r.homeLine(driver.Place(in))
			if in.Action() == isa.ActStore && in.Space != event.Global && from < n && n < to {
				return true
			}
		}
	}
	return false
}

// unreached lists the places at which warps would arrive at a barrier of a deadlock, if they did
// not wait at another one first.
func (r *Run) unreached(waiting []awaited) []diag.Related {
	var out []diag.Related
	for _, w := range waiting {
		if len(w.missing) == 0 {
			continue
		}
		m := w.missing[0]
		at, frames := r.userPlace(emu.SiteInfo{Instr: m.arrival})
		if !at.IsValid() {
			continue
		}
		out = append(out, diag.Related{Span: at, Stack: frames, Unreached: true, Message: fmt.Sprintf(
			"not reached: barrier %d waits for warp %d to get here", w.barrier, m.warp)})
	}
	return out
}

// boundsRemedy is the remedy for an access outside of an array, of which there are count; empty if
// no index is known.
func (r *Run) boundsRemedy(s *emu.Stop, count uint64) string {
	if s.Bound == (emu.Bound{}) {
		return ""
	}
	info := r.Machine.Site(s.Site)
	at, _ := r.userPlace(info)
	expr, _, _ := r.expression(info.Instr.Action() == isa.ActStore, at)
	m := indexRE.FindStringSubmatch(expr)
	switch {
	case m == nil || strings.ContainsAny(m[2], "[]"):
		return ""
	case s.Bound.Index < 0:
		return fmt.Sprintf("access it only if `%s >= 0`", m[2])
	}
	size := "more elements"
	if count == 1 {
		size = fmt.Sprintf("at least %d elements", s.Bound.Index+1)
	}
	return fmt.Sprintf("access it only if `%s < %d`, or give %s %s", m[2], s.Bound.Elements, m[1], size)
}

// indexRE matches an element of an array of one dimension: "s[t + 1]".
var indexRE = lazyregexp.New(`^(\w+)\[(.+)\]$`)
