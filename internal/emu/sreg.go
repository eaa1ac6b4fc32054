package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
)

// Special registers, PTX ISA chapter 10. %smid, %gridid and the like have some fixed value of a
// machine with one multiprocessor; clocks count the steps of the run, so that they are the same for
// each run of a seed.

// constSreg returns the value of a special register that is the same for every thread of the
// launch.
func (c *compiler) constSreg(o ir.Operand) (uint64, bool) {
	g := c.cfg.Geometry
	cl := g.Cluster
	if cl.Count() == 0 {
		cl.X, cl.Y, cl.Z = 1, 1, 1
	}
	div := func(a, b uint32) uint64 { return uint64((a + b - 1) / b) }
	switch o.Sreg {
	case ir.NtidX:
		return uint64(g.Block.X), true
	case ir.NtidY:
		return uint64(g.Block.Y), true
	case ir.NtidZ:
		return uint64(g.Block.Z), true
	case ir.NctaidX:
		return uint64(g.Grid.X), true
	case ir.NctaidY:
		return uint64(g.Grid.Y), true
	case ir.NctaidZ:
		return uint64(g.Grid.Z), true
	case ir.NWarpID:
		return uint64(g.WarpsPerBlock()), true
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
	case ir.NClusterIDX:
		return div(g.Grid.X, cl.X), true
	case ir.NClusterIDY:
		return div(g.Grid.Y, cl.Y), true
	case ir.NClusterIDZ:
		return div(g.Grid.Z, cl.Z), true
	case ir.IsExplicitCluster:
		return b2u(cl.Count() > 1), true
	case ir.DynamicSmemSize:
		return uint64(c.cfg.DynShared), true
	case ir.TotalSmemSize:
		return uint64(c.p.shared.total), true
	}
	return 0, false
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// sreg returns how to read a special register that differs between threads or in time.
func (c *compiler) sreg(o ir.Operand) (func(x *exec, d *alu.Lanes, m uint32), error) {
	cl := c.cluster()
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
	case ir.Clock, ir.GlobalTimerLo:
		c.p.usesClock = true
		return uniform(func(x *exec) uint64 { return uint64(uint32(x.steps)) }), nil
	case ir.Clock64, ir.GlobalTimer:
		c.p.usesClock = true
		return uniform(func(x *exec) uint64 { return x.steps }), nil
	case ir.ClockHi, ir.GlobalTimerHi:
		c.p.usesClock = true
		return uniform(func(x *exec) uint64 { return x.steps >> 32 }), nil
	case ir.ClusterCtaidX:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.X % cl.X) }), nil
	case ir.ClusterCtaidY:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.Y % cl.Y) }), nil
	case ir.ClusterCtaidZ:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.Z % cl.Z) }), nil
	case ir.ClusterIDX:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.X / cl.X) }), nil
	case ir.ClusterIDY:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.Y / cl.Y) }), nil
	case ir.ClusterIDZ:
		return uniform(func(x *exec) uint64 { return uint64(x.block.index.Z / cl.Z) }), nil
	case ir.ClusterCtaRank:
		return uniform(func(x *exec) uint64 { return x.ctaRank(cl) }), nil
	}
	return nil, fmt.Errorf("special register %s is not supported", o.Sreg)
}
