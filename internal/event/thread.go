package event

import "fmt"

// WarpSize is the number of lanes of a warp, on every target so far.
const WarpSize = 32

// Dim3 is a size or an index in the three dimensions of a grid or a block.
type Dim3 struct{ X, Y, Z uint32 }

// Count returns the number of elements of a box of this size.
func (d Dim3) Count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

// String prints d as PTX users write it.
func (d Dim3) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }

// In writes an index with the dimensions that a box of threads or blocks has: "64" in one dimension,
// "(1,8)" in two.
func (d Dim3) In(box Dim3) string {
	switch {
	case box.Z > 1:
		return d.String()
	case box.Y > 1:
		return fmt.Sprintf("(%d,%d)", d.X, d.Y)
	}
	return fmt.Sprint(d.X)
}

// at returns the index in a box of size d with linear position i, x fastest.
func (d Dim3) at(i uint64) Dim3 {
	x, y := uint64(d.X), uint64(d.Y)
	return Dim3{uint32(i % x), uint32(i / x % y), uint32(i / (x * y))}
}

// Warp is the number of a warp in the launch: block*WarpsPerBlock + warp within the block.
type Warp uint32

// Thread is the number of a thread in the launch: Warp*WarpSize + lane. The last warp of a block
// may have lanes that are no thread; their numbers are not used. The zero Thread is a thread.
type Thread uint64

// ThreadOf returns the thread of a lane of a warp.
func ThreadOf(w Warp, lane int) Thread { return Thread(w)*WarpSize + Thread(lane) }

// Warp returns the warp of t.
func (t Thread) Warp() Warp { return Warp(t / WarpSize) }

// Lane returns the lane of t within its warp.
func (t Thread) Lane() int { return int(t % WarpSize) }

// Geometry is the shape of a launch.
type Geometry struct {
	Grid, Block Dim3
	Cluster     Dim3 // in blocks; {1,1,1} without clusters
}

// Blocks returns the number of blocks of the launch.
func (g Geometry) Blocks() uint64 { return g.Grid.Count() }

// ThreadsPerBlock returns the number of threads of a block.
func (g Geometry) ThreadsPerBlock() int { return int(g.Block.Count()) }

// WarpsPerBlock returns the number of warps of a block, the last one perhaps partly filled.
func (g Geometry) WarpsPerBlock() int { return (g.ThreadsPerBlock() + WarpSize - 1) / WarpSize }

// BlockOf returns the linear number of the block that holds w.
func (g Geometry) BlockOf(w Warp) uint32 { return uint32(w) / uint32(g.WarpsPerBlock()) }

// Lanes returns the lanes of w that are threads.
func (g Geometry) Lanes(w Warp) uint32 {
	n := g.ThreadsPerBlock() - int(uint32(w)%uint32(g.WarpsPerBlock()))*WarpSize
	if n >= WarpSize {
		return ^uint32(0)
	}
	return 1<<n - 1
}

// BlockIndex returns the blockIdx of a linear block number.
func (g Geometry) BlockIndex(block uint32) Dim3 { return g.Grid.at(uint64(block)) }

// BlockNumber returns the linear number of the block with a blockIdx.
func (g Geometry) BlockNumber(i Dim3) uint32 { return i.X + g.Grid.X*(i.Y+g.Grid.Y*i.Z) }

// Index returns the blockIdx and threadIdx of t.
func (g Geometry) Index(t Thread) (block, thread Dim3) {
	w := t.Warp()
	b := g.BlockOf(w)
	inBlock := uint64(uint32(w)-b*uint32(g.WarpsPerBlock()))*WarpSize + uint64(t.Lane())
	return g.BlockIndex(b), g.Block.at(inBlock)
}

// ClusterOf returns the linear number of the cluster that holds a block. Blocks of one cluster have
// the same number; without clusters it is the number of the block.
func (g Geometry) ClusterOf(block uint32) uint32 {
	c := g.Cluster
	if c.Count() <= 1 {
		return block
	}
	b := g.BlockIndex(block)
	nx := (g.Grid.X + c.X - 1) / c.X
	ny := (g.Grid.Y + c.Y - 1) / c.Y
	return b.X/c.X + nx*(b.Y/c.Y+ny*(b.Z/c.Z))
}

// Includes reports whether a strong operation of thread t at scope s may interact directly with
// thread u (PTX ISA 8.5).
func (g Geometry) Includes(s Scope, t, u Thread) bool {
	switch s {
	case GPU, Sys:
		return true
	case CTA:
		return g.BlockOf(t.Warp()) == g.BlockOf(u.Warp())
	case Cluster:
		return g.ClusterOf(g.BlockOf(t.Warp())) == g.ClusterOf(g.BlockOf(u.Warp()))
	}
	return false
}
