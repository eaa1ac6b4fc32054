package gen

// Tickets returns a kernel in which threads update counters under ticket locks. Where a ticket
// comes from, what a thread waits for, how the next number is called, the fences, which lock
// protects which counter, and who does it how often, are drawn: most choices are right, and each
// has wrong ones beside it. Waits are bounded where the number may never come. The parameters are
// those of Phases.
func Tickets(src Source) Kernel {
	g := &tickets{protocol: protocol{random{src: src}, 11, 12}}
	return protocolOf(src, 1, [4]uint32{1, 2, 4, 33}, g.body, ticketsText)
}

// ticketsText is the frame: %%l points to the counter of tickets of the thread, %%s to the number
// that is served, %%d to the data and %%e to that of its index.
const ticketsText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 next[16];
.global .align 4 .b8 serving[16];
.global .align 4 .b8 data[16];
.global .align 4 .b8 own[1024];
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%r, %%x, %%y, %%i, %%h, %%tries, %%waits;
	.reg .b64 %%a, %%d, %%e, %%l, %%s;
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
	mov.u32 %%waits, 0;
	mov.u32 %%r, 1;
%s	ret;
}
`

// tickets writes one kernel of Tickets.
type tickets struct {
	protocol
}

// index makes %a the offset of an element, of the thread's or of the one that all share.
func (g *tickets) index(of string, mask int) {
	g.emit("and.b32 %%h, %s, %d;", of, mask)
	g.emit("mul.wide.u32 %%a, %%h, 4;")
}

// body writes the parts of the kernel.
func (g *tickets) body() string {
	exits := g.label()
	of := g.mostly("%b", "%t", "%i", "%n")
	mask := []int{0, 0, 1, 3}[g.n(4)]
	for _, array := range [][2]string{{"%l", "next"}, {"%s", "serving"}, {"%d", "data"}} {
		if g.n(20) == 0 {
			g.index(g.mostly(of, "%t"), 3-mask)
		} else {
			g.index(of, mask)
		}
		g.emit("mov.u64 %s, %s;", array[0], array[1])
		g.emit("add.s64 %s, %s, %%a;", array[0], array[0])
	}
	if g.n(4) == 0 {
		g.emit("@%s bra %s;", g.mostly("%p0", "%p1", "!%p0", "%p2"), exits)
	}
	again := ""
	if g.n(4) == 0 {
		again = g.label()
		g.out.WriteString(again + ":\n")
	}
	g.section()
	if again != "" {
		g.emit("add.u32 %%tries, %%tries, 1;")
		g.emit("setp.lt.u32 %%q, %%tries, 2;")
		g.emit("@%%q bra %s;", again)
	}
	g.out.WriteString(exits + ":\n")
	if g.n(12) == 0 {
		g.emit("ld.global.u32 %%x, [%%d];")
	}
	return g.out.String()
}

// section writes the way into a section, what is done there and the way out.
func (g *tickets) section() {
	g.emit("%s", g.mostly("atom.global.add.u32 %r, [%l], 1;",
		"atom.relaxed.gpu.global.add.u32 %r, [%l], 1;",
		"atom.global.inc.u32 %r, [%l], 0xffffffff;", "atom.global.inc.u32 %r, [%l], 1;",
		"atom.relaxed.cta.global.add.u32 %r, [%l], 1;", "atom.global.add.u32 %r, [%l], 2;",
		"atom.global.exch.b32 %r, [%l], 1;"))
	if g.n(15) == 0 {
		g.emit("%s", g.mostly("@%p2 atom.global.exch.b32 %x, [%l], 0;",
			"st.volatile.global.u32 [%l], 0;"))
	}
	again, in := g.label(), g.label()
	g.out.WriteString(again + ":\n")
	switch g.n(6) {
	case 0, 1, 2:
		g.emit("ld.%s.global.u32 %%x, [%%s];", []string{"relaxed.gpu", "volatile"}[g.n(2)])
	case 3:
		g.emit("ld.acquire.gpu.global.u32 %%x, [%%s];")
	case 4:
		g.emit("atom.global.add.u32 %%x, [%%s], %s;", g.mostly("0", "1"))
	case 5:
		g.emit("%s", g.mostly("atom.global.cas.b32 %x, [%s], 7, 7;", "ld.global.u32 %x, [%s];",
			"ld.relaxed.cta.global.u32 %x, [%s];", "ld.volatile.global.u32 %x, [serving];"))
	}
	g.emit("setp.%s.u32 %%q, %%x, %%r;", g.mostly("eq", "eq", "ge", "le"))
	g.emit("@%%q bra %s;", in)
	// a wait that ends is not always a wait that has found its number
	limit := g.mostly("", "", "40")
	if limit != "" {
		g.emit("add.u32 %%waits, %%waits, 1;")
		g.emit("setp.gt.u32 %%q, %%waits, %s;", limit)
		g.emit("@%%q bra %s;", in)
	}
	g.emit("bra %s;", again)
	g.out.WriteString(in + ":\n")
	some := ""
	if g.n(5) == 0 {
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
	if g.n(15) == 0 {
		g.emit("st.global.u32 [%%d], 4;")
	}
	if some != "" {
		g.out.WriteString(some + ":\n")
		if g.n(2) == 0 {
			g.emit("%s", g.fence())
		}
	}
	g.call()
	if g.n(15) == 0 {
		g.call()
	}
	if g.n(15) == 0 {
		g.emit("st.global.u32 [%%d], 5;")
	}
}

// call writes how the next number is called.
func (g *tickets) call() {
	guard := g.mostly("", "", "@%p0 ", "@%p2 ")
	from := "%r"
	if g.n(6) == 0 { // by the number that is served
		from = "%y"
		g.emit("ld.volatile.global.u32 %%y, [%%s];")
	}
	g.emit("add.u32 %%y, %s, %s;", from, g.mostly("1", "1", "2", "0"))
	switch g.n(8) {
	case 0, 1:
		g.emit("%satom.global.exch.b32 %%x, [%%s], %%y;", guard)
	case 2:
		g.emit("%satom.global.add.u32 %%x, [%%s], %s;", guard, g.mostly("1", "2"))
	case 3, 4:
		g.emit("%sst.volatile.global.u32 [%%s], %%y;", guard)
	case 5:
		g.emit("%sst.release.gpu.global.u32 [%%s], %%y;", guard)
	case 6:
		g.emit("%sst%s.global.u32 [%s], %%y;", guard, g.mostly(".relaxed.gpu", "", ".relaxed.cta"),
			g.mostly("%s", "serving"))
	case 7:
		g.emit("%sred.global.add.u32 [%%s], 1;", guard)
	}
}
