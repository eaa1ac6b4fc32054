package explore

import (
	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// End is how an execution ends.
type End uint8

// The ends of executions.
const (
	Ended     End = iota // every thread has ended
	Deadlock             // every other thread waits at a barrier, or in a loop that nothing ends
	Prefix               // a thread is in a loop that a later read will end: a part of others
	Truncated            // a loop was repeated Options.Unroll times
	Failed               // a thread has ended the program with an error
)

// Execution is one execution that the model allows.
type Execution struct {
	Graph   memmodel.Graph
	Derived *memmodel.Derived
	End     End
	// Sites are the instructions of the events; -1 for an initial write.
	Sites []int
	// Done tells for each thread whether it ended.
	Done []bool

	prog  *Program
	st    *state
	cells []Location
}

// execution describes a state in which everything is decided.
func (x *explorer) execution(st *state, d *memmodel.Derived) *Execution {
	e := &Execution{Graph: st.graph.Clone(), Derived: d, Sites: st.sites, prog: x.prog,
		st: st.clone(), cells: x.cells}
	spins := false
	var idle memmodel.Set
	for i := range st.threads {
		idle.Union(st.threads[i].spin)
	}
	for i := range st.threads {
		t := &st.threads[i]
		e.Done = append(e.Done, t.status == ended)
		switch t.status {
		case failed:
			e.End = Failed
		case truncated:
			e.End = max(e.End, Truncated)
		case waiting:
			e.End = max(e.End, Deadlock)
		case spinning:
			e.End = max(e.End, Deadlock)
			spins = spins || !stays(st, d, t.spin, idle)
		}
	}
	if spins && e.End == Deadlock {
		e.End = Prefix
	}
	return e
}

// stays reports whether a loop that reads these values may read them for ever: each is that of a
// last write, apart from idle ones, or was read by a weak load, which need not ever see another.
func stays(st *state, d *memmodel.Derived, reads, idle memmodel.Set) bool {
	for r := range reads.All {
		last := d.CO.Row(st.graph.RF[r]).Within(idle)
		if st.graph.Events[r].Order != event.Weak && !last {
			return false
		}
	}
	return true
}

// Ran reports whether a thread executed an instruction that accesses memory, a fence or a barrier.
func (e *Execution) Ran(thread, inst int) bool {
	return e.st.threads[thread].done.has(inst)
}

// Reg returns the last value of a register of a thread.
func (e *Execution) Reg(thread, reg int) int64 {
	v, _ := e.st.eval(e.st.threads[thread].regs[reg])
	return v
}

// Last returns the values that a location may have at the end: one, unless a data race leaves its
// last writes unordered.
func (e *Execution) Last(loc int) []int64 {
	var out []int64
	if loc >= len(e.st.own) || !e.st.own[loc].known { // no thread accesses it
		return []int64{e.cells[loc].Value}
	}
	if o := &e.st.own[loc]; o.quiet {
		v, _ := e.st.eval(o.value)
		return []int64{v}
	}
	for _, w := range e.Derived.Last(loc) {
		v := e.Written(w)
		known := false
		for _, o := range out {
			known = known || o == v
		}
		if !known {
			out = append(out, v)
		}
	}
	return out
}

// Inst returns the instruction of an event of a thread.
func (e *Execution) Inst(event int) *Inst {
	return &e.prog.Threads[e.Graph.Events[event].Thread].Code[e.Sites[event]]
}

// Cells returns the locations, by memmodel.Event.Loc.
func (e *Execution) Cells() []Location { return e.cells }

// Written returns the value that an event writes.
func (e *Execution) Written(event int) int64 {
	v, _ := e.st.eval(e.st.written[event])
	return v
}

// Read returns the value that an event reads.
func (e *Execution) Read(event int) int64 { return e.Written(e.Graph.RF[event]) }
