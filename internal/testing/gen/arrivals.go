package gen

// Arrivals returns a kernel in which blocks arrive at a counter when their part is done, and the
// last of them continues with the parts of all. Fences before and behind the atomic, the value that
// tells the last one, how its block learns of it, and what is read and written where, are drawn:
// most choices are right, and each has wrong ones beside it. The counter is 0 at the start. The
// parameters are those of Phases.
func Arrivals(src Source) Kernel {
	g := &arrivals{protocol{random{src: src}, 5, 8}}
	return protocolOf(src, 2, [4]uint32{1, 2, 33, 64}, g.body, arrivalsText)
}

// arrivalsText is the frame: %%t is the thread, %%b the block, %%p0 is true for thread 0, and %%d
// points to the word of the block, %%o to that of the thread.
const arrivalsText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 count;
.global .align 4 .u32 other;
.global .align 4 .b8 part[16];
.global .align 4 .b8 wide[1024];
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%m, %%r, %%x, %%y, %%i;
	.reg .b64 %%g, %%a, %%d, %%o;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%last;
	.shared .align 4 .b8 flag[16];
	ld.param.u64 %%g, [mem];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%m, %%nctaid.x;
	mov.u32 %%x, %%ntid.x;
	mul.wide.u32 %%a, %%b, 4;
	mov.u64 %%d, part;
	add.s64 %%d, %%d, %%a;
	mad.lo.u32 %%y, %%b, %%x, %%t;
	mul.wide.u32 %%a, %%y, 4;
	mov.u64 %%o, wide;
	add.s64 %%o, %%o, %%a;
	mov.u32 %%r, 0;
	mov.u32 %%y, 0;
	mov.u32 %%i, 3;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%t, 1;
	setp.eq.u32 %%p2, %%n, 3;
	setp.eq.u32 %%p3, %%n, 3;
	setp.ne.u32 %%last, %%t, %%t;
%s	ret;
}
`

// arrivals writes one kernel of Arrivals.
type arrivals struct{ protocol }

// body writes the parts of the protocol.
func (g *arrivals) body() string {
	g.parts()
	g.emit("%s", g.mostly("bar.sync 0;", "bar.sync 0;", ""))
	if g.n(4) == 0 {
		g.emit("%s", g.fence())
	}
	end := g.label()
	g.emit("@!%s bra %s;", g.mostly("%p0", "%p0", "%p1", "%p2"), end)
	if g.n(3) == 0 {
		g.emit("@%s st.global.u32 [%%d], 7;", g.mostly("%p0", "%p2"))
	}
	g.emit("%s", g.fence())
	g.arrive()
	if g.n(5) == 0 {
		g.emit("@%s st.global.u32 [%%d], 9;", g.mostly("%p2", "%p0"))
	}
	g.emit("%s", g.fence())
	g.emit("setp.eq.u32 %%last, %%r, %%x;")
	if g.n(4) > 0 {
		g.emit("selp.u32 %%y, 1, 0, %%last;")
		g.emit("st.shared.u32 [flag], %%y;")
	}
	g.emit("%s", g.mostly("", g.fence()))
	g.out.WriteString(end + ":\n")
	if g.n(6) == 0 {
		g.emit("@%s st.shared.u32 [flag], %d;", g.mostly("%p1", "%p0", "%p2"), g.n(2))
	}
	if g.n(8) > 0 {
		g.emit("%s", g.mostly("bar.sync 0;", "bar.warp.sync 0xffffffff;", ""))
		g.emit("ld.shared.u32 %%y, [flag];")
		g.emit("setp.ne.u32 %%last, %%y, 0;")
	}
	g.after()
	return g.out.String()
}

// parts writes what blocks do before they arrive.
func (g *arrivals) parts() {
	for range 1 + g.n(2) {
		switch g.n(9) {
		case 8:
			g.slot()
		case 0, 1, 2:
			g.emit("@%s st.global.u32 [%%d], %%t;", g.mostly("%p0", "%p0", "%p1"))
		case 3, 4:
			g.emit("st.global.u32 [%%o], %%t;")
		case 5:
			g.emit("ld.global.u32 %%y, [part];")
		case 6:
			g.emit("ld.volatile.global.u32 %%y, [count];")
		case 7:
			g.emit("%s", g.fence())
		}
	}
}

// arrive writes the atomic, with what tells the last one in %x.
func (g *arrivals) arrive() {
	g.emit("sub.u32 %%x, %%m, %s;", g.mostly("1", "1", "2"))
	at := g.mostly("atom.global", "atom.acq_rel.gpu.global", "atom.relaxed.cta.global",
		"atom.release.gpu.global")
	switch g.n(6) {
	case 0, 1:
		g.emit("%s.inc.u32 %%r, [count], %s;", at, g.mostly("%m", "%x", "%n"))
	case 2, 3, 4:
		g.emit("%s.add.u32 %%r, [%s], %s;", at, g.mostly("count", "count+0", "other"),
			g.mostly("1", "1", "2", "%n"))
	case 5:
		g.emit("@%s %s.add.u32 %%r, [count], 1;", g.mostly("%p0", "%p2"), at)
	}
	if g.n(12) == 0 {
		g.emit("atom.global.add.u32 %%y, [%s], 1;", g.mostly("other", "count"))
	}
}

// slot takes a slot, or stores to the last one that was taken: thread 0 alone.
func (g *arrivals) slot() {
	if g.n(2) == 0 {
		g.emit("@%%p0 atom.global.add.u32 %%i, [other], 1;")
	}
	if g.n(2) == 0 {
		g.emit("mul.wide.u32 %%a, %%i, 4;")
		g.emit("mov.u64 %%g, wide;")
		g.emit("add.s64 %%a, %%a, %%g;")
		g.emit("@%%p0 st.global.u32 [%%a], %%b;")
	}
}

// after writes what the last block does.
func (g *arrivals) after() {
	end := g.label()
	g.emit("@!%s bra %s;", g.mostly("%last", "%last", "%p2"), end)
	if g.n(6) == 0 {
		g.emit("%s", g.fence())
	}
	for range 1 + g.n(3) {
		guard := g.mostly("@%p0 ", "@%p1 ", "")
		switch g.n(10) {
		case 8:
			g.emit("%sst.global.u32 [other], 0;", guard)
		case 9:
			g.slot()
		case 0, 1, 2:
			g.emit("%sld.global.u32 %%y, [part+%d];", guard, 4*g.n(2))
		case 3:
			g.emit("%sld.global.u32 %%y, [wide+%d];", guard, 4*g.n(40))
		case 4:
			g.emit("%sst.global.u32 [part+%d], 5;", guard, 4*g.n(2))
		case 5:
			// a volatile store hides from the detector that the atomics before it are observed
			g.emit("%sst.global.u32 [count], 0;", guard)
		case 6:
			g.emit("%sld.global.u32 %%y, [count];", guard)
		case 7:
			g.emit("%s", g.mostly("bar.sync 0;", g.fence()))
		}
	}
	g.out.WriteString(end + ":\n")
	if g.n(4) == 0 {
		g.slot()
	}
	if g.n(8) == 0 {
		g.emit("@%%p0 st.global.u32 [%s], 6;", g.mostly("%d", "part"))
	}
}
