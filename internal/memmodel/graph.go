// Package memmodel is the memory consistency model of the PTX ISA (version 9.1, chapter 8) as a
// function of an execution graph: events, and for each read the write whose value it returns. It
// decides whether the model allows an execution, and which of its accesses are data races.
//
// The fragment is that of one proxy (8.6, the generic one) and of accesses that overlap completely
// or not at all, so that "overlapping" means "to the same location". docs/theory/memory-model.md
// defines all relations, and says where the text of the ISA leaves a choice.
package memmodel

import "heddle/internal/event"

// Op is what an event does.
type Op uint8

// The operations of the fragment (PTX ISA 8.2, 9.7.13).
const (
	Read   Op = iota // ld, and a compare-and-swap that fails
	Write            // st, and the hypothetical write of an initial value (8.2.6)
	Atomic           // atom: one operation that reads and writes
	Reduce           // red: the same, but its read forms no acquire pattern (8.8)
	Fence
	Sync   // bar.sync and bar.red: arrives and waits
	Arrive // bar.arrive: arrives and does not wait
)

var opNames = [...]string{"read", "write", "atomic", "reduction", "fence", "barrier", "arrival"}

// String names the operation in reports.
func (o Op) String() string { return opNames[o] }

// Reads reports whether the operation reads memory.
func (o Op) Reads() bool { return o == Read || o == Atomic || o == Reduce }

// Writes reports whether the operation writes memory.
func (o Op) Writes() bool { return o == Write || o == Atomic || o == Reduce }

// Memory reports whether the operation is a memory operation.
func (o Op) Memory() bool { return o <= Reduce }

// Initial is the thread of the writes of initial values.
const Initial = -1

// Open is the source of a read that has none yet.
const Open = -1

// Position is the place of a thread in the hierarchy that scopes name. CTAs are numbered within a
// device.
type Position struct{ CTA, Cluster, GPU int }

// Includes reports whether the scope s of a thread at p includes a thread at q (PTX ISA 8.5).
func (p Position) Includes(s event.Scope, q Position) bool {
	switch s {
	case event.Sys:
		return true
	case event.GPU:
		return p.GPU == q.GPU
	case event.Cluster:
		return p.GPU == q.GPU && p.Cluster == q.Cluster
	case event.CTA:
		return p.GPU == q.GPU && p.CTA == q.CTA
	}
	return false
}

// Event is one operation of an execution.
type Event struct {
	Thread int // index into Graph.Threads, or Initial
	Op     Op
	Order  event.Order
	Scope  event.Scope
	Loc    int // of a memory operation
	// Vector numbers the vector access of the thread of which the event is an element; 0: none.
	// Elements have no order (8.2.2).
	Vector int
	// Generation is, for a barrier, one more than the number of the generation that it is part of;
	// 0 while that has not completed.
	Generation int
	// Deps are the reads whose values decide whether the event happens, and at which address: its
	// control and address dependencies. Data are those that decide the value that it writes, other
	// than the read of an atomic operation itself.
	Deps, Data Set
	// Blind is set for an atomic exchange, whose written value does not depend on what it reads.
	Blind bool
}

// Graph is an execution, or a part of one: reads may be open, and orders that the model leaves to
// the execution may be undecided. Program order is that of the events of a thread.
type Graph struct {
	Threads []Position
	Events  []Event
	RF      []int // for each event that reads, the event that wrote the value, or Open
	// CO and SC are the decided pairs of coherence order and of Fence-SC order. What follows from
	// causality order need not be among them.
	CO, SC []Pair
}

// Pair is an ordered pair of events.
type Pair struct{ First, Second int }

// Clone returns a copy that shares nothing that changes.
func (g *Graph) Clone() Graph {
	c := *g
	c.Events = append([]Event(nil), g.Events...)
	c.RF = append([]int(nil), g.RF...)
	c.CO = append([]Pair(nil), g.CO...)
	c.SC = append([]Pair(nil), g.SC...)
	return c
}

// Add appends an event and returns its number. There is room for MaxEvents.
func (g *Graph) Add(e Event) int {
	g.Events = append(g.Events, e)
	g.RF = append(g.RF, Open)
	return len(g.Events) - 1
}

// same reports whether two events are memory operations on one location.
func (g *Graph) same(a, b int) bool {
	x, y := &g.Events[a], &g.Events[b]
	return x.Op.Memory() && y.Op.Memory() && x.Loc == y.Loc
}

// precedes reports whether a precedes b in program order (8.9.1).
func (g *Graph) precedes(a, b int) bool {
	x, y := &g.Events[a], &g.Events[b]
	return a < b && x.Thread == y.Thread && x.Thread != Initial &&
		(x.Vector == 0 || x.Vector != y.Vector)
}

// Strong reports whether an event is a strong operation (PTX ISA 8.4): a fence, or an access with
// an order other than weak.
func (e *Event) Strong() bool { return e.Op == Fence || e.Op.Memory() && e.Order.Strong() }

// MorallyStrong reports whether two events are morally strong relative to each other (PTX ISA 8.7):
// program order relates them, or both are strong and the scope of each includes the other's thread;
// and memory operations access the same location.
func (g *Graph) MorallyStrong(a, b int) bool {
	x, y := &g.Events[a], &g.Events[b]
	if a == b || x.Op.Memory() && y.Op.Memory() && x.Loc != y.Loc {
		return false
	}
	return x.Thread == y.Thread || g.Strongly(x, y)
}

// Strongly reports whether two operations of different threads are strong, and the scope of each
// includes the thread of the other (PTX ISA 8.7).
func (g *Graph) Strongly(x, y *Event) bool {
	if !x.Strong() || !y.Strong() {
		return false
	}
	p, q := g.Threads[x.Thread], g.Threads[y.Thread]
	return p.Includes(x.Scope, q) && q.Includes(y.Scope, p)
}

// Conflict reports whether two memory operations conflict (PTX ISA 8.7.1): they access the same
// location, and at least one of them writes.
func (g *Graph) Conflict(a, b int) bool {
	return a != b && g.same(a, b) && (g.Events[a].Op.Writes() || g.Events[b].Op.Writes())
}
