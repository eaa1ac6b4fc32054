package lockstep

import (
	"fmt"
	"math"

	"heddle/internal/event"
	"heddle/internal/smt"
)

// Any says which dimensions of a launch are arbitrary, x first.
type Any struct{ Grid, Block [3]bool }

// Limits of a launch on every device (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const mostThreads = 1024 // of a block

// mostInDimension bounds the threads of an arbitrary launch in each dimension: kernels number them in an int.
const mostInDimension = 1 << 31

var (
	mostInBlock = [3]uint32{1024, 1024, 64}
	mostInGrid  = [3]uint32{math.MaxInt32, 65535, 65535}
)

// Is reports whether any dimension is arbitrary.
func (a Any) Is() bool { return a != Any{} }

func array3(d event.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }
func dim3(a [3]uint32) event.Dim3   { return event.Dim3{X: a[0], Y: a[1], Z: a[2]} }

// widest is the largest launch: g, but for the dimensions that are arbitrary.
func (a Any) widest(g event.Geometry) event.Geometry {
	block, grid := array3(g.Block), array3(g.Grid)
	fixed := uint32(1)
	for i := range 3 {
		if !a.Block[i] {
			fixed *= max(block[i], 1)
		}
	}
	for i := range 3 {
		if a.Block[i] {
			block[i] = max(min(mostInBlock[i], mostThreads/fixed), 1)
		}
		if a.Grid[i] {
			grid[i] = mostInGrid[i]
		}
	}
	g.Block, g.Grid = dim3(block), dim3(grid)
	return g
}

// shape makes the symbols of the launch and of the thread's and the block's index, and says how they hang together.
func (x *exec) shape() {
	c := x.c
	block, grid := array3(x.opt.Geometry.Block), array3(x.opt.Geometry.Grid)
	var assumed []smt.Term
	size := func(name string, most uint32, free bool) smt.Term {
		if !free {
			return c.Const(uint64(most), 32)
		}
		return c.VarIn(inGrid+name, 32, 1, uint64(most))
	}
	for i, d := range "xyz" {
		x.th.Ntid[i] = size(fmt.Sprintf("ntid.%c", d), block[i], x.opt.Any.Block[i])
		x.th.Nctaid[i] = size(fmt.Sprintf("nctaid.%c", d), grid[i], x.opt.Any.Grid[i])
		x.th.Tid[i] = c.VarIn(fmt.Sprintf("%stid.%c", private, d), 32, 0, uint64(block[i])-1)
		x.th.Ctaid[i] = c.VarIn(fmt.Sprintf("%sctaid.%c", inBlock, d), 32, 0, uint64(grid[i])-1)
		if x.opt.Any.Block[i] {
			assumed = append(assumed, c.Ult(x.th.Tid[i], x.th.Ntid[i]))
		}
		if x.opt.Any.Grid[i] {
			assumed = append(assumed, c.Ult(x.th.Ctaid[i], x.th.Nctaid[i]))
		}
		if x.opt.Any.Grid[i] || x.opt.Any.Block[i] {
			n := c.Mul(c.ZExt(x.th.Ntid[i], 64), c.ZExt(x.th.Nctaid[i], 64))
			assumed = append(assumed, c.Ult(n, c.Const(mostInDimension, 64)))
		}
	}
	if x.opt.Any.Block != [3]bool{} { // each factor is at most 1024, and the last at most 64: that fits 32 bits
		n := c.Mul(c.Mul(x.th.Ntid[0], x.th.Ntid[1]), x.th.Ntid[2])
		assumed = append(assumed, c.Ule(n, c.Const(mostThreads, 32)))
	}
	x.th.Assumed = assumed
}
