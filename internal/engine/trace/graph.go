package trace

import (
	"math/bits"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/race"
)

// The barrier dependence graph of the Weft paper (section 4.2): a node is a generation of a named
// barrier, and an edge leads from the generation in which a thread waited last to the one in which
// it arrives next. It is recorded for the report only. The detector orders accesses by its own
// clocks, so a mistake in this file cannot change a verdict.

// How much of a barrier dependence graph is kept: its beginning, its end, and the neighbourhood of
// the first finding of each kind. What is dropped is usually the repetition of a loop.
const (
	graphEnds   = 24      // generations at each end
	graphAround = 2       // generations before and after one with a finding
	graphParts  = 1 << 20 // arrivals that are recorded at most, about 16 MB
)

// graphPart is a diag.Part as it is recorded: an arrival of lanes of one warp, in a compact form.
type graphPart struct {
	site  event.Site
	lanes uint32
	warp  uint16
	waits bool
}

// graphNode is a generation as it is recorded. after holds the indices of the generations that some
// of its threads waited for last; count 0 is the whole block.
type graphNode struct {
	barrier  uint8
	complete bool
	wrong    diag.Code
	count    uint32
	number   uint64
	parts    []graphPart
	after    []int32
}

// graphRecorder records the barrier dependence graph of a block from the events of its trace. A
// node is appended when its generation completes, so edges always lead to smaller indices.
type graphRecorder struct {
	geometry event.Geometry
	block    uint32 // that is recorded
	nodes    []graphNode
	open     map[uint8]*graphNode // incomplete generations with arrivals, by barrier
	numbers  map[uint8]uint64     // number of completed generations, by barrier
	// for each lane of each warp, the generation in which it waited last, from 1; 0: none
	waited [][32]int32
	exited []uint32
	parts  int
	lost   int // generations that were not recorded, because graphParts was reached
}

// of reports whether a warp is one of the block that is recorded.
func (r *graphRecorder) of(w event.Warp) bool { return r.geometry.BlockOf(w) == r.block }

func newGraphRecorder(g event.Geometry, block uint32) *graphRecorder {
	return &graphRecorder{geometry: g, block: block, open: map[uint8]*graphNode{},
		numbers: map[uint8]uint64{}, waited: make([][32]int32, g.WarpsPerBlock()),
		exited: make([]uint32, g.WarpsPerBlock())}
}

func (r *graphRecorder) warp(w event.Warp) int {
	return int(uint32(w) % uint32(r.geometry.WarpsPerBlock()))
}

// arrive adds an arrival to the open generation of its barrier, with the edges of its lanes.
func (r *graphRecorder) arrive(a *event.Arrive) {
	g := r.open[a.Barrier]
	if g == nil {
		g = &graphNode{barrier: a.Barrier, number: r.numbers[a.Barrier] + 1, count: a.Count}
		r.open[a.Barrier] = g
	}
	w := r.warp(a.Warp)
	for m := a.Mask; m != 0; m &= m - 1 {
		if n := r.waited[w][bits.TrailingZeros32(m)] - 1; n >= 0 && !slices.Contains(g.after, n) {
			g.after = append(g.after, n)
		}
	}
	g.parts = append(g.parts, graphPart{a.Site, a.Mask, uint16(w), a.Op == event.BarSync})
	r.parts++
}

// complete closes the open generation of a barrier. Lanes that waited in it depend on it from now
// on; lanes that only arrived do not.
func (r *graphRecorder) complete(barrier uint8) {
	g := r.open[barrier]
	r.numbers[barrier]++
	if g == nil {
		return
	}
	delete(r.open, barrier)
	if r.parts > graphParts {
		r.lost++
		return
	}
	g.complete = true
	r.nodes = append(r.nodes, *g)
	for _, p := range g.parts {
		for m := p.lanes; p.waits && m != 0; m &= m - 1 {
			r.waited[p.warp][bits.TrailingZeros32(m)] = int32(len(r.nodes))
		}
	}
}

func (r *graphRecorder) exit(e *event.Exit) { r.exited[r.warp(e.Warp)] |= e.Mask }

// end appends the generations that did not complete, in the order of their barriers' numbers.
func (r *graphRecorder) end() {
	for b := range uint8(16) {
		if g := r.open[b]; g != nil {
			r.nodes = append(r.nodes, *g)
		}
	}
}

// mark records which generations the findings are about. A generation keeps its first finding.
func (r *graphRecorder) mark(rep *race.Report) {
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		for j := range r.nodes {
			if g := &r.nodes[j]; g.wrong == "" && g.isOf(be) {
				g.wrong = run.BarrierCodes[be.Kind]
			}
		}
	}
}

// isOf reports whether a finding is about a generation. A finding counts the generations that are
// complete, so it is about the next one.
func (g *graphNode) isOf(be *race.BarrierError) bool {
	switch be.Kind {
	case race.Recycled, race.TooMany:
		return g.barrier == be.Barrier && g.number == be.Generation+1
	case race.NoWaiter:
		waits := func(p graphPart) bool { return p.waits }
		return g.barrier == be.Barrier && g.complete && !slices.ContainsFunc(g.parts, waits)
	case race.Divergence, race.Deadlock:
		here := func(w event.Wait) bool { return !w.WarpBar && w.Barrier == g.barrier }
		return !g.complete && slices.ContainsFunc(be.Groups, here)
	}
	return false
}

// kept selects the generations that are shown; of a short trace it selects all.
func (r *graphRecorder) kept() []bool {
	keep := make([]bool, len(r.nodes))
	for i := range r.nodes {
		if i < graphEnds || i >= len(r.nodes)-graphEnds {
			keep[i] = true
		}
	}
	shown := map[diag.Code]bool{}
	for i := range r.nodes {
		code := r.nodes[i].wrong
		if code == "" || shown[code] {
			continue
		}
		shown[code] = true // the first one represents all
		for j := max(i-graphAround, 0); j <= min(i+graphAround, len(r.nodes)-1); j++ {
			keep[j] = true
		}
	}
	return keep
}

// graph converts a recording into the graph of a report, with positions in place of sites.
func (t *tracer) graph(r *graphRecorder, rep *race.Report, block uint32) *diag.BarrierGraph {
	r.end()
	r.mark(rep)
	geometry := t.run.Config.Geometry
	out := &diag.BarrierGraph{
		Kernel: t.job.Kernel.Demangled, Input: t.job.InputName(),
		Block: geometry.BlockIndex(block).String(), Warps: geometry.WarpsPerBlock(),
		Total: len(r.nodes) + r.lost, Exited: r.exited,
	}
	keep := r.kept()
	for i := range r.nodes {
		if !keep[i] {
			continue
		}
		n := &r.nodes[i]
		g := diag.Generation{
			Index: i, Barrier: int(n.barrier), Number: n.number, Count: int(n.count),
			Complete: n.complete, Wrong: n.wrong,
		}
		if g.Count == 0 {
			g.Count = geometry.ThreadsPerBlock()
		}
		for _, a := range n.after {
			g.After = append(g.After, int(a))
		}
		for _, p := range n.parts {
			g.Parts = append(g.Parts, diag.Part{
				Warp: int(p.warp), Lanes: p.lanes, Waits: p.waits,
				Span: place(t.run.Machine.Site(p.site)),
			})
		}
		out.Generations = append(out.Generations, g)
	}
	return out
}
