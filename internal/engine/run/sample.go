package run

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// A search runs a kernel many times. Of a large launch, some blocks stand for all where no block uses
// what others leave to it.

// sampleWarps is how many warps of a launch run in a sample.
const sampleWarps = 64

// Sample returns the first blocks of a launch; nil, all, if the launch is small or its blocks depend
// on each other.
func Sample(k *ir.Func, g event.Geometry) []uint32 {
	n := max(2, sampleWarps/g.WarpsPerBlock())
	if g.Blocks() <= uint64(n) || dependent(k, g) {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}

// Pair returns the blocks with two indices; nil, all, if the blocks of the launch depend on each
// other.
func Pair(k *ir.Func, g event.Geometry, of [2]event.Dim3) []uint32 {
	if dependent(k, g) {
		return nil
	}
	out := []uint32{g.BlockNumber(of[0]), g.BlockNumber(of[1])}
	slices.Sort(out)
	return slices.Compact(out)
}

// dependent reports whether a block may wait for another one, or use what it has left in memory while
// both run: in a cluster, at a barrier of the grid, by a strong load, or by the result of an atomic
// operation, outside of shared memory.
func dependent(k *ir.Func, g event.Geometry) bool {
	if g.Cluster.Count() > 1 {
		return true
	}
	used := reads(k)
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			switch {
			case in.Row == nil || in.IsCall() || in.Grid:
				return true
			case in.Row.Category != isa.Memory || !in.Order.Strong() || in.Space == event.Shared ||
				in.Row.Effect == isa.Writes:
				continue
			}
			for i := range in.Dst {
				if in.Dst[i].Kind != ir.Register || used[in.Dst[i].Reg] {
					return true
				}
			}
		}
	}
	return false
}

// reads are the registers that some instruction reads.
func reads(k *ir.Func) map[ir.RegID]bool {
	out := map[ir.RegID]bool{}
	var add func(list []ir.Operand)
	add = func(list []ir.Operand) {
		for i := range list {
			out[list[i].Reg] = true
			add(list[i].Elems)
		}
	}
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			out[in.Guard] = true
			add(in.Src)
		}
	}
	return out
}
