package gen

import (
	"fmt"
	"strings"

	"heddle/internal/event"
)

// Flow returns a kernel of any reducible control flow: forward jumps to any label of the enclosing
// regions, hence out of several loops at once, over other branches, and to the end of the kernel;
// switches over such labels; loops with several back edges; loops whose last block is that of the
// enclosing loop; early returns. The code in between is simple: loads, stores and atomics, mostly
// of the thread's own word, arithmetic, and block barriers. The kernel always terminates, since
// each loop counts at its header.
//
// It tests the semantics of control flow, so that only barriers order threads. How often paths
// differ among threads is chosen once for a kernel, so that some kernels have no divergence. Before
// it ends, each thread writes its registers to "out", of FlowWords words for each thread. The other
// parameters are "mem" of PhaseWords words for each block, and the number "n".
func Flow(src Source) Kernel {
	g := &flow{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: 1, Y: 1, Z: 1},
		Block: event.Dim3{X: uint32(1 + src.Intn(8)), Y: 1, Z: 1}}
	switch src.Intn(8) {
	case 0:
		k.Block.X = uint32(30 + src.Intn(12)) // two warps, perhaps
	case 1:
		k.Block = event.Dim3{X: 3, Y: 2, Z: 1}
	}
	if src.Intn(6) == 0 {
		k.Grid.X = 2
	}
	g.private = src.Intn(3)
	g.barriers = []int{0, 1, 1, 3}[src.Intn(4)]
	g.end = g.label()
	g.region(3, "")
	k.PTX = g.flowText(int(k.Block.X), int(k.Block.Count()))
	return k
}

// FlowWords is the number of words that a thread of a kernel of Flow writes to "out".
const FlowWords = 8

// flow writes one kernel of Flow.
type flow struct {
	random
	private  int // how often a condition depends on the thread: never, sometimes, mostly
	barriers int
	end      string
	regions  []flowRegion // around, outermost first
	used     int          // loop counters
}

// flowRegion is a sequence of statements that is being written, with a label before each statement
// and one after the last.
type flowRegion struct {
	labels []string
	at     int    // the statement
	header string // of a loop: where continue goes
}

// flowText returns the kernel around the statements.
func (g *flow) flowText(blockX, threads int) string {
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u64 out, .param .u32 n)
{
	.reg .b32 %%v<8>, %%t, %%b, %%n, %%i, %%x, %%y;
	.reg .b32 %%c<%d>, %%e<%d>;
	.reg .b64 %%g, %%o, %%a;
	.reg .b16 %%h;
	.reg .pred %%p, %%q, %%f;
	.shared .align 16 .b8 sh[1024];
	ld.param.u64 %%g, [mem];
	ld.param.u64 %%o, [out];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%x, %%tid.y;
	mad.lo.u32 %%t, %%x, %d, %%t;
	mov.u32 %%b, %%ctaid.x;
	mul.wide.u32 %%a, %%b, %d;
	add.s64 %%g, %%g, %%a;
	mad.lo.u32 %%x, %%b, %d, %%t;
	mul.wide.u32 %%a, %%x, %d;
	add.s64 %%o, %%o, %%a;
	mov.u32 %%v0, %%n;
	mov.u32 %%v1, 3;
	mov.u32 %%v2, %%b;
	mov.u32 %%v3, 1;
	mov.u32 %%v4, %%t;
	mov.u32 %%v5, 7;
	mov.u32 %%v6, %%t;
	mov.u32 %%v7, 5;
	setp.lt.u32 %%p, %%t, 3;
	setp.lt.u32 %%q, %%n, 2;
%s%s:
	st.global.u32 [%%o], %%v0;
	st.global.u32 [%%o+4], %%v1;
	st.global.u32 [%%o+8], %%v2;
	st.global.u32 [%%o+12], %%v3;
	st.global.u32 [%%o+16], %%v4;
	st.global.u32 [%%o+20], %%v5;
	st.global.u32 [%%o+24], %%v6;
	st.global.u32 [%%o+28], %%v7;
	ret;
}
`, g.used+1, g.used+1, blockX, 4*PhaseWords, threads, 4*FlowWords, g.out.String(), g.end)
}

// region writes statements with a label before each. The registers v0 to v3 of uniform values and
// v4 to v7 of private values are kept apart as long as control flow is uniform.
func (g *flow) region(depth int, header string) {
	r := flowRegion{header: header}
	n := 2 + g.n(5)
	for range n + 1 {
		r.labels = append(r.labels, g.label())
	}
	g.regions = append(g.regions, r)
	for i := range n {
		g.regions[len(g.regions)-1].at = i
		g.out.WriteString(r.labels[i] + ":\n")
		if g.stmts++; g.stmts <= 40 {
			g.flowStatement(depth)
		}
	}
	g.out.WriteString(r.labels[n] + ":\n")
	g.regions = g.regions[:len(g.regions)-1]
}

// flowStatement writes one statement.
func (g *flow) flowStatement(depth int) {
	switch k := g.n(14 + g.barriers); {
	case k < 3:
		g.flowAccess()
	case k < 5:
		g.flowCompute()
	case k < 8:
		g.decide()
		g.jumpIf([]string{"", "!"}[g.n(2)], "p", g.target())
	case k == 8:
		g.tableJump()
	case k < 11:
		g.flowLoop(depth)
	case k == 11:
		g.decide()
		if g.n(3) == 0 {
			g.emit("@%%p ret;")
		} else {
			g.emit("@%%p bra %s;", g.end)
		}
	case k == 12:
		g.nest(depth)
	case k == 13:
		g.decide()
		if g.n(2) == 0 {
			g.emit("@%%p bar.sync 0;")
		} else {
			g.emit("bar.red.or.pred %%q, 0, %%p;")
		}
	default:
		g.emit("bar.sync 0;")
	}
}

// jumpIf jumps to a label if a predicate holds: by a branch that is taken, or by one that is not
// taken, in which case the block lists its successors in the opposite order.
func (g *flow) jumpIf(not, pred, to string) {
	if g.n(2) == 0 {
		g.emit("@%s%%%s bra %s;", not, pred, to)
		return
	}
	stay := g.label()
	g.emit("@%s%%%s bra %s;\n\tbra %s;", map[string]string{"": "!", "!": ""}[not], pred, stay, to)
	g.out.WriteString(stay + ":\n")
}

// target returns a label that may be jumped to: a later one in an enclosing region, or the header
// of the loop. Other jumps backwards could make the control flow irreducible.
func (g *flow) target() string {
	// Mostly the current region; each step outwards has probability one half.
	i := len(g.regions) - 1
	for i > 0 && g.n(2) == 0 {
		i--
	}
	r := &g.regions[i]
	if r.header != "" && i == len(g.regions)-1 && g.n(4) == 0 {
		return r.header
	}
	return r.labels[r.at+1+g.n(len(r.labels)-r.at-1)]
}

// decide sets %p to a condition that depends on the thread or is uniform.
func (g *flow) decide() {
	if g.n(4) < g.private*2-1 || g.private > 0 && g.n(6) == 0 {
		switch g.n(4) {
		case 0:
			// Conditions on the thread, or on a register that may differ among threads.
			g.emit("setp.lt.u32 %%p, %%t, %d;", 1+g.n(5))
		case 1:
			g.emit("and.b32 %%x, %%t, %d;\n\tsetp.eq.u32 %%p, %%x, 0;", 1+g.n(3))
		case 2:
			g.emit("and.b32 %%x, %%v%d, 3;\n\tsetp.ge.u32 %%p, %%x, %d;", 4+g.n(4), g.n(4))
		case 3:
			g.emit("and.b32 %%x, %%v%d, 1;\n\tsetp.eq.xor.u32 %%p, %%x, 1, %%p;", 4+g.n(4))
		}
		return
	}
	switch g.n(5) {
	case 0:
		// Conditions on the launch, on uniform registers, and on loop counters.
		g.emit("setp.%s.u32 %%p, %%n, %d;", []string{"lt", "eq", "ge"}[g.n(3)], g.n(4))
	case 1:
		g.emit("setp.eq.u32 %%p, %%b, %d;", g.n(2))
	case 2:
		g.emit("and.b32 %%x, %%v%d, 1;\n\tsetp.eq.u32 %%p, %%x, %d;", g.n(4), g.n(2))
	case 3:
		if g.used > 0 {
			g.emit("and.b32 %%x, %%c%d, 1;\n\tsetp.eq.u32 %%p, %%x, %d;", g.n(g.used), g.n(2))
		}
	case 4:
		g.emit("mov.pred %%p, %%q;")
	}
}

// tableJump writes a switch whose cases are arbitrary targets.
func (g *flow) tableJump() {
	table := g.label()
	n := []int{2, 4}[g.n(2)]
	// v0 to v3 are uniform values; the thread index is not.
	from := fmt.Sprintf("%%v%d", g.n(4))
	if g.n(3) < g.private {
		from = "%t"
	}
	g.emit("and.b32 %%x, %s, %d;", from, n-1)
	guard := ""
	if g.n(3) == 0 {
		g.decide()
		guard = "@%p "
		g.emit("and.b32 %%x, %s, %d;", from, n-1)
	}
	g.emit("%sbrx.idx %%x, %s;", guard, table)
	g.out.WriteString(table + ": .branchtargets ")
	for i := range n {
		if i > 0 {
			g.out.WriteString(", ")
		}
		g.out.WriteString(g.target())
	}
	g.out.WriteString(";\n")
}

// nest writes a nested region, which jumps may leave at any point.
func (g *flow) nest(depth int) {
	if depth == 0 {
		return
	}
	g.decide()
	g.emit("@%%p bra %s;", g.target())
	g.region(depth-1, "")
}

// flowLoop writes a loop that counts at its header, so that every path around it terminates.
func (g *flow) flowLoop(depth int) {
	if depth == 0 {
		return
	}
	id := g.used
	g.used++
	head := g.label()
	r := &g.regions[len(g.regions)-1]
	end := r.labels[r.at+1]
	// A constant bound, one of the launch, or one that depends on the thread.
	bound := fmt.Sprintf("mov.u32 %%e%d, %d;", id, 1+g.n(3))
	switch g.n(4) {
	case 0:
		bound = fmt.Sprintf("and.b32 %%e%d, %%n, 3;", id)
	case 1:
		if g.private > 0 {
			bound = fmt.Sprintf("and.b32 %%e%d, %%t, 3;", id)
		}
	}
	g.emit("%s\n\tmov.u32 %%c%d, 0;", bound, id)
	g.out.WriteString(head + ":\n")
	g.emit("add.u32 %%c%d, %%c%d, 1;\n\tsetp.gt.u32 %%f, %%c%d, %%e%d;", id, id, id, id)
	g.jumpIf("", "f", end)
	g.region(depth-1, head)
	if g.n(3) == 0 { // do-while
		g.decide()
		g.emit("@%%p bra %s;", head)
		return
	}
	g.emit("bra %s;", head)
}

// flowAccess writes an access to a word, mostly the thread's own.
func (g *flow) flowAccess() {
	switch g.n(12) {
	case 0:
		// The neighbour's word, a fixed one, one that a register selects, or the thread's own.
		g.emit("xor.b32 %%i, %%t, 1;")
	case 1:
		g.emit("mov.u32 %%i, %d;", g.n(4))
	case 2:
		g.emit("and.b32 %%i, %%v%d, 63;", 4+g.n(4))
	case 3:
		g.emit("add.u32 %%i, %%t, 64;")
	default:
		g.emit("mov.u32 %%i, %%t;")
	}
	guard := ""
	if g.n(4) == 0 {
		g.decide()
		guard = "@%p "
	}
	// Mostly shared memory, else the block's part of global memory.
	space, at := ".shared", "[%x]"
	g.emit("shl.b32 %%i, %%i, 2;")
	if g.n(3) == 0 {
		space, at = ".global", "[%a]"
		g.emit("cvt.u64.u32 %%a, %%i;\n\tadd.s64 %%a, %%a, %%g;")
	} else {
		g.emit("mov.u32 %%x, sh;\n\tadd.u32 %%x, %%x, %%i;")
	}
	v := 4 + g.n(4)
	switch g.n(8) {
	case 0, 1, 2:
		g.emit("%sld%s.u32 %%v%d, %s;", guard, space, v, at)
	case 3, 4, 5:
		g.emit("%sst%s.u32 %s, %%v%d;", guard, space, at, v)
	case 6:
		g.emit("%sred%s.add.u32 %s, %%v%d;", guard, space, at, v)
	case 7:
		g.emit("cvt.u16.u32 %%h, %%v%d;\n\t%sst%s.u8 %s, %%h;", v, guard, space, at)
	}
}

// flowCompute changes a register: a uniform one by uniform ones, a private one by any.
func (g *flow) flowCompute() {
	// Uniform registers must not receive private values.
	d, a, b := g.n(8), g.n(8), g.n(8)
	if d < 4 {
		a, b = a%4, b%4
	}
	switch g.n(4) {
	case 0:
		g.emit("add.u32 %%v%d, %%v%d, %d;", d, a, 1+g.n(3))
	case 1:
		g.emit("xor.b32 %%v%d, %%v%d, %%v%d;", d, a, b)
	case 2:
		g.emit("mad.lo.u32 %%v%d, %%v%d, 3, %%v%d;", d, a, b)
	case 3:
		g.emit("@%%q mov.u32 %%v%d, %%v%d;", d, a)
	}
}

// Marked returns the text of a kernel of Flow with a read of a separate shared word at its start:
// the pattern for marks that a test inserts elsewhere.
func Marked(ptx string) string {
	ptx = strings.Replace(ptx, "\t.shared .align 16 .b8 sh[1024];\n",
		"\t.shared .align 16 .b8 sh[1024];\n\t.shared .align 4 .b32 mark;\n\t.reg .b32 %mark;\n\t"+
			"ld.shared.u32 %mark, [mark];\n", 1)
	return ptx
}
