package gen

import (
	"fmt"

	"heddle/internal/event"
)

// LoopState returns a kernel whose loops change registers in the ways that a proof must see through
// or give up on: swapped and rotated, flipped, doubled, halved, moved by strides, moved under
// conditions on the thread, on data and on themselves. The registers choose what is accessed
// between barriers, some of which are in loops of their own. Most such kernels race; those that do
// not are what a proof by induction is for. Its parameters are those of Phases.
func LoopState(src Source) Kernel {
	g := &loopState{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: uint32(1 + src.Intn(2)), Y: 1, Z: 1},
		Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	if src.Intn(3) == 0 {
		k.Block.X = uint32(2 + src.Intn(40))
	}
	for i := range 4 {
		g.emit("mov.u32 %%v%d, %s;", i, g.pick("0", "1", "%d", "%t", "%u", "64", "-5", "%y", "32"))
	}
	g.loop(2)
	if g.n(2) == 0 {
		g.emit("bar.sync 0;")
		g.access()
	}
	k.PTX = fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%v<4>, %%t, %%u, %%y, %%n, %%i, %%x, %%w, %%d;
	.reg .b32 %%c<%d>;
	.reg .b64 %%g, %%o, %%a, %%e;
	.reg .pred %%p<4>;
	.shared .align 16 .b8 sh[1024];
	ld.param.u64 %%g, [mem];
	ld.param.u64 %%o, [ro];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	shl.b32 %%u, %%t, 1;
	and.b32 %%y, %%n, 15;
	mov.u32 %%x, %%ctaid.x;
	mul.wide.u32 %%e, %%x, %d;
	add.s64 %%g, %%g, %%e;
	ld.global.u32 %%d, [%%o];
%s	ret;
}
`, g.used+1, 4*PhaseWords, g.out.String())
	return k
}

type loopState struct {
	random
	used int
}

func (g *loopState) pick(of ...string) string { return of[g.n(len(of))] }

func (g *loopState) v() string { return fmt.Sprintf("%%v%d", g.n(4)) }

func (g *loopState) loop(depth int) {
	id := g.used
	g.used++
	g.emit("mov.u32 %%c%d, 0;", id)
	g.out.WriteString(fmt.Sprintf("L%d:\n", id))
	barriers := g.n(4) > 0
	for range 1 + g.n(2) {
		g.access()
		if barriers {
			g.emit("bar.sync 0;")
		}
		if depth > 1 && g.n(4) == 0 {
			g.loop(depth - 1)
		}
		for range g.n(3) {
			g.change(id)
		}
	}
	g.emit("add.u32 %%c%d, %%c%d, 1;", id, id)
	g.emit("setp.lt.u32 %%p1, %%c%d, %s;", id, g.pick("1", "2", "5", "6", "9", "%y"))
	switch g.n(6) {
	case 0:
		g.emit("setp.ne.and.u32 %%p1, %s, 0, %%p1;", g.v())
	case 1:
		g.emit("setp.lt.and.s32 %%p1, %s, 70, %%p1;", g.v())
	}
	g.emit("@%%p1 bra L%d;", id)
}

// guard sets %p0.
func (g *loopState) guard(id int) {
	switch g.n(6) {
	case 0:
		g.emit("setp.lt.u32 %%p0, %%t, %s;", g.v())
	case 1:
		g.emit("setp.lt.s32 %%p0, %s, %d;", g.v(), 1<<g.n(8))
	case 2:
		g.emit("xor.b32 %%x, %%c%d, %%n;\n\tand.b32 %%x, %%x, 3;\n\tsetp.eq.u32 %%p0, %%x, 1;", id)
	case 3:
		g.emit("setp.eq.u32 %%p0, %%c%d, %d;", id, g.n(4))
	case 4: // data of the thread
		g.emit(
			"add.u32 %%x, %%t, %%c%d;\n\tand.b32 %%x, %%x, 15;\n\tmul.wide.u32 %%a, %%x, 4;\n\tadd.s64 %%a, %%a, %%o;\n\tld.global.u32 %%x, [%%a];\n\tand.b32 %%x, %%x, 1;\n\tsetp.eq.u32 %%p0, %%x, 0;", id)
	case 5:
		g.emit("setp.lt.u32 %%p0, %%d, 0x7fffffff;")
	}
}

// change is what an iteration does to the registers.
func (g *loopState) change(id int) {
	on := ""
	if g.n(2) == 0 {
		g.guard(id)
		on = g.pick("@%p0 ", "@%p0 ", "@!%p0 ")
	}
	v, o := g.v(), g.v()
	switch g.n(14) {
	case 0, 1:
		g.emit("mov.u32 %%w, %s;\n\t%smov.u32 %s, %s;\n\t%smov.u32 %s, %%w;", v, on, v, o, on, o)
	case 2:
		g.emit(
			"mov.u32 %%w, %%v0;\n\t%smov.u32 %%v0, %%v1;\n\t%smov.u32 %%v1, %%v2;\n\t%smov.u32 %%v2, %%w;",
			on, on, on)
	case 3:
		g.emit("%ssub.u32 %s, %d, %s;", on, v, 1<<g.n(7), v)
	case 4:
		g.emit("%sxor.b32 %s, %s, %d;", on, v, v, 1<<g.n(7))
	case 5, 6:
		g.emit("%sadd.u32 %s, %s, %s;", on, v, v, g.pick("1", "2", "3", "64", "128", "-1", "%y"))
	case 7:
		g.emit("%sshl.b32 %s, %s, 1;", on, v, v)
	case 8:
		g.emit("%sshr.%s %s, %s, 1;", on, g.pick("u32", "s32"), v, v)
	case 9:
		g.emit("shr.u32 %%w, %s, 31;\n\tadd.u32 %%w, %%w, %s;\n\t%sshr.s32 %s, %%w, 1;", v, v, on, v)
	case 10:
		g.emit("%smin.u32 %s, %s, %d;", on, v, v, 1<<g.n(8))
	case 11:
		g.emit("%smov.u32 %s, %s;", on, v, o)
	case 12:
		g.emit("%sadd.u32 %s, %s, %s;", on, v, v, o)
	case 13: // both under one condition
		g.emit("%sshl.b32 %s, %s, 1;\n\t%sshr.u32 %s, %s, 1;", on, v, v, on, o, o)
	}
}

// access touches a word that the registers choose.
func (g *loopState) access() {
	g.emit("add.u32 %%i, %s, %s;", g.pick("%t", "%t", "%t", "%u", "0"),
		g.pick("0", "%v0", "%v1", "%v2", "%v3"))
	limit := ""
	if g.n(3) == 0 {
		g.emit("and.b32 %%i, %%i, 255;")
	} else {
		g.emit("setp.lt.u32 %%p2, %%i, %d;", 64<<g.n(3))
		limit = "@%p2 "
	}
	if limit != "" && g.n(3) == 0 {
		g.emit("setp.lt.and.u32 %%p2, %%t, %s, %%p2;", g.v())
	}
	g.emit("shl.b32 %%i, %%i, 2;")
	if g.n(4) == 0 {
		g.emit("cvt.u64.u32 %%a, %%i;\n\tadd.s64 %%a, %%a, %%g;")
		g.emit("%s%s;", limit, g.pick("st.global.u32 [%a], %t", "st.global.u32 [%a], %t",
			"ld.global.u32 %w, [%a]"))
		return
	}
	g.emit("mov.u32 %%x, sh;\n\tadd.u32 %%i, %%i, %%x;")
	g.emit("%s%s;", limit, g.pick("st.shared.u32 [%i], %t", "st.shared.u32 [%i], %t",
		"ld.shared.u32 %w, [%i]"))
}
