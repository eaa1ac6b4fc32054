package run

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/depend"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/race"
	"heddle/internal/source"
)

// What a report advises: between which lines of the source the two accesses of a race need a
// barrier, and which conditions decide whether threads reach one. Both are read from the
// control-flow graph and the lines of the debug information. They are advice: heddle fix finds a
// place for a barrier, and proves that it is enough.

// remedy says what would order a race; empty if no barrier does.
func (r *Run) remedy(rc *race.Race, one, two emu.SiteInfo) string {
	switch {
	case rc.Cause != race.Unordered || isBulk(rc): // which needs an mbarrier, a group or a fence
		return ""
	case rc.Level == race.InterBlock:
		return r.betweenBlocks(rc, one, two)
	case rc.Level == race.IntraWarp || rc.Level == race.IntraBlock:
	default:
		return ""
	}
	return r.path(rc, one, two)
}

// ownElements is the remedy for threads that write one element at a time that no barrier divides.
const ownElements = "let each thread write its own element; if all write the same value, " +
	"--benign all tolerates that"

// betweenBlocks is the remedy for a race between blocks.
func (r *Run) betweenBlocks(rc *race.Race, one, two emu.SiteInfo) string {
	if line := r.ticket(rc, one, two); line > 0 {
		fence := r.Job.Module.FenceName("fence.acq_rel.gpu", true)
		return fmt.Sprintf("if the atomic operation in line %d tells a block that others are done, add %s "+
			"before it, and after it as well", line, fence)
	}
	if rc.Space == event.Shared {
		return "put barrier.cluster.arrive and barrier.cluster.wait (cluster.sync()) between the two " +
			"accesses"
	}
	switch a, b := rc.First.Kind.RMW(), rc.Second.Kind.RMW(); {
	case a != b:
		return "make both accesses atomic if any order is right, or divide the kernel into two launches"
	case rc.First.Kind.Writes() && rc.Second.Kind.Writes():
		return "let each block write its own elements; if all write the same value, --benign all " +
			"tolerates that"
	}
	if a := r.lineOf(one); a > 0 && a == r.lineOf(two) { // one statement is not two launches
		return "write the result to a second array, and exchange the two after the launch"
	}
	return "write the result to a second array, or divide the kernel into two launches"
}

// ticket returns the line of an atomic operation with a result between a write and a read, such as
// the one by which the last block finds out that it is the last; 0 if there is none, or if a fence
// is on that way already.
func (r *Run) ticket(rc *race.Race, one, two emu.SiteInfo) int {
	w, rd := r.lineOf(one), r.lineOf(two)
	if rc.Second.Kind.Writes() {
		w, rd = rd, w
	}
	if rc.First.Kind.Writes() == rc.Second.Kind.Writes() || w == 0 {
		return 0
	}
	line := 0
	for _, b := range r.Job.Kernel.Blocks {
		for _, in := range b.Instrs {
			n := r.homeLine(driver.Place(in))
			switch {
			case n <= w || n >= rd:
			case in.Action() == isa.ActFence:
				return 0
			case in.Action() == isa.ActAtomic && in.Space != event.Shared && line == 0:
				line = n
			}
		}
	}
	return line
}

// barrierFor names the barrier that orders the threads of a race, in the language of the file. all
// says that all threads of the block get to its place.
func (r *Run) barrierFor(rc *race.Race, all bool) string {
	warp := rc.Level == race.IntraWarp
	one := r.Config.Geometry.WarpsPerBlock() == 1 || !all
	switch m := r.Job.Module; {
	case m.OpenCL():
		return "barrier(" + fenceFlag(rc.Space) + ")"
	case warp && !one:
		return m.BarrierName(true) + " or " + m.BarrierName(false)
	default:
		return m.BarrierName(warp)
	}
}

// path says where a barrier is missing: "add __syncthreads() at the end of the body of the loop in
// line 7". It is empty if the lines are not known, or are not in one function.
func (r *Run) path(rc *race.Race, one, two emu.SiteInfo) string {
	a, b := r.lineOf(one), r.lineOf(two)
	if a == 0 || b == 0 {
		return ""
	}
	if b < a {
		a, b = b, a
	}
	in, loop := r.commonLoop(one.Instr, two.Instr)
	if len(one.Calls)+len(two.Calls) > 0 { // no line of one function is between the two
		if in == nil && one.Instr == two.Instr {
			return ownElements
		}
		return ""
	}
	together, known := r.iteration(rc)
	inside, around := false, false
	if in != nil && !known {
		inside, around = r.barriersIn(in, a, b)
	}
	switch {
	case in != nil && (known && !together || !known && (a == b || inside && !around)):
		return r.endOfLoop(rc, in, loop)
	case in != nil && !known && inside == around:
		return "" // both ways may need one
	case one.Instr == two.Instr:
		return ownElements
	case a == b:
		return r.divided(rc, one.Instr, in, loop, a)
	}
	return r.betweenLines(rc, in, a, b)
}

// divided is the remedy for a statement that reads and writes: the threads synchronize between the
// two, and in a loop before the next iteration as well. It is empty for Python, whose compiler
// makes both accesses and the barrier from one operation.
func (r *Run) divided(rc *race.Race, at *ir.Instr, in *ir.Loop, loop, line int) string {
	if r.python(driver.Place(at)) {
		return ""
	}
	b := blockWith(r.Job.Kernel, at)
	barrier := r.barrierFor(rc, b != nil && r.uniform(b))
	text := fmt.Sprintf("divide the statement in line %d: read into a variable, %s, then write", line, barrier)
	switch {
	case in != nil && loop > 0:
		text += fmt.Sprintf("; and add %s at the end of the body of the loop in line %d", barrier, loop)
	case in == nil && rc.Level == race.IntraWarp:
		text += "; the accesses before and after it need one as well"
	}
	return text
}

// endOfLoop is the remedy for accesses in different iterations of a loop.
func (r *Run) endOfLoop(rc *race.Race, in *ir.Loop, line int) string {
	where := "at the end of the loop body"
	if line > 0 {
		where = fmt.Sprintf("at the end of the body of the loop in line %d", line)
	}
	all := true
	for _, id := range in.Latches {
		all = all && r.uniform(r.Job.Kernel.Block(id))
	}
	if !all && rc.Level != race.IntraWarp {
		return "synchronize " + where + "; not all threads of the block iterate equally often, so the " +
			"loop must be changed too"
	}
	return "add " + r.barrierFor(rc, all) + " " + where
}

// betweenLines is the remedy for accesses of which one follows the other in the text: a barrier
// before the first line between them that all threads of the block reach, at the level of the loop
// around both.
func (r *Run) betweenLines(rc *race.Race, in *ir.Loop, a, b int) string {
	f, first := r.Job.Kernel, 0
	for _, block := range f.Blocks {
		if r.loops().forest.Of[block.ID] != in || !r.uniform(block) {
			continue
		}
		for _, x := range block.Instrs {
			if n := r.homeLine(driver.Place(x)); a < n && n <= b && (first == 0 || n < first) {
				first = n
			}
		}
	}
	switch {
	case first > 0:
		return fmt.Sprintf("add %s before line %d", r.barrierFor(rc, true), first)
	case rc.Level == race.IntraWarp:
		return fmt.Sprintf("add %s between line %d and line %d", r.barrierFor(rc, false), a, b)
	}
	return fmt.Sprintf("synchronize between line %d and line %d; not all threads of the block get "+
		"there, so the condition must be divided too", a, b)
}

// uniform reports whether all threads of a block of the launch get to a block of the kernel, or
// none, by the conditions on the way.
func (r *Run) uniform(b *ir.Block) bool {
	facts := r.dependences()
	return !slices.ContainsFunc(facts.Conditions(b), facts.Varies)
}

// dependences are those of the kernel, which the search for guesses may have found before.
func (r *Run) dependences() *depend.Kernel {
	switch {
	case r.Guess != nil:
		return r.Guess.dependences()
	case r.facts == nil:
		r.facts = depend.New(r.Job.Kernel)
	}
	return r.facts
}

// loops are those of the kernel, with their counters.
func (r *Run) loops() *loops {
	if r.around == nil {
		r.around = r.loopsOf()
	}
	return r.around
}

// lineOf is the line that a report gives for a site; 0 if it is not in the file of the kernel.
func (r *Run) lineOf(info emu.SiteInfo) int {
	at, _ := r.userPlace(info)
	return r.homeLine(at)
}

// homeLine is the line of a place in the file of the kernel; 0 for another file.
func (r *Run) homeLine(at source.Span) int {
	home := driver.KernelPlace(r.Job.Kernel)
	if !at.IsValid() || !home.IsValid() || at.Start.File() != home.Start.File() {
		return 0
	}
	return at.Start.Line()
}

// commonLoop returns the innermost loop that has both instructions, and its line; nil if there is
// none.
func (r *Run) commonLoop(a, b *ir.Instr) (*ir.Loop, int) {
	f := r.Job.Kernel
	from, to := blockWith(f, a), blockWith(f, b)
	if from == nil || to == nil {
		return nil, 0
	}
	loop := r.loops().forest.Of[from.ID]
	for loop != nil && !loop.Contains(to.ID) {
		loop = loop.Parent
	}
	if loop == nil {
		return nil, 0
	}
	for _, in := range f.Block(loop.Header).Instrs {
		if n := r.homeLine(driver.Place(in)); n > 0 {
			return loop, n
		}
	}
	return loop, 0
}

// barriersIn reports whether a loop has barriers of the block between two of its lines, and others
// before or after them.
func (r *Run) barriersIn(loop *ir.Loop, a, b int) (inside, around bool) {
	f := r.Job.Kernel
	for _, id := range loop.Blocks {
		for _, in := range f.Block(id).Instrs {
			if _, ok := in.BlockBarrier(); !ok {
				continue
			}
			n := r.homeLine(driver.Place(in))
			inside = inside || a <= n && n <= b
			around = around || n < a || n > b
		}
	}
	return inside, around
}

// blockWith returns the block of f with an instruction; nil if it is not in f.
func blockWith(f *ir.Func, in *ir.Instr) *ir.Block {
	for _, b := range f.Blocks {
		if slices.Contains(b.Instrs, in) {
			return b
		}
	}
	return nil
}

// mostConditions bounds the conditions that a note lists, and mostCondition the bytes of each.
const (
	mostConditions = 3
	mostCondition  = 60
)

// conditions says which branches decide whether a thread reaches the place of an instruction; empty
// if there are none whose source is known.
func (r *Run) conditions(info emu.SiteInfo) string {
	said := r.conditionsOf(info)
	if len(said) == 0 {
		return ""
	}
	return "whether a thread gets here depends on " + joinAnd(said[:min(len(said), mostConditions)])
}

// conditionsOf lists the conditions of the source that decide whether a thread reaches the place of
// an instruction: "`if (i >= n)` in line 4".
func (r *Run) conditionsOf(info emu.SiteInfo) []string {
	f := r.Job.Kernel
	b := blockWith(f, info.Instr)
	if b == nil || len(info.Calls) > 0 {
		return nil
	}
	var said []string
	for _, in := range r.dependences().Conditions(b) {
		at := driver.Place(in)
		text, ok := r.Job.LineAt(at.Start)
		n := r.homeLine(at)
		if text = strings.TrimSpace(text); !ok || n == 0 || len(text) > mostCondition {
			continue
		}
		if one := fmt.Sprintf("`%s` in line %d", strings.TrimSuffix(text, " {"), n); !slices.Contains(said, one) {
			said = append(said, one)
		}
	}
	return said
}
