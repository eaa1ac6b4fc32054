package gen

import (
	"fmt"

	"heddle/internal/event"
)

// Lanes returns a kernel of operations of a warp whose masks differ between lanes: constants,
// choices by a predicate, results of ballots, matches and activemask, used in branches, loops and
// behind exits. Lanes that are named but wait elsewhere, or with another mask, make many of these
// kernels hang. The parameters are those of Phases.
func Lanes(src Source) Kernel {
	g := &lanes{random: random{src: src}}
	k := Kernel{Grid: event.Dim3{X: 1, Y: 1, Z: 1},
		Block: event.Dim3{X: []uint32{32, 32, 64, 20}[src.Intn(4)], Y: 1, Z: 1}}
	g.some(2)
	k.PTX = fmt.Sprintf(lanesText, g.loops+1, g.out.String())
	return k
}

// lanesText is the frame of a kernel of Lanes, with the initial values of registers and predicates.
const lanesText = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u64 ro, .param .u32 n)
{
	.reg .b32 %%v<4>, %%m<4>, %%t, %%l, %%n, %%x, %%own;
	.reg .b64 %%o, %%d;
	.reg .pred %%p<6>, %%f;
	.reg .b32 %%c<%d>;
	.shared .align 16 .b8 sh[256];
	ld.param.u64 %%o, [ro];
	ld.param.u32 %%n, [n];
	mov.u32 %%t, %%tid.x;
	and.b32 %%l, %%t, 31;
	mov.u32 %%x, 1;
	shl.b32 %%own, %%x, %%l;
	and.b32 %%x, %%t, 15;
	mul.wide.u32 %%d, %%x, 4;
	add.s64 %%d, %%o, %%d;
	ld.global.u32 %%v2, [%%d];
	mov.u32 %%v0, %%n;
	mov.u32 %%v1, %%l;
	and.b32 %%v3, %%v2, 1;
	setp.lt.u32 %%p0, %%l, 16;
	setp.eq.u32 %%p1, %%v3, 0;
	setp.lt.u32 %%p2, %%n, 2;
	setp.eq.u32 %%p3, %%l, 0;
	setp.lt.u32 %%p4, %%t, 32;
	setp.lt.u32 %%p5, %%l, %%n;
	mov.b32 %%m0, -1;
	mov.b32 %%m1, %%own;
	mov.b32 %%m3, 0xffff;
	selp.b32 %%m2, 0xffff, 0xffff0000, %%p0;
%s	ret;
}
`

// lanes writes one kernel of Lanes.
type lanes struct {
	random
	total int
}

func (g *lanes) p() string { return fmt.Sprintf("%%p%d", g.n(6)) }
func (g *lanes) v() string { return fmt.Sprintf("%%v%d", g.n(4)) }

// m returns a register with a mask, mostly that of all lanes.
func (g *lanes) m() string { return fmt.Sprintf("%%m%d", max(0, g.n(6)-2)) }

// other returns a mask register but that of all lanes.
func (g *lanes) other() string { return fmt.Sprintf("%%m%d", 1+g.n(3)) }

// some emits a few statements; loops and branches nest to the given depth.
func (g *lanes) some(depth int) {
	for range 2 + g.n(5) {
		if g.total++; g.total > 18 {
			return
		}
		switch g.n(16) {
		case 0, 1, 2:
			g.mask()
		case 3, 4, 5, 6:
			g.operation(g.m())
		case 7:
			g.emit("bar.sync 0;")
		case 8:
			g.emit("@%s exit;", g.p())
		case 9:
			g.emit("setp.%s.u32 %s, %s, %d;", []string{"lt", "eq", "ge"}[g.n(3)], g.p(), g.v(),
				[]int{0, 1, 2, 16}[g.n(4)])
		case 10, 11:
			g.touch()
		case 12, 13, 14:
			g.branch(depth)
		default:
			g.loop(depth)
		}
	}
}

// mask changes a mask.
func (g *lanes) mask() {
	switch to := g.other(); g.n(8) {
	case 0:
		g.emit("mov.b32 %s, %s;", to, []string{"0xffff", "0xffff0000", "0x1ffff", "0xfffffffe", "-1"}[g.n(5)])
	case 1, 2:
		g.emit("selp.b32 %s, %s, %s, %s;", to, g.m(), g.m(), g.p())
	case 3:
		g.emit("or.b32 %s, %s, %%own;", to, g.other())
	case 4:
		g.emit("vote.sync.ballot.b32 %s, %s, %s;", to, g.p(), g.m())
	case 5:
		g.emit("match.any.sync.b32 %s, %s, %s;", to, g.v(), g.m())
	case 6:
		g.emit("activemask.b32 %s;", to)
	case 7:
		g.emit("and.b32 %s, %s, %s;", to, g.m(), g.m())
	}
}

// operation emits an operation of the lanes of a mask.
func (g *lanes) operation(mask string) {
	guard := ""
	if g.n(6) == 0 {
		guard = "@" + g.p() + " "
	}
	switch g.n(7) {
	case 0, 1:
		g.emit("%sbar.warp.sync %s;", guard, mask)
	case 2:
		g.emit("%sshfl.sync.bfly.b32 %s, %s, %d, 31, %s;", guard, g.v(), g.v(), 1<<g.n(5), mask)
	case 3:
		g.emit("%svote.sync.%s.pred %s, %s, %s;", guard, []string{"any", "all", "uni"}[g.n(3)], g.p(),
			g.p(), mask)
	case 4:
		g.emit("%sredux.sync.max.u32 %s, %s, %s;", guard, g.v(), g.v(), mask)
	case 5:
		g.emit("%smatch.all.sync.b32 %s|%s, %s, %s;", guard, g.v(), g.p(), g.v(), mask)
	case 6:
		g.emit("%svote.sync.ballot.b32 %s, %s, %s;", guard, g.v(), g.p(), mask)
	}
}

// touch accesses the word of a lane, or that of another one.
func (g *lanes) touch() {
	g.emit("xor.b32 %%x, %%t, %d;", []int{0, 0, 1, 16}[g.n(4)])
	g.emit("shl.b32 %%x, %%x, 2;")
	g.emit("mov.b64 %%d, sh;")
	g.emit("cvt.u64.u32 %%o, %%x;")
	g.emit("add.s64 %%d, %%d, %%o;")
	if g.n(2) == 0 {
		g.emit("st.shared.u32 [%%d], %s;", g.v())
	} else {
		g.emit("ld.shared.u32 %s, [%%d];", g.v())
	}
}

// branch emits a branch by a predicate. In half of them the lanes that take it are found by a ballot
// first, and named in an operation there.
func (g *lanes) branch(depth int) {
	if depth == 0 {
		g.operation(g.m())
		return
	}
	p, to, other, end := g.p(), g.other(), g.label(), g.label()
	named := g.n(2) == 0
	if named {
		g.emit("vote.sync.ballot.b32 %s, %s, %%m0;", to, p)
	}
	g.emit("@!%s bra %s;", p, other)
	if named {
		g.operation(to)
	}
	g.some(depth - 1)
	if g.n(2) == 0 {
		g.emit("bra %s;", end)
		g.mark(other)
		g.some(depth - 1)
		g.mark(end)
		return
	}
	g.mark(other)
}

// mark emits a label.
func (g *lanes) mark(label string) { fmt.Fprintf(&g.out, "%s:\n", label) }

// loop emits a loop of up to three iterations, as many in each lane or not, that some may leave.
func (g *lanes) loop(depth int) {
	if depth == 0 {
		return
	}
	g.loops++
	c, head, end := fmt.Sprintf("%%c%d", g.loops), g.label(), g.label()
	g.emit("mov.u32 %s, 0;", c)
	g.mark(head)
	g.some(depth - 1)
	if g.n(3) == 0 {
		g.emit("@%s bra %s;", g.p(), end)
		g.some(depth - 1)
	}
	g.emit("add.u32 %s, %s, 1;", c, c)
	bound := []string{"2", "3", "%x", "%x"}[g.n(4)]
	g.emit("min.u32 %%x, %s, 3;", []string{"%n", g.v()}[g.n(2)])
	g.emit("setp.lt.u32 %%f, %s, %s;", c, bound)
	if g.n(4) == 0 {
		g.emit("and.pred %%f, %%f, %s;", g.p())
	}
	g.emit("@%%f bra %s;", head)
	g.mark(end)
}
