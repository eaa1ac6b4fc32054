package thread

import (
	"math"

	"heddle/internal/event"
)

// Any says which dimensions of a launch are arbitrary, x first.
type Any struct{ Grid, Block [3]bool }

// MaxThreads is the number of threads of a block on every device, at most (CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability").
const MaxThreads = 1024

// Limits of a launch of CUDA in each dimension, from the same table.
var (
	maxBlock = [3]uint32{1024, 1024, 64}
	maxGrid  = [3]uint32{math.MaxInt32, 65535, 65535}
)

// Limits of a launch of OpenCL, whose devices choose their own
// (CL_DEVICE_MAX_WORK_ITEM_SIZES; the number of work-groups has no limit but that of size_t).
var (
	maxWorkGroup = [3]uint32{MaxThreads, MaxThreads, MaxThreads}
	maxRange     = [3]uint32{math.MaxInt32, math.MaxInt32, math.MaxInt32}
)

// Is reports whether any dimension is arbitrary.
func (a Any) Is() bool { return a != Any{} }

// Array returns the components of a dimension, x first.
func Array(d event.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }

func dim3(a [3]uint32) event.Dim3 { return event.Dim3{X: a[0], Y: a[1], Z: a[2]} }

// Widest is the largest launch that agrees with g in all dimensions that are not arbitrary, by CUDA
// or by OpenCL.
func (a Any) Widest(g event.Geometry, openCL bool) event.Geometry {
	maxBlock, maxGrid := maxBlock, maxGrid
	if openCL {
		maxBlock, maxGrid = maxWorkGroup, maxRange
	}
	block, grid := Array(g.Block), Array(g.Grid)
	fixed := uint32(1)
	for i := range 3 {
		if !a.Block[i] {
			fixed *= max(block[i], 1)
		}
	}
	for i := range 3 {
		if a.Block[i] {
			block[i] = max(min(maxBlock[i], MaxThreads/fixed), 1)
		}
		if a.Grid[i] {
			grid[i] = maxGrid[i]
		}
	}
	g.Block, g.Grid = dim3(block), dim3(grid)
	return g
}
