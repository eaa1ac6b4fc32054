package gen

import (
	"fmt"

	"heddle/internal/event"
)

// Integers returns a kernel of one warp with straight-line integer code. It uses every instruction
// whose result is defined bit by bit: on all types, in registers wider than the type, under
// predicates, with immediates at the boundaries of the types. At the end each thread stores its
// registers, 8 bytes each.
//
// Its parameters are "mem" and the number "n".
func Integers(src Source) Kernel {
	g := &integers{random{src: src}}
	for range 6 + g.n(20) {
		guard := ""
		if g.n(4) == 0 {
			guard = []string{"@", "@!"}[g.n(2)] + g.predicate() + " "
		}
		g.instruction(guard)
	}
	for i := range 4 {
		g.emit("cvt.u64.u32 %%a, %%r%d;\n\tst.global.u64 [%%g+%d], %%a;", i, 8*i)
		g.emit("cvt.u64.s32 %%a, %%s%d;\n\tst.global.u64 [%%g+%d], %%a;", i, 32+8*i)
		g.emit("cvt.s64.s16 %%a, %%h%d;\n\tst.global.u64 [%%g+%d], %%a;", i, 64+8*i)
		g.emit("st.global.u64 [%%g+%d], %%d%d;", 96+8*i, i)
	}
	one, warp := event.Dim3{X: 1, Y: 1, Z: 1}, event.Dim3{X: 32, Y: 1, Z: 1}
	return Kernel{Grid: one, Block: warp, PTX: fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u32 n)
{
	.reg .b32 %%r<4>, %%n, %%w;
	.reg .s32 %%s<4>;
	.reg .b16 %%h<4>;
	.reg .b64 %%d<4>, %%g, %%a;
	.reg .pred %%p<4>;
	ld.param.u64 %%g, [mem];
	ld.param.u32 %%n, [n];
	mov.u32 %%r0, %%tid.x;
	mul.wide.u32 %%a, %%r0, 128;
	add.s64 %%g, %%g, %%a;
	mov.u32 %%r1, %%n;
	mov.u32 %%r2, 0x80000000;
	mov.u32 %%r3, -1;
	sub.s32 %%s0, %%r0, 5;
	mul.lo.u32 %%s1, %%n, %%r0;
	mov.u32 %%s2, 7;
	mov.u32 %%s3, %%n;
	cvt.u16.u32 %%h0, %%r0;
	cvt.u16.u32 %%h1, %%n;
	mov.b16 %%h2, 0x8000;
	mov.b16 %%h3, 3;
	cvt.u64.u32 %%d0, %%r0;
	cvt.s64.s32 %%d1, %%n;
	mov.b64 %%d2, {%%r0, %%n};
	mov.u64 %%d3, -9;
	setp.lt.u32 %%p0, %%r0, 9;
	setp.eq.u32 %%p1, %%n, 3;
	setp.lt.s32 %%p2, %%s0, 0;
	setp.gt.u32 %%p3, %%r0, 100;
%s	ret;
}
`, g.out.String())}
}

// integers writes one kernel of Integers. It has four registers of each width.
type integers struct{ random }

// predicate returns a predicate register.
func (g *integers) predicate() string { return fmt.Sprintf("%%p%d", g.n(4)) }

// register returns a register of w bits, signed or unsigned for w = 32.
func (g *integers) register(w int) string {
	switch {
	case w == 64:
		return fmt.Sprintf("%%d%d", g.n(4))
	case w == 16:
		return fmt.Sprintf("%%h%d", g.n(4))
	}
	return fmt.Sprintf("%%%s%d", []string{"r", "s"}[g.n(2)], g.n(4))
}

// source returns a register, or an immediate of w bits at a boundary: the values at which signs,
// carries and shifts go wrong.
func (g *integers) source(w int) string {
	if g.n(4) > 0 {
		return g.register(w)
	}
	return []string{"0", "1", "-1", "2", "5", "31", "32", "33", "63", "64", "255", "0x7fff",
		"0x8000"}[g.n(13)]
}

// from returns one of the words.
func (g *integers) from(words ...string) string { return words[g.n(len(words))] }

// instruction emits one instruction under a guard, or nothing where the width that was drawn has no
// form of it. Divisors are nonzero constants, since division by zero is unspecified (PTX ISA
// 9.7.1.8), and so the two evaluators need not agree on it.
func (g *integers) instruction(guard string) {
	w := []int{32, 32, 32, 64, 16}[g.n(5)]
	sign := g.from("u", "s")
	t := fmt.Sprintf("%s%d", sign, w)
	d, a, b, c := g.register(w), g.register(w), g.source(w), g.source(w)
	op := func(format string, args ...any) { g.emit("%s%s", guard, fmt.Sprintf(format, args...)) }
	wide := func() string { return g.register(2 * w) }
	switch g.n(31) {
	case 0:
		op("%s.%s %s, %s, %s;", g.from("add", "sub"), t, d, a, b)
	case 1:
		op("mul.%s.%s %s, %s, %s;", g.from("lo", "hi"), t, d, a, b)
	case 2:
		if w < 64 {
			op("mul.wide.%s %s, %s, %s;", t, wide(), a, b)
		}
	case 3:
		op("mad.%s.%s %s, %s, %s, %s;", g.from("lo", "hi"), t, d, a, b, c)
	case 4:
		if w < 64 {
			op("mad.wide.%s %s, %s, %s, %s;", t, wide(), a, b, wide())
		}
	case 5:
		d, a, b, c := g.register(32), g.register(32), g.source(32), g.source(32)
		if g.n(2) == 0 {
			op("mul24.%s.%s32 %s, %s, %s;", g.from("lo", "hi"), sign, d, a, b)
		} else {
			op("mad24.%s.%s32 %s, %s, %s, %s;", g.from("lo", "hi"), sign, d, a, b, c)
		}
	case 6:
		// The divisor is a nonzero constant.
		op("%s.%s %s, %s, %s;", g.from("div", "rem"), t, d, a,
			[]string{"3", "8", "-1", "-3", "7"}[g.n(5)])
	case 7:
		op("%s.s%d %s, %s;", g.from("neg", "abs"), w, d, a)
	case 8:
		op("%s.%s %s, %s, %s;", g.from("min", "max"), t, d, a, b)
	case 9:
		op("%s.b%d %s, %s, %s;", g.from("and", "or", "xor"), w, d, a, b)
	case 10:
		op("%s.b%d %s, %s;", g.from("not", "cnot"), w, d, a)
	case 11:
		op("shl.b%d %s, %s, %s;", w, d, a, g.source(32))
	case 12:
		op("shr.%s %s, %s, %s;", []string{t, fmt.Sprintf("b%d", w)}[g.n(2)], d, a, g.source(32))
	case 13:
		g.bits(op, sign)
	case 14, 15, 16:
		g.conversion(op)
	case 17, 18:
		g.comparison(op, t, w)
	case 19:
		op("selp.b%d %s, %s, %s, %s;", w, d, a, b, g.predicate())
	case 20:
		op("%s.pred %s, %s, %s;", g.from("and", "or", "xor"), g.predicate(), g.predicate(), g.predicate())
	case 21:
		op("not.pred %s, %s;", g.predicate(), g.predicate())
	case 22:
		// Pack two registers, and below unpack one.
		op("mov.b64 %s, {%s, %s};", g.register(64), g.register(32), g.register(32))
	case 23:
		op("mov.b64 {%s, %s}, %s;", fmt.Sprintf("%%r%d", g.n(4)), fmt.Sprintf("%%s%d", g.n(4)),
			g.register(64))
	case 24:
		if g.n(2) == 0 {
			op("mov.b32 %s, {%s, %s};", g.register(32), g.register(16), g.register(16))
		} else {
			op("mov.b32 {%s, %s}, %s;", fmt.Sprintf("%%h%d", g.n(2)), fmt.Sprintf("%%h%d", 2+g.n(2)),
				g.register(32))
		}
	case 25:
		if w > 16 {
			// The carry flag connects two instructions, so that they have no guard.
			g.emit("add.cc.u%d %s, %s, %s;\n\taddc.u%d %s, %s, %s;", w, d, a, b, w, g.register(w),
				g.register(w), c)
		}
	case 26, 27, 28, 29, 30:
		g.bits(op, sign)
	}
}

// bits emits an instruction that counts, moves or selects bits.
func (g *integers) bits(op func(string, ...any), sign string) {
	w := []int{32, 64}[g.n(2)]
	r, word := g.register, func() string { return g.source(32) }
	switch g.n(12) {
	case 0:
		op("%s.b%d %s, %s;", g.from("popc", "clz"), w, r(32), r(w))
	case 1:
		op("bfind%s.%s%d %s, %s;", g.from("", ".shiftamt"), sign, w, r(32), r(w))
	case 2:
		op("brev.b%d %s, %s;", w, r(w), r(w))
	case 3:
		op("bfe.%s%d %s, %s, %s, %s;", sign, w, r(w), r(w), word(), word())
	case 4:
		op("bfi.b%d %s, %s, %s, %s, %s;", w, r(w), r(w), r(w), word(), word())
	case 5:
		op("sad.%s%d %s, %s, %s, %s;", sign, w, r(w), r(w), g.source(w), r(w))
	case 6:
		op("dp4a.%s32.%s32 %s, %s, %s, %s;", sign, g.from("u", "s"), r(32), r(32), r(32), r(32))
	case 7:
		op("dp2a.%s.%s32.%s32 %s, %s, %s, %s;", g.from("lo", "hi"), sign, g.from("u", "s"), r(32), r(32),
			r(32), r(32))
	case 8:
		op("lop3.b32 %s, %s, %s, %s, %d;", r(32), r(32), r(32), word(), g.n(256))
	case 9:
		op("shf.%s.%s.b32 %s, %s, %s, %s;", g.from("l", "r"), g.from("wrap", "clamp"), r(32), r(32),
			r(32), word())
	case 10:
		op("prmt.b32 %s, %s, %s, %s;", r(32), r(32), r(32), g.from(word(), "0x5410", "0x0123", "0x7f3a"))
	case 11:
		if g.n(2) == 0 {
			op("szext.%s.%s32 %s, %s, %s;", g.from("wrap", "clamp"), sign, r(32), r(32), word())
		} else {
			op("bmsk.%s.b32 %s, %s, %s;", g.from("wrap", "clamp"), r(32), word(), word())
		}
	}
}

// conversion emits a cvt whose registers may be wider than its types.
func (g *integers) conversion(op func(string, ...any)) {
	to, from := []int{8, 16, 32, 64}[g.n(4)], []int{8, 16, 32, 64}[g.n(4)]
	// holds returns the width of a register for a type of w bits: at least 16, sometimes twice as
	// wide.
	holds := func(w int) int {
		w = max(w, 16)
		if w < 64 && g.n(3) == 0 {
			w *= 2
		}
		return w
	}
	sat := g.from("", "", "", ".sat")
	op("cvt%s.%s%d.%s%d %s, %s;", sat, g.from("u", "s"), to, g.from("u", "s"), from,
		g.register(holds(to)), g.register(holds(from)))
}

// comparison emits a setp, with one or two results, perhaps combined with a predicate.
func (g *integers) comparison(op func(string, ...any), t string, w int) {
	// Unsigned types have operators of their own.
	rel := g.from("eq", "ne", "lt", "le", "gt", "ge")
	if t[0] == 'u' && g.n(3) == 0 {
		rel = g.from("lo", "ls", "hi", "hs")
	}
	second := g.from("", "", fmt.Sprintf("|%%p%d", 2+g.n(2)))
	first := fmt.Sprintf("%%p%d", g.n(2))
	if g.n(3) > 0 {
		op("setp.%s.%s %s%s, %s, %s;", rel, t, first, second, g.register(w), g.source(w))
		return
	}
	op("setp.%s.%s.%s %s%s, %s, %s, %s%s;", rel, g.from("and", "or", "xor"), t, first, second,
		g.register(w), g.source(w), g.from("", "!"), g.predicate())
}
