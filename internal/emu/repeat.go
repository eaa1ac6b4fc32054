package emu

import "heddle/internal/isa"

// Repeatable reports whether another run of the machine in the same arena does the same again if
// the memory that this run has read holds the same: the kernel reads no clock, allocates and prints
// nothing, launches no grids, and Options.Touched shows all that it accesses except constant memory.
// With atomics, what it writes may also be something that it has read; with textures, what it reads
// depends on their descriptions as well (Arena.TextureVersion).
func (m *Machine) Repeatable() (ok, atomics, textures bool) {
	p := m.prog
	if p.usesClock || p.usesHeap || p.prints || p.annotated || p.launches {
		return false, false, false
	}
	for _, fc := range p.funcs {
		for _, b := range fc.fn.Blocks {
			for _, in := range b.Instrs {
				switch action := in.Action(); {
				case action == isa.ActAtomic || action == isa.ActReduce:
					atomics = true
				case action == isa.ActReadTexture || action == isa.ActReadSurface ||
					action == isa.ActWriteSurface:
					textures = true
				case !repeatable[action]:
					return false, false, false
				}
			}
		}
	}
	return true, atomics, textures
}

// ObjectShift returns the logarithm of the distance between the objects of a run, the Shift of
// race.Objects. It is 0 if objects have no such distance, in an arena, or if another run would have
// an effect, as one that prints, or whose threads launch grids.
func (m *Machine) ObjectShift() uint {
	if m.prog.arena != nil || m.prog.prints || m.prog.launches {
		return 0
	}
	return m.prog.space.shift
}

// repeatable are the actions, besides atomic ones, of kernels that are repeatable. Accesses of
// others are not all in Options.Touched, or depend on what is not in memory.
var repeatable = map[isa.Action]bool{
	isa.ActCompute: true, isa.ActNothing: true,
	isa.ActBranch: true, isa.ActIndexedBranch: true, isa.ActCall: true, isa.ActReturn: true,
	isa.ActExit: true, isa.ActTrap: true,
	isa.ActConvertAddress: true, isa.ActTestSpace: true, isa.ActConvertClusterAddress: true,
	isa.ActTestClusterSpace: true, isa.ActMapAddress: true, isa.ActQueryRank: true,
	isa.ActLoad: true, isa.ActStore: true, isa.ActClusterAccess: true, isa.ActCopy: true,
	isa.ActCopyGroup: true,
	isa.ActShuffle:   true, isa.ActVote: true, isa.ActMatch: true, isa.ActActiveMask: true,
	isa.ActWarpReduce: true, isa.ActElect: true,
	isa.ActNumberedBarrier: true, isa.ActWarpBarrier: true, isa.ActClusterBarrier: true,
	isa.ActMBarrier: true, isa.ActFence: true, isa.ActPartialFence: true,
	isa.ActMatrixLoad: true, isa.ActMatrixStore: true, isa.ActMatrixMultiply: true,
	isa.ActMatrixMove: true, isa.ActStack: true,
}
