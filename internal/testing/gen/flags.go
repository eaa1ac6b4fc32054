package gen

import (
	"fmt"
)

// Flags returns a kernel in which threads store data and set flags, and others wait for a flag and
// use the data. Who sets which flag and who waits for it (one block for all, each block for the
// next, or each thread for the next), the fences, the barriers where a leader does it for its block,
// and what is done before and behind, are drawn: most choices are right, and each has wrong ones
// beside it. Flags are 0 at the start. The parameters are those of Phases.
func Flags(src Source) Kernel {
	g := &flags{protocol: protocol{random{src: src}, 7, 10}}
	return protocolOf(src, 1, [4]uint32{1, 2, 4, 33}, g.body, flagsText)
}

// flagsText is the frame: %%w is the number of the flag that the thread or its block sets if %%p1
// holds, and %%v that of the flag for which it waits if %%p2 does; %%p0 is true for thread 0.
const flagsText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 flag[1024];
.global .align 4 .b8 part[1024];
.global .align 4 .b8 wide[65536];
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%r, %%x, %%y, %%i, %%v, %%w, %%s;
	.reg .b64 %%a, %%g, %%f, %%d, %%o;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%q;
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%s, %%ntid.x;
	mad.lo.u32 %%i, %%b, %%s, %%t;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p3, %%n, 3;
	mov.u32 %%r, 1;
	mov.u32 %%y, 0;
%s	ret;
}
`

// flags writes one kernel of Flags.
type flags struct {
	protocol
	blocks bool // a leader sets flags and waits for its block
}

// body writes the parts of the kernel.
func (g *flags) body() string {
	scheme := g.n(3)
	g.blocks = scheme < 2
	switch scheme {
	case 0: // block 0 for all others
		g.emit("mov.u32 %%w, 0;\n\tmov.u32 %%v, %s;", g.mostly("0", "1"))
		g.emit("setp.%s.u32 %%p1, %%b, 0;", g.mostly("eq", "ne"))
		g.emit("setp.%s.u32 %%p2, %%b, 0;", g.mostly("ne", "eq", "ge"))
	case 1: // each block for the next
		g.emit("mov.u32 %%w, %s;\n\tsub.u32 %%v, %%b, %s;", g.mostly("%b", "0"), g.mostly("1", "2"))
		g.emit("setp.ge.u32 %%p1, %%b, 0;\n\tsetp.gt.u32 %%p2, %%b, %s;", g.mostly("0", "1"))
	case 2: // each thread for the next
		g.emit("mov.u32 %%w, %s;\n\tsub.u32 %%v, %%i, %s;", g.mostly("%i", "%t"), g.mostly("1", "2"))
		g.emit("setp.ge.u32 %%p1, %%i, 0;\n\tsetp.gt.u32 %%p2, %%i, %s;", g.mostly("0", "1"))
	}
	g.consume()
	g.produce()
	if g.n(8) == 0 {
		g.use("%v", "")
	}
	return g.out.String()
}

// word points a register to an element of an array.
func (g *flags) word(reg, array, index string) {
	g.emit("mul.wide.u32 %%a, %s, 4;", index)
	g.emit("mov.u64 %%g, %s;", array)
	g.emit("add.s64 %s, %%a, %%g;", reg)
}

// data points %d to the data of a flag, and %o to the word of the thread in it.
func (g *flags) data(index string) {
	g.word("%d", "part", index)
	g.emit("mad.lo.u32 %%x, %s, %%s, %%t;", index)
	g.word("%o", "wide", "%x")
}

// barrier ends what the leader does alone.
func (g *flags) barrier() {
	if g.blocks {
		g.emit("%s", g.mostly("bar.sync 0;", "bar.sync 0;", "bar.warp.sync 0xffffffff;", ""))
	}
}

// alone begins what the leader does alone, up to the label that it returns.
func (g *flags) alone() (end string) {
	end = g.label()
	if g.blocks {
		g.emit("@!%s bra %s;", g.mostly("%p0", "%p0", "%p3"), end)
	}
	return end
}

// consume waits for a flag and uses what it announces.
func (g *flags) consume() {
	end := g.label()
	g.emit("@!%s bra %s;", g.mostly("%p2", "%p2", "%p3"), end)
	if g.n(6) == 0 {
		g.use("%v", "")
	}
	g.word("%f", "flag", "%v")
	led := g.alone()
	load := fmt.Sprintf("ld%s.global.u32 %%r, [%%f];", g.mostly(".volatile", ".relaxed.gpu",
		".acquire.gpu", ".relaxed.cta", ".acquire.cta", ""))
	if g.n(4) == 0 {
		load = g.mostly("atom.global.add.u32 %r, [%f], 0;", "atom.global.cas.b32 %r, [%f], 0, 0;",
			"atom.global.cas.b32 %r, [%f], 1, 2;", "atom.global.exch.b32 %r, [%f], 0;",
			"atom.relaxed.cta.global.add.u32 %r, [%f], 0;", "atom.global.add.u32 %r, [%f], 1;")
	}
	if g.n(6) == 0 { // asks once
		g.emit("%s", load)
		g.emit("setp.eq.u32 %%q, %%r, 0;")
		g.emit("@%%q bra %s;", g.mostly(led, end))
	} else {
		again := g.label()
		g.out.WriteString(again + ":\n")
		g.emit("%s", load)
		g.emit("setp.%s.u32 %%q, %%r, %s;", g.mostly("eq", "ne", "lt"), g.mostly("0", "1", "2"))
		g.emit("@%%q bra %s;", again)
	}
	g.emit("%s", g.fence())
	g.out.WriteString(led + ":\n")
	g.barrier()
	if g.n(5) == 0 {
		g.emit("%s", g.fence())
	}
	guard := ""
	if g.n(5) == 0 {
		g.emit("setp.%s.u32 %%q, %%r, %d;", g.mostly("eq", "ge"), 1+g.n(2))
		guard = "@%q "
	}
	g.use("%v", guard)
	if g.n(8) == 0 {
		g.emit("@%%p0 st.volatile.global.u32 [%%f], %d;", g.n(3)/2)
	}
	g.out.WriteString(end + ":\n")
}

// use reads and writes data.
func (g *flags) use(index, guard string) {
	g.data(index)
	for range 1 + g.n(2) {
		switch g.n(6) {
		case 0, 1:
			g.emit("%sld.global.u32 %%y, [%%d];", guard)
		case 2, 3:
			g.emit("%sld.global.u32 %%y, [%%o];", guard)
		case 4:
			g.emit("%sst.global.u32 [%%o], %%t;", guard)
		case 5:
			g.emit("@%%p0 st.global.u32 [%%d], 7;")
		}
	}
}

// produce stores data and sets the flag.
func (g *flags) produce() {
	end := g.label()
	g.emit("@!%s bra %s;", g.mostly("%p1", "%p1", "%p3"), end)
	g.make()
	g.barrier()
	g.word("%f", "flag", "%w")
	led := g.alone()
	if g.n(4) == 0 {
		g.emit("@%%p0 st.global.u32 [%%d], 5;")
	}
	g.emit("%s", g.fence())
	g.set(g.mostly("1", "2", "0"))
	if g.n(4) == 0 {
		if g.n(2) == 0 {
			g.make()
		}
		g.emit("%s", g.fence())
		g.set(g.mostly("2", "1"))
	}
	g.out.WriteString(led + ":\n")
	if g.n(8) == 0 {
		g.make()
	}
	g.out.WriteString(end + ":\n")
}

// make stores data.
func (g *flags) make() {
	g.data("%w")
	for range 1 + g.n(2) {
		if g.n(2) == 0 {
			g.emit("%sst.global.u32 [%%d], %%b;", map[bool]string{true: "@%p0 "}[g.blocks])
		} else {
			g.emit("st.global.u32 [%%o], %%y;")
		}
	}
}

// set stores a value to the flag.
func (g *flags) set(value string) {
	guard := g.mostly("", "", "@%p3 ")
	switch g.n(6) {
	case 0, 1, 2:
		g.emit("%sst.volatile.global.u32 [%%f], %s;", guard, value)
	case 3:
		g.emit("%sst.release.gpu.global.u32 [%%f], %s;", guard, value)
	case 4:
		g.emit("%satom.global.%s %%x, [%%f], %s;", guard, []string{"exch.b32", "add.u32"}[g.n(2)], value)
	case 5:
		g.emit("%sst%s.global.u32 [%%f], %s;", guard, g.mostly(".relaxed.gpu", "", ".relaxed.cta",
			".release.cta"), value)
	}
}
