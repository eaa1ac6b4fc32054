package lockstep

import (
	"fmt"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// maxInDimension bounds the threads of an arbitrary launch in each dimension: kernels number them
// in an int.
const maxInDimension = 1 << 31

// shape makes the symbols of the launch and of the indices of the thread and its block, and their
// relations.
func shape(th *Thread, opt Options) {
	c := th.Context
	block, grid := thread.Array(opt.Geometry.Block), thread.Array(opt.Geometry.Grid)
	size := func(name string, most uint32, free bool) smt.Term {
		if !free {
			return c.Const(uint64(most), 32)
		}
		return c.VarIn(symbol.Grid+name, 32, 1, uint64(most))
	}
	for i, d := range "xyz" {
		th.Ntid[i] = size(fmt.Sprintf("ntid.%c", d), block[i], opt.Any.Block[i])
		th.Nctaid[i] = size(fmt.Sprintf("nctaid.%c", d), grid[i], opt.Any.Grid[i])
		th.Tid[i] = c.VarIn(fmt.Sprintf("%stid.%c", symbol.Private, d), 32, 0, uint64(block[i])-1)
		th.Ctaid[i] = c.VarIn(fmt.Sprintf("%sctaid.%c", symbol.Block, d), 32, 0, uint64(grid[i])-1)
		if opt.Any.Block[i] {
			th.Assumed = append(th.Assumed, c.Ult(th.Tid[i], th.Ntid[i]))
		}
		if opt.Any.Grid[i] {
			th.Assumed = append(th.Assumed, c.Ult(th.Ctaid[i], th.Nctaid[i]))
		}
		if opt.Any.Grid[i] || opt.Any.Block[i] {
			n := c.Mul(c.ZExt(th.Ntid[i], 64), c.ZExt(th.Nctaid[i], 64))
			th.Assumed = append(th.Assumed, c.Ult(n, c.Const(maxInDimension, 64)))
		}
	}
	if opt.Any.Block != [3]bool{} { // factors of at most 1024, 1024 and 64: the product fits 32 bits
		n := c.Mul(c.Mul(th.Ntid[0], th.Ntid[1]), th.Ntid[2])
		th.Assumed = append(th.Assumed, c.Ule(n, c.Const(thread.MaxThreads, 32)))
	}
}
