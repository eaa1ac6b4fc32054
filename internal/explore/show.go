package explore

import (
	"fmt"
	"io"
	"strings"

	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// Show prints the events of an execution, thread by thread, with what each reads and from where.
func (e *Execution) Show(w io.Writer, indent string) {
	width, names := 0, 0
	for i := range e.prog.Threads {
		names = max(names, len(e.prog.Threads[i].Name))
	}
	for ev := range e.Graph.Events {
		if e.Graph.Events[ev].Thread >= 0 {
			width = max(width, len(e.Inst(ev).Text))
		}
	}
	for i := range e.prog.Threads {
		name := e.prog.Threads[i].Name
		for ev := range e.Graph.Events {
			if e.Graph.Events[ev].Thread == i {
				line := fmt.Sprintf("%s%-*s  %-*s  %s", indent, names, name, width, e.Inst(ev).Text,
					e.effect(ev))
				fmt.Fprintln(w, strings.TrimRight(line, " "))
			}
		}
		if !e.Done[i] {
			fmt.Fprintf(w, "%s%-*s  %s\n", indent, names, name, e.why(i))
		}
	}
}

// why says what a thread that has not ended does.
func (e *Execution) why(thread int) string {
	switch e.st.threads[thread].status {
	case waiting:
		if p := e.st.threads[thread].pending; p != nil {
			return "waits for the other lanes at " + p.in.Text
		}
		return "waits at this barrier"
	case truncated:
		return "repeats its loop (--unroll)"
	case failed:
		in := &e.prog.Threads[thread].Code[e.st.threads[thread].pc]
		return fmt.Sprintf("%s at %s: it %s", in.Text, in.At, e.st.threads[thread].error)
	}
	if e.st.threads[thread].spin.Empty() {
		return "repeats its loop for ever"
	}
	return "repeats its loop as long as it reads these values"
}

// effect says what an event does to memory.
func (e *Execution) effect(ev int) string {
	x := &e.Graph.Events[ev]
	var parts []string
	of := "" // the location, unless the instruction names it
	if x.Op.Memory() && e.Inst(ev).Addr != nil {
		of = e.Cells()[x.Loc].Name + " = "
	}
	if x.Op.Reads() {
		parts = append(parts, fmt.Sprintf("reads %s%d %s", of, e.Read(ev), e.source(e.Graph.RF[ev])))
		of = ""
	}
	if x.Op.Writes() {
		parts = append(parts, fmt.Sprintf("writes %s%d", of, e.Written(ev)))
	}
	if x.Generation > 0 {
		parts = append(parts, fmt.Sprintf("completes with generation %d", x.Generation))
	}
	return strings.Join(parts, ", ")
}

// source says where a value comes from.
func (e *Execution) source(w int) string {
	x := &e.Graph.Events[w]
	if x.Thread == memmodel.Initial {
		return "(initial value)"
	}
	return fmt.Sprintf("from %s at %s", e.prog.Threads[x.Thread].Name, e.Inst(w).At)
}

// Why says why the accesses of a race are not morally strong (PTX ISA 8.7).
func (r *Race) Why() string {
	g, p := &r.Example.Graph, r.Example.prog
	for _, pair := range [...][2]int{{r.Pair.First, r.Pair.Second}, {r.Pair.Second, r.Pair.First}} {
		a, b := &g.Events[pair[0]], &g.Events[pair[1]]
		name := p.Threads[a.Thread].Name
		if a.Order == event.Weak {
			return fmt.Sprintf("the access of %s is weak", name)
		}
		if !g.Threads[a.Thread].Includes(a.Scope, g.Threads[b.Thread]) {
			return fmt.Sprintf("scope .%v of %s does not include %s", a.Scope, name,
				p.Threads[b.Thread].Name)
		}
	}
	return ""
}

// Instruction returns an instruction of the race and its thread.
func (r *Race) Instruction(p Place) (*Thread, *Inst) {
	th := &r.Example.prog.Threads[p.Thread]
	return th, &th.Code[p.Inst]
}

// Describe names an instruction of the race: its text, thread and place.
func (r *Race) Describe(p Place) string {
	th, in := r.Instruction(p)
	return fmt.Sprintf("%s (%s, %s)", in.Text, th.Name, in.At)
}

// Step is an event of a thread as reports show it.
type Step struct {
	Event        int // index into Graph.Events
	Thread       int
	Text, Effect string // the instruction, and what it does to memory
	At           string
}

// Steps returns the events of the threads: sources before the reads that read from them, and all
// arrivals at a barrier before what follows it, as far as program order allows.
func (e *Execution) Steps() []Step {
	next := make([][]int, len(e.prog.Threads))
	for ev := range e.Graph.Events {
		if t := e.Graph.Events[ev].Thread; t != memmodel.Initial {
			next[t] = append(next[t], ev)
		}
	}
	var out []Step
	placed := make([]bool, len(e.Graph.Events))
	waits := make([]int, len(next)) // [thread]: the generation after which it continues
	open := map[int]int{}           // arrivals that are not placed, by generation
	for ev := range e.Graph.Events {
		open[e.Graph.Events[ev].Generation]++
	}
	take := func(t int) {
		ev := next[t][0]
		next[t], placed[ev] = next[t][1:], true
		in, g := e.Inst(ev), e.Graph.Events[ev].Generation
		open[g]--
		if e.Graph.Events[ev].Op == memmodel.Sync {
			waits[t] = g
		}
		out = append(out, Step{ev, t, in.Text, e.effect(ev), in.At})
	}
	ready := func(ev int) bool {
		if g := waits[e.Graph.Events[ev].Thread]; g > 0 && open[g] > 0 {
			return false
		}
		w := e.Graph.RF[ev]
		return w == memmodel.Open || e.Graph.Events[w].Thread == memmodel.Initial || placed[w]
	}
	for {
		first, found := -1, false
		for t := range next {
			for len(next[t]) > 0 && ready(next[t][0]) {
				take(t)
				found = true
			}
			if len(next[t]) > 0 && first < 0 {
				first = t
			}
		}
		switch {
		case first < 0:
			return out
		case !found: // a cycle of program order and reads-from
			take(first)
		}
	}
}

// Synchronizing returns the pairs of events of different threads by which base causality order
// passes from one to the other: those that no third event lies between. Those of a barrier are left
// out: its events name their generation.
func (e *Execution) Synchronizing() []memmodel.Pair {
	var out []memmodel.Pair
	base, events := e.Derived.Base, e.Graph.Events
	for a := range events {
		for b := range base.Row(a).All {
			if events[a].Thread == memmodel.Initial || events[a].Thread == events[b].Thread ||
				base.Has(b, a) { // the waiters of a barrier precede each other
				continue
			}
			between := false
			for c := range base.Row(a).All {
				between = between || c != b && c != a && base.Has(c, b)
			}
			if !between {
				out = append(out, memmodel.Pair{First: a, Second: b})
			}
		}
	}
	return out
}

// Ends says of each thread that has not ended what it does.
func (e *Execution) Ends() []string {
	var out []string
	for i := range e.prog.Threads {
		if !e.Done[i] {
			out = append(out, e.prog.Threads[i].Name+" "+e.why(i))
		}
	}
	return out
}

// Threads returns the names of the threads.
func (e *Execution) Threads() []string {
	var out []string
	for i := range e.prog.Threads {
		out = append(out, e.prog.Threads[i].Name)
	}
	return out
}
