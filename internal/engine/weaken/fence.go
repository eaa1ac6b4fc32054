package weaken

import (
	"context"

	"heddle/internal/edit"
)

// A fence (membar, fence.sc; PTX ISA 9.7.13.4) affects other threads in two ways only (8.8, 8.9.3,
// 8.9.4): it makes a release or an acquire pattern of the strong accesses around it, or it is
// ordered with fences of other threads.
//
// It is removed from a kernel that is quiet, or alone: see level.go. No value depends on fences
// then. It is narrowed to the block in a kernel that is local: no two blocks have conflicting
// accesses, so that whatever it orders is within a block. A fence of a narrower scope in between is
// never the result: between the block and the device there is nothing that these levels tell apart,
// and what only the scope of the system affects is outside the kernel.
//
// A kernel that passes data by a flag, as the last block of a reduction or a look-back does, has
// none of these levels: its blocks conflict, and proofs do not take fences into account. So none of
// its fences is touched, whether it is needed or not.
//
// Code outside the kernel: see outside.go. Asynchronous copies, other proxies and barriers of a
// cluster need fences of other kinds; kernels with them are not examined (covered).

var fenceRanks = map[string]float64{
	"__threadfence_system": rankSystemFence, "__threadfence": rankDeviceFence,
	"__threadfence_block": rankBlockFence,
}

// fence offers what may take the place of a fence.
func (w *weakener) fence(ctx context.Context, s *site) ([]*option, string, error) {
	end, free, ok := s.statement(w.user.Content)
	if !ok || len(s.args) > 0 {
		return nil, "it is not a statement of its own", nil
	}
	levels := []level{quiet, alone, local}
	if s.name == "__threadfence_block" {
		levels = levels[:2]
	}
	l, why, err := w.best(ctx, s, levels...)
	if why != "" || err != nil {
		return nil, why, err
	}
	o := &option{site: s, kind: Fence, before: s.name + "()", need: l, gain: fenceRanks[s.name]}
	if s.name == "__threadfence_system" {
		if why := w.beyondDevice(s, l); why != "" {
			return nil, why, nil
		}
	}
	if s.name != "__threadfence_block" {
		if why := w.beyondKernel(s, l); why != "" {
			return nil, why, nil
		}
		o.assuming = assumingDevice
	}
	if l == local {
		o.after, o.gain = "__threadfence_block()", o.gain-rankBlockFence
		o.edits = []edit.Edit{w.replace(s.offset, s.offset+len(s.name), "__threadfence_block")}
		o.why = []string{"no access conflicts with one of another block"}
		return []*option{o}, "", nil
	}
	o.edits, o.why = []edit.Edit{w.remove(s, end, free)}, levelText(l)
	return []*option{o}, "", nil
}

// levelText says why the order of strong accesses does not matter.
func levelText(l level) []string {
	if l == alone {
		return []string{"barriers order every other pair of accesses that conflicts",
			"the only atomic operations with a result are on one counter, which has an order by itself"}
	}
	return []string{"barriers order every pair of accesses that conflicts, except sums and the like " +
		"that no thread reads in between"}
}
