package lockrun

import (
	"heddle/internal/event"
	"heddle/internal/ir"
)

// cell is how many bytes of memory are looked at together: no access goes beyond one.
const cell = 16

// log remembers accesses to find races (Definition 4.1). Two accesses of threads of one block race
// if they conflict and no sync is between them; of two blocks, if they conflict.
type log struct {
	m        *machine
	shared   map[uint64][]entry // of the current interval, by cell
	global   map[uint64][]entry // of the current interval
	elsewise map[uint64][]entry // to global memory, by the blocks before
	all      map[uint64][]entry // to global memory, by this block
	seen     map[Race]bool
	fresh    []place
}

type entry struct {
	in *ir.Instr
	op event.Op
}

type place struct {
	space event.Space
	at    uint64
	entry
}

func newLog(m *machine) *log {
	return &log{m: m, elsewise: map[uint64][]entry{}, all: map[uint64][]entry{}, seen: map[Race]bool{}}
}

func (g *log) startBlock() {
	for at, list := range g.all {
		g.elsewise[at] = append(g.elsewise[at], list...)
	}
	g.all = map[uint64][]entry{}
	g.endInterval()
}

// endInterval forgets what a sync separates from what follows.
func (g *log) endInterval() {
	g.shared, g.global = map[uint64][]entry{}, map[uint64][]entry{}
}

// add notes an access of the current statement.
func (g *log) add(in *ir.Instr, space event.Space, op event.Op) {
	g.fresh = append(g.fresh, place{space, op.Addr / cell, entry{in, op}})
}

// endStatement compares what the statement did with itself and with what came before.
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

func (g *log) compare(e entry, with []entry) {
	for i := range with {
		if !event.Conflict(g.m.geo, with[i].op, e.op) {
			continue
		}
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
