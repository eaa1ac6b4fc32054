package lower

import (
	"context"
	"slices"
)

// Accumulators of wgmma are arrays in the source and registers in the machine: PTX ISA 9.7.15.7.1
// allows nothing else to access them until the operations have ended. nvcc unrolls the loops over
// them. The analysis form has these loops, so that the array would stay in local memory; in a
// module with wgmma they are unrolled. Such modules, and those with tcgen05.mma, also lose what no
// result depends on: the upper half of an instruction descriptor that CUTLASS keeps in 64 bits and
// does not set, for which a trace would not know the descriptor. Accesses of other threads' memory
// are volatile by then (keep.go), so that the passes neither remove nor merge any.

// unrollPasses unroll loops with a constant number of rounds and move arrays to registers. What
// nothing uses goes first, since unrolling would multiply it: in GEMMs of CUTLASS, nine lines of ten.
const unrollPasses = "function(instsimplify,sroa,instsimplify,dce,loop-simplify,lcssa," +
	"loop(loop-rotate,indvars,loop-unroll-full),sccp,instsimplify,sroa,instsimplify,sroa,bdce,dce)"

// unrollArgs bound what is unrolled: loops over the registers of a thread, of which there are 255.
var unrollArgs = []string{"-S", "-passes=" + unrollPasses, "-unroll-threshold=20000",
	"-unroll-full-max-count=256", fullNames, "-o", "-", "-"}

// needsRegisters reports whether a module has wgmma or tcgen05.mma.
func needsRegisters(m *irModule) bool {
	for _, f := range m.funcs {
		if slices.ContainsFunc(f.body, hasMatrices) {
			return true
		}
	}
	return false
}

// registers returns the text for llc: where wgmma needs arrays in registers, they are there.
func (b *build) registers(ctx context.Context, low *lowered) ([]byte, error) {
	if !low.unroll {
		return low.ir, nil
	}
	opt, err := start(ctx, b.tc.Opt, unrollArgs)
	if err != nil {
		return nil, err
	}
	out, err := opt.finish(low.ir)
	if err != nil {
		return nil, b.toolError(ctx, opt, err)
	}
	return opaqueValues(out), nil
}
