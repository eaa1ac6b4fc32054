package gen

// Ranks returns a kernel in which threads add to counters and write as many elements as they have
// added, from the one on that the addition has returned. How much they add, once or in a loop, to
// which counter, in global or in shared memory, and what they write are drawn: most choices are
// right, and each has wrong ones beside it. The parameters are those of Phases.
func Ranks(src Source) Kernel {
	g := &ranks{protocol: protocol{random{src: src}, 11, 12}}
	return protocolOf(src, 1, [4]uint32{2, 4, 33, 40}, g.body, ranksText)
}

// ranksText is the frame: the counter is at %%c of its space, and the elements at %%d.
const ranksText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 count[16];
.global .align 4 .b8 out[262144];
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%r, %%x, %%i, %%j, %%k, %%tries;
	.reg .b64 %%a, %%c, %%d, %%e, %%g;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%q;
	.shared .align 4 .b8 counts[16];
	.shared .align 4 .b8 list[16384];
	ld.param.u32 %%n, [n];
	ld.param.u64 %%g, [ro];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%x, %%ntid.x;
	mad.lo.u32 %%i, %%b, %%x, %%t;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%b, 0;
	setp.eq.u32 %%p2, %%n, 3;
	setp.eq.u32 %%p3, %%n, 3;
	mov.u32 %%tries, 0;
%s	ret;
}
`

// ranks writes one kernel of Ranks.
type ranks struct {
	protocol
	space string
}

// body writes the parts of the kernel.
func (g *ranks) body() string {
	g.space = []string{"global", "global", "shared"}[g.n(3)]
	counter, elements := "count", "out"
	if g.space == "shared" {
		counter, elements = "counts", "list"
		g.emit("mov.u64 %%c, counts;")
		g.emit("@%s st.shared.u32 [%%c], 0;", g.mostly("%p0", "%p2"))
		g.emit("%s", g.mostly("bar.sync 0;", ""))
	}
	g.emit("mov.u64 %%c, %s;", counter)
	g.emit("mov.u64 %%d, %s;", elements)
	if g.n(8) == 0 { // a counter for some threads, and an array for all
		g.emit("and.b32 %%x, %s, %s;", g.mostly("%n", "%t", "%b"), g.mostly("1", "3"))
		g.emit("mul.wide.u32 %%a, %%x, 4;")
		g.emit("add.s64 %%c, %%c, %%a;")
	}
	exits, again := g.label(), ""
	if g.n(4) == 0 {
		g.emit("@%s bra %s;", []string{"%p0", "%p1", "!%p0", "%p2"}[g.n(4)], exits)
	}
	if g.n(3) == 0 {
		again = g.label()
		g.out.WriteString(again + ":\n")
	}
	g.amount()
	g.add()
	g.write()
	if g.n(12) == 0 {
		g.add() // what follows writes again, or nothing
		if g.n(2) == 0 {
			g.write()
		}
	}
	if again != "" {
		g.emit("add.u32 %%tries, %%tries, 1;")
		g.emit("setp.lt.u32 %%q, %%tries, %s;", []string{"2", "%n"}[g.n(2)])
		g.emit("and.pred %%q, %%q, %%p1;")
		g.emit("setp.lt.and.u32 %%q, %%tries, 3, %%q;")
		g.emit("@%%q bra %s;", again)
	}
	g.out.WriteString(exits + ":\n")
	if g.n(15) == 0 {
		g.emit("st.%s.u32 [%%d+%d], 3;", g.space, 4*g.n(8))
	}
	return g.out.String()
}

// amount makes %k what the thread adds.
func (g *ranks) amount() {
	switch g.n(6) {
	case 0:
		g.emit("mov.u32 %%k, %d;", 1+g.n(3))
	case 1:
		g.emit("and.b32 %%k, %s, %d;", g.mostly("%t", "%i", "%n"), []int{1, 3, 7}[g.n(3)])
	case 2:
		g.emit("rem.u32 %%k, %%t, %d;\n\tadd.u32 %%k, %%k, 1;", 2+g.n(3))
	case 3:
		g.emit("and.b32 %%x, %%i, 7;\n\tmul.wide.u32 %%a, %%x, 4;\n\tadd.s64 %%a, %%g, %%a;")
		g.emit("ld.global.u32 %%k, [%%a];\n\tand.b32 %%k, %%k, %d;", []int{1, 3, 7}[g.n(3)])
	case 4:
		g.emit("selp.u32 %%k, %s, %d, %%p0;", g.mostly("2", "0", "-1"), 1+g.n(3))
	case 5:
		g.emit("and.b32 %%x, %%n, 3;\n\tsub.u32 %%k, %%x, %s;", g.mostly("0", "1", "2"))
		if g.n(2) == 0 {
			end := g.label()
			g.emit("setp.gt.s32 %%q, %%k, 0;\n\t@%%q bra %s;", end)
			g.emit("mov.u32 %%k, %s;", g.mostly("0", "1"))
			g.out.WriteString(end + ":\n")
		}
	}
}

// add writes the addition.
func (g *ranks) add() {
	g.emit("%satom%s.%s.%s.u32 %%r, [%%c], %s;", g.mostly("", "", "@%p2 "),
		g.mostly("", ".relaxed.gpu", ".relaxed.cta"), g.space, g.mostly("add", "max", "inc"),
		g.mostly("%k", "1", "2"))
	if g.n(20) == 0 {
		g.emit("@%%p2 st.%s.u32 [%%c], 0;", g.space)
	}
}

// write writes as many elements as the thread has added, or the first, or the last.
func (g *ranks) write() {
	switch g.n(4) {
	case 0, 1:
		again, end := g.label(), g.label()
		g.emit("mov.u32 %%j, %s;", g.mostly("0", "1"))
		g.out.WriteString(again + ":\n")
		g.emit("setp.%s.u32 %%q, %%j, %%k;", g.mostly("ge", "gt"))
		g.emit("setp.gt.or.u32 %%q, %%j, 8, %%q;") // negative sizes
		g.emit("@%%q bra %s;", end)
		g.emit("add.u32 %%x, %%r, %%j;")
		g.store("")
		g.emit("add.u32 %%j, %%j, 1;\n\tbra %s;", again)
		g.out.WriteString(end + ":\n")
	case 2:
		g.emit("mov.u32 %%x, %%r;")
		g.emit("setp.ne.u32 %%q, %%k, 0;")
		g.store(g.mostly("@%q ", ""))
	case 3:
		g.emit("add.u32 %%x, %%r, %%k;\n\tsub.u32 %%x, %%x, %s;", g.mostly("1", "0", "2"))
		g.emit("setp.ne.u32 %%q, %%k, 0;")
		g.store(g.mostly("@%q ", ""))
	}
}

// store writes element %x.
func (g *ranks) store(guard string) {
	g.emit("and.b32 %%x, %%x, %s;", map[string]string{"global": "65535", "shared": "4095"}[g.space])
	g.emit("mul.wide.u32 %%a, %%x, 4;\n\tadd.s64 %%e, %%d, %%a;")
	g.emit("%sst.%s.u32 [%%e], %%t;", guard, g.space)
}
