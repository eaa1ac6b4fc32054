package gen

import "fmt"

// GridBarriers returns a kernel in which blocks wait for each other at a counter, once or several
// times, in a loop or not. Between two barriers, threads write words of their own and read words that
// others have written before. Who adds what to the counter, for which number it waits and how, the
// fences, the barriers of the block around, and what is done where, are drawn: most choices are right,
// and each has wrong ones beside it. The counter is 0 at the start. The parameters are those of Phases.
func GridBarriers(src Source) Kernel {
	g := &gridBarriers{protocol: protocol{random{src: src}, 24, 25}}
	return protocolOf(src, 2, [4]uint32{1, 2, 33, 4}, g.body, gridBarriersText)
}

// gridBarriersText is the frame: %%i is the number of the thread in the grid, %%j that of the one at
// the other end, %%m the number of blocks, and %%k the iteration.
const gridBarriersText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 count;
.global .align 4 .u32 other;
.global .align 4 .b8 part[32];
.global .align 4 .b8 wide[4096];
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%m, %%r, %%x, %%y, %%i, %%j, %%k, %%goal;
	.reg .b64 %%g, %%a, %%w;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%q;
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%m, %%nctaid.x;
	mov.u32 %%x, %%ntid.x;
	mad.lo.u32 %%i, %%b, %%x, %%t;
	mul.lo.u32 %%j, %%m, %%x;
	sub.u32 %%j, %%j, 1;
	sub.u32 %%j, %%j, %%i;
	mov.u32 %%k, 0;
	mov.u32 %%y, 0;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%t, 1;
	setp.eq.u32 %%p2, %%b, 0;
	setp.eq.u32 %%p3, %%n, 3;
%s	ret;
}
`

// gridBarriers writes one kernel of GridBarriers.
type gridBarriers struct {
	protocol
	each  int // barriers in an iteration
	first int // barriers before the loop
}

// body writes the parts of the kernel.
func (g *gridBarriers) body() string {
	if g.n(2) == 0 {
		n := 1 + g.n(3)
		for i := range n {
			g.phase(i)
			g.sync(fmt.Sprintf("mul.lo.u32 %%goal, %%m, %s;", g.mostly(fmt.Sprint(i+1), fmt.Sprint(i), "1")))
		}
		g.phase(n)
		return g.out.String()
	}
	g.first = g.n(3) / 2
	for i := range g.first {
		g.phase(i)
		g.sync("mov.u32 %goal, %m;")
	}
	g.each = 1 + g.n(2)
	head, end := g.label(), g.label()
	atTop := g.n(2) == 0
	g.out.WriteString(head + ":\n")
	if atTop {
		g.emit("setp.ge.u32 %%q, %%k, %s;\n\t@%%q bra %s;", g.mostly("3", "%b"), end)
	}
	for i := range g.each {
		g.phase(i)
		g.sync(fmt.Sprintf("mad.lo.u32 %%goal, %%k, %d, %s;\n\tmul.lo.u32 %%goal, %%goal, %%m;", g.each,
			g.mostly(fmt.Sprint(g.first+i+1), fmt.Sprint(g.first+i), "1")))
	}
	if g.n(3) == 0 {
		g.phase(g.each)
	}
	g.emit("add.u32 %%k, %%k, 1;")
	if !atTop {
		g.emit("setp.ge.u32 %%q, %%k, %s;\n\t@%%q bra %s;", g.mostly("3", "%b"), end)
	}
	g.emit("bra %s;", head)
	g.out.WriteString(end + ":\n")
	if g.n(2) == 0 {
		g.phase(g.n(2))
	}
	return g.out.String()
}

// phase writes what is done between two barriers: the threads write one half of the words and read
// the other.
func (g *gridBarriers) phase(i int) {
	if g.each == 1 {
		g.emit("add.u32 %%x, %%k, %d;\n\tand.b32 %%x, %%x, 1;\n\tmul.lo.u32 %%x, %%x, 512;", i%2)
	} else {
		g.emit("mov.u32 %%x, %d;", i%2*512)
	}
	for range 1 + g.n(3) {
		guard := g.mostly("", "", "@%p0 ", "@%p2 ", "@%p3 ")
		switch g.n(6) {
		case 0, 1:
			g.word("%x", g.mostly("%i", "%t"), 0)
			g.emit("%sst.global.u32 [%%w], %%y;", guard)
		case 2, 3:
			g.word("%x", g.mostly("%j", "%t", "%i"), 1)
			g.emit("%sld.global.u32 %%y, [%%w];", guard)
		case 4:
			g.emit("setp.eq.and.u32 %%q, %%b, %d, %s;", g.n(2), g.mostly("%p0", "%p1"))
			g.emit("@%%q %s;", g.mostly("st.global.u32 [part], %t", "ld.global.u32 %y, [part]"))
		case 5:
			g.emit("%sld.volatile.global.u32 %%y, [count];", guard)
		}
	}
	if g.n(60) == 0 {
		g.emit("@%%p0 st.volatile.global.u32 [%s], 0;", g.mostly("other", "count"))
	}
}

// word points %w to a word in the half at x, or in the other one.
func (g *gridBarriers) word(x, index string, flip int) {
	g.emit("xor.b32 %%r, %s, %d;", x, 512*flip)
	g.emit("add.u32 %%r, %%r, %s;\n\tmul.wide.u32 %%a, %%r, 4;", index)
	g.emit("mov.u64 %%g, wide;\n\tadd.s64 %%w, %%a, %%g;")
}

// sync writes a barrier of the grid; goal sets the number for which the leader waits.
func (g *gridBarriers) sync(goal string) {
	g.emit("%s", g.mostly("bar.sync 0;", "bar.warp.sync 0xffffffff;", ""))
	end, again := g.label(), g.label()
	g.emit("@!%s bra %s;", g.mostly("%p0", "%p1", "%p3"), end)
	if g.n(4) == 0 {
		g.emit("@%%p2 st.global.u32 [part+16], 7;")
	}
	g.emit("%s", g.fence())
	g.emit("%s", g.mostly("atom.global.add.u32 %r, [count], 1;", "red.global.add.u32 [count], 1;",
		"atom.relaxed.cta.global.add.u32 %r, [count], 1;", "atom.global.add.u32 %r, [count], 2;",
		"atom.release.gpu.global.add.u32 %r, [count], 1;", "red.release.gpu.global.add.u32 [count], 1;"))
	g.emit("%s", goal)
	if g.n(20) == 0 {
		g.emit("sub.u32 %%goal, %%goal, 1;")
	}
	g.out.WriteString(again + ":\n")
	g.emit("%s", g.mostly("ld.volatile.global.u32 %r, [count];", "ld.acquire.gpu.global.u32 %r, [count];",
		"atom.global.add.u32 %r, [count], 0;", "ld.relaxed.cta.global.u32 %r, [count];",
		"ld.volatile.global.u32 %r, [other];"))
	g.emit("setp.%s.u32 %%q, %%r, %%goal;\n\t@%%q bra %s;", g.mostly("lt", "ne"), again)
	g.emit("%s", g.fence())
	if g.n(8) == 0 {
		g.emit("@%%p2 ld.global.u32 %%y, [part+16];")
	}
	g.out.WriteString(end + ":\n")
	g.emit("%s", g.mostly("bar.sync 0;", "bar.warp.sync 0xffffffff;", ""))
}
