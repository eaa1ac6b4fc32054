package run

import (
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/isa"
	"heddle/internal/race"
)

// The text of findings. A race is described by both accesses, the rule of the memory model that
// leaves them unordered, and the barrier interval; a barrier error by the threads that wait and
// those that are missing. Positions come from package driver, so a finding inside heddle's headers
// points to the line of user code that called it.
//
// The detector decides that two accesses race; nothing in this file changes that decision.

// Findings reports what the detector found in one run, races before barrier errors. The seed goes
// into the reproduce line.
func (r *Run) Findings(rep *race.Report, seed uint64) {
	r.Tolerated += rep.Tolerated
	r.WithoutFence += rep.Proxies(r.Job.Options().FenceOfWriter, r.Job.Options().IgnoreProxyReads)
	for i := range rep.Races {
		rc := &rep.Races[i]
		key := raceKey(rc)
		if rc.First.Order == event.Weak && Strong(r.Machine, rc) {
			key.code = diag.CodeRaceUnorderedStrong // of a trace, whose events are weak
		}
		r.add(key, rc, func() diag.Diagnostic {
			if rc.Cause == race.LateProxyFence {
				d := r.lateFence(rc, seed)
				d.Severity = diag.Error
				return d
			}
			if key.code == diag.CodeRaceGrid {
				return r.gridFinding(rc, seed)
			}
			return r.raceFinding(key.code, rc, seed)
		})
	}
	for i := range rep.Late {
		rc := &rep.Late[i]
		r.add(raceKey(rc), rc, func() diag.Diagnostic {
			if rc.Cause == race.NoTensorFence {
				return r.withoutFence(rc, seed)
			}
			return r.lateFence(rc, seed)
		})
	}
	for i := range rep.Exchanges {
		x := &rep.Exchanges[i]
		if why := r.protocols().excuse(x); why.reported() {
			r.add(exchangeKey(x), &x.Race, func() diag.Diagnostic { return r.exchangeFinding(x, why, seed) })
		}
	}
	for i := range rep.Early {
		r.early(&rep.Early[i], seed)
	}
	for i := range rep.Maps {
		r.mapUse(&rep.Maps[i], seed)
	}
	for i := range rep.Lifetimes {
		r.lifetime(&rep.Lifetimes[i], seed)
	}
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		if be.Kind == race.SplitBarrier {
			if !r.split(be) {
				continue
			}
			r.met = true
		}
		if key, ok := barrierKey(be); ok {
			r.add(key, nil, func() diag.Diagnostic { return r.barrierFinding(key.code, be, seed) })
		}
	}
}

// raceKey identifies a race by its code and its two sites. The sites are sorted, because the
// schedule decides which access is first.
func raceKey(rc *race.Race) Key {
	a, b := rc.First.Site, rc.Second.Site
	return Key{RaceCode(rc), min(a, b), max(a, b)}
}

// barrierKey identifies a barrier error by its code and the range of sites at which threads wait,
// so it does not depend on which group of threads waited first. ok is false if no thread waits.
func barrierKey(be *race.BarrierError) (key Key, ok bool) {
	if len(be.Groups) == 0 {
		return Key{}, false
	}
	key = Key{BarrierCodes[be.Kind], be.Groups[0].Site, be.Groups[0].Site}
	for _, g := range be.Groups {
		key.a, key.b = min(key.a, g.Site), max(key.b, g.Site)
	}
	return key, true
}

// RaceCode is the most specific code that applies, and the order of the cases matters: the remedy
// for an asynchronous copy (wait for it) or a non-coherent load (use another load) is not a
// barrier.
func RaceCode(rc *race.Race) diag.Code {
	switch {
	case rc.First.Grid || rc.Second.Grid:
		return diag.CodeRaceGrid
	case rc.Cause == race.NoTensorFence:
		return diag.CodeTensorFence
	case onTensor(rc):
		return diag.CodeRaceTensor
	case rc.Cause == race.NoProxyFence || rc.Cause == race.NoMapFence:
		return diag.CodeRaceProxy
	case rc.Cause == race.LateProxyFence:
		return diag.CodeProxyFenceLate
	case rc.First.Async || rc.Second.Async: // even if Cause says otherwise: it varies by schedule
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

// raceFinding is the diagnostic of one race. The memory that it names is the overlap of the two
// accesses, which may differ in address and size. The two are told in the order of the program
// where that is known, else in that of the run.
func (r *Run) raceFinding(code diag.Code, rc *race.Race, seed uint64) diag.Diagnostic {
	hazards, across := rc.Hazards, rc.Across
	ex := r.Example(rc)
	rc = shown(rc)
	g := r.Config.Geometry
	one, two := r.Machine.Site(rc.First.Site), r.Machine.Site(rc.Second.Site)
	mem := ex.memory
	value1, value2 := r.values(rc)
	remedy := r.remedy(rc, one, two)
	came := [2]string{" (first in this run)", ""}
	if r.reversed(rc, one, two) {
		other := *rc
		other.First, other.Second = rc.Second, rc.First
		rc, one, two, value1, value2 = &other, two, one, value2, value1
		ex.First, ex.Second, came[0], came[1] = ex.Second, ex.First, came[1], came[0]
	}
	who := [2]string{threadText(g, rc.First.Thread), threadText(g, rc.Second.Thread)}
	witness := r.witness(seed)
	witness.Level = rc.Level.String()
	op1, op2 := driver.OpText(one.Instr), driver.OpText(two.Instr)
	witness.First = diag.WitnessAccess{Op: op1, Thread: who[0], Kind: rc.First.Kind.String()}
	witness.Second = diag.WitnessAccess{Op: op2, Thread: who[1], Kind: rc.Second.Kind.String()}
	witness.Memory, witness.Offset, witness.Size = mem.name, mem.offset, mem.size
	witness.NoBarrier = rc.Interval == 0 && !r.hasBarriers()
	witness.Interval, witness.Entry = rc.Interval, driver.KernelPlace(r.Job.Kernel)
	witness.Element, witness.ElementSize, witness.Dims = mem.index, mem.shape.Elem, mem.shape.Dims
	first, second := r.accessOf(&rc.First, one), r.accessOf(&rc.Second, two)
	witness.First.Does, witness.Second.Does = first.verb, second.verb
	witness.First.Name, witness.Second.Name = fullName(g, rc.First.Thread), fullName(g, rc.Second.Thread)
	when1, when2 := ex.First.When, ex.Second.When
	witness.First.Value, witness.Second.Value = value1, value2
	witness.First.When, witness.Second.When = when1, when2
	d := diag.Diagnostic{
		Code: code, Severity: diag.Error, Kernel: r.Job.Kernel.Demangled, Count: hazards,
		Message: fmt.Sprintf("%s %v: %s, %s", r.raceText(code, rc), mem,
			bothAccess(ex.First.Thread, first.verb, ex.Second.Thread, second.verb), r.between(rc)),
		Span: second.at, Stack: second.stack,
		Label: fmt.Sprintf("(2) %s here by %s%s%s%s", second.done, fullName(g, rc.Second.Thread), with(when2),
			value2, came[1]),
		Related: []diag.Related{{Span: first.at, Stack: first.stack,
			Message: fmt.Sprintf("(1) %s here by %s%s%s%s", first.done,
				fullName(g, rc.First.Thread), with(when1), value1, came[0])}},
		Notes:     append(r.libraryNotes(one, two), r.whyUnordered(rc)),
		Details:   []string{fmt.Sprintf("(1) is %s, (2) is %s", op1, op2)},
		Launch:    r.Config.Describe(),
		Reproduce: r.reproduce(seed),
		Witness:   witness,
	}
	if remedy != "" {
		d.Help = append(d.Help, remedy)
	}
	r.raceNotes(rc, hazards, across, &d)
	d.Alike, d.Separate = r.alike(rc, one, two, mem)
	return d
}

// raceText begins the message of a race, or of strong accesses, which are none.
func (r *Run) raceText(code diag.Code, rc *race.Race) string {
	if code == diag.CodeRaceUnorderedStrong {
		return "unordered " + r.strength(rc) + " accesses to"
	}
	return "data race on"
}

// strength says how two strong accesses are marked in the source.
func (r *Run) strength(rc *race.Race) string {
	for _, s := range []event.Site{rc.First.Site, rc.Second.Site} {
		if !r.Machine.Site(s).Instr.Has(isa.Volatile) {
			return "volatile or relaxed"
		}
	}
	return "volatile"
}

// exchangeFinding is the diagnostic of two strong accesses that nothing orders.
func (r *Run) exchangeFinding(x *race.Exchange, why excuse, seed uint64) diag.Diagnostic {
	d := r.raceFinding(diag.CodeRaceUnorderedStrong, &x.Race, seed)
	if why != noExcuse {
		d.Severity = diag.Warning
		d.Notes = slices.Insert(d.Notes, 0, "this is only a warning: "+excuseTexts[why])
	}
	return d
}

// raceNotes adds the notes that only some races have.
func (r *Run) raceNotes(rc *race.Race, hazards, across uint64, d *diag.Diagnostic) {
	note := func(format string, args ...any) {
		d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
	}
	switch {
	case !r.parts:
	case r.Job.Kernel.Module == nil || !r.Job.Kernel.Module.OpenCL:
		note("a fence with .sync_restrict orders shared memory only, and one with .shared::cta only " +
			"that of the block that executes it (PTX ISA 9.7.13.4)")
	default:
		note("a barrier or fence orders this memory only if its flags name it (%s)",
			fenceFlag(rc.Space))
	}
	if r.Word != nil {
		r.Word(rc, d)
	}
	if d.Code == diag.CodeRaceUnorderedStrong {
		what := "value read"
		if rc.First.Kind == event.Write && rc.Second.Kind == event.Write {
			what = "value that remains"
		}
		note("both are %s, so this is not a data race (PTX ISA, section 8.7), but the %s depends on their "+
			"order", r.strength(rc), what)
	}
	if rc.First.AfterFault || rc.Second.AfterFault {
		d.Notes = append(d.Notes, afterFault)
	}
	switch {
	case hazards >= race.MaxHazards:
		note("at least %d such conflicts were seen in this launch", hazards)
	case hazards > 1 && across > 0 && across < hazards:
		note("%d such conflicts were seen in this launch, %d of them between blocks", hazards, across)
	case hazards > 1:
		note("%d such conflicts were seen in this launch", hazards)
	}
}

// witness returns the fields that the witnesses of all findings of a run share.
func (r *Run) witness(seed uint64) *diag.Witness {
	return &diag.Witness{
		Engine: "emulator", Launch: r.Config.Flags(), Seed: seed, Status: "observed",
	}
}

// fenceFlag is the flag with which an OpenCL barrier or fence orders accesses to a space.
func fenceFlag(s event.Space) string {
	if s == event.Shared {
		return "CLK_LOCAL_MEM_FENCE"
	}
	return "CLK_GLOBAL_MEM_FENCE"
}

// Strong reports whether the two accesses of a race are strong operations on exactly the same
// bytes, as morally strong ones are (PTX ISA 8.7). It reads the order from the instructions,
// because a trace weakens that of its events. It does not compare scopes.
func Strong(m *emu.Machine, rc *race.Race) bool {
	a, b := m.Site(rc.First.Site).Instr, m.Site(rc.Second.Site).Instr
	return a.Order.Strong() && b.Order.Strong() &&
		rc.First.Addr == rc.Second.Addr && rc.First.Size == rc.Second.Size
}

// between completes the message of a race: what is missing between the two accesses.
func (r *Run) between(rc *race.Race) string {
	switch {
	case onTensor(rc) && rc.Cause == race.NotWaited:
		return "but the first operation was not waited for"
	case onTensor(rc):
		return "and nothing orders the two"
	case rc.Cause == race.NoProxyFence:
		return "with no proxy fence in between"
	case rc.Cause == race.NoMapFence:
		return "with no pair of fences for tensor maps in between"
	case rc.Cause == race.NotWaited && isBulk(rc):
		_, in := r.notWaitedFor(rc)
		return "but the " + asyncName(in) + " was not waited for"
	case rc.Cause == race.NotWaited:
		return "but the asynchronous copy was not waited for"
	case isBulk(rc):
		return "and nothing orders the two"
	case rc.Cause == race.OtherProxy:
		return "but the load is non-coherent"
	case rc.Level == race.InterBlock:
		return "and nothing orders the blocks"
	case rc.Level == race.BranchOrdering:
		return "on two paths of one branch"
	case rc.First.Site == rc.Second.Site:
		return "in either order"
	}
	return "with no barrier in between"
}

// unseparated says between which barriers of the block both accesses of a race happen.
func (r *Run) unseparated(rc *race.Race) string {
	const end = ", so they may happen in either order"
	switch {
	case rc.Interval == 0 && !r.hasBarriers():
		return "this kernel has no " + r.Job.Module.BarrierName(false) + end
	case rc.Interval == 0:
		return "both accesses come before the first barrier of the block" + end
	case rc.Interval == 1:
		return "no barrier separates the two accesses: both come after the first barrier that the block " +
			"passes, and before the next" + end
	}
	return fmt.Sprintf("no barrier separates the two accesses: both come after the block has passed %d "+
		"barriers, and before the next%s", rc.Interval, end)
}

// hasBarriers reports whether the kernel, without the functions that it calls, has a barrier of the
// block.
func (r *Run) hasBarriers() bool {
	for _, b := range r.Job.Kernel.Blocks {
		for _, in := range b.Instrs {
			if _, ok := in.BlockBarrier(); ok || in.IsCall() {
				return true
			}
		}
	}
	return false
}

// whyUnordered names the rule of the memory model that leaves the two accesses unordered. The first
// rule that applies is given; others may apply too.
func (r *Run) whyUnordered(rc *race.Race) string {
	a, b := rc.First, rc.Second
	switch {
	case onTensor(rc):
		return r.tensorUnordered(rc)
	case rc.Cause == race.NoProxyFence:
		return noProxyFence
	case rc.Cause == race.NoMapFence:
		return noMapFence
	case rc.Cause == race.NotWaited && isBulk(rc):
		return r.bulkNotWaited(rc)
	case rc.Cause == race.Unordered && isBulk(rc):
		return r.beforeAsync(rc)
	case rc.Cause == race.NotWaited:
		return notWaited(rc)
	case rc.Cause == race.OtherProxy:
		return "a non-coherent load is not ordered with any write of the same kernel, not even " +
			"one by its own thread: nothing joins its proxy to the generic proxy (PTX ISA 8.6, 8.9.5)"
	}
	if a.Order.Strong() && b.Order.Strong() &&
		!event.MorallyStrong(r.Config.Geometry, opOf(&a), opOf(&b)) {
		if a.Addr != b.Addr || a.Size != b.Size {
			return "both are strong, but they overlap only in part, so they are not morally strong " +
				"(PTX ISA 8.7)"
		}
		g := r.Config.Geometry
		const narrow = "the scope .%s of (%d) does not include the thread of (%d) (PTX ISA 8.5, 8.7)"
		if !g.Includes(a.Scope, a.Thread, b.Thread) {
			return fmt.Sprintf(narrow, a.Scope, 1, 2)
		}
		return fmt.Sprintf(narrow, b.Scope, 2, 1)
	}
	switch rc.Level {
	case race.IntraWarp:
		if a.Site == b.Site {
			return "both threads are in one warp, and nothing orders the lanes of an instruction"
		}
		return "both threads are in one warp: since sm_70 its threads need not run in lock step, and " +
			"nothing synchronizes them between the two accesses"
	case race.BranchOrdering:
		return "the two are on different paths of one branch, and the hardware may run the " +
			"paths in either order"
	case race.IntraBlock:
		return r.unseparated(rc)
	}
	if rc.Space == event.Shared {
		return "the threads are in different blocks of a cluster: its barrier orders them " +
			"(barrier.cluster, released by the arrival and acquired by the wait), or an mbarrier at the " +
			"scope of the cluster (PTX ISA 9.7.13.3, 9.7.13.15)"
	}
	return r.Job.Module.BarrierName(false) + " does not order threads of different blocks: another launch " +
		"does, or a barrier of the grid (cooperative launch), or release and acquire operations of device " +
		"scope"
}

// opOf is an access as the definition of a race sees it.
func opOf(a *race.Access) event.Op {
	return event.Op{
		Thread: a.Thread, Kind: a.Kind, Order: a.Order, Scope: a.Scope, Proxy: a.Proxy,
		Async: a.Async, Addr: a.Addr, Size: a.Size,
	}
}

// notWaited names the copy that was not complete. A wait orders the copy only within the thread
// that waits, so the note mentions the barrier that other threads need as well.
func notWaited(rc *race.Race) string {
	what := "(1) is an asynchronous copy that was not complete: its thread had not waited for it"
	switch {
	case rc.First.Async && rc.Second.Async:
		what = "both are asynchronous copies; (1) was not complete: its thread had not waited for it"
		if rc.First.Site == rc.Second.Site && rc.First.Thread != rc.Second.Thread {
			what = "both are asynchronous copies; neither was complete: " +
				"their threads had not waited for them"
		}
	case rc.Second.Async:
		what = "(2) is an asynchronous copy that was not complete: its thread had not waited for it"
	}
	what += " with cp.async.wait_group or cp.async.wait_all, and until then nothing is ordered " +
		"after the copy (PTX ISA 8.9.1.1, 9.7.9.25.3.3)"
	if rc.First.Thread != rc.Second.Thread {
		what += "; other threads also need a barrier after the wait"
	}
	return what
}

// annotationFinding is the diagnostic of an annotation that does not hold.
func (r *Run) annotationFinding(a *emu.FailedAnnotation, seed uint64) diag.Diagnostic {
	info := r.Machine.Site(a.Site)
	at, frames := r.userPlace(info)
	who := fullName(r.Config.Geometry, a.Thread)
	d := diag.Diagnostic{
		Code: diag.CodeAnnotation, Severity: diag.Error, Kernel: r.Job.Kernel.Demangled,
		Count: a.Count, Message: fmt.Sprintf("the %s does not hold for %s", a.Kind, who),
		Span: at, Stack: frames, Label: "false here",
		Notes:     r.libraryNote(info),
		Launch:    r.Config.Describe(),
		Reproduce: r.reproduce(seed),
		Witness:   r.witness(seed),
	}
	if a.AfterFault {
		d.Notes = append(d.Notes, afterFault)
	}
	return d
}

// afterFault is the note of a finding in which a thread takes part that had made an invalid access
// before.
const afterFault = "this happened after an access out of bounds (or a misaligned one) by a thread " +
	"of this finding, which read 0 or wrote nothing; it may be a consequence"

// stopFinding is the diagnostic of an error that ended the kernel, such as a trap. Its notes say
// that the rest of the launch was not executed.
func (r *Run) stopFinding(code diag.Code, s *emu.Stop, seed uint64) diag.Diagnostic {
	d := r.errorFinding(code, s, 1, seed)
	d.Notes = append(d.Notes,
		"the run of this kernel ended here; nothing after this point was checked")
	return d
}

// faultFinding is the diagnostic of the invalid accesses at one place, after which the kernel was
// executed to its end.
func (r *Run) faultFinding(code diag.Code, f *emu.Fault, seed uint64) diag.Diagnostic {
	d := r.errorFinding(code, &f.Stop, f.Count, seed)
	if f.Count > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d accesses of single threads at this place are invalid",
			f.Count))
	}
	what := "each such read returned 0"
	switch r.Machine.Site(f.Site).Instr.Action() {
	case isa.ActLoad:
	case isa.ActStore:
		what = "nothing was written"
	default:
		what = "a read returned 0, a write was dropped"
	}
	d.Notes = append(d.Notes, "the run continued behind this place: "+what)
	return d
}

// errorFinding is what the diagnostics of all errors of single threads have in common.
func (r *Run) errorFinding(code diag.Code, s *emu.Stop, count, seed uint64) diag.Diagnostic {
	info := r.Machine.Site(s.Site)
	at, frames := r.userPlace(info)
	d := diag.Diagnostic{
		Code: code, Severity: diag.Error, Kernel: r.Job.Kernel.Demangled, Count: count,
		Message: s.Message, Span: at, Stack: frames,
		Label:     "here, by " + fullName(r.Config.Geometry, s.Thread),
		Notes:     r.libraryNote(info),
		Details:   []string{"the instruction is " + driver.OpText(info.Instr)},
		Launch:    r.Config.Describe(),
		Reproduce: r.reproduce(seed),
		Witness:   r.witness(seed),
	}
	if s.AfterFault {
		d.Notes = append(d.Notes, afterFault)
	}
	if text := r.boundsRemedy(s, count); text != "" {
		d.Help = append(d.Help, text)
	}
	return d
}
