package run

import (
	"fmt"
	"math/bits"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/race"
)

// The text of barrier errors: which threads wait where, and for which.

// BarrierCodes are the diagnostic codes of the kinds of barrier errors.
var BarrierCodes = map[race.BarrierKind]diag.Code{
	race.Divergence:    diag.CodeBarrierDivergence,
	race.Deadlock:      diag.CodeBarrierDeadlock,
	race.WarpSyncHang:  diag.CodeWarpSyncHang,
	race.CountMismatch: diag.CodeBarrierCount,
	race.NoWaiter:      diag.CodeBarrierNoWaiter,
	race.Recycled:      diag.CodeBarrierRecycle,
	race.TooMany:       diag.CodeBarrierTooMany,
	race.SplitBarrier:  diag.CodeBarrierSplit,
}

// barrierFinding is the diagnostic of one barrier error: which threads wait where, and which are
// missing.
func (r *Run) barrierFinding(code diag.Code, be *race.BarrierError, seed uint64) diag.Diagnostic {
	info := r.Machine.Site(be.Groups[0].Site)
	at, frames := r.userPlace(info)
	d := diag.Diagnostic{
		Code: code, Severity: diag.Error, Kernel: r.Job.Kernel.Demangled, Count: be.Count,
		Message: r.BarrierMessage(be),
		Span:    at, Stack: frames, Label: r.waitText(be, be.Groups[0].Site),
		Notes:     r.libraryNote(info),
		Launch:    r.Config.Describe(),
		Reproduce: r.reproduce(seed),
		Witness:   r.witness(seed),
	}
	note := func(format string, args ...any) {
		d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
	}
	if be.Kind == race.SplitBarrier {
		d.Severity = diag.Warning
		note("PTX lets threads meet at different instructions with one barrier number, so this code " +
			"works on devices of today; in CUDA C++ and OpenCL C it is undefined")
	}
	if be.Kind == race.Recycled || be.Kind == race.TooMany {
		d.Label += fmt.Sprintf(", for generation %d", be.Generation+1)
		note("no chain of barriers orders this arrival after the end of generation %d, so these "+
			"threads may join generation %d in place of others", be.Generation, be.Generation)
	}
	// one related position per site: many warps often wait at the same one
	told := map[event.Site]bool{be.Groups[0].Site: true}
	for _, w := range be.Groups[1:] {
		if told[w.Site] {
			continue
		}
		told[w.Site] = true
		at, frames := r.userPlace(r.Machine.Site(w.Site))
		d.Related = append(d.Related, diag.Related{Span: at, Stack: frames, Message: r.waitText(be, w.Site)})
	}
	var waiting []awaited
	if be.Kind == race.Deadlock {
		waiting = r.awaited(be)
		d.Related = append(d.Related, r.unreached(waiting)...)
	}
	if len(be.Exited) > 0 {
		note("%s had exited", r.exitedText(be.Exited))
	}
	if be.Kind == race.Divergence {
		if text := r.conditions(r.Machine.Site(be.Groups[0].Site)); text != "" {
			note("%s", text)
		}
		if len(be.Exited) > 0 {
			note(undefined)
		}
	}
	for _, text := range r.counted(be) {
		note("%s", text)
	}
	if be.AfterFault {
		d.Notes = append(d.Notes, afterFault)
	}
	d.Groups = r.groups(be)
	if text := r.barrierRemedy(be, waiting); text != "" {
		d.Help = append(d.Help, text)
	}
	if be.Count > 1 {
		note("this happened %d times in the launch", be.Count)
	}
	return d
}

// BarrierMessage is the message of a barrier error: block, barrier, and what is wrong with it.
func (r *Run) BarrierMessage(be *race.BarrierError) string {
	g := r.Config.Geometry
	where := "block " + g.BlockIndex(be.Block).In(g.Grid)
	switch be.Kind {
	case race.Divergence:
		return fmt.Sprintf("barrier divergence in %s: %s", where, r.divergence(be))
	case race.SplitBarrier:
		return fmt.Sprintf("threads of %s meet at different barriers of the source: a barrier in "+
			"conditional code needs a condition that has the same value for all threads", where)
	case race.CountMismatch:
		return fmt.Sprintf("threads of %s take part in one generation of barrier %d with "+
			"different counts or forms", where, be.Barrier)
	case race.NoWaiter:
		return fmt.Sprintf("a generation of barrier %d in %s is completed by arrivals alone: "+
			"no thread waits, so it orders nothing", be.Barrier, where)
	case race.Recycled:
		return fmt.Sprintf("barrier %d is reused too early in %s: nothing orders generation "+
			"%d before an arrival for generation %d", be.Barrier, where, be.Generation, be.Generation+1)
	case race.TooMany:
		return fmt.Sprintf("more threads reach barrier %d in %s than generation %d expects; "+
			"the surplus threads wait for a generation that no other thread joins",
			be.Barrier, where, be.Generation)
	case race.WarpSyncHang:
		at := "bar.warp.sync"
		for _, g := range be.Groups {
			if g.WarpBar {
				at = r.Machine.Site(g.Site).Instr.Op() // or a shuffle, a matrix instruction
				break
			}
		}
		return fmt.Sprintf("lanes of a warp of %s wait at %s for lanes that never arrive",
			where, at)
	}
	why := "every waiting thread waits for an arrival that never happens"
	if notes := r.deadlockNotes(be); len(notes) > 0 {
		why = strings.Join(notes, "; ")
	}
	return fmt.Sprintf("deadlock in %s: %s", where, why)
}

// barrierName names the barrier of an error as the source has it: "`__syncthreads()`".
func (r *Run) barrierName(be *race.BarrierError) string {
	at, _ := r.userPlace(r.Machine.Site(be.Groups[0].Site))
	if expr, _, call := r.expression(false, at); call {
		return "`" + expr + "`"
	}
	return fmt.Sprintf("barrier %d", be.Barrier)
}

// arrivedTwice reports whether some lane is in two of the groups: it reached the barrier again
// while an earlier arrival of its warp was still pending.
func arrivedTwice(groups []event.Wait) bool {
	seen := make(map[event.Warp]uint32)
	for _, g := range groups {
		if seen[g.Warp]&g.Mask != 0 {
			return true
		}
		seen[g.Warp] |= g.Mask
	}
	return false
}

// divergence says which threads wait for which.
func (r *Run) divergence(be *race.BarrierError) string {
	n := threadsIn(be.Groups)
	switch {
	case len(be.Exited) > 0:
		gone := 0
		for _, x := range be.Exited {
			gone += bits.OnesCount32(x.Mask)
		}
		return fmt.Sprintf("%s at %s, and %s exited", count(n, "thread waits", "threads wait"),
			r.barrierName(be), count(gone, "has", "have"))
	case arrivedTwice(be.Groups):
		return fmt.Sprintf("a warp reaches %s again before it is complete", r.barrierName(be))
	}
	return "its threads wait at different barriers"
}

// threadsIn counts the threads of some groups.
func threadsIn(groups []event.Wait) int {
	lanes := make(map[event.Warp]uint32)
	for _, w := range groups {
		lanes[w.Warp] |= w.Mask
	}
	n := 0
	for _, mask := range lanes {
		n += bits.OnesCount32(mask)
	}
	return n
}

// count returns n with the singular or plural form of a phrase.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// waitText describes the threads that wait at a site, and how many threads the barrier expects if
// the instruction gives a count.
func (r *Run) waitText(be *race.BarrierError, site event.Site) string {
	var here []event.Wait
	for _, w := range be.Groups {
		if w.Site == site {
			here = append(here, w)
		}
	}
	w := here[0]
	who := r.warpText(w.Warp, w.Mask)
	if n := threadsIn(here); len(here) > 1 {
		who = count(n, "thread", "threads")
	}
	if who += " wait"; threadsIn(here) == 1 {
		who += "s"
	}
	switch {
	case w.WarpBar:
		return fmt.Sprintf("%s here for lanes 0x%08x", who, w.Members)
	case w.Count != 0:
		return fmt.Sprintf("%s at barrier %d for %d threads", who, w.Barrier, w.Count)
	case w.Barrier != 0:
		return fmt.Sprintf("%s at barrier %d", who, w.Barrier)
	}
	return who + " here"
}

// warpText names lanes of a warp: "threads 96 to 103 of warp 3".
func (r *Run) warpText(w event.Warp, mask uint32) string {
	g := r.Config.Geometry
	return fmt.Sprintf("%s of warp %d", lanesText(g, w, mask), uint32(w)%uint32(g.WarpsPerBlock()))
}

// exitedText names the threads that have exited.
func (r *Run) exitedText(list []event.Exit) string {
	text := r.warpText(list[0].Warp, list[0].Mask)
	if n := len(list) - 1; n > 0 {
		text += " and " + count(n, "more warp", "more warps")
	}
	return text
}

// counted describes, for a deadlock, the barriers at which threads have arrived without waiting, or
// count more than once: each arrival counts.
func (r *Run) counted(be *race.BarrierError) []string {
	var notes []string
	for _, a := range be.Arrived {
		if n := threadsIn(a.Groups); n > 0 {
			text := fmt.Sprintf("%s arrived at barrier %d without waiting", count(n, "thread has",
				"threads have"), a.Barrier)
			if arrivedTwice(a.Groups) {
				text += ", some of them more than once, and each arrival counts"
			}
			notes = append(notes, text)
		}
	}
	return notes
}
