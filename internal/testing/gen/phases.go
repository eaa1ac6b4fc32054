package gen

import (
	"fmt"

	"heddle/internal/event"
)

// Phases returns a kernel whose accesses block barriers put in order: accesses at permutations of
// the thread index, barriers between them, loops of every shape around both. Most choices are
// correct, and each may be replaced by an incorrect one. It has what Random lacks: counters that
// fall, double, halve and stop at inequality, loops over pointers, do-while, break and continue,
// barriers under conditions that are uniform for some reason (the argument, the block, a word of
// memory, a vote) or not uniform, arrays swapped by pointer, generic addresses, pointers selected
// among arrays, vectors and bytes, short registers, carries.
//
// Its parameters are "mem" of PhaseWords words for each block, "ro" of 16 words, and the number
// "n".
func Phases(src Source) Kernel {
	g := &phases{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: uint32(1 + src.Intn(2)), Y: 1, Z: 1},
		Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	switch src.Intn(4) {
	case 0:
		k.Block.X = uint32(2 + src.Intn(40))
	case 1:
		k.Block = event.Dim3{X: 8, Y: 8, Z: 1}
	}
	g.statements(2)
	k.PTX = g.phasesText(int(k.Block.X))
	return k
}

// PhaseWords is the number of words of global memory that each block of a kernel of Phases owns.
const PhaseWords = 256

// phases writes one kernel of Phases.
type phases struct {
	random
	depth int // loops around
	total int
	used  int // loops so far: each has counters of its own
}

// phasesText returns the kernel around the statements.
func (g *phases) phasesText(blockX int) string {
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%v<8>, %%t, %%b, %%n, %%i, %%w, %%s0, %%s1, %%x, %%y;
	.reg .b32 %%c<%d>, %%e<%d>;
	.reg .b64 %%g, %%o, %%a, %%d, %%q<%d>, %%l<%d>;
	.reg .b16 %%h, %%m;
	.reg .pred %%p<6>, %%f;
	.shared .align 16 .b8 sh[1024];
	.shared .align 16 .b8 tw[1024];
	ld.param.u64 %%g, [mem];
	ld.param.u64 %%o, [ro];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%x, %%tid.y;
	mad.lo.u32 %%t, %%x, %d, %%t;
	mov.u32 %%b, %%ctaid.x;
	mul.wide.u32 %%d, %%b, %d;
	add.s64 %%g, %%g, %%d;
	mov.u32 %%s0, sh;
	mov.u32 %%s1, tw;
	mov.u32 %%v0, %%n;
	mov.u32 %%v1, %%t;
	mov.u32 %%v2, %%b;
	mov.u32 %%v3, %%t;
	mov.u32 %%v4, 7;
	mov.u32 %%v5, 1;
	mov.u32 %%v6, %%t;
	mov.u32 %%v7, 0;
	setp.lt.u32 %%p0, %%t, 5;
	setp.eq.u32 %%p1, %%n, 3;
	setp.ne.u32 %%p2, %%b, 0;
	setp.ge.u32 %%p3, %%t, 32;
	setp.eq.u32 %%p4, %%t, 0;
	setp.lt.u32 %%p5, %%n, 2;
%s	ret;
}
`, g.used+1, g.used+1, g.used+1, g.used+1, blockX, 4*PhaseWords, g.out.String())
}

// statements writes a few statements; loops and branches nest to the given depth.
func (g *phases) statements(depth int) {
	for range 2 + g.n(5) {
		if g.total++; g.total > 26 {
			return
		}
		switch g.n(16) {
		case 0, 1, 2, 3, 4:
			g.touch()
		case 5, 6, 7:
			g.emit("bar.sync 0;")
		case 8:
			g.maybeBarrier()
		case 9, 10:
			g.shapedLoop(depth)
		case 11:
			g.choice(depth)
		case 12:
			g.mix()
		case 13:
			g.decide(g.pred4())
		case 14:
			g.emit("xor.b32 %%s0, %%s0, %%s1;\n\txor.b32 %%s1, %%s0, %%s1;\n\txor.b32 %%s0, %%s0, %%s1;")
			if g.n(2) == 0 {
				g.emit("mov.u32 %%x, %%s0;\n\tmov.u32 %%s0, %%s1;\n\tmov.u32 %%s1, %%x;")
			}
		case 15:
			g.leaveSome()
		}
	}
}

// pred4 returns a predicate register.
func (g *phases) pred4() string { return fmt.Sprintf("%%p%d", g.n(6)) }

// v returns a value register.
func (g *phases) v() string { return fmt.Sprintf("%%v%d", g.n(8)) }

// index emits code that leaves the index of a word, below 128, in %i.
func (g *phases) index() {
	switch g.n(14) {
	case 0, 1, 2, 3:
		g.emit("mov.u32 %%i, %%t;")
	case 4:
		// A permutation of the threads, as in a butterfly.
		g.emit("xor.b32 %%i, %%t, %d;", 1<<g.n(5))
	case 5:
		// A neighbour: injective, but it overlaps with the thread's own word.
		g.emit("add.u32 %%i, %%t, %d;", 1+g.n(3))
	case 6:
		// The reversal.
		g.emit("sub.u32 %%i, 63, %%t;")
	case 7:
		// An odd factor modulo 64: a permutation.
		g.emit("mul.lo.u32 %%i, %%t, %d;\n\tand.b32 %%i, %%i, 63;", 3+2*g.n(4))
	case 8:
		// Two threads share a word.
		g.emit("shr.u32 %%i, %%t, 1;")
	case 9:
		// Every other word.
		g.emit("shl.b32 %%i, %%t, 1;")
	case 10:
		if g.depth > 0 {
			g.emit("add.u32 %%i, %%t, %%c%d;\n\tand.b32 %%i, %%i, 63;", g.n(g.used))
		} else {
			g.emit("mov.u32 %%i, %d;", g.n(16))
		}
	case 11:
		if g.depth > 0 {
			g.emit("and.b32 %%i, %%c%d, 1;\n\tshl.b32 %%i, %%i, 6;\n\tadd.u32 %%i, %%i, %%t;", g.n(g.used))
		} else {
			g.emit("mov.u32 %%i, 0;")
		}
	case 12:
		g.emit("and.b32 %%i, %s, 63;", g.v())
	case 13: // through short registers
		g.emit(
			"cvt.u16.u32 %%h, %%t;\n\tadd.u16 %%h, %%h, %d;\n\tcvt.%s.u16 %%i, %%h;\n\t"+
				"and.b32 %%i, %%i, 127;", g.n(200), []string{"u32", "u32", "s32"}[g.n(3)])
	}
}

// at emits the computation of an address and returns the space and the operand.
func (g *phases) at(size int) (space, operand string) {
	g.index()
	g.emit("shl.b32 %%w, %%i, 2;")
	if size > 4 {
		g.emit("and.b32 %%w, %%w, %d;", 1023&^(size-1))
	}
	off := ""
	if size < 4 {
		off = fmt.Sprintf("+%d", size*g.n(4/size))
	}
	switch g.n(10) {
	case 0, 1, 2, 3, 4:
		g.emit("add.u32 %%x, %%s%d, %%w;", g.n(4)/3)
		return ".shared", "[%x" + off + "]"
	case 5, 6:
		g.emit("cvt.u64.u32 %%a, %%w;\n\tadd.s64 %%a, %%a, %%g;")
		return ".global", "[%a" + off + "]"
	case 7:
		g.emit(
			"mov.u64 %%a, sh;\n\tcvta.shared.u64 %%a, %%a;\n\tcvt.u64.u32 %%d, %%w;\n\t" +
				"add.s64 %%a, %%a, %%d;")
		return "", "[%a" + off + "]"
	case 8:
		g.emit("selp.u32 %%x, %%s0, %%s1, %s;\n\tadd.u32 %%x, %%x, %%w;", g.pred4())
		return ".shared", "[%x" + off + "]"
	}
	g.emit(
		"mov.u64 %%a, sh;\n\tcvta.shared.u64 %%a, %%a;\n\tselp.b64 %%a, %%a, %%g, %s;\n\t"+
			"cvt.u64.u32 %%d, %%w;\n\tadd.s64 %%a, %%a, %%d;", g.pred4())
	return "", "[%a" + off + "]"
}

// touch emits an access of 1 to 16 bytes, under a guard in one of four cases.
func (g *phases) touch() {
	guard := ""
	if g.n(4) == 0 {
		guard = []string{"@", "@!"}[g.n(2)] + g.pred4() + " "
	}
	switch g.n(12) {
	case 0, 1, 2, 3:
		space, at := g.at(4)
		g.emit("%sst%s.u32 %s, %s;", guard, space, at, g.v())
	case 4, 5, 6, 7:
		space, at := g.at(4)
		g.emit("%sld%s.u32 %s, %s;", guard, space, g.v(), at)
	case 8:
		space, at := g.at(1)
		g.emit("cvt.u16.u32 %%h, %s;\n\t%sst%s.u8 %s, %%h;", g.v(), guard, space, at)
	case 9:
		space, at := g.at(2)
		g.emit("%sld%s.u16 %%h, %s;\n\tcvt.u32.u16 %s, %%h;", guard, space, at, g.v())
	case 10:
		space, at := g.at(16)
		g.emit("%sst%s.v4.u32 %s, {%s, %s, %s, %s};", guard, space, at, g.v(), g.v(), g.v(), g.v())
	case 11:
		space, at := g.at(8)
		g.emit("%sld%s.v2.u32 {%%v5, %%v6}, %s;", guard, space, at)
	}
}

// decide sets a predicate, mostly to a condition on which the block agrees.
func (g *phases) decide(p string) {
	switch g.n(10) {
	case 0:
		// Uniform: the argument.
		g.emit("setp.lt.u32 %s, %%n, %d;", p, g.n(4))
	case 1:
		// Uniform in the block: its index.
		g.emit("setp.eq.u32 %s, %%b, %d;", p, g.n(2))
	case 2:
		// Uniform: a word that no thread writes.
		g.emit("ld.global.u32 %%y, [%%o+%d];\n\tand.b32 %%y, %%y, 1;\n\tsetp.eq.u32 %s, %%y, 1;",
			4*g.n(4), p)
	case 3:
		// Uniform only if no thread writes the word in this interval.
		g.emit("ld.shared.u32 %%y, [%%s%d+%d];\n\tand.b32 %%y, %%y, 1;\n\tsetp.eq.u32 %s, %%y, 1;",
			g.n(2), 4*g.n(4), p)
	case 4:
		// Uniform: a vote of the block, which is a barrier too.
		g.emit("bar.red.%s.pred %s, 0, %s;", []string{"or", "and"}[g.n(2)], p, g.pred4())
	case 5:
		// Uniform: a count over the block.
		g.emit("bar.red.popc.u32 %%y, 0, %s;\n\tsetp.lt.u32 %s, %%y, %d;", g.pred4(), p, 1+g.n(40))
	case 6:
		if g.used > 0 {
			g.emit("and.b32 %%y, %%c%d, 1;\n\tsetp.eq.u32 %s, %%y, %d;", g.n(g.used), p, g.n(2))
		}
	case 7:
		// Not uniform, except for the bounds 0 and 64.
		g.emit("setp.lt.u32 %s, %%t, %d;", p, []int{0, 1, 5, 32, 64}[g.n(5)])
	case 8:
		// A value register: uniform or not.
		g.emit("and.b32 %%y, %s, 1;\n\tsetp.eq.and.u32 %s, %%y, 1, %s;", g.v(), p, g.pred4())
	case 9:
		// A carry: whether the register is 0 or 1.
		g.emit("add.cc.u32 %%y, %s, 0xfffffffe;\n\taddc.u32 %%y, 0, 0;\n\tsetp.eq.u32 %s, %%y, 0;", g.v(),
			p)
	}
}

// maybeBarrier emits a barrier under a condition, which is correct if the condition is uniform.
// Kernels with a barrier that diverges are wanted too: the prover must not verify them.
func (g *phases) maybeBarrier() {
	p := g.pred4()
	if g.n(3) > 0 {
		g.decide(p)
	}
	g.emit("@%s bar.sync 0;", p)
}

// leaveSome emits an early exit.
func (g *phases) leaveSome() {
	if g.n(3) == 0 {
		g.emit("@%s ret;", g.pred4())
	}
}

// mix changes value registers.
func (g *phases) mix() {
	d, a := g.v(), g.v()
	switch g.n(9) {
	case 0:
		g.emit("add.u32 %s, %s, 1;", d, a)
	case 1:
		g.emit("ld.global.u32 %s, [%%o+%d];\n\tand.b32 %s, %s, 3;", d, 4*g.n(16), d, d)
	case 2:
		g.emit("selp.u32 %s, %s, %s, %s;", d, a, g.v(), g.pred4())
	case 3:
		g.emit("@%s mov.u32 %s, %s;", g.pred4(), d, a)
	case 4:
		g.emit("mov.u32 %%y, %s;\n\tmov.u32 %s, %s;\n\tmov.u32 %s, %%y;", d, d, a, a)
	case 5:
		g.emit("shr.%s %s, %s, %d;", []string{"u32", "s32"}[g.n(2)], d, a, 1+g.n(3))
	case 6:
		g.emit("shl.b32 %s, %s, 1;", d, a)
	case 7:
		g.emit(
			"cvt.u16.u32 %%h, %s;\n\tmov.b32 %%y, {%%h, %%h};\n\tmov.b32 {%%m, _}, %%y;\n\t"+
				"cvt.s32.s16 %s, %%m;", a, d)
	case 8:
		g.emit("mov.u32 %s, %d;", d, g.n(9))
	}
}

// choice emits an if, with or without else.
func (g *phases) choice(depth int) {
	if depth == 0 {
		return
	}
	p, other, end := g.pred4(), g.label(), g.label()
	if g.n(2) == 0 {
		g.decide(p)
	}
	g.emit("@!%s bra %s;", p, other)
	g.statements(depth - 1)
	if g.n(2) == 0 {
		g.emit("bra %s;", end)
		g.out.WriteString(other + ":\n")
		g.statements(depth - 1)
		g.out.WriteString(end + ":\n")
		return
	}
	g.out.WriteString(other + ":\n")
}

// bound sets %e to the number of iterations of a loop, which is small so that runs stay short:
// mostly uniform, in the last case not.
func (g *phases) bound(id int) {
	e := fmt.Sprintf("%%e%d", id)
	switch g.n(8) {
	case 0, 1, 2:
		g.emit("mov.u32 %s, %d;", e, 1+g.n(4))
	case 3:
		g.emit("and.b32 %s, %%n, 3;", e)
	case 4:
		g.emit("ld.global.u32 %s, [%%o+%d];\n\tand.b32 %s, %s, 3;", e, 4*g.n(8), e, e)
	case 5:
		g.emit("ld.shared.u32 %s, [%%s0+%d];\n\tand.b32 %s, %s, 3;", e, 4*g.n(4), e, e)
	case 6:
		g.emit("add.u32 %s, %%b, 1;", e)
	case 7:
		g.emit("and.b32 %s, %%t, 3;", e)
	}
}

// shapedLoop is a loop of one of eight shapes, for the closed forms and the induction of the
// prover: counting up and down, by comparisons of either sign, doubling, halving, a moving pointer,
// and a counter that advances under a condition of the thread. %c is the counter that the body
// sees. Every shape terminates, and a quarter of the bodies have a branch that skips the rest of an
// iteration or leaves the loop.
func (g *phases) shapedLoop(depth int) {
	if depth == 0 {
		return
	}
	id := g.used
	g.used++
	head, next, end := g.label(), g.label(), g.label()
	c, e, q, l := fmt.Sprintf("%%c%d", id), fmt.Sprintf("%%e%d", id), fmt.Sprintf("%%q%d", id),
		fmt.Sprintf("%%l%d", id)
	g.bound(id)
	shape := g.n(8)
	label := func(name string) { g.out.WriteString(name + ":\n") }
	body := func() {
		g.depth++

		g.statements(depth - 1)
		if g.n(4) == 0 {
			g.emit("@%s bra %s;", g.pred4(), []string{next, end}[g.n(2)])
			g.statements(0)
		}
		g.depth--
		label(next)
	}
	switch shape {
	case 0, 1: // for (c = 0; c < e; c++)
		g.emit("mov.u32 %s, 0;", c)
		label(head)
		g.emit("setp.ge.%s %%f, %s, %s;\n\t@%%f bra %s;", []string{"u32", "s32"}[shape], c, e, end)
		body()
		g.emit("add.u32 %s, %s, %d;\n\tbra %s;", c, c, 1+g.n(2), head)
	case 2: // do ... while (++c != e)
		g.emit("mov.u32 %s, 0;\n\tmax.u32 %s, %s, 1;", c, e, e)
		label(head)
		body()
		g.emit("add.u32 %s, %s, 1;\n\tsetp.ne.u32 %%f, %s, %s;\n\t@%%f bra %s;", c, c, c, e, head)
	case 3: // for (c = e; c > 0; c--)
		g.emit("mov.u32 %s, %s;", c, e)
		label(head)
		g.emit("setp.le.s32 %%f, %s, 0;\n\t@%%f bra %s;", c, end)
		body()
		g.emit("add.s32 %s, %s, -1;\n\tbra %s;", c, c, head)
	case 4: // for (c = 1; c < 32; c *= 2)
		g.emit("mov.u32 %s, 1;", c)
		label(head)
		body()
		g.emit("shl.b32 %s, %s, 1;\n\tsetp.lt.u32 %%f, %s, 32;\n\t@%%f bra %s;", c, c, c, head)
	case 5: // for (c = 32; c > 0; c /= 2), with the accesses of a reduction
		g.emit("mov.u32 %s, 32;", c)
		label(head)
		if g.n(2) == 0 {
			g.emit(
				"setp.lt.u32 %%f, %%t, %s;\n\tshl.b32 %%w, %%t, 2;\n\tadd.u32 %%x, %%s0, %%w;\n\t"+
					"shl.b32 %%w, %s, 2;\n\tadd.u32 %%w, %%x, %%w;", c, c)
			g.emit("@%%f ld.shared.u32 %%v3, [%%w];\n\t@%%f st.shared.u32 [%%x], %%v3;")
			if g.n(4) > 0 {
				g.emit("bar.sync 0;")
			}
		}
		body()
		g.emit("shr.u32 %s, %s, 1;\n\tsetp.ne.u32 %%f, %s, 0;\n\t@%%f bra %s;", c, c, c, head)
	case 6: // for (p = A + 4*t; p != end; p += 256)
		g.emit("mov.u32 %s, 0;\n\tmul.wide.u32 %s, %%t, 4;\n\tadd.s64 %s, %s, %%g;", c, q, q, q)
		g.emit("mul.wide.u32 %s, %s, 256;\n\tadd.s64 %s, %s, %s;", l, e, l, l, q)
		label(head)
		g.emit("setp.%s.u64 %%f, %s, %s;\n\t@%%f bra %s;", []string{"eq", "ge"}[g.n(2)], q, l, end)
		g.emit("%s %%v3, [%s];", "ld.global.u32", q)
		body()
		if g.n(2) == 0 {
			g.emit("st.global.u32 [%s], %%v4;", q)
		}
		g.emit("add.s64 %s, %s, 256;\n\tbra %s;", q, q, head)
	case 7: // a counter that moves under a condition of the thread, next to one that does not
		g.emit("mov.u32 %s, 0;\n\tmov.u32 %%v7, 0;", c)
		label(head)
		body()
		g.emit("@%s add.u32 %%v7, %%v7, 1;", g.pred4())
		g.emit("add.u32 %s, %s, 1;\n\tsetp.le.u32 %%f, %s, %s;\n\t@%%f bra %s;", c, c, c, e, head)
	}
	label(end)
}
