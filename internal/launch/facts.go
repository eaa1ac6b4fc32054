package launch

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// kernelFacts are the properties of a kernel, with every function that it may call, that suggest a
// launch.
type kernelFacts struct {
	tidX           bool // reads threadIdx.x, or the number of the lane or the warp
	tidY, tidZ     bool // reads threadIdx.y, .z
	ctaid          bool // reads blockIdx or gridDim in any dimension
	ctaidY, ctaidZ bool
	// may do atomics on global memory, which blocks can use to tell themselves apart
	atomics bool
	dynamic bool   // uses an extern __shared__ array
	static  uint64 // bytes of static shared memory
	// factors are the parameters that the kernel multiplies with at least two others
	factors map[*ir.Var]int
	// loads maps each parameter and byte offset to the type with which the kernel loads it.
	loads map[*ir.Var]map[int]isa.Type
}

// gather scans the kernel and every function that it may call. A function whose address is stored
// in a variable counts as called, so the facts can describe more than one run executes.
func gather(k *ir.Func) *kernelFacts {
	facts := &kernelFacts{loads: make(map[*ir.Var]map[int]isa.Type)}
	for _, f := range ir.ReachableFuncs(k) {
		linear := ranksOf(f)
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				facts.instr(in, linear)
			}
		}
	}
	facts.factors = products(k)
	vars, size := ir.Layout(k)
	facts.static = uint64(size)
	for _, v := range vars {
		facts.dynamic = facts.dynamic || v.Unsized
	}
	return facts
}

// instr records the facts of one instruction.
func (k *kernelFacts) instr(in *ir.Instr, linear ranks) {
	// Atomics of the block's scope through a generic address are those of a cuda::barrier in shared
	// memory. Blocks cannot use them to tell themselves apart.
	if in.Row != nil && in.Row.Effect == isa.ReadsWrites &&
		(in.Space == event.Global || in.Space == event.Generic && in.Scope != event.CTA) {
		k.atomics = true
	}
	for _, ops := range [2][]ir.Operand{in.Dst, in.Src} {
		for i := range ops {
			k.operand(&ops[i], linear)
		}
	}
	if in.Space == event.Param && in.Row != nil && in.Row.Effect == isa.Reads && len(in.Src) > 0 {
		if m := in.Src[0]; m.Kind == ir.Mem && m.Var != nil && m.Reg == ir.NoReg {
			k.load(m.Var, int(m.Val), in)
		}
	}
}

// load records the types with which in, a load or vector load, reads v from offset off.
func (k *kernelFacts) load(v *ir.Var, off int, in *ir.Instr) {
	if k.loads[v] == nil {
		k.loads[v] = make(map[int]isa.Type)
	}
	for e := range max(int(in.Vec), 1) {
		k.loads[v][off+e*in.Type.Size()] = in.Type
	}
}

// operand records the special registers that an operand reads, except y and z where linear says
// that the function combines all dimensions of them.
func (k *kernelFacts) operand(o *ir.Operand, linear ranks) {
	switch o.Sreg {
	case ir.TidX, ir.LaneID, ir.WarpID:
		k.tidX = true
	case ir.TidY:
		k.tidY = k.tidY || !linear.thread
	case ir.TidZ:
		k.tidZ = k.tidZ || !linear.thread
	case ir.CtaidX, ir.NctaidX:
		k.ctaid = true
	case ir.CtaidY:
		k.ctaid, k.ctaidY = true, k.ctaidY || !linear.block
	case ir.CtaidZ:
		k.ctaid, k.ctaidZ = true, k.ctaidZ || !linear.block
	case ir.NctaidY, ir.NctaidZ, ir.SMID, ir.ClusterCtaRank, ir.ClusterCtaidX, ir.ClusterIDX:
		k.ctaid = true
	}
	for i := range o.Elems {
		k.operand(&o.Elems[i], linear)
	}
}
