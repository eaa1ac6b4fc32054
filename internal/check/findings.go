package check

import (
	"fmt"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/race"
)

// findings reports what the detector found in one run.
func (r *kernelRun) findings(rep *race.Report, seed uint64) {
	r.tolerated += rep.Tolerated
	for i := range rep.Races {
		rc := &rep.Races[i]
		key := raceKey(rc)
		r.add(key, func() diag.Diagnostic { return r.raceFinding(key.code, rc, seed) })
	}
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		if key, ok := barrierKey(be); ok {
			r.add(key, func() diag.Diagnostic { return r.barrierFinding(key.code, be, seed) })
		}
	}
}

// raceKey is the key of a race: which side comes first depends on the schedule.
func raceKey(rc *race.Race) findingKey {
	a, b := rc.First.Site, rc.Second.Site
	return findingKey{raceCode(rc), min(a, b), max(a, b)}
}

// barrierKey is the key of a barrier error, if threads wait at one: who comes first depends on the schedule.
func barrierKey(be *race.BarrierError) (key findingKey, ok bool) {
	if len(be.Groups) == 0 {
		return findingKey{}, false
	}
	key = findingKey{barrierCodes[be.Kind], be.Groups[0].Site, be.Groups[0].Site}
	for _, g := range be.Groups {
		key.a, key.b = min(key.a, g.Site), max(key.b, g.Site)
	}
	return key, true
}

func raceCode(rc *race.Race) diag.Code {
	switch {
	case rc.First.Async || rc.Second.Async: // waited for or not: that depends on the schedule
		return diag.CodeAsyncCopy
	case rc.Cause == race.OtherProxy:
		return diag.CodeNoncoherent
	case rc.Level == race.BranchOrdering:
		return diag.CodeBranchOrder
	case rc.Space == event.Shared:
		return diag.CodeRaceShared
	}
	return diag.CodeRaceGlobal
}

// raceFinding words one race.
func (r *kernelRun) raceFinding(code diag.Code, rc *race.Race, seed uint64) diag.Diagnostic {
	g := r.cfg.Geometry
	one, two := r.machine.Site(rc.First.Site), r.machine.Site(rc.Second.Site)
	lo := max(rc.First.Addr, rc.Second.Addr)
	hi := min(rc.First.Addr+uint64(rc.First.Size), rc.Second.Addr+uint64(rc.Second.Size))
	mem := r.memoryAt(rc.Space, rc.Block, lo, hi-lo)
	op1, op2 := opText(one.Instr), opText(two.Instr)
	d := diag.Diagnostic{
		Code: code, Severity: diag.Error, Kernel: r.kernel.Demangled, Count: rc.Hazards,
		Message: fmt.Sprintf("%s %s data race on %v between (1) %s by %s and (2) %s by %s%s", raceKind(rc), rc.Level, mem,
			op1, threadText(g, rc.First.Thread), op2, threadText(g, rc.Second.Thread), causeText(rc)),
		Span: place(two), Stack: stack(two), Label: "(2) just happened here",
		Related:   []diag.Related{{Span: place(one), Stack: stack(one), Message: "and (1) occurred earlier here"}},
		Notes:     []string{r.whyUnordered(rc), interval(rc)},
		Reproduce: r.reproduce(seed),
		Witness: &diag.Witness{
			Engine: "emulator", Launch: r.cfg.Flags(), Seed: seed, Level: rc.Level.String(), Status: "observed",
			First:  diag.WitnessAccess{Op: op1, Thread: threadText(g, rc.First.Thread), Kind: rc.First.Kind.String()},
			Second: diag.WitnessAccess{Op: op2, Thread: threadText(g, rc.Second.Thread), Kind: rc.Second.Kind.String()},
			Memory: mem.name, Offset: mem.offset, Size: mem.size,
			Interval: rc.Interval, Entry: kernelPlace(r.kernel),
		},
	}
	if r.parts {
		d.Notes = append(d.Notes, fmt.Sprintf("barriers and fences count only where their flags name this memory (%s)", fenceFlag(rc.Space)))
	}
	if r.sameValue[pairOf(r.machine, rc)] {
		d.Message = "benign " + d.Message
		d.Notes = append(d.Notes, sameValueNote())
	}
	if rc.First.Order == event.Weak && strongPair(r.machine, rc) {
		d.Notes = append(d.Notes, "both are volatile or relaxed: no data race by PTX ISA 8.7, but which value is read depends on the order")
	}
	if rc.Hazards > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d pairs of a thread and a location conflict at these two places", rc.Hazards))
	}
	d.Notes = append(d.Notes, "launch: "+r.cfg.Describe())
	return d
}

// fenceFlag is the flag of OpenCL's barriers and fences for a space.
func fenceFlag(s event.Space) string {
	if s == event.Shared {
		return "CLK_LOCAL_MEM_FENCE"
	}
	return "CLK_GLOBAL_MEM_FENCE"
}

// causeText says in a few words what a race is about, where it is not just two accesses that nothing orders.
func causeText(rc *race.Race) string {
	switch rc.Cause {
	case race.NotWaited:
		return ": asynchronous copy not waited for"
	case race.OtherProxy:
		return ": non-coherent load of data that the kernel writes"
	}
	return ""
}

// interval says in which barrier interval the race is.
func interval(rc *race.Race) string {
	who := "both are"
	if rc.Level == race.InterBlock || rc.Cause != race.Unordered { // barriers need not be between them then
		who = "(2) is"
	}
	if rc.Interval == 0 {
		return who + " in barrier interval 0, before the first barrier of the whole block"
	}
	return fmt.Sprintf("%s in barrier interval %d, after barrier %d of the whole block", who, rc.Interval, rc.Interval)
}

// raceKind is the kind of a race: read-write, write-write or atomic-plain.
func raceKind(rc *race.Race) string {
	a, b := rc.First.Kind, rc.Second.Kind
	switch {
	case a.RMW() && b.RMW():
		return "atomic-atomic"
	case a.RMW() || b.RMW():
		return "atomic-plain"
	case a == event.Write && b == event.Write:
		return "write-write"
	}
	return "read-write"
}

// whyUnordered says which rule would have to hold for the two accesses not to race.
func (r *kernelRun) whyUnordered(rc *race.Race) string {
	a, b := rc.First, rc.Second
	switch {
	case rc.Cause == race.NotWaited:
		return notWaited(rc)
	case rc.Cause == race.OtherProxy:
		return "a non-coherent load is ordered with no write of the same kernel, not even of its own thread: nothing joins its proxy to the generic one (PTX ISA 8.6, 8.9.5)"
	}
	if a.Order.Strong() && b.Order.Strong() {
		if a.Addr != b.Addr || a.Size != b.Size {
			return "both are strong, but they overlap only in part, so they are not morally strong (PTX ISA 8.7)"
		}
		g := r.cfg.Geometry
		if !g.Includes(a.Scope, a.Thread, b.Thread) {
			return fmt.Sprintf("the scope .%s of (1) does not include the thread of (2) (PTX ISA 8.5, 8.7)", a.Scope)
		}
		return fmt.Sprintf("the scope .%s of (2) does not include the thread of (1) (PTX ISA 8.5, 8.7)", b.Scope)
	}
	switch rc.Level {
	case race.IntraWarp:
		if a.Site == b.Site && r.opt.Warp == "lockstep" {
			return "lanes of one instruction are not ordered"
		}
		return "no __syncwarp, barrier or release/acquire orders the two lanes; a warp does not run in lock step since sm_70"
	case race.BranchOrdering:
		return "the two are on different paths of one branch, whose order the hardware may choose"
	case race.IntraBlock:
		return "no barrier or release/acquire orders (1) and (2)"
	}
	return "__syncthreads does not order blocks; only a release by one thread that another acquires does, with fences or scopes that include both"
}

// notWaited says which copy was not complete, and whether its thread is to blame alone.
func notWaited(rc *race.Race) string {
	which := "(1) is an asynchronous copy that was"
	switch {
	case rc.First.Async && rc.Second.Async:
		which = "both are asynchronous copies, of which (1) was"
		if rc.First.Site == rc.Second.Site && rc.First.Thread != rc.Second.Thread {
			which = "both are asynchronous copies, which were"
		}
	case rc.Second.Async:
		which = "(2) is an asynchronous copy that was"
	}
	what := which + " not complete: its thread had not waited for its group by cp.async.wait_group or cp.async.wait_all, and a copy is ordered before nothing until then (PTX ISA 8.9.1.1, 9.7.9.25.3.3)"
	if rc.First.Thread != rc.Second.Thread {
		what += "; other threads also need a barrier after the wait"
	}
	return what
}

var barrierCodes = map[race.BarrierKind]diag.Code{
	race.Divergence:    diag.CodeBarrierDivergence,
	race.Deadlock:      diag.CodeBarrierDeadlock,
	race.WarpSyncHang:  diag.CodeWarpSyncHang,
	race.CountMismatch: diag.CodeBarrierCount,
	race.NoWaiter:      diag.CodeBarrierNoWaiter,
	race.Recycled:      diag.CodeBarrierRecycle,
	race.TooMany:       diag.CodeBarrierTooMany,
}

// barrierFinding words one barrier error: who waits where, and who is missing.
func (r *kernelRun) barrierFinding(code diag.Code, be *race.BarrierError, seed uint64) diag.Diagnostic {
	g := r.cfg.Geometry
	first := r.machine.Site(be.Groups[0].Site)
	d := diag.Diagnostic{
		Code: code, Severity: diag.Error, Kernel: r.kernel.Demangled, Count: be.Count,
		Message: r.barrierMessage(be),
		Span:    place(first), Stack: stack(first), Label: r.waitText(be.Groups[0]),
		Reproduce: r.reproduce(seed),
		Witness:   &diag.Witness{Engine: "emulator", Launch: r.cfg.Flags(), Seed: seed, Status: "observed"},
	}
	if be.Kind == race.Recycled || be.Kind == race.TooMany {
		d.Label += fmt.Sprintf(", for generation %d", be.Generation+1)
		d.Notes = append(d.Notes, fmt.Sprintf("no chain of barriers leads from the end of generation %d to here, so that these threads may come to generation %d in place of others",
			be.Generation, be.Generation))
	}
	told := map[event.Site]bool{be.Groups[0].Site: true}
	for _, w := range be.Groups[1:] {
		if told[w.Site] {
			continue
		}
		told[w.Site] = true
		info := r.machine.Site(w.Site)
		d.Related = append(d.Related, diag.Related{Span: place(info), Stack: stack(info), Message: r.waitText(w)})
	}
	if len(be.Exited) > 0 {
		x := be.Exited[0]
		note := fmt.Sprintf("%s of warp %d had exited", lanesText(g, x.Warp, x.Mask), uint32(x.Warp)%uint32(g.WarpsPerBlock()))
		if len(be.Exited) > 1 {
			note += fmt.Sprintf(", and threads of %d more warps", len(be.Exited)-1)
		}
		d.Notes = append(d.Notes, note)
	}
	d.Groups = r.groups(be)
	if be.Count > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("this happened %d times in the launch", be.Count))
	}
	d.Notes = append(d.Notes, "launch: "+r.cfg.Describe())
	return d
}

func (r *kernelRun) barrierMessage(be *race.BarrierError) string {
	block := r.cfg.Geometry.BlockIndex(be.Block)
	switch be.Kind {
	case race.Divergence:
		if len(be.Exited) > 0 {
			return fmt.Sprintf("barrier divergence in block %v: threads wait at barrier %d, others have exited", block, be.Barrier)
		}
		if cameTwice(be.Groups) {
			return fmt.Sprintf("barrier divergence in block %v: a warp comes to barrier %d again before it is complete", block, be.Barrier)
		}
		return fmt.Sprintf("barrier divergence in block %v: threads are at different barriers", block)
	case race.CountMismatch:
		return fmt.Sprintf("threads of block %v take part in one generation of barrier %d with different counts or forms", block, be.Barrier)
	case race.NoWaiter:
		return fmt.Sprintf("a generation of barrier %d in block %v is completed by arrivals alone: no thread waits, so that it orders nothing", be.Barrier, block)
	case race.Recycled:
		return fmt.Sprintf("barrier %d is reused too early in block %v: nothing orders generation %d before an arrival for generation %d",
			be.Barrier, block, be.Generation, be.Generation+1)
	case race.TooMany:
		return fmt.Sprintf("more threads come to barrier %d in block %v than generation %d counts, and those that are left over find no partners",
			be.Barrier, block, be.Generation)
	case race.WarpSyncHang:
		at := "bar.warp.sync"
		for _, g := range be.Groups {
			if g.WarpBar {
				at = r.machine.Site(g.Site).Instr.Op() // or a shuffle, a matrix instruction
				break
			}
		}
		return fmt.Sprintf("lanes of a warp of block %v wait at %s for lanes that never come", block, at)
	}
	why := "the threads that wait at barriers wait for arrivals that never come"
	if notes := r.deadlockNotes(be); len(notes) > 0 {
		why = strings.Join(notes, "; ")
	}
	return fmt.Sprintf("deadlock in block %v: %s", block, why)
}

// cameTwice reports whether some lane is in two of the groups.
func cameTwice(groups []event.Wait) bool {
	seen := make(map[event.Warp]uint32)
	for _, g := range groups {
		if seen[g.Warp]&g.Mask != 0 {
			return true
		}
		seen[g.Warp] |= g.Mask
	}
	return false
}

func (r *kernelRun) waitText(w event.Wait) string {
	g := r.cfg.Geometry
	who := fmt.Sprintf("%s of warp %d", lanesText(g, w.Warp, w.Mask), uint32(w.Warp)%uint32(g.WarpsPerBlock()))
	switch {
	case w.WarpBar:
		return fmt.Sprintf("%s waits here for lanes 0x%08x", who, w.Members)
	case w.Count != 0:
		return fmt.Sprintf("%s at barrier %d for %d threads", who, w.Barrier, w.Count)
	}
	return fmt.Sprintf("%s at barrier %d", who, w.Barrier)
}

// annotationFinding words an annotation that does not hold.
func (r *kernelRun) annotationFinding(a *emu.FailedAnnotation, seed uint64) diag.Diagnostic {
	info := r.machine.Site(a.Site)
	who := threadText(r.cfg.Geometry, a.Thread)
	return diag.Diagnostic{
		Code: diag.CodeAnnotation, Severity: diag.Error, Kernel: r.kernel.Demangled, Count: a.Count,
		Message: fmt.Sprintf("the %s does not hold for %s", a.Kind, who), Span: place(info), Stack: stack(info), Label: "false here",
		Notes:     []string{"launch: " + r.cfg.Describe()},
		Reproduce: r.reproduce(seed),
		Witness:   &diag.Witness{Engine: "emulator", Launch: r.cfg.Flags(), Seed: seed, Status: "observed"},
	}
}

// stopFinding words an error that ended the kernel.
func (r *kernelRun) stopFinding(code diag.Code, s *emu.Stop, seed uint64) diag.Diagnostic {
	info := r.machine.Site(s.Site)
	return diag.Diagnostic{
		Code: code, Severity: diag.Error, Kernel: r.kernel.Demangled, Count: 1,
		Message: s.Message, Span: place(info), Stack: stack(info),
		Label:     fmt.Sprintf("%s by %s", opText(info.Instr), threadText(r.cfg.Geometry, s.Thread)),
		Notes:     []string{"the run of this kernel ended here; what comes later was not checked", "launch: " + r.cfg.Describe()},
		Reproduce: r.reproduce(seed),
		Witness:   &diag.Witness{Engine: "emulator", Launch: r.cfg.Flags(), Seed: seed, Status: "observed"},
	}
}
