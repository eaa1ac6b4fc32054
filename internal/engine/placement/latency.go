package placement

import (
	"math"

	"heddle/internal/event"
)

// The estimated cost of a barrier in cycles, for what the removal of one saves.
//
// The figures are medians of clock cycles for one barrier of a long unrolled sequence on an NVIDIA
// A100 (PCIe, 40 GB), with one block on a multiprocessor, so that all warps arrive together and
// nothing is waited for: B. A. Burtchell and M. Burtscher, "Characterizing CUDA and OpenMP
// Synchronization Primitives", IISWC 2024; raw data in github.com/burtscher/SyncPerformance,
// results/system2/NVIDIA_A100-PCIE-40GB, cuda_syncthreads/log.txt and cuda_syncwarp/runtimes.csv
// (milliseconds at 1.41 GHz).
//
// Those of __syncthreads() are 21 + 2w cycles for w warps. The slope is the documented throughput
// of 16 threads per clock for compute capability 7.x and 8.x (CUDA C++ Best Practices Guide,
// "Synchronization Instruction").

// LatencyGPU is the GPU of which BarrierUse.Cycles is an estimate.
const LatencyGPU = "A100"

// latency is the cost of one barrier in a block of some warps.
type latency struct{ warps, cycles float64 }

var (
	blockLatency = []latency{{1, 23}, {2, 25}, {4, 29}, {8, 37}, {16, 53}, {32, 85}}
	warpLatency  = []latency{{1, 5}, {8, 5}, {16, 6}, {32, 7}}
)

// latencyOf estimates the cycles of one barrier for the warps of a block of some threads;
// interpolated between measured sizes. A barrier costs more where threads arrive at different
// times, and less where other blocks of the multiprocessor have work.
func latencyOf(threads int, warp bool) float64 {
	table := blockLatency
	if warp {
		table = warpLatency
	}
	return at(table, math.Ceil(float64(threads)/event.WarpSize))
}

// at interpolates in a table; beyond its ends, the nearest value holds.
func at(table []latency, warps float64) float64 {
	last := table[0]
	for _, next := range table {
		if warps <= next.warps {
			if next == last {
				return next.cycles
			}
			part := (warps - last.warps) / (next.warps - last.warps)
			return last.cycles + part*(next.cycles-last.cycles)
		}
		last = next
	}
	return last.cycles
}
