package explore

import (
	"fmt"
	"io"
	"strings"

	"heddle/internal/event"
	"heddle/internal/litmus"
	"heddle/internal/memmodel"
)

// Show prints the events of an execution of a litmus test, thread by thread, with what each reads
// and from where.
func (e *Execution) Show(w io.Writer, t *litmus.Test, indent string) {
	width := 0
	for ev := range e.Graph.Events {
		if e.Graph.Events[ev].Thread >= 0 {
			width = max(width, len(e.text(t, ev)))
		}
	}
	for i := range t.Threads {
		for ev := range e.Graph.Events {
			if e.Graph.Events[ev].Thread == i {
				line := fmt.Sprintf("%s%-3s %-*s  %s", indent, t.Threads[i].Name, width, e.text(t, ev),
					e.effect(t, ev))
				fmt.Fprintln(w, strings.TrimRight(line, " "))
			}
		}
		if !e.Done[i] {
			fmt.Fprintf(w, "%s%-3s %s\n", indent, t.Threads[i].Name, e.why(i))
		}
	}
}

// text returns the instruction of an event.
func (e *Execution) text(t *litmus.Test, ev int) string {
	return t.Threads[e.Graph.Events[ev].Thread].Code[e.Sites[ev]].Text
}

// why says what a thread that has not ended does.
func (e *Execution) why(thread int) string {
	switch e.st.threads[thread].status {
	case waiting:
		return "waits at this barrier"
	case truncated:
		return "repeats its loop (--unroll)"
	}
	return "repeats its loop as long as it reads these values"
}

// effect says what an event does to memory.
func (e *Execution) effect(t *litmus.Test, ev int) string {
	x := &e.Graph.Events[ev]
	var parts []string
	if x.Op.Reads() {
		parts = append(parts, fmt.Sprintf("reads %d %s", e.Read(ev), e.source(t, e.Graph.RF[ev])))
	}
	if x.Op.Writes() {
		parts = append(parts, fmt.Sprintf("writes %d", e.Written(ev)))
	}
	if x.Generation > 0 {
		parts = append(parts, fmt.Sprintf("completes with generation %d", x.Generation))
	}
	return strings.Join(parts, ", ")
}

// source says where a value comes from.
func (e *Execution) source(t *litmus.Test, w int) string {
	x := &e.Graph.Events[w]
	if x.Thread == memmodel.Initial {
		return "(initial value)"
	}
	pos := t.Threads[x.Thread].Code[e.Sites[w]].Pos
	return fmt.Sprintf("from %s at %d:%d", t.Threads[x.Thread].Name, pos.Line, pos.Col)
}

// Why says why the accesses of a race are not morally strong (PTX ISA 8.7).
func (r *Race) Why(t *litmus.Test) string {
	g := &r.Example.Graph
	for _, p := range [...][2]int{{r.Pair.First, r.Pair.Second}, {r.Pair.Second, r.Pair.First}} {
		a, b := &g.Events[p[0]], &g.Events[p[1]]
		name := t.Threads[a.Thread].Name
		if a.Order == event.Weak {
			return fmt.Sprintf("the access of %s is weak", name)
		}
		if !g.Threads[a.Thread].Includes(a.Scope, g.Threads[b.Thread]) {
			return fmt.Sprintf("scope .%v of %s does not include %s", a.Scope, name,
				t.Threads[b.Thread].Name)
		}
	}
	return ""
}
