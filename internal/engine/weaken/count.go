package weaken

import (
	"context"
	"math/bits"

	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
)

// How often a thread executes each instruction that synchronizes, in a run of the first launch. It
// ranks offers, and is no measurement of time.

// tally counts events by their instruction, and passes them on.
type tally struct {
	run.Detector
	m     *emu.Machine
	lanes map[*ir.Instr]uint64
}

func (t *tally) count(s event.Site, mask uint32) {
	t.lanes[t.m.Site(s).Instr] += uint64(bits.OnesCount32(mask))
}

// Access implements event.Sink.
func (t *tally) Access(e *event.Access) {
	t.count(e.Site, e.Mask)
	t.Detector.Access(e)
}

// Fence implements event.Sink.
func (t *tally) Fence(e *event.Fence) {
	t.count(e.Site, e.Mask)
	t.Detector.Fence(e)
}

// Arrive implements event.Sink.
func (t *tally) Arrive(e *event.Arrive) {
	t.count(e.Site, e.Mask)
	t.Detector.Arrive(e)
}

// executions counts, per thread of the blocks that ran; nil if the launch cannot run.
func (w *weakener) executions(ctx context.Context, k *kernel) (map[*ir.Instr]float64, error) {
	if len(k.configs) == 0 {
		return nil, nil
	}
	cfg := k.configs[0]
	t := &tally{lanes: map[*ir.Instr]uint64{}}
	rep, err := w.once(ctx, w.base, k.fn, cfg, 0, t)
	if rep == nil || err != nil {
		return nil, err
	}
	blocks := uint64(len(run.Sample(k.fn, cfg.Geometry)))
	if blocks == 0 {
		blocks = cfg.Geometry.Blocks()
	}
	out := map[*ir.Instr]float64{}
	for in, n := range t.lanes {
		out[in] = float64(n) / float64(blocks*cfg.Geometry.Block.Count())
	}
	return out, nil
}
