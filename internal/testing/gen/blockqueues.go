package gen

// BlockQueues returns a kernel in which one thread of a block adds to a counter, stores the result
// in shared memory, and all write the place of their index behind a barrier. Who adds, how much,
// the barriers, whether it is done in a loop, how the loop ends, the places, and what else happens
// to the counter and the number are drawn: most choices are right, and each has wrong ones beside
// it. The parameters are those of Phases.
func BlockQueues(src Source) Kernel {
	g := &blockQueues{protocol: protocol{random{src: src}, 14, 15}}
	return protocolOf(src, 2, [4]uint32{4, 32, 33, 40}, g.body, blockQueuesText)
}

// blockQueuesText is the frame: the counter is at %%c, the elements at %%d, and the number that a
// block is told at %%o.
const blockQueuesText = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 count[16];
.global .align 4 .b8 out[262144];
.visible .entry k(.param .u64 mem, .param .u64 .ptr .global .align 4 ro, .param .u32 n)
{
	.reg .b32 %%t, %%b, %%n, %%r, %%x, %%y, %%i, %%k, %%z, %%tries;
	.reg .b64 %%a, %%c, %%d, %%e, %%g, %%o;
	.reg .pred %%p0, %%p1, %%p2, %%p3, %%q, %%f;
	.shared .align 4 .b8 told[4];
	ld.param.u32 %%n, [n];
	ld.param.u64 %%g, [ro];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%b, %%ctaid.x;
	mov.u32 %%z, %%ntid.x;
	mad.lo.u32 %%i, %%b, %%z, %%t;
	setp.eq.u32 %%p0, %%t, 0;
	setp.eq.u32 %%p1, %%b, 0;
	setp.eq.u32 %%p2, %%n, 3;
	setp.eq.u32 %%p3, %%t, 1;
	mov.u32 %%tries, 0;
	mov.u32 %%r, 0;
	mov.u64 %%c, count;
	mov.u64 %%d, out;
	mov.u64 %%o, told;
%s	ret;
}
`

// blockQueues writes one kernel of BlockQueues.
type blockQueues struct{ protocol }

// body writes the parts of the kernel.
func (g *blockQueues) body() string {
	if g.n(8) == 0 { // a counter for some blocks
		g.emit("and.b32 %%x, %s, %s;", g.mostly("%n", "%b"), g.mostly("1", "3"))
		g.emit("mul.wide.u32 %%a, %%x, 4;\n\tadd.s64 %%c, %%c, %%a;")
	}
	if g.n(15) == 0 {
		g.emit("@%%p0 st.shared.u32 [%%o], 0;\n\tbar.sync 0;")
	}
	again, end := "", g.label()
	if g.n(2) == 0 {
		again = g.label()
		g.out.WriteString(again + ":\n")
	}
	scale := g.amount()
	before := again != "" && g.n(2) == 0
	if before {
		g.emit("%s", g.mostly("bar.sync 0;", ""))
	}
	leader := g.mostly("@%p0 ", "@%p3 ", "@!%p0 ", "")
	g.emit("%satom%s.global.%s.u32 %%r, [%%c], %s;", leader,
		g.mostly("", ".relaxed.gpu", ".relaxed.cta"),
		g.mostly("add", "max"), g.mostly("%k", "1"))
	switch g.n(24) {
	case 0:
		g.emit("%sst.global.u32 [%%c], 0;", leader)
	case 1:
		g.emit("%satom.global.add.u32 %%x, [%%c], -1;", leader)
	case 2:
		g.emit("%satom.global.add.u32 %%r, [%%c], %%k;", leader)
	}
	early := g.n(25) == 0
	if early {
		g.emit("ld.shared.u32 %%y, [%%o];")
	}
	g.emit("%sst.shared.u32 [%%o], %%r;", g.mostly(leader, "@%p0 ", ""))
	g.emit("%s", g.mostly("bar.sync 0;", ""))
	if !early {
		g.emit("ld.shared.u32 %%y, [%%o];")
	}
	if again != "" && !before {
		g.emit("%s", g.mostly("bar.sync 0;", ""))
	}
	if again != "" && g.n(2) == 0 { // the queue is empty
		g.emit("setp.ge.u32 %%q, %%y, 100;\n\t@%%q bra %s;", end)
	}
	g.write(scale)
	if again != "" {
		g.emit("add.u32 %%tries, %%tries, 1;")
		g.emit("setp.lt.u32 %%q, %%tries, %s;", []string{"2", "%n"}[g.n(2)])
		g.emit("setp.lt.and.u32 %%q, %%tries, 3, %%q;")
		g.emit("@%%q bra %s;", again)
	}
	g.out.WriteString(end + ":\n")
	if g.n(20) == 0 {
		g.emit("@%s st.global.u32 [%%d+%d], 3;", g.mostly("%p0", "%p2"), 4*g.n(40))
	}
	if g.n(20) == 0 {
		g.emit("%satom.global.exch.b32 %%x, [%%c], 0;", leader)
	}
	return g.out.String()
}

// amount makes %k what the thread adds, and returns how many places each of them stands for; 0:
// one, for those threads that are below %k.
func (g *blockQueues) amount() int {
	switch g.n(5) {
	case 0:
		g.emit("mov.u32 %%k, %s;", g.mostly("%z", "4", "31"))
		return 1
	case 1:
		g.emit("mov.u32 %%k, 1;")
		return []int{64, 64, 40, 32}[g.n(4)]
	case 2:
		g.emit("and.b32 %%k, %%n, %d;", []int{3, 15}[g.n(2)])
	case 3:
		g.emit("and.b32 %%x, %s, 15;\n\tmul.wide.u32 %%a, %%x, 4;", g.mostly("%b", "%tries", "%t"))
		g.emit("add.s64 %%a, %%g, %%a;\n\tld.global.u32 %%k, [%%a];\n\tand.b32 %%k, %%k, 7;")
	case 4:
		g.emit("and.b32 %%k, %s, 3;\n\tadd.u32 %%k, %%k, 1;", g.mostly("%b", "%n", "%t"))
	}
	return 0
}

// write writes the place of the thread.
func (g *blockQueues) write(scale int) {
	guard := ""
	if scale == 0 {
		g.emit("setp.%s.u32 %%f, %%t, %%k;", g.mostly("lt", "le"))
		guard, scale = "@%f ", 1
	}
	g.emit("mad.lo.u32 %%x, %%y, %d, %s;", scale, g.mostly("%t", "0"))
	g.emit("and.b32 %%x, %%x, 65535;")
	g.emit("mul.wide.u32 %%a, %%x, 4;\n\tadd.s64 %%e, %%d, %%a;")
	g.emit("%sst.global.u32 [%%e], %%t;", guard)
}
