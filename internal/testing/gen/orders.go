package gen

import (
	"fmt"

	"heddle/internal/event"
)

// Orders returns a kernel in which accesses are kept apart by something other than block barriers:
// warp barriers, slots taken from counters that may be reset, strong accesses and vectors,
// asynchronous copies, and functions whose parameters have their address taken. Many of these
// kernels are free of races. The parameters are those of Phases.
func Orders(src Source) Kernel {
	g := &orders{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: uint32(1 + src.Intn(2)), Y: 1, Z: 1},
		Block: event.Dim3{X: []uint32{32, 32, 64, 20}[src.Intn(4)], Y: 1, Z: 1}}
	g.some(2)
	k.PTX = fmt.Sprintf(ordersText, 4*PhaseWords, g.loops+1, g.out.String())
	return k
}

// ordersText is the frame of a kernel of Orders: functions that it may call, and the initial values
// of registers and predicates.
const ordersText = `.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) same(.param .b32 a)
{
	.reg .b32 %%x;
	ld.param.u32 %%x, [a];
	st.param.b32 [r], %%x;
	ret;
}
.func (.param .b32 r) pick(.param .align 4 .b8 a[16], .param .b32 i)
{
	.reg .b32 %%x;
	.reg .b64 %%d<3>;
	ld.param.u32 %%x, [i];
	and.b32 %%x, %%x, 3;
	mul.wide.u32 %%d0, %%x, 4;
	mov.b64 %%d1, a;
	add.s64 %%d2, %%d1, %%d0;
	ld.param.u32 %%x, [%%d2];
	st.param.b32 [r], %%x;
	ret;
}
.func meet()
{
	bar.sync 0;
	ret;
}
.func near()
{
	bar.warp.sync 0xffffffff;
	ret;
}
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%v<4>, %%t, %%b, %%n, %%k, %%i, %%w, %%y, %%all;
	.reg .b64 %%g, %%o, %%a, %%d;
	.reg .pred %%p<4>, %%f;
	.shared .align 16 .b8 sh[512];
	.shared .align 16 .b8 cnt[16];
	ld.param.u64 %%g, [mem];
	ld.param.u64 %%o, [ro];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mul.wide.u32 %%d, %%b, %d;
	add.s64 %%g, %%g, %%d;
	mov.b32 %%all, -1;
	mov.u32 %%v0, %%n;
	mov.u32 %%v1, %%t;
	mov.u32 %%v2, 3;
	mov.u32 %%v3, %%b;
	mov.u32 %%k, %%t;
	and.b32 %%y, %%t, 1;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%y, 0;
	setp.lt.u32 %%p2, %%n, 2;
	setp.lt.u32 %%p3, %%t, 32;
	.reg .b32 %%c<%d>;
%s	ret;
}
`

// orders writes one kernel of Orders.
type orders struct {
	random
	total int
}

// some emits a few statements; loops and branches nest to the given depth.
func (g *orders) some(depth int) {
	for range 3 + g.n(6) {
		if g.total++; g.total > 18 {
			return
		}
		switch g.n(20) {
		case 0, 1, 2, 3, 4:
			g.touch()
		case 5, 6, 7:
			g.emit("%s", []string{"bar.sync 0;", "bar.sync 0;", "call meet, ();"}[g.n(3)])
		case 8, 9, 10:
			g.emit("%s", []string{
				"bar.warp.sync 0xffffffff;", "bar.warp.sync 0xffffffff;", "bar.warp.sync %all;",
				"call near, ();", "bar.warp.sync 0xffff;",
				"@" + g.any() + " bar.warp.sync 0xffffffff;",
			}[g.n(6)])
		case 11, 12, 13:
			g.ticket()
		case 14:
			g.emit("%sst%s.shared.u32 [cnt+%d], %d;", g.guard(1),
				[]string{"", "", ".volatile", ".relaxed.cta"}[g.n(4)], 4*(g.n(4)/3), g.n(2))
		case 15:
			g.copyOne()
		case 16:
			g.called()
		case 17:
			g.decide()
		case 18:
			g.counting(depth)
		case 19:
			g.under(depth)
		}
	}
}

// any returns a predicate register.
func (g *orders) any() string { return fmt.Sprintf("%%p%d", g.n(4)) }

// v returns a value register.
func (g *orders) v() string { return fmt.Sprintf("%%v%d", g.n(4)) }

// guard returns a guard in one of few+1 cases, else none.
func (g *orders) guard(few int) string {
	if g.n(few+1) < few {
		return ""
	}
	return []string{"@", "@!"}[g.n(2)] + g.any() + " "
}

// place emits code that leaves the address of a shared word in %w: by thread, by slot, or fixed.
func (g *orders) place(align int) {
	switch g.n(10) {
	case 0, 1, 2:
		// The thread's own word.
		g.emit("mov.u32 %%i, %%t;")
	case 3, 4, 5:
		// The slot that the thread has taken.
		g.emit("and.b32 %%i, %%k, 63;")
	case 6:
		// The word of another lane, or of another warp.
		g.emit("xor.b32 %%i, %%t, %d;", []int{1, 32}[g.n(2)])
	case 7:
		// A word that two threads share.
		g.emit("shr.u32 %%i, %%t, 1;")
	case 8:
		g.emit("mov.u32 %%i, %d;", g.n(3))
	case 9:
		g.emit("and.b32 %%i, %s, 63;", g.v())
	}
	g.emit("shl.b32 %%i, %%i, %d;\n\tmov.u32 %%w, sh;\n\tadd.u32 %%w, %%w, %%i;", []int{2, 3}[align/8])
}

// touch emits an access to shared memory, or to the block's part of global memory.
func (g *orders) touch() {
	// Strong accesses of one scope and size do not race with each other.
	order := []string{"", "", "", ".volatile", ".relaxed.cta"}[g.n(5)]
	guard := g.guard(3)
	switch g.n(8) {
	case 0, 1, 2:
		g.place(4)
		g.emit("%sst%s.shared.u32 [%%w], %s;", guard, order, g.v())
	case 3, 4:
		g.place(4)
		g.emit("%sld%s.shared.u32 %s, [%%w];", guard, order, g.v())
	case 5:
		g.place(8)
		g.emit("%sst%s.shared.v2.u32 [%%w], {%s, %s};", guard, order, g.v(), g.v())
	case 6:
		g.place(8)
		g.emit("%sld%s.shared.u64 %%d, [%%w];", guard, order)
	case 7: // global memory, of the block or not
		g.emit("and.b32 %%i, %s, 63;\n\tmul.wide.u32 %%d, %%i, 4;\n\tadd.s64 %%a, %%g, %%d;",
			[]string{"%k", "%t", g.v()}[g.n(3)])
		g.emit("%s%s;", guard, []string{"st.global.u32 [%a], %v1", "ld.global.u32 %v3, [%a]"}[g.n(2)])
	}
}

// ticket emits an atomic operation on a counter; most of them take the next slot into %k. Slots are
// distinct while the counter is not reset, which is what a proof must find.
func (g *orders) ticket() {
	// Mostly the first of two counters.
	at := fmt.Sprintf("[cnt+%d]", 4*(g.n(4)/3))
	switch g.n(8) {
	default:
		g.emit("%satom.shared.add.u32 %%k, %s, %d;", g.guard(1), at, 1+g.n(5)/4)
	case 5:
		g.emit("%satom.shared.inc.u32 %%k, %s, 0xffffffff;", g.guard(1), at)
	case 6:
		g.emit("%satom.shared.exch.b32 %s, %s, 0;", g.guard(1), g.v(), at)
	case 7:
		g.emit("%sred.shared.add.u32 %s, 1;", g.guard(1), at)
	}
}

// copyOne emits an asynchronous copy of one word, or a wait. An access may come before the wait; it
// is then a race of the copy, which the thread's own program order does not prevent (PTX ISA
// 9.7.9.25).
func (g *orders) copyOne() {
	wait := "\tcp.async.wait_all;"
	if g.n(3) == 0 {
		g.emit("%s", wait)
		return
	}
	g.place(4)
	g.emit("%scp.async.ca.shared.global [%%w], [%%o+%d], 4;", g.guard(2), 4*g.n(4))
	switch g.n(3) {
	case 0:
		g.emit("%s", wait)
	case 1:
		g.emit("bar.warp.sync 0xffffffff;")
		g.touch()
		g.emit("%s", wait)
	}
}

// called emits a call of a function with values of the thread.
func (g *orders) called() {
	if g.n(3) == 0 {
		g.emit(
			"{ .param .b32 x; st.param.b32 [x], %s; .param .b32 y; call (y), same, (x); "+
				"ld.param.b32 %s, [y]; }", g.v(), g.v())
		return
	}
	g.emit("{ .param .align 4 .b8 x[16]; .param .b32 j; st.param.b32 [j], %s;",
		[]string{"%n", g.v()}[g.n(2)])
	for i := range 4 {
		g.emit("st.param.b32 [x+%d], %s;", 4*i, g.v())
	}
	g.emit(".param .b32 y; call (y), pick, (x, j); ld.param.b32 %s, [y]; }", g.v())
}

// decide sets a predicate to a condition that is uniform in the block, in the warp, or neither.
func (g *orders) decide() {
	p := g.any()
	switch g.n(5) {
	case 0:
		// A prefix of the block; with 32, the first warp.
		g.emit("setp.lt.u32 %s, %%t, %d;", p, []int{1, 5, 16, 32}[g.n(4)])
	case 1:
		// Uniform: the argument.
		g.emit("setp.eq.u32 %s, %%n, %d;", p, g.n(4))
	case 2:
		g.emit("and.b32 %%y, %s, 1;\n\tsetp.eq.u32 %s, %%y, 0;", g.v(), p)
	case 3:
		g.emit("ld.shared.u32 %%y, [sh];\n\tand.b32 %%y, %%y, 1;\n\tsetp.eq.u32 %s, %%y, 0;", p)
	case 4:
		// Uniform in the warp: its number.
		g.emit("shr.u32 %%y, %%t, 5;\n\tsetp.eq.u32 %s, %%y, 0;", p)
	}
}

// counting emits a loop of at most three iterations, whose bound may differ among threads.
func (g *orders) counting(depth int) {
	if depth == 0 {
		return
	}
	c, head, end := fmt.Sprintf("%%c%d", g.loops), g.label(), g.label()
	g.loops++
	bound := []string{"2", "3", "%v2", "%n", "%v3"}[g.n(5)]
	g.emit(
		"mov.u32 %s, 0;\n%s:\n\tsetp.ge.u32 %%f, %s, 3;\n\t@%%f bra %s;\n\t"+
			"setp.ge.u32 %%f, %s, %s;\n\t@%%f bra %s;", c, head, c, end, c, bound, end)
	g.some(depth - 1)
	g.emit("add.u32 %s, %s, 1;\n\tbra %s;\n%s:", c, c, head, end)
}

// under emits statements under a condition.
func (g *orders) under(depth int) {
	if depth == 0 {
		return
	}
	end := g.label()
	g.emit("@%s bra %s;", g.any(), end)
	g.some(depth - 1)
	g.emit("\n%s:", end)
}
