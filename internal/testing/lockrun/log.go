package lockrun

import (
	"heddle/internal/event"
	"heddle/internal/ir"
)

// cell is the granularity of the log in bytes. No access crosses a cell boundary.
const cell = 16

// log records accesses to find races (Definition 4.1). Two accesses by threads of one block race if
// they conflict and no sync is between them; by threads of two blocks, if they conflict.
type log struct {
	m        *machine
	shared   map[uint64][]entry // of the current interval, by cell
	global   map[uint64][]entry // of the current interval
	elsewise map[uint64][]entry // to global memory, by earlier blocks
	all      map[uint64][]entry // to global memory, by this block
	seen     map[Race]bool
	fresh    []place
}

// entry is one access of one thread. Its address is the offset in its space, in bytes.
type entry struct {
	in *ir.Instr
	op event.Op
}

// place is an access with the cell that it touches.
type place struct {
	space event.Space
	at    uint64
	entry
}

// newLog returns an empty log. startBlock must follow, since it makes the maps of the interval.
func newLog(m *machine) *log {
	return &log{m: m, elsewise: map[uint64][]entry{}, all: map[uint64][]entry{}, seen: map[Race]bool{}}
}

// startBlock makes the global accesses of the last block those of earlier blocks.
func (g *log) startBlock() {
	// No sync orders threads of different blocks, so that these entries are kept to the end.
	for at, list := range g.all {
		g.elsewise[at] = append(g.elsewise[at], list...)
	}
	g.all = map[uint64][]entry{}
	g.endInterval()
}

// endInterval drops the accesses that a sync separates from later ones of the same block. Accesses
// to global memory stay in all, for the comparison with later blocks.
func (g *log) endInterval() {
	g.shared, g.global = map[uint64][]entry{}, map[uint64][]entry{}
}

// add records an access of the current statement. It is compared with others at the end of the
// statement only, since all threads execute a statement as one step.
func (g *log) add(in *ir.Instr, space event.Space, op event.Op) {
	g.fresh = append(g.fresh, place{space, op.Addr / cell, entry{in, op}})
}

// endStatement compares the accesses of the statement with each other and with earlier ones.
func (g *log) endStatement() {
	for _, f := range g.fresh {
		if f.space == event.Shared {
			g.compare(f.entry, g.shared[f.at])
			g.shared[f.at] = append(g.shared[f.at], f.entry)
			continue
		}
		g.compare(f.entry, g.global[f.at])
		g.compare(f.entry, g.elsewise[f.at])
		g.global[f.at] = append(g.global[f.at], f.entry)
		g.all[f.at] = append(g.all[f.at], f.entry)
	}
	g.fresh = g.fresh[:0]
}

// compare adds a race for each pair that conflicts, once for each pair of instructions.
func (g *log) compare(e entry, with []entry) {
	for i := range with {
		if !event.Conflict(g.m.geo, with[i].op, e.op) {
			continue
		}
		// The order of the two instructions does not matter.
		r := Race{with[i].in, e.in}
		if r.A.Index > r.B.Index {
			r.A, r.B = r.B, r.A
		}
		if !g.seen[r] {
			g.seen[r] = true
			g.m.res.Races = append(g.m.res.Races, r)
		}
	}
}
