package placement

import (
	"maps"
	"math/bits"
	"slices"

	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
)

// counted says how often threads reached a barrier.
func (o *observation) counted(g *group) Reached {
	out := Reached{Known: true, Even: true}
	var blocks uint64
	for _, l := range o.launch {
		out.Threads += l.blocks * l.threads
		out.PerBlock = max(out.PerBlock, int(l.threads))
		blocks += l.blocks
	}
	counts := slices.Collect(maps.Values(o.reached[g]))
	for _, n := range counts {
		out.Total += n
		out.Even = out.Even && n == counts[0] && n%uint64(out.PerBlock) == 0
	}
	out.Even = out.Even && (len(counts) == 0 || uint64(len(counts)) == blocks)
	out.PerThread = float64(out.Total) / float64(max(out.Threads, 1))
	return out
}

// counter is a detector that also counts the lanes that reach barriers, by block.
type counter struct {
	run.Detector
	machine  *emu.Machine
	geometry event.Geometry
	kernel   uint64
	groups   []*group
	reached  map[*group]map[uint64]uint64
	of       map[event.Site]*group
}

// watch is the wrap of run.Run.Observe.
func (c *counter) watch(d run.Detector) run.Detector {
	c.Detector, c.of = d, map[event.Site]*group{}
	return c
}

// Arrive implements event.Sink.
func (c *counter) Arrive(e *event.Arrive) {
	c.count(e.Site, e.Warp, e.Mask)
	c.Detector.Arrive(e)
}

// WarpSync implements event.Sink.
func (c *counter) WarpSync(e *event.WarpSync) {
	c.count(e.Site, e.Warp, e.Mask)
	c.Detector.WarpSync(e)
}

// count adds lanes at a barrier. Blocks of several kernels are told apart by the upper half of
// their numbers.
func (c *counter) count(s event.Site, w event.Warp, mask uint32) {
	g, known := c.of[s]
	if !known {
		in := c.machine.Site(s).Instr
		for _, one := range c.groups {
			if one.instrs[in] {
				g = one
			}
		}
		c.of[s] = g
	}
	if g == nil {
		return
	}
	if c.reached[g] == nil {
		c.reached[g] = map[uint64]uint64{}
	}
	c.reached[g][uint64(c.geometry.BlockOf(w))+c.kernel<<32] += uint64(bits.OnesCount32(mask))
}
