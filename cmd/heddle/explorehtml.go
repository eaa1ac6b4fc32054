package main

import (
	"fmt"
	"slices"

	"heddle/internal/explore"
	"heddle/internal/memmodel"
	"heddle/internal/report"
)

// mostEvents bounds the events of an execution that is drawn.
const mostEvents = 80

// drawn adds the executions of a report to the page: one for each group of races, and a hang.
func drawn(page *reportFile, file, kernel string, rep *explore.Report) {
	if page == nil {
		return
	}
	for _, group := range rep.Groups() {
		r := group[0]
		page.Execution(executionOf(file, kernel, r.Example, fmt.Sprintf("data race of %s and %s",
			r.Describe(r.First), r.Describe(r.Second)), r.Missing(), &r.Pair))
	}
	for _, f := range rep.Faults {
		page.Execution(executionOf(file, kernel, f.Example, f.Describe()+" "+f.What, "", nil))
	}
	if rep.Hang != nil {
		page.Execution(executionOf(file, kernel, rep.Hang, "an execution that does not end", "", nil))
	}
}

// executionOf returns the graph of an execution; race are the events that race, or nil.
func executionOf(file, kernel string, e *explore.Execution, title, missing string,
	race *memmodel.Pair) *report.Execution {
	out := &report.Execution{Input: file, Kernel: kernel, Title: title, Missing: missing,
		Threads: e.Threads(), Ends: e.Ends()}
	steps := e.Steps()
	if n := len(steps) - mostEvents; n > 0 {
		steps = steps[:mostEvents]
		out.Ends = append(out.Ends, fmt.Sprintf("%d more events are not shown", n))
	}
	at := map[int]int{}
	for i, s := range steps {
		at[s.Event] = i
		wrong := race != nil && (s.Event == race.First || s.Event == race.Second)
		out.Events = append(out.Events, report.ExecutionEvent{Thread: s.Thread, Text: s.Text,
			Effect: s.Effect, At: s.At, Wrong: wrong})
	}
	arrow := func(p memmodel.Pair, kind report.ArrowKind) {
		from, ok := at[p.First]
		to, ok2 := at[p.Second]
		if ok && ok2 {
			out.Arrows = append(out.Arrows, report.ExecutionArrow{From: from, To: to, Kind: kind})
		}
	}
	sync := e.Synchronizing()
	for r, w := range e.Graph.RF {
		p := memmodel.Pair{First: w, Second: r}
		if w != memmodel.Open && e.Graph.Events[w].Thread != memmodel.Initial &&
			!slices.Contains(sync, p) {
			arrow(p, report.ReadsFrom)
		}
	}
	for _, p := range sync {
		arrow(p, report.Synchronizes)
	}
	if race != nil {
		arrow(*race, report.Unordered)
	}
	return out
}
