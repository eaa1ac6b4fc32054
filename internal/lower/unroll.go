package lower

import (
	"bytes"
	"context"
)

// Accumulators of wgmma are arrays in the source and registers in the machine: PTX ISA 9.7.15.7.1
// allows nothing else to access them until the operations have ended. nvcc unrolls the loops over
// them. The analysis form has these loops, so that the array would stay in local memory; in a
// module with wgmma they are unrolled. Accesses of other threads' memory are volatile by then
// (keep.go), so that the passes neither remove nor merge any.

// unrollPasses unroll loops with a constant number of rounds and move arrays to registers.
const unrollPasses = "function(loop-simplify,lcssa,loop(loop-rotate,indvars,loop-unroll-full),sroa,instsimplify)"

// unrollArgs bound what is unrolled: loops over the registers of a thread, of which there are 255.
var unrollArgs = []string{"-S", "-passes=" + unrollPasses, "-unroll-threshold=20000",
	"-unroll-full-max-count=256", "-o", "-", "-"}

// registers returns a module for llc in which arrays that wgmma needs in registers are there.
func (b *build) registers(ctx context.Context, ir []byte) ([]byte, error) {
	if b.opt.OptLevel != "" || !bytes.Contains(ir, []byte("wgmma.mma_async")) {
		return ir, nil
	}
	opt, err := start(ctx, b.tc.Opt, unrollArgs)
	if err != nil {
		return nil, err
	}
	out, err := opt.finish(ir)
	if err != nil {
		return nil, b.toolError(ctx, opt, err)
	}
	return out, nil
}
