package gen

import (
	"fmt"

	"heddle/internal/event"
)

// LockStep returns a kernel whose lanes exchange words of shared memory in loops with few barriers,
// also by asynchronous copies: loops of as many iterations in each lane or not, with branches that
// merge within an iteration, that leave the loop and that continue with the next iteration. If the
// lanes of a warp run in lock step, many of these kernels have no race. The parameters are those of
// Phases.
func LockStep(src Source) Kernel {
	g := &lockStep{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: 1, Y: 1, Z: 1},
		Block: event.Dim3{X: []uint32{32, 32, 64, 64, 48}[src.Intn(5)], Y: 1, Z: 1}}
	g.limit = 1 + g.n(12)
	for range 1 + g.n(2) {
		g.some(2)
		g.loop(3)
	}
	g.some(2)
	k.PTX = fmt.Sprintf(lockStepText, g.loops+1, g.out.String())
	return k
}

// lockStepText is the frame of a kernel of LockStep. Shared memory has two arrays of 64 words.
const lockStepText = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%v<4>, %%t, %%l, %%n, %%x;
	.reg .b64 %%o, %%d, %%r;
	.reg .pred %%p<8>, %%f;
	.reg .b32 %%c<%d>;
	.shared .align 16 .b8 sh[512];
	ld.param.u64 %%o, [ro];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	and.b32 %%l, %%t, 31;
	and.b32 %%x, %%t, 15;
	mul.wide.u32 %%d, %%x, 4;
	add.s64 %%d, %%o, %%d;
	ld.global.u32 %%v2, [%%d];
	mov.u64 %%r, %%d;
	mov.u32 %%v0, %%n;
	mov.u32 %%v1, %%l;
	and.b32 %%v3, %%v2, 1;
	mov.u32 %%c0, 1;
	setp.lt.u32 %%p0, %%l, 16;
	setp.eq.u32 %%p1, %%v3, 0;
	setp.lt.u32 %%p2, %%n, 2;
	setp.eq.u32 %%p3, %%l, 0;
	setp.lt.u32 %%p4, %%t, 32;
	setp.lt.u32 %%p5, %%l, %%n;
	setp.eq.u32 %%p6, %%l, 1;
	setp.ge.u32 %%p7, %%l, 16;
%s	ret;
}
`

// lockStep writes one kernel of LockStep.
type lockStep struct {
	random
	// the statements so far, and how many there may be: few conflicts make a race stand alone
	total, limit int
	// of the loops around: the labels at the end of an iteration and behind the loop, and the counters
	ends, count []string
}

func (g *lockStep) p() string { return fmt.Sprintf("%%p%d", g.n(8)) }
func (g *lockStep) v() string { return fmt.Sprintf("%%v%d", g.n(4)) }

// some emits a few statements; loops and branches nest to the given depth.
func (g *lockStep) some(depth int) {
	for range 1 + g.n(3) {
		if g.total++; g.total > g.limit {
			return
		}
		switch g.n(16) {
		default:
			g.touch()
		case 8, 9, 10:
			g.branch(depth)
		case 11:
			g.loop(depth)
		case 12:
			if n := len(g.ends); n > 0 {
				g.emit("@%s bra %s;", g.p(), g.ends[n-1-g.n(2)])
			}
		case 13:
			g.emit("%s;", []string{"bar.sync 0", "bar.sync 0", "bar.warp.sync -1", "cp.async.wait_all"}[g.n(4)])
		case 14:
			g.emit("setp.lt.u32 %s, %s, %d;", g.p(), g.v(), 1+g.n(3))
		case 15:
			if g.n(3) == 0 {
				g.emit("@%s exit;", g.p())
			}
		}
	}
}

// touch accesses the word of a lane or that of another one, mostly of its warp.
func (g *lockStep) touch() {
	counter := "%c0"
	if n := len(g.count); n > 0 {
		counter = g.count[g.n(n)]
	}
	switch g.n(12) {
	case 0, 1, 2, 3:
		g.emit("mov.u32 %%x, %%t;")
	case 4, 5, 6:
		g.emit("xor.b32 %%x, %%t, %d;", 1<<g.n(5))
	case 7:
		g.emit("xor.b32 %%x, %%t, 32;")
	case 8, 9:
		g.emit("shl.b32 %%x, 1, %s;", counter)
		g.emit("xor.b32 %%x, %%t, %%x;")
	case 10:
		g.emit("shr.u32 %%x, 16, %s;", counter)
		g.emit("add.u32 %%x, %%t, %%x;")
	case 11:
		g.emit("and.b32 %%x, %%t, 32;")
	}
	g.emit("and.b32 %%x, %%x, 63;")
	if g.n(4) == 0 { // one array in even iterations, the other one in odd ones
		g.emit("shl.b32 %%v3, %s, 6;", counter)
		g.emit("and.b32 %%v3, %%v3, 64;")
		g.emit("add.u32 %%x, %%x, %%v3;")
	}
	g.emit("shl.b32 %%x, %%x, 2;")
	g.emit("mov.b64 %%d, sh;")
	g.emit("cvt.u64.u32 %%o, %%x;")
	g.emit("add.s64 %%d, %%d, %%o;")
	guard := ""
	if g.n(5) == 0 {
		guard = "@" + g.p() + " "
	}
	switch n := g.n(12); {
	case n == 0:
		g.emit("%scp.async.ca.shared.global [%%d], [%%r], 4;", guard)
	case n < 6:
		g.emit("%sst.shared.u32 [%%d], %s;", guard, g.v())
	default:
		g.emit("%sld.shared.u32 %s, [%%d];", guard, []string{"%v0", "%v3"}[g.n(2)])
	}
}

// branch emits a branch by a predicate, of one or two paths.
func (g *lockStep) branch(depth int) {
	if depth == 0 {
		g.touch()
		return
	}
	other, end := g.label(), g.label()
	g.emit("@!%s bra %s;", g.p(), other)
	g.some(depth - 1)
	if g.n(3) == 0 {
		g.emit("bra %s;", end)
		g.mark(other)
		g.some(depth - 1)
		g.mark(end)
		return
	}
	g.mark(other)
}

// mark emits a label.
func (g *lockStep) mark(label string) { fmt.Fprintf(&g.out, "%s:\n", label) }

// loop emits a loop of up to four iterations, as many in each lane or not.
func (g *lockStep) loop(depth int) {
	if depth == 0 {
		g.touch()
		return
	}
	g.loops++
	c, head, next, end := fmt.Sprintf("%%c%d", g.loops), g.label(), g.label(), g.label()
	ends, count := g.ends, g.count
	g.ends, g.count = append(ends[:len(ends):len(ends)], next, end), append(count[:len(count):len(count)], c)
	g.emit("mov.u32 %s, 0;", c)
	g.mark(head)
	g.some(depth - 1)
	if g.n(3) == 0 { // a path of its own to the next iteration
		p, q := g.p(), g.label()
		g.emit("@!%s bra %s;", p, q)
		g.touch()
		g.emit("add.u32 %s, %s, 1;", c, c)
		g.emit("setp.lt.u32 %%f, %s, 4;", c)
		g.emit("@%%f bra %s;", head)
		g.mark(q)
		g.touch()
	}
	g.mark(next)
	g.emit("add.u32 %s, %s, 1;", c, c)
	switch g.n(6) {
	default:
		g.emit("setp.lt.u32 %%f, %s, %d;", c, 2+g.n(3))
	case 3, 4:
		g.emit("min.u32 %%x, %%n, 4;")
		g.emit("setp.lt.u32 %%f, %s, %%x;", c)
	case 5:
		g.emit("min.u32 %%x, %s, 4;", g.v())
		g.emit("setp.lt.u32 %%f, %s, %%x;", c)
	}
	g.emit("@%%f bra %s;", head)
	g.mark(end)
	g.ends, g.count = ends, count
}
