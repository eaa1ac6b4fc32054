package explore

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// What a racing execution lacks is found by trying: fences next to the two accesses, wider scopes,
// strong accesses, and sequentially consistent fences. A change that orders the two accesses, or
// with which the model does not allow the execution, is what is missing. Other executions may need
// more.

// Missing says what would order the accesses of a race in its example, or would exclude that
// execution: a clause; empty if nothing that is tried does.
func (r *Race) Missing() string {
	g := &r.Example.Graph
	for _, p := range [...]memmodel.Pair{r.Pair, {First: r.Pair.Second, Second: r.Pair.First}} {
		a, b := &g.Events[p.First], &g.Events[p.Second]
		scope := event.CTA
		if q := g.Threads[b.Thread]; !g.Threads[a.Thread].Includes(scope, q) {
			scope = event.GPU
		}
		x := &attempt{r: r, first: p.First, second: p.Second, scope: scope}
		if text := x.find(); text != "" {
			return text
		}
	}
	return ""
}

// attempt looks for what orders the first access before the second.
type attempt struct {
	r             *Race
	first, second int
	scope         event.Scope
}

// change is a change of the graph.
type change struct {
	wide    bool   // all scopes of the two threads include the other
	strong  bool   // their accesses to other locations are relaxed
	release bool   // a fence behind the first access
	acquire bool   // a fence before the second
	sc      bool   // fence.sc behind each strong write of the two threads
	text    string // with %[1]s for the first access, %[2]s the second, %[3]v the scope
}

// changes are tried in this order: what changes least first.
var changes = []change{
	{wide: true, text: "a scope that includes the other thread, .%[3]v, on both sides"},
	{release: true, text: "a fence.acq_rel.%[3]v behind %[1]s"},
	{acquire: true, text: "a fence.acq_rel.%[3]v before %[2]s"},
	{release: true, acquire: true,
		text: "a fence.acq_rel.%[3]v behind %[1]s and another before %[2]s"},
	{strong: true, text: "strong accesses, .relaxed.%[3]v, to what the threads communicate by"},
	{strong: true, release: true, acquire: true, text: "strong accesses, .relaxed.%[3]v, to what the " +
		"threads communicate by, a fence.acq_rel.%[3]v behind %[1]s and another before %[2]s"},
	{sc: true, text: "a fence.sc.%[3]v between the strong store of each thread and what it loads then"},
}

// find returns the words for the first change that helps.
func (x *attempt) find() string {
	for _, c := range changes {
		if x.helps(c) {
			name := func(e int) string {
				in := x.r.Example.Inst(e)
				return fmt.Sprintf("%s of %s", in.Text,
					x.r.Example.prog.Threads[x.r.Example.Graph.Events[e].Thread].Name)
			}
			return fmt.Sprintf(c.text+"%[4]s", name(x.first), name(x.second), x.scope, "")
		}
	}
	return ""
}

// helps reports whether a change orders the accesses or excludes the execution.
func (x *attempt) helps(c change) bool {
	g, at := x.changed(c)
	d := g.Derive()
	if d.Violated() != memmodel.Consistent || d.Causality.Has(at[x.first], at[x.second]) {
		return true
	}
	if !c.sc {
		return false
	}
	p, open := d.UndecidedFences()
	if !open {
		return false
	}
	for _, q := range [...]memmodel.Pair{p, {First: p.Second, Second: p.First}} {
		one := g.Clone()
		one.SC = append(one.SC, q)
		if d := one.Derive(); d.Violated() == memmodel.Consistent {
			return false
		}
	}
	return true
}

// changed returns the graph with a change, and where the events of the old one are in it.
func (x *attempt) changed(c change) (*memmodel.Graph, []int) {
	old := &x.r.Example.Graph
	a, b := old.Events[x.first].Thread, old.Events[x.second].Thread
	g := &memmodel.Graph{Threads: old.Threads}
	at := make([]int, len(old.Events))
	fence := func(thread int, order event.Order) {
		g.Add(memmodel.Event{Thread: thread, Op: memmodel.Fence, Order: order, Scope: x.scope})
	}
	for i, e := range old.Events {
		ours := e.Thread == a || e.Thread == b
		if c.acquire && i == x.second && room(g) {
			fence(b, event.AcqRel)
		}
		e.Deps, e.Data = memmodel.Set{}, memmodel.Set{} // numbers change, and values do not depend less
		if ours && c.wide && e.Strong() && !old.Threads[e.Thread].Includes(e.Scope, other(old, a, b, e)) {
			e.Scope = x.scope
		}
		if ours && c.strong && e.Op.Memory() && e.Order == event.Weak &&
			e.Loc != old.Events[x.first].Loc {
			e.Order, e.Scope = event.Relaxed, x.scope
		}
		at[i] = g.Add(e)
		if c.release && i == x.first && room(g) {
			fence(a, event.AcqRel)
		}
		if c.sc && ours && e.Op == memmodel.Write && e.Strong() && room(g) {
			fence(e.Thread, event.SeqCst)
		}
	}
	for r, w := range old.RF {
		if w != memmodel.Open {
			g.RF[at[r]] = at[w]
		}
	}
	for _, p := range old.CO {
		g.CO = append(g.CO, memmodel.Pair{First: at[p.First], Second: at[p.Second]})
	}
	for _, p := range old.SC {
		g.SC = append(g.SC, memmodel.Pair{First: at[p.First], Second: at[p.Second]})
	}
	return g, at
}

// other returns the position of the thread that the event's thread is to include.
func other(g *memmodel.Graph, a, b int, e memmodel.Event) memmodel.Position {
	if e.Thread == a {
		return g.Threads[b]
	}
	return g.Threads[a]
}

// room reports whether a graph has room for a fence and the rest.
func room(g *memmodel.Graph) bool { return len(g.Events) < memmodel.MaxEvents-8 }
