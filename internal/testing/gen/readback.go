package gen

import (
	"fmt"

	"heddle/internal/event"
)

// Readback returns a kernel in which threads store values in memory of their own, in pieces of 1 to
// 16 bytes, load them back and use them as indices and conditions: an engine that forwards stores
// to loads incorrectly finds it free of races. The stores go to shared memory of two arrays, a part
// of global memory, and local memory, by names, by generic addresses, and by pointers that are
// selected among arrays and passed to functions; by stores and atomics, weak or strong; in
// branches, in loops with breaks, and before barriers of the block and of the warp. Counters
// provide tickets.
//
// Its parameters are those of Phases.
func Readback(src Source) Kernel {
	g := &readback{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: uint32(1 + src.Intn(2)), Y: 1, Z: 1},
		Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	switch src.Intn(4) {
	case 0:
		k.Block.X = uint32(2 + src.Intn(40))
	case 1:
		k.Block = event.Dim3{X: 8, Y: 8, Z: 1}
	}
	g.statements(3)
	for range 1 + g.n(2) {
		g.use()
	}
	k.PTX = g.readbackText(int(k.Block.X))
	return k
}

// readback writes one kernel of Readback.
type readback struct {
	random
	total int
	used  int // loops so far: each has a counter of its own
}

// readbackFuncs is the start of the module, as part of a format: two functions that access memory
// through a pointer that they are given. put only writes; swap also returns what it found, and
// writes only what is not zero, so that it has control flow of its own.
const readbackFuncs = `.version 8.0
.target sm_80
.address_size 64
.func put(.param .b64 p, .param .b32 x)
{
	.reg .b64 %%a;
	.reg .b32 %%x;
	ld.param.u64 %%a, [p];
	ld.param.u32 %%x, [x];
	st.u32 [%%a], %%x;
	ret;
}
.func (.param .b32 r) swap(.param .b64 p, .param .b32 x)
{
	.reg .b64 %%a;
	.reg .b32 %%x, %%y;
	.reg .pred %%p;
	ld.param.u64 %%a, [p];
	ld.param.u32 %%x, [x];
	ld.u32 %%y, [%%a];
	setp.eq.u32 %%p, %%x, 0;
	@%%p bra SKIP;
	st.u32 [%%a], %%x;
SKIP:
	st.param.b32 [r], %%y;
	ret;
}
`

// readbackText returns the kernel around the statements. The shared arrays sh and tw have 16 bytes
// for each thread (at s0 and s1), ct has counters, and lo is local memory. f0, f1 and f2 are
// generic addresses of words in global, shared and local memory.
func (g *readback) readbackText(blockX int) string {
	return fmt.Sprintf(readbackFuncs+`.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%v<8>, %%t, %%b, %%n, %%i, %%w, %%s0, %%s1, %%x, %%y;
	.reg .b32 %%c<%d>;
	.reg .b64 %%g, %%o, %%a, %%d, %%f0, %%f1, %%f2, %%f3;
	.reg .b16 %%h, %%m;
	.reg .pred %%p<6>, %%q;
	.shared .align 16 .b8 sh[1024];
	.shared .align 16 .b8 tw[1024];
	.shared .align 16 .b8 ct[16];
	.local .align 16 .b8 lo[16];
	.param .b64 pa;
	.param .b32 pb;
	.param .b32 pr;
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
	shl.b32 %%w, %%t, 4;
	add.u32 %%s0, %%s0, %%w;
	mov.u32 %%s1, tw;
	add.u32 %%s1, %%s1, %%w;
	mul.wide.u32 %%d, %%t, 8;
	add.s64 %%f0, %%g, %%d;
	mov.u64 %%f1, sh;
	cvta.shared.u64 %%f1, %%f1;
	mul.wide.u32 %%d, %%t, 16;
	add.s64 %%f1, %%f1, %%d;
	mov.u64 %%f2, lo;
	cvta.local.u64 %%f2, %%f2;
	mov.u32 %%v0, %%t;
	mov.u32 %%v1, %%n;
	xor.b32 %%v2, %%t, 63;
	mov.u32 %%v3, 0;
	shl.b32 %%v4, %%t, 1;
	mov.u32 %%v5, 5;
	mov.u32 %%v6, %%t;
	mov.u32 %%v7, %%b;
	setp.lt.u32 %%p0, %%t, 5;
	setp.eq.u32 %%p1, %%n, 3;
	setp.ne.u32 %%p2, %%b, 0;
	setp.ge.u32 %%p3, %%t, 32;
	setp.eq.u32 %%p4, %%t, 0;
	setp.lt.u32 %%p5, %%n, 2;
%s	ret;
}
`, g.used+1, blockX, 4*PhaseWords, g.out.String())
}

// statements writes a few statements; loops and branches nest to the given depth.
func (g *readback) statements(depth int) {
	for range 2 + g.n(6) {
		if g.total++; g.total > 30 {
			return
		}
		switch g.n(25) {
		case 24:
			g.rewrite()
		case 0, 1, 2, 3, 4, 5:
			g.store()
		case 6, 7, 8, 9, 10:
			g.load()
		case 11:
			g.atomic()
		case 12:
			g.compute()
		case 13:
			g.decide()
		case 14, 15:
			g.emit("%s", []string{"bar.sync 0;", "bar.sync 0;", "bar.warp.sync 0xffffffff;",
				"membar.cta;"}[g.n(4)])
		case 16, 17:
			g.branch(depth)
		case 18, 19:
			g.loop(depth)
		case 20:
			g.call()
		case 21:
			g.neighbour()
		case 22:
			g.ticket()
		case 23:
			switch g.n(6) {
			case 0:
				g.emit("@%s ret;", g.condition())
			case 1:
				g.use()
			}
		}
	}
}

// v returns a value register.
func (g *readback) v() string { return fmt.Sprintf("%%v%d", g.n(8)) }

// condition returns a predicate register.
func (g *readback) condition() string { return fmt.Sprintf("%%p%d", g.n(6)) }

// guard returns a guard in one of five cases, else none.
func (g *readback) guard() string {
	if g.n(5) > 0 {
		return ""
	}
	return []string{"@", "@!"}[g.n(2)] + g.condition() + " "
}

// place returns an address of size bytes in memory that the thread owns.
func (g *readback) place(size int) (space, operand string) {
	// room is the number of bytes that the thread owns from base on.
	room, base, wide := 16, "", false
	switch g.n(10) {
	case 0, 1, 2:
		space, base = ".shared", "%s0"
	case 3:
		// The second shared array.
		space, base = ".shared", "%s1"
	case 4:
		// Global memory of the block, 8 bytes for each thread.
		space, base, room, wide = ".global", "%f0", 8, true
	case 5:
		base, wide = "%f1", true
	case 6:
		// Local memory by name.
		space, base = ".local", "lo"
	case 7:
		base, wide = "%f2", true
	case 8:
		// A pointer to one of the two shared arrays.
		g.emit("selp.u32 %%x, %%s0, %%s1, %s;", g.condition())
		space, base = ".shared", "%x"
	case 9:
		// A generic pointer to one of two spaces.
		a := []string{"%f0", "%f1", "%f2"}
		i := g.n(3)
		g.emit("selp.b64 %%f3, %s, %s, %s;", a[i], a[(i+1)%3], g.condition())
		base, room, wide = "%f3", 8, true
	}
	room = max(room, size)
	if base == "lo" {
		return space, fmt.Sprintf("[lo+%d]", size*g.n(room/size))
	}
	// A constant offset, or one that a value selects.
	if g.n(4) > 0 || room == size {
		return space, fmt.Sprintf("[%s+%d]", base, size*g.n(room/size))
	}
	g.emit("and.b32 %%i, %s, %d;\n\tmul.lo.u32 %%i, %%i, %d;", []string{"%n", g.v()}[g.n(2)],
		room/size-1, size)
	if wide {
		g.emit("cvt.u64.u32 %%a, %%i;\n\tadd.s64 %%a, %%a, %s;", base)
		return space, "[%a]"
	}
	g.emit("add.u32 %%i, %%i, %s;", base)
	return space, "[%i]"
}

// strength returns the modifiers of an access: mostly none, for a weak one.
func (g *readback) strength(space string) string {
	if g.n(8) > 0 || space == ".local" {
		return ""
	}
	return []string{".volatile", ".relaxed.gpu", ".relaxed.cta"}[g.n(3)]
}

// store writes a store of 1, 2, 4 or 8 bytes to the thread's own memory.
func (g *readback) store() {
	switch g.n(8) {
	case 0:
		space, at := g.place(1)
		g.emit("cvt.u16.u32 %%h, %s;\n\t%sst%s%s.u8 %s, %%h;", g.v(), g.guard(), g.strength(space), space,
			at)
	case 1:
		space, at := g.place(2)
		g.emit("cvt.u16.u32 %%h, %s;\n\t%sst%s%s.u16 %s, %%h;", g.v(), g.guard(), g.strength(space),
			space, at)
	case 2:
		space, at := g.place(8)
		g.emit("mov.b64 %%d, {%s, %s};\n\t%sst%s%s.u64 %s, %%d;", g.v(), g.v(), g.guard(),
			g.strength(space), space, at)
	case 3:
		space, at := g.place(8)
		g.emit("%sst%s.v2.u32 %s, {%s, %s};", g.guard(), space, at, g.v(), g.v())
	default:
		space, at := g.place(4)
		g.emit("%sst%s%s.u32 %s, %s;", g.guard(), g.strength(space), space, at, g.v())
	}
}

// load writes a load of 1, 2, 4 or 8 bytes from the thread's own memory.
func (g *readback) load() {
	switch g.n(8) {
	case 0:
		space, at := g.place(1)
		g.emit("%sld%s%s.%s %s, %s;", g.guard(), g.strength(space), space, []string{"u8", "s8"}[g.n(2)],
			g.v(), at)
	case 1:
		space, at := g.place(2)
		g.emit("%sld%s%s.%s %s, %s;", g.guard(), g.strength(space), space, []string{"u16", "s16"}[g.n(2)],
			g.v(), at)
	case 2:
		space, at := g.place(8)
		g.emit("ld%s%s.u64 %%d, %s;\n\tmov.b64 {%s, %%y}, %%d;", g.strength(space), space, at, g.v())
	case 3:
		space, at := g.place(8)
		i := g.n(7)
		g.emit("%sld%s.v2.u32 {%%v%d, %%v%d}, %s;", g.guard(), space, i, i+1, at)
	default:
		space, at := g.place(4)
		g.emit("%sld%s%s.u32 %s, %s;", g.guard(), g.strength(space), space, g.v(), at)
	}
}

// atomic writes an atomic or a reduction on the thread's own memory.
func (g *readback) atomic() {
	// Only memory that atomics can access: shared and global.
	space, base := ".shared", "%s0"
	switch g.n(3) {
	case 0:
		space, base = ".global", "%f0"
	case 1:
		space, base = "", "%f1"
	}
	op := []string{"add.u32", "exch.b32", "or.b32", "and.b32", "min.u32"}[g.n(5)]
	scope := []string{".cta", ".gpu"}[g.n(2)]
	if g.n(2) == 0 {
		g.emit("%sred.relaxed%s%s.%s [%s+%d], %s;", g.guard(), scope, space,
			[]string{"add.u32", "or.b32"}[g.n(2)], base, 4*g.n(2), g.v())
		return
	}
	g.emit("%satom.relaxed%s%s.%s %s, [%s+%d], %s;", g.guard(), scope, space, op, g.v(), base,
		4*g.n(2), g.v())
}

// ticket writes an operation that takes a number from a counter, or sets a counter.
func (g *readback) ticket() {
	at := 4 * g.n(2)
	switch g.n(8) {
	case 0:
		// One thread sets the counter.
		g.emit("@%%p4 st.shared.u32 [ct+%d], %s;", at, g.v())
	case 1:
		g.emit("@%%p4 st.volatile.shared.u32 [ct+%d], %s;", at, g.v())
	case 2:
		// A counter that wraps, at 2^32 or at 63.
		g.emit("%satom.shared.inc.u32 %s, [ct+%d], %s;", g.guard(), g.v(), at,
			[]string{"0xffffffff", "63"}[g.n(2)])
	case 3:
		g.emit("%satom.shared.%s %s, [ct+%d], %s;", g.guard(),
			[]string{"add.s32", "exch.b32", "add.u32"}[g.n(3)], g.v(), at, []string{g.v(), "-1"}[g.n(2)])
	default:
		g.emit("%satom.shared.add.u32 %s, [ct+%d], %d;", g.guard(), g.v(), at,
			[]int{1, 1, 2, 4, 0}[g.n(5)])
	}
}

// compute writes an instruction on value registers.
func (g *readback) compute() {
	d, a := g.v(), g.v()
	switch g.n(6) {
	case 0:
		g.emit("add.u32 %s, %s, %d;", d, a, 1+g.n(3))
	case 1:
		g.emit("xor.b32 %s, %s, %d;", d, a, 1+g.n(60))
	case 2:
		g.emit("mov.u32 %s, %%t;", d)
	case 3:
		g.emit("shl.b32 %s, %s, 8;", d, a)
	case 4:
		g.emit("shr.u32 %s, %s, 8;", d, a)
	case 5:
		g.emit("selp.u32 %s, %s, %s, %s;", d, a, g.v(), g.condition())
	}
}

// decide sets a predicate.
func (g *readback) decide() {
	p := g.condition()
	switch g.n(4) {
	case 0:
		g.emit("setp.lt.u32 %s, %s, %d;", p, g.v(), 1+g.n(40))
	case 1:
		g.emit("setp.eq.u32 %s, %s, %d;", p, g.v(), g.n(8))
	case 2:
		g.emit("setp.eq.u32 %s, %s, %s;", p, g.v(), g.v())
	case 3:
		g.emit("ld.global.u32 %%y, [%%o+%d];\n\tand.b32 %%y, %%y, 1;\n\tsetp.eq.u32 %s, %%y, 1;",
			4*g.n(4), p)
	}
}

// branch writes an if with an else that may be empty.
func (g *readback) branch(depth int) {
	if depth == 0 {
		return
	}
	other, end := g.label(), g.label()
	g.emit("@%s bra %s;", g.condition(), other)
	g.statements(depth - 1)
	g.emit("bra %s;", end)
	fmt.Fprintf(&g.out, "%s:\n", other)
	if g.n(2) == 0 {
		g.statements(depth - 1)
	}
	fmt.Fprintf(&g.out, "%s:\n", end)
}

// loop writes a loop, perhaps with a break or a continue.
func (g *readback) loop(depth int) {
	if depth == 0 {
		return
	}
	c := g.used
	g.used++
	// next is the target of continue, end that of break.
	head, next, end := g.label(), g.label(), g.label()
	g.emit("mov.u32 %%c%d, 0;", c)
	fmt.Fprintf(&g.out, "%s:\n", head)
	switch g.n(3) {
	case 0:
		g.emit("and.b32 %%y, %s, 3;\n\tsetp.ge.u32 %%q, %%c%d, %%y;", []string{"%n", "%t"}[g.n(2)], c)
	default:
		g.emit("setp.ge.u32 %%q, %%c%d, %d;", c, 1+g.n(3))
	}
	g.emit("@%%q bra %s;", end)
	g.statements(depth - 1)
	switch g.n(4) {
	case 0:
		g.emit("@%s bra %s;", g.condition(), end)
		g.statements(depth - 1)
	case 1:
		g.emit("@%s bra %s;", g.condition(), next)
		g.statements(depth - 1)
	}
	fmt.Fprintf(&g.out, "%s:\n", next)
	g.emit("add.u32 %%c%d, %%c%d, 1;\n\tbra %s;", c, c, head)
	fmt.Fprintf(&g.out, "%s:\n", end)
}

// rewrite writes a store to a place, a loop that may store to it again, and what is made of it: in
// the loop or behind it.
func (g *readback) rewrite() {
	if g.n(2) == 0 { // what is known of other arrays is lost
		g.emit("bar.warp.sync 0xffffffff;")
	}
	c := g.used
	g.used++
	head, end := g.label(), g.label()
	space, at := ".shared", fmt.Sprintf("[%s+%d]", []string{"%s0", "%s1"}[g.n(2)], 4*g.n(4))
	if g.n(3) == 0 {
		space, at = ".global", fmt.Sprintf("[%%f0+%d]", 4*g.n(2))
	}
	read := func() { g.emit("ld%s.u32 %s, %s;", space, g.v(), at) }
	g.emit("st%s.u32 %s, %s;\n\tmov.u32 %%c%d, 0;", space, at, g.v(), c)
	fmt.Fprintf(&g.out, "%s:\n", head)
	g.emit("setp.ge.u32 %%q, %%c%d, %s;\n\t@%%q bra %s;", c, []string{"%n", "%v1", "2"}[g.n(3)], end)
	if g.n(2) == 0 {
		read()
		g.use()
	}
	if g.n(4) > 0 {
		g.emit("%sst%s.u32 %s, %s;", g.guard(), space, at, g.v())
	}
	g.emit("add.u32 %%c%d, %%c%d, 1;\n\tsetp.lt.u32 %%q, %%c%d, 100;\n\t@%%q bra %s;", c, c, c, head)
	fmt.Fprintf(&g.out, "%s:\n", end)
	read()
	g.use()
}

// call writes a call of a function that stores through a pointer.
func (g *readback) call() {
	p := []string{"%f0", "%f1", "%f2"}[g.n(3)]
	g.emit("add.s64 %%a, %s, %d;\n\tst.param.b64 [pa], %%a;\n\tst.param.b32 [pb], %s;", p, 4*g.n(2),
		g.v())
	if g.n(2) == 0 {
		g.emit("call.uni put, (pa, pb);")
		return
	}
	g.emit("call.uni (pr), swap, (pa, pb);\n\tld.param.b32 %s, [pr];", g.v())
}

// neighbour writes an access to memory that another thread of the block owns.
func (g *readback) neighbour() {
	g.emit(
		"xor.b32 %%i, %%t, %d;\n\tshl.b32 %%i, %%i, 4;\n\tmov.u32 %%x, sh;\n\tadd.u32 %%x, %%x, %%i;",
		[]int{1, 2, 32}[g.n(3)])
	if g.n(3) == 0 {
		g.emit("%sst.shared.u32 [%%x+%d], %s;", g.guard(), 4*g.n(4), g.v())
		return
	}
	g.emit("%sld.shared.u32 %s, [%%x+%d];", g.guard(), g.v(), 4*g.n(4))
}

// use writes a store at an index that a value selects, or one under a condition on a value that may
// hold in several threads.
func (g *readback) use() {
	if g.n(4) == 0 {
		g.emit("setp.eq.u32 %%q, %s, %d;\n\t@%%q st.global.u32 [%%g+1020], %%t;", g.v(), g.n(12))
		return
	}
	g.emit(
		"and.b32 %%i, %s, 127;\n\tshl.b32 %%i, %%i, 2;\n\tcvt.u64.u32 %%a, %%i;\n\t"+
			"add.s64 %%a, %%a, %%g;\n\tst.global.u32 [%%a+512], %%t;", g.v())
}
