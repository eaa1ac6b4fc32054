package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
)

// Special registers, PTX ISA chapter 10. %smid, %gridid and similar ones have the fixed values of a
// machine with one multiprocessor. Clocks count the steps of the run, so that runs with one seed
// read the same values.

// constSreg returns the value of a special register that is equal for all threads of the launch;
// false for others. Without a cluster dimension, each block is a cluster of its own (PTX ISA 10,
// %cluster_nctaid).
func (c *compiler) constSreg(o ir.Operand) (uint64, bool) {
	g := c.cfg.Geometry
	cl := c.cluster()
	if n, ok := gridSize(o.Sreg, g.Grid, cl); ok {
		return n, !c.launchParams() // launches of one program in an arena differ in it
	}
	switch o.Sreg {
	case ir.NtidX:
		return uint64(g.Block.X), true
	case ir.NtidY:
		return uint64(g.Block.Y), true
	case ir.NtidZ:
		return uint64(g.Block.Z), true
	case ir.NWarpID:
		return uint64(g.WarpsPerBlock()), true
	// One multiprocessor and one grid exist. Real values differ from run to run, so a kernel that
	// depends on them has no defined result.
	case ir.SMID, ir.GridID:
		return 0, true
	case ir.NSMID, ir.NoSreg:
		return 1, o.Sreg == ir.NSMID
	case ir.WarpSz:
		return 32, true
	case ir.ClusterNctaidX:
		return uint64(cl.X), true
	case ir.ClusterNctaidY:
		return uint64(cl.Y), true
	case ir.ClusterNctaidZ:
		return uint64(cl.Z), true
	case ir.ClusterNctaRank:
		return cl.Count(), true
	case ir.IsExplicitCluster:
		return b2u(cl.Count() > 1), true
	case ir.DynamicSmemSize:
		return uint64(c.cfg.DynShared), true
	case ir.TotalSmemSize:
		return uint64(c.p.shared.total), true
	}
	return 0, false
}

// gridSize returns the value of a register that holds the size of the grid, in blocks or clusters of
// size cl; false for others. The grid must be a multiple of the cluster; rounding up is for launches
// that are checked later.
func gridSize(r ir.Sreg, grid, cl event.Dim3) (uint64, bool) {
	div := func(a, b uint32) uint64 { return uint64((a + b - 1) / b) }
	switch r {
	case ir.NctaidX:
		return uint64(grid.X), true
	case ir.NctaidY:
		return uint64(grid.Y), true
	case ir.NctaidZ:
		return uint64(grid.Z), true
	case ir.NClusterIDX:
		return div(grid.X, cl.X), true
	case ir.NClusterIDY:
		return div(grid.Y, cl.Y), true
	case ir.NClusterIDZ:
		return div(grid.Z, cl.Z), true
	}
	return 0, false
}

// b2u returns 1 for true.
func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// sreg returns the function that reads a special register which differs among threads or over time.
// A kernel that reads a clock is not executed ahead, since its results depend on the schedule.
func (c *compiler) sreg(o ir.Operand) (func(x *exec, d *alu.Lanes, m uint32), error) {
	// uniform reads a register that is equal in all lanes of a warp, lane one that depends on the lane
	// only.
	uniform := func(f func(x *exec) uint64) func(*exec, *alu.Lanes, uint32) {
		return func(x *exec, d *alu.Lanes, m uint32) { fill(d, m, f(x)) }
	}
	lane := func(f func(l uint) uint32) func(*exec, *alu.Lanes, uint32) {
		return func(x *exec, d *alu.Lanes, m uint32) {
			for t := m; t != 0; t &= t - 1 {
				l := uint(bits.TrailingZeros32(t) & 31)
				d[l] = uint64(f(l))
			}
		}
	}
	switch o.Sreg {
	case ir.TidX, ir.TidY, ir.TidZ:
		i := o.Sreg - ir.TidX
		return func(x *exec, d *alu.Lanes, m uint32) { copyLanes(d, &x.warp.tid[i], m) }, nil
	case ir.CtaidX:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.X) }), nil
	case ir.CtaidY:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.Y) }), nil
	case ir.CtaidZ:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.Z) }), nil
	case ir.LaneID:
		return lane(func(l uint) uint32 { return uint32(l) }), nil
	case ir.WarpID:
		return uniform(func(x *exec) uint64 { return uint64(x.warp.index) }), nil
	// Masks of the lanes that are equal, at most, below, at least and above the reading one. Lane 31
	// makes 2<<l overflow to 0, so that the mask is full.
	case ir.LanemaskEQ:
		return lane(func(l uint) uint32 { return 1 << l }), nil
	case ir.LanemaskLE:
		return lane(func(l uint) uint32 { return 2<<l - 1 }), nil
	case ir.LanemaskLT:
		return lane(func(l uint) uint32 { return 1<<l - 1 }), nil
	case ir.LanemaskGE:
		return lane(func(l uint) uint32 { return full << l }), nil
	case ir.LanemaskGT:
		return lane(func(l uint) uint32 { return full << l << 1 }), nil
	// Clocks and timers count warp instructions: monotonic, and reproducible for one seed.
	case ir.Clock, ir.GlobalTimerLo:
		c.p.usesClock = true
		return uniform(func(x *exec) uint64 { return uint64(uint32(x.steps)) }), nil
	case ir.Clock64, ir.GlobalTimer:
		c.p.usesClock = true
		return uniform(func(x *exec) uint64 { return x.steps }), nil
	case ir.ClockHi, ir.GlobalTimerHi:
		c.p.usesClock = true
		return uniform(func(x *exec) uint64 { return x.steps >> 32 }), nil
	}
	if _, ok := gridSize(o.Sreg, c.cfg.Geometry.Grid, c.cluster()); ok { // of a program in an arena
		cl := c.cluster()
		return uniform(func(x *exec) uint64 {
			n, _ := gridSize(o.Sreg, x.geo.Grid, cl)
			return n
		}), nil
	}
	if f := clusterSreg(o.Sreg, c.cluster()); f != nil {
		return uniform(f), nil
	}
	return nil, fmt.Errorf("special register %s is not supported", o.Sreg)
}

// clusterSreg returns the function that reads a register about the cluster of the current block;
// nil for other registers. cl is the size of a cluster in blocks: the position in the cluster and
// the position of the cluster are the remainder and the quotient of the block index.
func clusterSreg(r ir.Sreg, cl event.Dim3) func(x *exec) uint64 {
	switch r {
	case ir.ClusterCtaidX:
		return func(x *exec) uint64 { return uint64(x.block.index.X % cl.X) }
	case ir.ClusterCtaidY:
		return func(x *exec) uint64 { return uint64(x.block.index.Y % cl.Y) }
	case ir.ClusterCtaidZ:
		return func(x *exec) uint64 { return uint64(x.block.index.Z % cl.Z) }
	case ir.ClusterIDX:
		return func(x *exec) uint64 { return uint64(x.block.index.X / cl.X) }
	case ir.ClusterIDY:
		return func(x *exec) uint64 { return uint64(x.block.index.Y / cl.Y) }
	case ir.ClusterIDZ:
		return func(x *exec) uint64 { return uint64(x.block.index.Z / cl.Z) }
	case ir.ClusterCtaRank:
		return func(x *exec) uint64 { return x.ctaRank(cl) }
	}
	return nil
}
