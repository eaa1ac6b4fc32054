package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Rounds is a random kernel whose parameter n is the number of rounds of a ring in each tile. One
// lane of the last warp fills the stages by bulk copies, and the other warps read them.
type Rounds struct {
	Stages, Consumers, Tiles int
	Counter                  bool // stage and parity come from a counter, else from registers
	Prologue                 bool // the first stages are filled in front of the loop
	Late                     bool // a stage is released in the next round; needs two stages
	Mistake                  int  // one of RoundMistakes; 0: none
	At                       int  // a round for it
}

// RoundMistakes says what may be wrong. Some of them do no harm in some shapes.
var RoundMistakes = []string{
	"nothing",
	"the prologue fills stages that no round reads",
	"no fence in one round",
	"no release in the last round",
	"the consumers make one round more",
	"the producer makes one round less",
	"no fence",
	"the parity begins anew in each tile",
	"the producer waits for the other parity",
	"no fence if there are many rounds",
	"no fence in one of 64 rounds",
	"too many bytes are expected in the last round",
	"no fence where the square of the round is one number",
	"no fence from one round on",
	"no fence where a sum is one number",
	"the prologue fills a stage too few",
}

// RandomRounds returns a random shape with a random mistake, or with none.
func RandomRounds(rnd *rand.Rand) Rounds {
	r := Rounds{Stages: 1 + rnd.IntN(4), Consumers: 1 + rnd.IntN(2), Tiles: 1 + rnd.IntN(2),
		Counter: rnd.IntN(2) == 0, Prologue: rnd.IntN(3) == 0, Late: rnd.IntN(3) == 0,
		At: 20 + rnd.IntN(60)}
	if r.Prologue {
		r.Tiles = 1
	}
	r.Late = r.Late && r.Stages > 1
	if rnd.IntN(3) > 0 {
		r.Mistake = 1 + rnd.IntN(len(RoundMistakes)-1)
	}
	return r
}

// PTX returns the kernel. A negative n leaves the parameter unspecified.
func (r Rounds) PTX(n int) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	arg := ""
	if n >= 0 {
		arg = fmt.Sprintf(" n=%d", n)
	}
	put("// heddle: grid=1 block=%d%s", 32*(r.Consumers+1), arg)
	put(".version 8.8\n.target sm_90a\n.address_size 64")
	put(".shared .align 8 .b64 bars[%d];\n.shared .align 128 .b8 s[%d];", 2*r.Stages, 128*r.Stages)
	put(".global .align 128 .b8 in[1024];\n.visible .entry k(.param .u32 n)\n{")
	put(".reg .pred %%p<12>; .reg .b32 %%r<32>; .reg .b64 %%d<4>;")
	put("mov.u32 %%r0, %%tid.x; shr.u32 %%r1, %%r0, 5; and.b32 %%r2, %%r0, 31;")
	put("mov.u64 %%d1, in; ld.param.u32 %%r3, [n]; mov.u32 %%r4, bars; mov.u32 %%r5, s;")
	put("setp.eq.u32 %%p0, %%r0, 0;")
	for i := range r.Stages {
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], 1;", 8*i)
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], %d;", 8*(r.Stages+i), r.Consumers)
	}
	put("bar.sync 0;")
	// %r6: tile, %r7: round, %r8: all rounds so far, %r9: stage, %r10: parity
	put("mov.u32 %%r6, 0; mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u32 %%r10, 0; mov.u32 %%r22, 0;")
	put("setp.eq.u32 %%p1, %%r1, %d; @%%p1 bra PRODUCER;", r.Consumers)
	r.consumer(put)
	put("bra END;\nPRODUCER: setp.ne.u32 %%p1, %%r2, 0; @%%p1 bra END;")
	r.producer(put)
	put("END: ret;\n}")
	return b.String()
}

// place computes the stage, %r11, the parity, %r12, and the addresses of the stage, %r13, and its
// barrier, %r14.
func (r Rounds) place(put func(string, ...any)) {
	if r.Counter {
		put("rem.u32 %%r11, %%r8, %d; div.u32 %%r12, %%r8, %d; and.b32 %%r12, %%r12, 1;", r.Stages,
			r.Stages)
	} else {
		put("mov.u32 %%r11, %%r9; mov.u32 %%r12, %%r10;")
	}
	put("mad.lo.u32 %%r13, %%r11, 128, %%r5; mad.lo.u32 %%r14, %%r11, 8, %%r4;")
}

// advance ends a round: round k of a prologue or, if k is negative, one of the loop.
func (r Rounds) advance(put func(string, ...any), k int) {
	put("add.u32 %%r8, %%r8, 1; add.u32 %%r9, %%r9, 1;")
	if k < 0 {
		put("add.u32 %%r7, %%r7, 1;")
	} else {
		put("mov.u32 %%r7, %d;", k+1)
	}
	put("setp.eq.u32 %%p2, %%r9, %d; @%%p2 mov.u32 %%r9, 0; @%%p2 xor.b32 %%r10, %%r10, 1;", r.Stages)
}

func (r Rounds) beginTile(put func(string, ...any), label string) {
	put("%sT: mov.u32 %%r7, 0;", label)
	if r.Mistake == 7 {
		put("mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u32 %%r10, 0;")
	}
}

func (r Rounds) endTile(put func(string, ...any), label string) {
	put("%sX: add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p3, %%r6, %d; @%%p3 bra %sT;", label, r.Tiles,
		label)
}

func (r Rounds) consumer(put func(string, ...any)) {
	last := "%r3"
	if r.Mistake == 4 {
		put("add.u32 %%r21, %%r3, 1;")
		last = "%r21"
	}
	r.beginTile(put, "C")
	put("setp.eq.u32 %%p4, %s, 0; @%%p4 bra CX;", last)
	put("CL:")
	r.place(put)
	put("CW: mbarrier.try_wait.parity.shared.b64 %%p5, [%%r14], %%r12; @!%%p5 bra CW;")
	put("mad.lo.u32 %%r15, %%r2, 4, %%r13; ld.shared.u32 %%r16, [%%r15];")
	r.fence(put)
	put("bar.warp.sync -1; setp.eq.u32 %%p6, %%r2, 0;")
	if r.Mistake == 3 {
		put("add.u32 %%r20, %%r7, 1; setp.lt.u32 %%p7, %%r20, %%r3; and.pred %%p6, %%p6, %%p7;")
	}
	release := "@%%p6 mbarrier.arrive.shared.b64 _, [%%r%d+%d];"
	if r.Late {
		put("setp.ne.u32 %%p7, %%r7, 0; and.pred %%p8, %%p6, %%p7;")
		put("@%%p8 mbarrier.arrive.shared.b64 _, [%%r17+%d]; mov.u32 %%r17, %%r14;", 8*r.Stages)
	} else {
		put(release, 14, 8*r.Stages)
	}
	r.advance(put, -1)
	put("setp.lt.u32 %%p4, %%r7, %s; @%%p4 bra CL;", last)
	if r.Late {
		put(release, 17, 8*r.Stages)
	}
	r.endTile(put, "C")
}

// fence writes the proxy fence behind the reads of a round.
func (r Rounds) fence(put func(string, ...any)) {
	fence := "fence.proxy.async.shared::cta;"
	switch r.Mistake {
	case 6:
		return
	case 2: // a predicate of the number of the round
		if r.Late {
			put("setp.ne.u32 %%p9, %%r8, %d;", r.At)
		} else {
			put("setp.ne.u32 %%p9, %%r7, %d;", r.At)
		}
	case 9:
		put("setp.lt.u32 %%p9, %%r3, %d;", r.At+30)
	case 10:
		put("and.b32 %%r18, %%r7, 63; setp.ne.u32 %%p9, %%r18, %d;", r.At%64)
	case 12:
		put("mul.lo.u32 %%r18, %%r7, %%r7; setp.ne.u32 %%p9, %%r18, %d;", r.At*r.At)
	case 13:
		put("shr.u32 %%r18, %%r7, 6; setp.eq.u32 %%p9, %%r18, 0;")
	case 14:
		put("add.u32 %%r22, %%r22, 3; setp.ne.u32 %%p9, %%r22, %d;", 3*r.At)
	default:
		put(fence)
		return
	}
	put("@!%%p9 bra CF; %s CF:", fence)
}

// fill writes what the producer does in a round, without waiting if the ring is new.
func (r Rounds) fill(put func(string, ...any), label string, wait bool) {
	r.place(put)
	if wait {
		if r.Mistake != 8 {
			put("xor.b32 %%r12, %%r12, 1;")
		}
		put("%sW: mbarrier.try_wait.parity.shared.b64 %%p5, [%%r14+%d], %%r12; @!%%p5 bra %sW;", label,
			8*r.Stages, label)
	}
	if r.Mistake == 11 && wait {
		put("add.u32 %%r20, %%r7, 1; setp.eq.u32 %%p7, %%r20, %%r3; selp.u32 %%r19, 144, 128, %%p7;")
	} else {
		put("mov.u32 %%r19, 128;")
	}
	put("mbarrier.arrive.expect_tx.shared.b64 _, [%%r14], %%r19;")
	put("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%%r13], [%%d1], 128, [%%r14];")
}

func (r Rounds) producer(put func(string, ...any)) {
	last := "%r3"
	if r.Mistake == 5 {
		put("sub.u32 %%r21, %%r3, 1;")
		last = "%r21"
	}
	r.beginTile(put, "P")
	filled := 0
	if r.Prologue {
		stages := r.Stages
		if r.Mistake == 15 {
			stages--
		}
		for i := range stages {
			if r.Mistake != 1 {
				put("setp.le.u32 %%p4, %s, %d; @%%p4 bra PX;", last, i)
			}
			r.fill(put, "", false)
			r.advance(put, i)
			filled++
		}
	}
	put("setp.le.u32 %%p4, %s, %d; @%%p4 bra PX;", last, filled)
	put("PL:")
	r.fill(put, "P", true)
	r.advance(put, -1)
	put("setp.lt.u32 %%p4, %%r7, %s; @%%p4 bra PL;", last)
	r.endTile(put, "P")
}
