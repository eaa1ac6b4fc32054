package gen

// Locks returns a kernel in which threads update counters under locks. How a lock is taken and
// freed, the fences, which lock protects which counter, and who does it how often, are drawn: most
// choices are right, and each has wrong ones beside it. No thread takes a second lock before it has
// freed the first, but some free what they do not hold, or never free it. The parameters are those
// of Phases.
func Locks(src Source) Kernel {
	g := &locks{protocol: protocol{random{src: src}, 9, 12}}
	return protocolOf(src, 1, [4]uint32{1, 2, 4, 33}, g.body, locksText)
}

// locksText is the frame: %%l points to the lock of the thread and %%d to its counter, %%e to the
// counter of its index.
const locksText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 lock[16];
.global .align 4 .b8 data[16];
.global .align 4 .b8 own[1024];
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%r, %%x, %%i, %%h, %%tries;
	.reg .b64 %%a, %%d, %%e, %%l;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%q;
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%x, %%ntid.x;
	mad.lo.u32 %%i, %%b, %%x, %%t;
	mul.wide.u32 %%a, %%i, 4;
	mov.u64 %%e, own;
	add.s64 %%e, %%e, %%a;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%b, 0;
	setp.eq.u32 %%p2, %%n, 3;
	setp.eq.u32 %%p3, %%n, 3;
	mov.u32 %%tries, 0;
	mov.u32 %%r, 1;
%s	ret;
}
`

// locks writes one kernel of Locks.
type locks struct {
	protocol
	free  string // the value of a free lock
	exits string // label behind the section
}

// body writes the parts of the kernel.
func (g *locks) body() string {
	g.free = g.mostly("0", "0", "1")
	g.exits = g.label()
	index := g.mostly("0", "%t", "%b", "%i", "%n")
	g.emit("and.b32 %%h, %s, %d;", []string{index, "%t"}[g.n(4)/3], g.n(4))
	g.emit("mul.wide.u32 %%a, %%h, 4;")
	g.emit("mov.u64 %%l, lock;")
	g.emit("add.s64 %%l, %%l, %%a;")
	if g.n(6) == 0 {
		g.emit("and.b32 %%h, %s, 3;", index)
		g.emit("mul.wide.u32 %%a, %%h, 4;")
	}
	g.emit("mov.u64 %%d, data;")
	g.emit("add.s64 %%d, %%d, %%a;")
	if g.n(4) == 0 {
		g.emit("@%s bra %s;", g.mostly("%p0", "%p1", "!%p0", "%p2"), g.exits)
	}
	again := ""
	if g.n(4) == 0 {
		again = g.label()
		g.out.WriteString(again + ":\n")
	}
	switch g.n(3) {
	case 0, 1:
		g.spin()
	case 2:
		g.try()
	}
	if again != "" {
		g.emit("add.u32 %%tries, %%tries, 1;")
		g.emit("setp.lt.u32 %%q, %%tries, 2;")
		g.emit("@%%q bra %s;", again)
	}
	g.out.WriteString(g.exits + ":\n")
	if g.n(10) == 0 {
		g.emit("ld.global.u32 %%x, [%%d];")
	}
	return g.out.String()
}

// take writes the atomic.
func (g *locks) take() {
	taken := map[string]string{"0": "1", "1": "0"}[g.free]
	at := g.mostly("atom.global", "atom.acquire.gpu.global", "atom.relaxed.cta.global")
	if g.n(4) == 0 {
		g.emit("%s.exch.b32 %%r, [%%l], %s;", at, taken)
		return
	}
	g.emit("%s.cas.b32 %%r, [%%l], %s, %s;", at, g.free, g.mostly(taken, taken, "2", g.free))
}

// spin waits for the lock, for a bounded time where it may never be free.
func (g *locks) spin() {
	again := g.label()
	g.out.WriteString(again + ":\n")
	g.take()
	g.emit("setp.ne.u32 %%q, %%r, %s;", g.mostly(g.free, g.free, "2"))
	g.emit("add.u32 %%x, %%x, 1;")
	g.emit("@%%q bra %s;", again)
	g.section()
}

// try tries it once.
func (g *locks) try() {
	end := g.label()
	g.take()
	g.emit("setp.ne.u32 %%q, %%r, %s;", g.free)
	g.emit("@%s bra %s;", g.mostly("%q", "%q", "!%q", "%p2"), end)
	g.section()
	g.out.WriteString(end + ":\n")
	if g.n(8) == 0 {
		g.emit("st.volatile.global.u32 [%%l], %s;", g.free)
	}
}

// section writes what is done under the lock, and frees it.
func (g *locks) section() {
	some := ""
	if g.n(5) == 0 { // some holders do nothing, and may leave out the fences as well
		some = g.label()
		g.emit("@%s bra %s;", g.mostly("%p1", "!%p1", "%p0", "!%p0", "%p2"), some)
	}
	g.emit("%s", g.fence())
	for range 1 + g.n(2) {
		switch g.n(6) {
		case 0, 1, 2:
			g.emit("ld.global.u32 %%x, [%%d];\n\tadd.u32 %%x, %%x, 1;\n\tst.global.u32 [%%d], %%x;")
		case 3:
			g.emit("st.global.u32 [%%d], %%t;")
		case 4:
			g.emit("st.global.u32 [%%e], %%t;")
		case 5:
			g.emit("@%%p0 ld.global.u32 %%x, [%s];", g.mostly("%d", "data"))
		}
	}
	g.emit("%s", g.fence())
	if g.n(10) == 0 {
		g.emit("st.global.u32 [%%d], 4;")
	}
	if some != "" {
		g.out.WriteString(some + ":\n")
		if g.n(3) == 0 {
			g.emit("%s", g.fence())
		}
	}
	guard := g.mostly("", "", "@%p0 ", "@%p2 ")
	switch g.n(8) {
	case 0, 1, 2:
		g.emit("%satom.global.exch.b32 %%x, [%%l], %s;", guard, g.free)
	case 3, 4:
		g.emit("%sst.volatile.global.u32 [%%l], %s;", guard, g.free)
	case 5:
		g.emit("%sst.release.gpu.global.u32 [%%l], %s;", guard, g.free)
	case 6:
		g.emit("%sst%s.global.u32 [%s], %s;", guard, g.mostly(".relaxed.gpu", "", ".relaxed.cta"),
			g.mostly("%l", "lock"), g.free)
	case 7:
		g.emit("%satom.global.%s %%x, [%%l], %s;", guard, g.mostly("exch.b32", "add.u32"), g.free)
	}
	if g.n(10) == 0 {
		g.emit("st.global.u32 [%%d], 5;")
	}
}
