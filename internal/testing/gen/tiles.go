package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Tiles is a random kernel whose blocks cancel others and work on their tiles. A thread of the last
// warp asks, and the other warps read the answers from a ring of slots.
type Tiles struct {
	Workers, Slots int
	Grid           int
	Packed         bool // an answer is loaded as two words
	// Whole: the warps meet the one that asks at a barrier; else mbarriers say that a slot is empty.
	Whole   bool
	Mistake int // one of TilesMistakes; 0: none
	At      int // the tile from which on it is made
}

// TilesMistakes says what may be wrong. Some of them do no harm in some shapes, or in small grids.
var TilesMistakes = []string{
	"nothing",
	"no proxy fence",
	"a slot is not empty",
	"no wait for the answer",
	"another parity",
	"too many bytes are expected",
	"a request behind a failure",
	"no barrier between the tiles",
	"a coordinate decides an address",
	"a warp goes on",
}

// RandomTiles returns a random shape with a random mistake, or with none.
func RandomTiles(rnd *rand.Rand) Tiles {
	grid := []int{1, 2, 3, 5, 9}[rnd.IntN(5)]
	r := Tiles{Workers: 1 + rnd.IntN(3), Slots: 1 + rnd.IntN(3), Grid: grid,
		Packed: rnd.IntN(2) == 0, Whole: rnd.IntN(3) == 0, At: rnd.IntN(5)}
	if rnd.IntN(3) > 0 {
		r.Mistake = 1 + rnd.IntN(len(TilesMistakes)-1)
	}
	return r
}

// either writes what is right, or if the mistake is i, what is wrong from some tile on: %r7 is the
// number of the tile. Its labels begin with label.
func (r Tiles) either(put func(string, ...any), i int, label, right, wrong string) {
	if r.Mistake != i {
		put("%s", right)
		return
	}
	put("setp.ge.u32 %%p9, %%r7, %d; @%%p9 bra %sA; %s bra %sB;", r.At, label, right, label)
	put("%sA: %s %sB:", label, wrong, label)
}

// place computes the slot, %r11, the parity, %r12, and the addresses of the barriers, %r14, and of
// the answer, %r15.
func (r Tiles) place(put func(string, ...any)) {
	put("rem.u32 %%r11, %%r7, %d; div.u32 %%r12, %%r7, %d; and.b32 %%r12, %%r12, 1;", r.Slots, r.Slots)
	put("mad.lo.u32 %%r14, %%r11, 8, %%r4; mad.lo.u32 %%r15, %%r11, 16, %%r5;")
}

// read waits for the answer and reads whether there is another tile, %p4.
func (r Tiles) read(put func(string, ...any), label string) {
	right := wait(label+"W", "%r14", "%r12")
	switch {
	case r.Mistake == 3 && label == "C":
		r.either(put, 3, "CN", right, "")
	case r.Mistake == 4 && label == "C":
		r.either(put, 4, "CP", right, "xor.b32 %r20, %r12, 1; "+wait("CPW", "%r14", "%r20"))
	default:
		put("%s", right)
	}
	if r.Packed {
		put("ld.shared.v2.b64 {%%d4, %%d5}, [%%r15]; mov.b128 %%q, {%%d4, %%d5};")
	} else {
		put("ld.shared.b128 %%q, [%%r15];")
	}
	put("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %%p4, %%q;")
	put("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %%r8, %%q;")
	fence := "fence.proxy.async.shared::cta;"
	r.either(put, 1, label+"F", fence, "")
}

// PTX returns the kernel.
func (r Tiles) PTX() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("// heddle: grid=%d block=%d", r.Grid, 32*(r.Workers+1))
	put(".version 8.8\n.target sm_100a\n.address_size 64")
	put(".shared .align 8 .b64 bars[%d]; .shared .align 16 .b8 answers[%d];", 2*r.Slots, 16*r.Slots)
	put(".shared .align 4 .b32 s[%d];\n.visible .entry k()\n{", 64*r.Workers)
	put(".reg .pred %%p<10>; .reg .b32 %%r<32>; .reg .b64 %%d<6>; .reg .b128 %%q;")
	put("mov.u32 %%r0, %%tid.x; shr.u32 %%r1, %%r0, 5; and.b32 %%r2, %%r0, 31;")
	put("mov.u32 %%r4, bars; mov.u32 %%r5, answers; mov.u32 %%r6, s; mov.u32 %%r7, 0;")
	put("mov.u32 %%r8, %%ctaid.x; setp.eq.u32 %%p0, %%r0, 0; setp.eq.u32 %%p6, %%r2, 0;")
	for i := range r.Slots {
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], 1;", 8*i)
		put("@%%p0 mbarrier.init.shared.b64 [bars+%d], %d;", 8*(r.Slots+i), r.Workers)
	}
	put("bar.sync 0; setp.eq.u32 %%p1, %%r1, %d; @%%p1 bra ASKS;", r.Workers)
	put("mad.lo.u32 %%r16, %%r0, 4, %%r6; xor.b32 %%r17, %%r0, 31; mad.lo.u32 %%r17, %%r17, 4, %%r6;")
	put("WORK:")
	if r.Mistake == 8 {
		r.either(put, 8, "CC", "mov.u32 %r18, %r16;",
			fmt.Sprintf("and.b32 %%r18, %%r8, 1; mad.lo.u32 %%r18, %%r18, %d, %%r16;", 128*r.Workers))
	} else {
		put("mov.u32 %%r18, %%r16;")
	}
	meet := fmt.Sprintf("bar.sync 1, %d;", 32*r.Workers)
	put("st.shared.u32 [%%r18], %%r8; %s ld.shared.u32 %%r19, [%%r17];", meet)
	r.either(put, 7, "CB", meet, "")
	r.place(put)
	r.read(put, "C")
	if r.Whole {
		put("bar.sync 0;")
	} else {
		put("bar.warp.sync -1; @%%p6 mbarrier.arrive.shared.b64 _, [%%r14+%d];", 8*r.Slots)
	}
	put("add.u32 %%r7, %%r7, 1;")
	if r.Mistake == 9 {
		put("setp.ge.u32 %%p9, %%r7, %d; @%%p9 bra WORK;", r.At+1)
	}
	put("@%%p4 bra WORK; bra END;\nASKS:")
	if r.Whole { // all lanes take part
		put("mov.pred %%p7, %%p6;")
	} else {
		put("@!%%p6 bra END;")
	}
	put("ASK:")
	r.place(put)
	if !r.Whole {
		put("xor.b32 %%r13, %%r12, 1;")
		r.either(put, 2, "PE", wait("PEW", fmt.Sprintf("%%r14+%d", 8*r.Slots), "%r13"), "")
	}
	request := "@%p6 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" +
		".b128 [%r15], [%r14];"
	r.either(put, 5, "PX", "mov.u32 %r20, 16;", "mov.u32 %r20, 32;")
	put("@%%p6 mbarrier.arrive.expect_tx.shared.b64 _, [%%r14], %%r20; %s", request)
	r.read(put, "P")
	if r.Mistake == 6 {
		put("setp.lt.u32 %%p9, %%r7, %d; @%%p9 bra PGO; @%%p4 bra PGO;", r.At)
		put("@%%p6 mbarrier.arrive.expect_tx.shared.b64 _, [%%r14], 16; %s PGO:", request)
	}
	if r.Whole {
		if r.Mistake == 2 {
			r.either(put, 2, "PB", "bar.sync 0;", fmt.Sprintf("bar.arrive 0, %d;", 32*(r.Workers+1)))
		} else {
			put("bar.sync 0;")
		}
	}
	put("add.u32 %%r7, %%r7, 1; @%%p4 bra ASK;\nEND: ret;\n}")
	return b.String()
}
