package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// MatrixRounds is a random kernel whose parameter n is the number of rounds of a ring whose stages
// are operands of matrix operations: of wgmma, by one or two warpgroups, or of tcgen05.mma, by one
// thread. One lane of the last warp fills the stages by bulk copies.
type MatrixRounds struct {
	Tensor bool // tcgen05
	Stages int
	Tiles  int // which have n rounds each
	// wgmma: warpgroups, groups that may be under way behind a round (below Stages), and whether one
	// thread of a warpgroup says that a stage is empty
	Groups, Depth int
	OneReleases   bool
	// tcgen05: accumulators, and whether each round has one of its own, else each tile
	Buffers   int
	EachRound bool

	Mistake int // one of WgmmaMistakes or TensorMistakes; 0: none
	When    int // in which rounds: one of the cases of when
	At      int // a round for it
}

// WgmmaMistakes and TensorMistakes say what may be wrong in some rounds. Some of them do no harm in
// some shapes.
var (
	WgmmaMistakes = []string{
		"nothing",
		"a group too many is under way",
		"no release",
		"two releases",
		"another stage is read",
		"no wait for the stage",
		"an accumulator is read before the wait",
		"the producer does not wait",
		"too many bytes are expected",
		"one warp commits once more",
		"no wait for the groups",
	}
	TensorMistakes = []string{
		"nothing",
		"an arrival in place of the commit",
		"no commit",
		"no wait for the product",
		"no wait for the loads",
		"no wait for the accumulator",
		"no wait for the stage",
		"columns that are not allocated",
		"the producer does not wait",
		"the accumulator of another round",
		"another stage is read",
		"too many bytes are expected",
	}
)

// Name says what is wrong.
func (r MatrixRounds) Name() string {
	if r.Tensor {
		return "tcgen05: " + TensorMistakes[r.Mistake]
	}
	return "wgmma: " + WgmmaMistakes[r.Mistake]
}

// RandomMatrixRounds returns a random shape with a random mistake, or with none.
func RandomMatrixRounds(rnd *rand.Rand) MatrixRounds {
	r := MatrixRounds{Tensor: rnd.IntN(2) == 0, Stages: 1 + rnd.IntN(4), Tiles: 1 + rnd.IntN(2),
		Groups: 1 + rnd.IntN(2), OneReleases: rnd.IntN(2) == 0, Buffers: 1 + rnd.IntN(2),
		EachRound: rnd.IntN(2) == 0, At: 20 + rnd.IntN(60), When: rnd.IntN(whens)}
	r.Depth = rnd.IntN(min(r.Stages, 3))
	if rnd.IntN(3) > 0 {
		of := WgmmaMistakes
		if r.Tensor {
			of = TensorMistakes
		}
		r.Mistake = 1 + rnd.IntN(len(of)-1)
	}
	return r
}

// whens is the number of cases of when.
const whens = 8

// wrong writes a branch to a label in the rounds in which a mistake is made. It reads the number of
// the round in the tile, %r7, and n, %r3.
func (r MatrixRounds) wrong(put func(string, ...any), label string) {
	switch r.When {
	case 0: // in all
		put("bra %s;", label)
		return
	case 1: // in one
		put("setp.eq.u32 %%p9, %%r7, %d;", r.At)
	case 2: // from one on
		put("setp.ge.u32 %%p9, %%r7, %d;", r.At)
	case 3: // in one of 64
		put("and.b32 %%r18, %%r7, 63; setp.eq.u32 %%p9, %%r18, %d;", r.At%64)
	case 4: // if there are many
		put("setp.gt.u32 %%p9, %%r3, %d;", r.At+30)
	case 5: // in the last
		put("add.u32 %%r18, %%r7, 1; setp.ge.u32 %%p9, %%r18, %%r3;")
	case 6: // in one, by its square
		put("mul.lo.u32 %%r18, %%r7, %%r7; setp.eq.u32 %%p9, %%r18, %d;", r.At*r.At)
	case 7: // from one on, by a quotient
		put("shr.u32 %%r18, %%r7, 6; setp.ne.u32 %%p9, %%r18, 0;")
	}
	put("@%%p9 bra %s;", label)
}

// either writes what is right, or if the mistake is i, what is wrong in the rounds for it. Its
// labels begin with label.
func (r MatrixRounds) either(put func(string, ...any), i int, label string, right, wrong string) {
	if r.Mistake != i {
		put("%s", right)
		return
	}
	r.wrong(put, label+"A")
	put("%s bra %sB;", right, label)
	put("%sA: %s", label, wrong)
	put("%sB:", label)
}

// PTX returns the kernel. A negative n leaves the parameter unspecified.
func (r MatrixRounds) PTX(n int) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	arg := ""
	if n >= 0 {
		arg = fmt.Sprintf(" n=%d", n)
	}
	target := "sm_90a"
	if r.Tensor {
		target = "sm_100a"
	}
	put("// heddle: grid=1 block=%d%s", 32*(r.producerWarp()+1), arg)
	put(".version 8.8\n.target %s\n.address_size 64", target)
	put(".shared .align 8 .b64 bars[%d]; .shared .align 4 .b32 base;", 2*r.Stages+4)
	put(".shared .align 128 .b8 s[%d];", r.bytes()*r.Stages)
	put(".global .align 128 .b8 in[8192];\n.visible .entry k(.param .u32 n)\n{")
	put(".reg .pred %%p<12>; .reg .b32 %%r<40>; .reg .f32 %%f<4>; .reg .b64 %%d<10>;")
	put("mov.u32 %%r0, %%tid.x; shr.u32 %%r1, %%r0, 5; and.b32 %%r2, %%r0, 31;")
	put("mov.u64 %%d1, in; ld.param.u32 %%r3, [n]; mov.u32 %%r4, bars; mov.u32 %%r5, s;")
	put("shr.u32 %%r20, %%r5, 4; cvt.u64.u32 %%d2, %%r20; setp.eq.u32 %%p0, %%r0, 0;")
	for i := range r.Stages {
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], 1;", 8*i)
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], %d;", 8*(r.Stages+i), r.releases())
	}
	if r.Tensor {
		r.tensor(put)
	} else {
		r.warpgroups(put)
	}
	put("PRODUCER: setp.ne.u32 %%p1, %%r2, 0; @%%p1 bra END;")
	r.producer(put)
	put("END:")
	if r.Tensor {
		put("bar.sync 0; setp.eq.u32 %%p1, %%r1, 4;")
		put("@%%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r19, 64;")
	}
	put("ret;\n}")
	return b.String()
}

// bytes is the size of a stage: A of 64 or 128 rows and B of 8 columns, of 16 halves each.
func (r MatrixRounds) bytes() int {
	if r.Tensor {
		return 4352
	}
	return 2304
}

// releases is the number of arrivals that say that a stage is empty.
func (r MatrixRounds) releases() int {
	switch {
	case r.Tensor:
		return 1
	case r.OneReleases:
		return r.Groups
	}
	return 4 * r.Groups
}

func (r MatrixRounds) producerWarp() int {
	if r.Tensor {
		return 5
	}
	return 4 * r.Groups
}

// place computes the stage, %r11, the parity, %r12, the address of the stage, %r13, its barrier,
// %r14, and the descriptors of A and B, %d6 and %d7. %r8 is the number of all rounds so far.
func (r MatrixRounds) place(put func(string, ...any)) {
	put("rem.u32 %%r11, %%r8, %d; div.u32 %%r12, %%r8, %d; and.b32 %%r12, %%r12, 1;", r.Stages,
		r.Stages)
	put("mad.lo.u32 %%r13, %%r11, %d, %%r5; mad.lo.u32 %%r14, %%r11, 8, %%r4;", r.bytes())
}

// descriptors computes those of the stage, or of the next one.
func (r MatrixRounds) descriptors(put func(string, ...any), mistake int) {
	r.either(put, mistake, "ST", "mov.u32 %r21, %r11;",
		fmt.Sprintf("add.u32 %%r21, %%r11, 1; rem.u32 %%r21, %%r21, %d;", r.Stages))
	put("mul.wide.u32 %%d5, %%r21, %d; add.s64 %%d6, %%d3, %%d5; add.s64 %%d7, %%d4, %%d5;",
		r.bytes()/16)
}

// loop writes a loop over tiles around one over rounds. begin and end write what a tile has in
// front of the rounds and behind them.
func (r MatrixRounds) loop(put func(string, ...any), label string, begin, round, end func()) {
	put("mov.u32 %%r6, 0; mov.u32 %%r8, 0;\n%sT: mov.u32 %%r7, 0;", label)
	begin()
	put("setp.eq.u32 %%p4, %%r3, 0; @%%p4 bra %sX;\n%sL:", label, label)
	round()
	put("add.u32 %%r8, %%r8, 1; add.u32 %%r7, %%r7, 1;")
	put("setp.lt.u32 %%p4, %%r7, %%r3; @%%p4 bra %sL;\n%sX:", label, label)
	end()
	put("add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p3, %%r6, %d; @%%p3 bra %sT;", r.Tiles, label)
}

func nothing() {}

// wait returns a wait for an object and a parity.
func wait(label, address, parity string) string {
	return fmt.Sprintf("%s: mbarrier.try_wait.parity.shared.b64 %%p5, [%s], %s; @!%%p5 bra %s;", label,
		address, parity, label)
}

func (r MatrixRounds) producer(put func(string, ...any)) {
	producerWaits, tooMany := 7, 8
	if r.Tensor {
		producerWaits, tooMany = 8, 11
	}
	r.loop(put, "P", nothing, func() {
		r.place(put)
		put("xor.b32 %%r12, %%r12, 1;")
		r.either(put, producerWaits, "PW", wait("PWW", fmt.Sprintf("%%r14+%d", 8*r.Stages), "%r12"), "")
		r.either(put, tooMany, "PE", fmt.Sprintf("mov.u32 %%r22, %d;", r.bytes()),
			fmt.Sprintf("mov.u32 %%r22, %d;", r.bytes()+16))
		put("mbarrier.arrive.expect_tx.shared.b64 _, [%%r14], %%r22;")
		put("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%%r13], [%%d1], %d, [%%r14];",
			r.bytes())
	}, nothing)
}

// warpgroups writes the warpgroups that multiply by wgmma.
func (r MatrixRounds) warpgroups(put func(string, ...any)) {
	put("or.b64 %%d3, %%d2, 0x0000001000080000; add.s64 %%d4, %%d3, 128;")
	for i := range 4 {
		put("mov.f32 %%f%d, 0f00000000;", i)
	}
	put("bar.sync 0; mov.u32 %%r24, %%r4; mov.u32 %%r25, %%r4; setp.eq.u32 %%p8, %%r0, %%r0;")
	if r.OneReleases {
		put("and.b32 %%r20, %%r0, 127; setp.eq.u32 %%p6, %%r20, 0;")
	} else {
		put("setp.eq.u32 %%p6, %%r2, 0;")
	}
	put("setp.eq.u32 %%p1, %%r1, %d; @%%p1 bra PRODUCER;", r.producerWarp())
	// the barriers of the last round and the one before: %r24, %r25
	of := []string{"%r14", "%r24", "%r25"}
	release := func(of string) string {
		return fmt.Sprintf("@%%p6 mbarrier.arrive.shared.b64 _, [%s+%d];", of, 8*r.Stages)
	}
	r.loop(put, "C", nothing, func() {
		r.place(put)
		r.either(put, 5, "CF", wait("CFW", "%r14", "%r12"), "")
		r.descriptors(put, 4)
		put("wgmma.fence.sync.aligned;")
		put("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f0, %%f1, %%f2, %%f3}, %%d6, %%d7, " +
			"%%p8, 1, 1, 0, 0;")
		put("wgmma.commit_group.sync.aligned;")
		r.either(put, 9, "CM", "", "setp.ne.u32 %p10, %r1, 0; @%p10 bra CMB; "+
			"wgmma.commit_group.sync.aligned;")
		r.either(put, 6, "CA", "", "add.f32 %f0, %f0, %f1;")
		groups := func(n int) string { return fmt.Sprintf("wgmma.wait_group.sync.aligned %d;", n) }
		if r.Mistake == 10 {
			r.either(put, 10, "CG", groups(r.Depth), "")
		} else {
			r.either(put, 1, "CG", groups(r.Depth), groups(r.Depth+1))
		}
		if r.Depth > 0 {
			put("setp.lt.u32 %%p7, %%r7, %d; @%%p7 bra CN;", r.Depth)
		}
		if r.Mistake == 3 {
			r.either(put, 3, "CR", release(of[r.Depth]), release(of[r.Depth])+" "+release(of[r.Depth]))
		} else {
			r.either(put, 2, "CR", release(of[r.Depth]), "")
		}
		put("CN: mov.u32 %%r25, %%r24; mov.u32 %%r24, %%r14;")
	}, func() {
		put("wgmma.wait_group.sync.aligned 0;")
		for i := range r.Depth {
			put("setp.lt.u32 %%p7, %%r3, %d; @%%p7 bra CE%d; %s CE%d:", r.Depth-i, i,
				release(of[r.Depth-i]), i)
		}
	})
	put("add.f32 %%f0, %%f0, %%f1;\nbra END;")
}

// accumulator computes the column of the accumulator, %r28, its barriers, %r26 for the product and
// %r27 for what is taken, and the parity, %r29, from the number of the round or the tile.
func (r MatrixRounds) accumulator(put func(string, ...any)) {
	number := "%r6"
	if r.EachRound {
		number = "%r8"
	}
	put("rem.u32 %%r30, %s, %d; div.u32 %%r29, %s, %d; and.b32 %%r29, %%r29, 1;", number, r.Buffers,
		number, r.Buffers)
	put("mad.lo.u32 %%r28, %%r30, 32, %%r19; mad.lo.u32 %%r26, %%r30, 8, %%r4;")
	put("add.u32 %%r27, %%r26, %d; add.u32 %%r26, %%r26, %d;", 16*r.Stages+16, 16*r.Stages)
}

// tensor writes the thread that multiplies by tcgen05.mma, in warp 4, and the warps that load the
// accumulators.
func (r MatrixRounds) tensor(put func(string, ...any)) {
	put("or.b64 %%d3, %%d2, 0x0000401000080000; add.s64 %%d4, %%d3, 256; mov.u32 %%r23, 0x08020010;")
	for i := range r.Buffers {
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], 1;", 16*r.Stages+8*i)
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], 4;", 16*r.Stages+16+8*i)
	}
	put("setp.eq.u32 %%p1, %%r1, 4;")
	put("@%%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;")
	put("bar.sync 0; ld.shared.u32 %%r19, [base]; setp.ne.u32 %%p8, %%r0, %%r0;")
	put("setp.eq.u32 %%p1, %%r1, 5; @%%p1 bra PRODUCER; setp.lt.u32 %%p1, %%r1, 4; @%%p1 bra LOADS;")
	put("setp.ne.u32 %%p1, %%r2, 0; @%%p1 bra END;")
	commit := func(to string) string {
		return "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [" + to + "];"
	}
	empty := fmt.Sprintf("%%r14+%d", 8*r.Stages)
	begin := func() {
		r.accumulator(put)
		put("xor.b32 %%r20, %%r29, 1;")
		r.either(put, 5, "MT", wait("MTW", "%r27", "%r20"), "")
		put("tcgen05.fence::after_thread_sync;")
	}
	end := func() { put("%s", commit("%r26")) }
	first, last := begin, end
	if r.EachRound {
		first, last = nothing, nothing
	}
	r.loop(put, "M", first, func() {
		if r.EachRound {
			begin()
		}
		r.place(put)
		r.either(put, 6, "MF", wait("MFW", "%r14", "%r12"), "")
		r.descriptors(put, 10)
		put("tcgen05.fence::after_thread_sync;")
		column := "%r28"
		if r.Mistake == 7 {
			r.either(put, 7, "MC", "mov.u32 %r31, %r28;", "add.u32 %r31, %r28, 64;")
			column = "%r31"
		} else if r.Mistake == 9 {
			r.either(put, 9, "MC", "mov.u32 %r31, %r28;",
				"sub.u32 %r31, %r28, %r19; xor.b32 %r31, %r31, 32; add.u32 %r31, %r31, %r19;")
			column = "%r31"
		}
		put("tcgen05.mma.cta_group::1.kind::f16 [%s], %%d6, %%d7, %%r23, %%p8;", column)
		if r.Mistake == 1 {
			r.either(put, 1, "ME", commit(empty), "mbarrier.arrive.shared.b64 _, ["+empty+"];")
		} else {
			r.either(put, 2, "ME", commit(empty), "")
		}
		if r.EachRound {
			end()
		}
	}, last)
	put("bra END;\nLOADS: setp.eq.u32 %%p6, %%r2, 0; shl.b32 %%r32, %%r1, 21;")
	take := func() {
		r.accumulator(put)
		r.either(put, 3, "LD", wait("LDW", "%r26", "%r29"), "")
		put("tcgen05.fence::after_thread_sync; add.u32 %%r28, %%r28, %%r32;")
		put("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%%r33}, [%%r28];")
		r.either(put, 4, "LL", "tcgen05.wait::ld.sync.aligned;", "")
		put("tcgen05.fence::before_thread_sync; @%%p6 mbarrier.arrive.shared.b64 _, [%%r27];")
	}
	if r.EachRound {
		r.loop(put, "L", nothing, take, nothing)
	} else {
		put("mov.u32 %%r7, 0; mov.u32 %%r6, 0;\nLT:")
		take()
		put("add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p3, %%r6, %d; @%%p3 bra LT;", r.Tiles)
	}
	put("bra END;")
}
