package gen

import (
	"fmt"
	"strings"
)

// Ring is the shape of a kernel for Hopper: one thread of a producer warp fills the stages of a ring
// by bulk copies, and consumer warps read them. Each stage has two mbarriers: full, on which the
// copies count their bytes, and empty, at which one lane of each consumer warp arrives.
type Ring struct {
	Stages    int  // a power of two
	Consumers int  // warps
	Steps     int  // k-steps, each of one stage
	Reads     int  // of 4 bytes by each consumer thread in a step, each by a separate instruction
	Param     bool // the number of steps is the parameter n, whose value is Steps in the pragma
	// NoFence: consumers release a stage without a proxy fence behind their reads
	NoFence bool
}

// StageBytes is the size of a stage, which two bulk copies fill.
func (s Ring) StageBytes() int { return 256 * max(s.Reads, 1) }

// Threads is the size of the block.
func (s Ring) Threads() int { return 32 * (1 + s.Consumers) }

// Commands is the number of commands of a trace: accesses of one thread to shared memory, operations
// on mbarriers, bulk copies, and registrations at barriers.
func (s Ring) Commands() uint64 {
	step := 4 + s.Consumers*(32*(1+s.Reads)+1)
	return uint64(2*s.Stages + s.Threads() + s.Steps*step)
}

// PTX returns the kernel k of this shape. Each warp counts its stage and its parity alone.
func (s Ring) PTX() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(".version 8.0\n.target sm_90\n.address_size 64")
	put(".visible .entry k(.param .u64 in, .param .u32 n)\n.reqntid %d, 1, 1\n{", s.Threads())
	put(".reg .pred %%p<8>; .reg .b32 %%r<16>; .reg .b64 %%d<4>;")
	put(".shared .align 128 .b8 stage[%d]; .shared .align 8 .b8 full[%d]; .shared .align 8 .b8 "+
		"empty[%d];", s.Stages*s.StageBytes(), 8*s.Stages, 8*s.Stages)
	put("mov.u32 %%r1, %%tid.x; and.b32 %%r2, %%r1, 31; mov.u32 %%r3, full; mov.u32 %%r4, empty;")
	put("mov.u32 %%r5, stage; ld.param.u64 %%d1, [in]; cvta.to.global.u64 %%d1, %%d1;")
	put("setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra MADE;")
	for i := range s.Stages {
		put("mbarrier.init.shared.b64 [full+%d], 1; mbarrier.init.shared.b64 [empty+%d], %d;", 8*i,
			8*i, s.Consumers)
	}
	put("MADE: bar.sync 0;")
	put("mov.u32 %%r6, 0; mov.u32 %%r7, 0;") // step, parity
	if s.Param {
		put("ld.param.u32 %%r8, [n];")
	} else {
		put("mov.u32 %%r8, %d;", s.Steps)
	}
	put("setp.eq.u32 %%p2, %%r8, 0; @%%p2 bra END;")
	put("setp.lt.u32 %%p3, %%r1, 32; @!%%p3 bra CONSUME; setp.ne.u32 %%p4, %%r2, 0; @%%p4 bra END;")
	s.loop(put, "P", s.produce)
	put("bra END;\nCONSUME:")
	s.loop(put, "C", s.consume)
	put("END: ret;\n}")
	return b.String()
}

// loop writes the k-steps of one side: %r9 is the stage, %r10 its offset among the mbarriers.
func (s Ring) loop(put func(string, ...any), label string, step func(put func(string, ...any))) {
	put("%s0: and.b32 %%r9, %%r6, %d; shl.b32 %%r10, %%r9, 3; mad.lo.u32 %%r11, %%r9, %d, %%r5;",
		label, s.Stages-1, s.StageBytes())
	put("add.u32 %%r12, %%r3, %%r10; add.u32 %%r13, %%r4, %%r10;")
	step(put)
	put("add.u32 %%r6, %%r6, 1; setp.eq.u32 %%p5, %%r9, %d; @%%p5 xor.b32 %%r7, %%r7, 1;", s.Stages-1)
	put("setp.lt.u32 %%p6, %%r6, %%r8; @%%p6 bra %s0;", label)
}

// produce waits until a stage is empty, which a new ring is, and has it filled.
func (s Ring) produce(put func(string, ...any)) {
	half := s.StageBytes() / 2
	put("xor.b32 %%r14, %%r7, 1;")
	put("PW: mbarrier.try_wait.parity.shared.b64 %%p7, [%%r13], %%r14; @!%%p7 bra PW;")
	put("mbarrier.arrive.expect_tx.shared.b64 _, [%%r12], %d;", 2*half)
	for i := range 2 {
		put("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%%r11+%d], [%%d1], %d, "+
			"[%%r12];", i*half, half)
	}
}

// consume waits until a stage is full, reads it, and gives it back.
func (s Ring) consume(put func(string, ...any)) {
	put("CW: mbarrier.try_wait.parity.shared.b64 %%p7, [%%r12], %%r7; @!%%p7 bra CW;")
	put("mad.lo.u32 %%r14, %%r2, 4, %%r11;")
	for i := range s.Reads {
		put("ld.shared.u32 %%r15, [%%r14+%d];", 128*i)
	}
	if !s.NoFence {
		put("fence.proxy.async.shared::cta;")
	}
	put("bar.warp.sync -1; setp.eq.u32 %%p7, %%r2, 0;")
	put("@%%p7 mbarrier.arrive.shared.b64 _, [%%r13];")
}
