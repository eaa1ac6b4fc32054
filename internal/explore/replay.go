package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heddle/internal/memmodel"
)

// Recording is an execution as data: its schedule and the choices that tell it apart from all other
// executions of its program. It can be stored and replayed.
type Recording struct {
	// Steps are the events of the threads, in an order in which each thread executes its own, and a
	// read follows the write that it reads from where that is possible.
	Steps []RecordedStep `json:"steps"`
	// Reads are the steps that read, by index, in the order in which they get their sources, some
	// together: how far a thread that waits in a loop gets depends on it.
	Reads [][]int `json:"reads,omitempty"`
	// Coherence and FenceSC are pairs of Steps, by index: what the execution chose where the model
	// leaves the order of two writes or of two fence.sc open.
	Coherence [][2]int `json:"coherence,omitempty"`
	FenceSC   [][2]int `json:"fence_sc,omitempty"`
	// Locations are those whose accesses are events.
	Locations []RecordedLocation `json:"locations,omitempty"`
}

// RecordedStep is one event. A thread, an instruction and a count identify it.
type RecordedStep struct {
	Thread string `json:"thread"`
	Inst   int    `json:"instruction"` // index into the code of the thread
	Text   string `json:"text"`
	At     string `json:"at"`
	Effect string `json:"effect,omitempty"`
	// From is, of a read, the step that wrote the value, or -1 for the initial value.
	From *int `json:"reads_from,omitempty"`
	// Generation is, of a barrier, the number of the generation that it is part of.
	Generation int `json:"generation,omitempty"`
}

// RecordedLocation is a location by Location.Area and Addr, or one of Program.Locations by number.
type RecordedLocation struct {
	Area   int    `json:"area"`
	Addr   uint64 `json:"address"`
	Number int    `json:"number"`
}

// Record returns an execution as data.
func (e *Execution) Record() *Recording {
	r := &Recording{}
	at := map[int]int{}
	for _, s := range e.Steps() {
		at[s.Event] = len(r.Steps)
		r.Steps = append(r.Steps, RecordedStep{Thread: e.prog.Threads[s.Thread].Name,
			Inst: e.Sites[s.Event], Text: s.Text, At: s.At, Effect: s.Effect,
			Generation: e.Graph.Events[s.Event].Generation})
	}
	for ev, i := range at {
		if w := e.Graph.RF[ev]; w != memmodel.Open {
			from, ok := at[w]
			if !ok {
				from = -1
			}
			r.Steps[i].From = &from
		}
	}
	for _, together := range e.st.order {
		var steps []int
		for _, ev := range together {
			steps = append(steps, at[ev])
		}
		r.Reads = append(r.Reads, steps)
	}
	pairs := func(list []memmodel.Pair) (out [][2]int) {
		for _, p := range list {
			first, ok := at[p.First]
			second, ok2 := at[p.Second]
			if ok && ok2 {
				out = append(out, [2]int{first, second})
			}
		}
		return out
	}
	r.Coherence, r.FenceSC = pairs(e.Graph.CO), pairs(e.Graph.SC)
	for i := range e.Graph.Events {
		if ev := &e.Graph.Events[i]; ev.Thread == memmodel.Initial {
			c := &e.cells[ev.Loc]
			l := RecordedLocation{Area: c.Area, Addr: c.Addr}
			if ev.Loc < len(e.prog.Locations) {
				l.Number = ev.Loc
			}
			r.Locations = append(r.Locations, l)
		}
	}
	return r
}

// errReplay is why a recording cannot be replayed.
var errReplay = errors.New("the program has no such execution: it, its launch or its arguments are " +
	"not those of the recording")

// Replay returns the one execution of p that a recording describes: it takes its choices, and no
// others. The error is that of Explore, or says that p has no such execution.
func Replay(ctx context.Context, p *Program, opt Options, r *Recording) (*Execution, error) {
	g, err := newGuide(p, r)
	if err != nil {
		return nil, err
	}
	opt.MaxGraphs, opt.MaxStates, opt.Order, opt.Known = 0, 0, 0, nil
	opt.AnyOrder = false
	opt.guide = g
	if opt.Restart = nil; p.Locate != nil {
		opt.Restart = func() { g.missed = true }
	}
	var found *Execution
	_, err = Explore(ctx, p, opt, func(e *Execution) {
		if found == nil && g.matches(e) {
			found = e
		}
	})
	if err == nil && found == nil {
		err = errReplay
	}
	return found, err
}

// occurrence identifies an event of any execution: how often the thread executed this instruction
// before.
type occurrence struct{ thread, inst, count int }

// guide tells an exploration what a recording chose.
type guide struct {
	rec       *Recording
	step      map[occurrence]int
	of        []occurrence // [step]
	co, sc    map[[2]int]bool
	locations map[RecordedLocation]bool
	missed    bool // an access contradicts the locations of the recording
}

// newGuide reads a recording.
func newGuide(p *Program, r *Recording) (*guide, error) {
	g := &guide{rec: r, step: map[occurrence]int{}, co: map[[2]int]bool{}, sc: map[[2]int]bool{},
		locations: map[RecordedLocation]bool{}}
	names := map[string]int{}
	for i := range p.Threads {
		names[p.Threads[i].Name] = i
	}
	counts := map[occurrence]int{}
	for i, s := range r.Steps {
		t, ok := names[s.Thread]
		if !ok || s.From != nil && (*s.From < -1 || *s.From >= len(r.Steps)) {
			return nil, errReplay
		}
		o := occurrence{thread: t, inst: s.Inst}
		counts[o]++
		o.count = counts[occurrence{thread: t, inst: s.Inst}] - 1
		g.step[o] = i
		g.of = append(g.of, o)
	}
	if slices.ContainsFunc(slices.Concat(r.Reads...), func(i int) bool {
		return i < 0 || i >= len(r.Steps)
	}) {
		return nil, errReplay
	}
	for _, q := range r.Coherence {
		g.co[q] = true
	}
	for _, q := range r.FenceSC {
		g.sc[q] = true
	}
	for _, l := range r.Locations {
		g.locations[l] = true
	}
	return g, nil
}

// steps returns the step of each event of a state, or -1.
func (g *guide) steps(events []memmodel.Event, sites []int) []int {
	out := make([]int, len(events))
	counts := map[[2]int]int{}
	for e := range events {
		out[e] = -1
		if t := events[e].Thread; t >= 0 {
			key := [2]int{t, sites[e]}
			if s, ok := g.step[occurrence{t, sites[e], counts[key]}]; ok {
				out[e] = s
			}
			counts[key]++
		}
	}
	return out
}

// read gives the next reads of the recording their sources, and reports whether all of them exist.
func (g *guide) read(st *state) bool {
	if len(st.order) == len(g.rec.Reads) {
		return false
	}
	steps := g.steps(st.graph.Events, st.sites)
	var together []int
	for _, r := range g.rec.Reads[len(st.order)] {
		e, from := slices.Index(steps, r), g.rec.Steps[r].From
		if e < 0 || !st.graph.Events[e].Op.Reads() || from == nil {
			return false
		}
		w := slices.IndexFunc(st.graph.Events, func(x memmodel.Event) bool {
			return x.Thread == memmodel.Initial && x.Loc == st.graph.Events[e].Loc
		})
		if *from >= 0 {
			w = slices.Index(steps, *from)
		}
		if w < 0 || !st.graph.Events[w].Op.Writes() || st.graph.Events[w].Loc != st.graph.Events[e].Loc {
			return false
		}
		st.graph.RF[e] = w
		together = append(together, e)
	}
	st.order = append(st.order, together)
	return true
}

// barrier completes a generation of the recording where there is a choice, and reports whether it
// did.
func (g *guide) barrier(x *explorer, st *state) bool {
	steps := g.steps(st.graph.Events, st.sites)
	for i := range st.arrivals {
		a := &st.arrivals[i]
		s := steps[a.event]
		if a.count == 0 || s < 0 || g.rec.Steps[s].Generation == 0 {
			continue
		}
		var members []int
		for _, j := range x.at(st, a) {
			if t := steps[st.arrivals[j].event]; t >= 0 &&
				g.rec.Steps[t].Generation == g.rec.Steps[s].Generation {
				members = append(members, j)
			}
		}
		if len(members) == a.count {
			x.finish(st, members)
			return true
		}
	}
	return false
}

// allows reports whether the recording has no pair of events, of writes or of fences, the other way
// round.
func (g *guide) allows(st *state, writes bool, p memmodel.Pair) bool {
	list := g.sc
	if writes {
		list = g.co
	}
	steps := g.steps(st.graph.Events, st.sites)
	return !list[[2]int{steps[p.Second], steps[p.First]}]
}

// event reports whether the accesses to a location are events in the recording.
func (g *guide) event(c *Location) bool {
	return g.locations[RecordedLocation{Area: c.Area, Addr: c.Addr}]
}

// matches reports whether an execution is that of the recording: the same events with the same
// effects, and the same orders.
func (g *guide) matches(e *Execution) bool {
	got := e.Record()
	if g.missed || len(got.Steps) != len(g.rec.Steps) {
		return false
	}
	at := make([]int, len(got.Steps)) // by the steps of the execution: that of the recording
	counts := map[occurrence]int{}
	names := map[string]int{}
	for i := range e.prog.Threads {
		names[e.prog.Threads[i].Name] = i
	}
	for i, s := range got.Steps {
		o := occurrence{thread: names[s.Thread], inst: s.Inst}
		counts[o]++
		o.count = counts[occurrence{thread: o.thread, inst: o.inst}] - 1
		var ok bool
		if at[i], ok = g.step[o]; !ok {
			return false
		}
	}
	for i, s := range got.Steps {
		want := g.rec.Steps[at[i]]
		switch {
		case want.Text != s.Text, want.Effect != "" && generationless(want) != generationless(s):
			return false
		case (want.From == nil) != (s.From == nil):
			return false
		case s.From != nil && (*s.From < 0) != (*want.From < 0),
			s.From != nil && *s.From >= 0 && at[*s.From] != *want.From:
			return false
		}
	}
	same := func(pairs [][2]int, want map[[2]int]bool) bool {
		return !slices.ContainsFunc(pairs, func(p [2]int) bool { return want[[2]int{at[p[1]], at[p[0]]}] })
	}
	return same(got.Coherence, g.co) && same(got.FenceSC, g.sc)
}

// generationless is the effect of a step. The numbers of generations depend on the order in which
// an exploration completes them.
func generationless(s RecordedStep) string {
	if s.Generation > 0 {
		return fmt.Sprint("barrier ", s.Generation > 0)
	}
	return s.Effect
}
