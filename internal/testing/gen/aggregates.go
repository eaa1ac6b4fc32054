package gen

// Aggregates returns a kernel in which one lane adds to a counter for several, tells them the
// result by a shuffle, and each writes the place of its rank. Which lanes take part, which adds,
// how much, the mask and the source of the shuffle, the ranks, whether it is done in a loop, and
// what else happens to the counter are drawn: most choices are right, and each has wrong ones
// beside it. The parameters are those of Phases.
func Aggregates(src Source) Kernel {
	g := &aggregates{protocol: protocol{random{src: src}, 14, 15}}
	return protocolOf(src, 1, [4]uint32{32, 64, 33, 20}, g.body, aggregatesText)
}

// aggregatesText is the frame: the counter is at %%c of its space, and the elements at %%d. %%l is
// the lane, %%lt the mask of the lanes below, and %%w is true where the thread wants a place.
const aggregatesText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 count[16];
.global .align 4 .b8 out[262144];
.visible .entry k(.param .u64 mem, .param .u64 .ptr .global .align 4 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%r, %%x, %%y, %%i, %%l, %%lt, %%m, %%k, %%s, %%tries;
	.reg .b64 %%a, %%c, %%d, %%e, %%g;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%q, %%w, %%f;
	.shared .align 4 .b8 counts[16];
	.shared .align 4 .b8 list[16384];
	ld.param.u32 %%n, [n];
	ld.param.u64 %%g, [ro];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%x, %%ntid.x;
	mad.lo.u32 %%i, %%b, %%x, %%t;
	and.b32 %%l, %%t, 31;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%b, 0;
	setp.eq.u32 %%p2, %%n, 3;
	setp.eq.u32 %%p3, %%l, 0;
	mov.u32 %%tries, 0;
	mov.u32 %%r, 0;
%s	ret;
}
`

// aggregates writes one kernel of Aggregates.
type aggregates struct {
	protocol
	space string
}

// body writes the parts of the kernel.
func (g *aggregates) body() string {
	g.space = []string{"global", "global", "global", "shared"}[g.n(4)]
	counter, elements := "count", "out"
	if g.space == "shared" {
		counter, elements = "counts", "list"
		g.emit("mov.u64 %%c, counts;")
		g.emit("@%s st.shared.u32 [%%c], 0;", g.mostly("%p0", "%p2"))
		g.emit("%s", g.mostly("bar.sync 0;", ""))
	}
	g.emit("mov.u64 %%c, %s;", counter)
	g.emit("mov.u64 %%d, %s;", elements)
	switch g.n(3) {
	case 0:
		g.emit("mov.u32 %%lt, %%%s;", g.mostly("lanemask_lt", "lanemask_le", "lanemask_gt"))
	case 1:
		g.emit("mov.u32 %%x, 1;\n\tshl.b32 %%lt, %%x, %%l;")
		g.emit("sub.u32 %%lt, %%lt, %s;", g.mostly("1", "0"))
	case 2:
		g.emit("mov.u32 %%x, -1;\n\tshl.b32 %%lt, %%x, %%l;\n\tnot.b32 %%lt, %%lt;")
	}
	exits, again := g.label(), ""
	if g.n(10) == 0 {
		g.emit("@%s bra %s;", []string{"%p0", "%p1", "%p3", "%p2"}[g.n(4)], exits)
	}
	if g.n(3) == 0 {
		again = g.label()
		g.out.WriteString(again + ":\n")
	}
	g.wants()
	g.places()
	if again != "" {
		g.emit("add.u32 %%tries, %%tries, 1;")
		bound := []string{"2", "2", "%n", "%l"}[g.n(4)]
		g.emit("setp.lt.u32 %%q, %%tries, %s;", bound)
		g.emit("setp.lt.and.u32 %%q, %%tries, 3, %%q;")
		g.emit("@%%q bra %s;", again)
	}
	g.out.WriteString(exits + ":\n")
	if g.n(20) == 0 {
		g.emit("st.%s.u32 [%%d+%d], 3;", g.space, 4*g.n(40))
	}
	return g.out.String()
}

// wants makes %w true where the thread wants a place.
func (g *aggregates) wants() {
	switch g.n(5) {
	case 0:
		g.emit("setp.ge.u32 %%w, %%l, 0;")
	case 1:
		g.emit("setp.lt.u32 %%w, %%l, %s;", []string{"16", "%n", "5"}[g.n(3)])
	case 2:
		g.emit("and.b32 %%x, %%i, %d;\n\tsetp.ne.u32 %%w, %%x, 0;", 1+g.n(3))
	default:
		g.emit("and.b32 %%x, %%i, 15;\n\tadd.u32 %%x, %%x, %%tries;\n\tand.b32 %%x, %%x, 15;")
		g.emit("mul.wide.u32 %%a, %%x, 4;\n\tadd.s64 %%a, %%g, %%a;")
		g.emit("ld.global.u32 %%x, [%%a];\n\tand.b32 %%x, %%x, %d;", 1+g.n(3))
		g.emit("setp.ne.u32 %%w, %%x, 0;")
	}
}

// places makes %m the mask of the lanes that get a place, and gives them one each.
func (g *aggregates) places() {
	end := g.label()
	waits := "%m" // the mask of the shuffle
	switch g.n(6) {
	case 0: // all lanes
		g.emit("mov.u32 %%m, -1;\n\tsetp.ge.u32 %%w, %%l, 0;")
	case 1: // lanes that the program knows
		g.emit("mov.u32 %%m, %s;", g.mostly("0xffff", "0xfffe", "0x1ffff"))
		g.emit("setp.ge.u32 %%q, %%l, 16;\n\t@%%q bra %s;", end)
		g.emit("setp.ge.u32 %%w, %%l, 0;")
	case 2, 3: // all vote, all shuffle
		g.emit("vote.sync.ballot.b32 %%m, %s, %s;", g.mostly("%w", "!%w", "%p2"),
			g.mostly("-1", "0xffff"))
		waits = "-1"
	case 4: // all vote, some shuffle
		g.emit("vote.sync.ballot.b32 %%m, %s, %s;", g.mostly("%w", "!%w"), g.mostly("-1", "0xffff"))
		g.emit("@!%%w bra %s;", end)
	case 5: // those that happen to be active
		g.emit("@!%%w bra %s;", end)
		g.emit("activemask.b32 %%m;")
	}
	leader := "%s"
	if waits == "-1" && g.n(2) == 0 {
		leader = []string{"0", "0", "1", "7"}[g.n(4)]
	}
	if leader == "%s" {
		g.emit("brev.b32 %%x, %%m;\n\tclz.b32 %%s, %%x;")
		if g.n(10) == 0 {
			g.emit("clz.b32 %%x, %%m;\n\tmov.u32 %%y, 31;\n\tsub.u32 %%s, %%y, %%x;") // the last one
		}
	}
	if g.n(6) == 0 && leader == "%s" { // by its rank
		g.emit("and.b32 %%x, %%m, %%lt;\n\tpopc.b32 %%x, %%x;\n\tsetp.eq.u32 %%f, %%x, %s;",
			g.mostly("0", "1"))
	} else {
		g.emit("setp.eq.u32 %%f, %%l, %s;", g.mostly(leader, "0", "1", "31"))
	}
	scale := 1
	g.amount()
	if g.n(6) == 0 {
		scale = 2
		g.emit("shl.b32 %%k, %%k, %s;", g.mostly("1", "0"))
	}
	g.emit("%satom%s.%s.%s.u32 %%r, [%%c], %%k;", g.mostly("@%f ", "@%p0 ", "@!%f "),
		g.mostly("", ".relaxed.gpu", ".relaxed.cta"), g.space, g.mostly("add", "max"))
	switch g.n(24) {
	case 0:
		g.emit("@%%f st.%s.u32 [%%c], 0;", g.space)
	case 1:
		g.emit("@%%f atom.%s.add.u32 %%x, [%%c], -1;", g.space)
	case 2:
		g.emit("@%%f atom.%s.add.u32 %%r, [%%c], %%k;", g.space)
	}
	g.emit("shfl.sync.idx.b32 %%r, %%r, %s, %s, %s;", g.mostly(leader, "0", "1", "%n"),
		g.mostly("31", "0x101f", "15"), g.mostly(waits, "-1", "%m"))
	g.write(scale)
	g.out.WriteString(end + ":\n")
}

// amount makes %k what the lane adds.
func (g *aggregates) amount() {
	switch g.n(12) {
	case 0:
		g.emit("mov.u32 %%k, %s;", g.mostly("32", "31", "1"))
	case 1:
		g.emit("and.b32 %%x, %%m, %s;\n\tpopc.b32 %%k, %%x;", g.mostly("-1", "0xffff", "%lt"))
	default:
		g.emit("popc.b32 %%k, %%m;")
	}
}

// write writes the place of the rank, or as many as scale.
func (g *aggregates) write(scale int) {
	switch g.n(10) {
	case 0:
		g.emit("mov.u32 %%x, %%l;")
	case 1:
		g.emit("and.b32 %%x, %%m, %%lt;\n\tpopc.b32 %%x, %%x;")
		g.emit("add.u32 %%x, %%x, %s;", g.mostly("0", "1"))
	default:
		g.emit("and.b32 %%x, %s, %%lt;\n\tpopc.b32 %%x, %%x;", g.mostly("%m", "-1"))
	}
	g.emit("mad.lo.u32 %%x, %%x, %d, %%r;", scale)
	guard := g.mostly("@%w ", "")
	for i := range scale {
		g.emit("add.u32 %%x, %%x, %d;", i)
		g.emit("and.b32 %%y, %%x, %s;", map[string]string{"global": "65535", "shared": "4095"}[g.space])
		g.emit("mul.wide.u32 %%a, %%y, 4;\n\tadd.s64 %%e, %%d, %%a;")
		g.emit("%sst.%s.u32 [%%e], %%t;", guard, g.space)
	}
}
