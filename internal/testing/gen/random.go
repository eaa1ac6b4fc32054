package gen

import (
	"fmt"
	"strings"

	"heddle/internal/event"
)

// Source draws numbers. A *math/rand.Rand is one, and so is Bytes.
type Source interface {
	Intn(n int) int // in [0, n)
}

// Bytes is a Source over fuzzer input. Where the input ends it draws zeros, which every choice
// takes as the end of what it could go on with.
type Bytes struct{ Data []byte }

// Intn consumes one byte, or two where n is larger than a byte.
func (b *Bytes) Intn(n int) int {
	v := 0
	for m := 1; m < n; m *= 256 {
		if len(b.Data) == 0 {
			return v % n
		}
		v = v<<8 | int(b.Data[0])
		b.Data = b.Data[1:]
	}
	return v % n
}

// Kernel is a random kernel with a launch for it. Its parameters are a pointer "mem" to Words
// words, and the number "n".
type Kernel struct {
	PTX         string
	Grid, Block event.Dim3
}

// Words is how many words of global memory, and of shared memory, a random kernel touches. Few, so
// that threads meet.
const Words = 16

// Options narrow what a random kernel may do.
type Options struct {
	// BlockBarriers leaves out named and counted barriers, and makes accesses by thread index and
	// barriers in uniform loops more frequent: kernels of which many are right.
	BlockBarriers bool
	// Traceable leaves out asynchronous copies, makes accesses by thread index more frequent, and adds
	// generic addresses of shared memory, some of which go through local memory, and arithmetic with
	// carry: kernels of which a trace decides many.
	Traceable bool
}

// Random returns a kernel that always terminates or deadlocks: every loop counts. It draws
// structured and unstructured branches on thread ids, loaded values and uniform values; loops;
// weak, relaxed, acquire, release and volatile accesses of 1 to 8 bytes, vectors, atomics and
// reductions on shared and global memory; fences; asynchronous copies, their groups and waits;
// loads through the texture proxy; whole, counted and arriving barriers; warp barriers, shuffles
// and votes; early exits.
func Random(src Source, opt Options) Kernel {
	g := &random{src: src, opt: opt}
	k := Kernel{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 32, Y: 1, Z: 1}}
	k.Grid.X = uint32(1 + src.Intn(2))
	switch src.Intn(4) {
	case 1:
		k.Block.X = 64
	case 2:
		k.Block = event.Dim3{X: 8, Y: 4, Z: 1}
	case 3:
		k.Block.X = uint32(1 + src.Intn(63)) // partly filled warps
	}
	if opt.Traceable && src.Intn(2) == 0 { // each thread has a word of its own
		k.Block = event.Dim3{X: uint32(1 + src.Intn(Words)), Y: 1, Z: 1}
	}
	g.threads = int(k.Block.Count())
	g.body()
	k.PTX = g.text()
	return k
}

const (
	valueRegs = 6
	predRegs  = 4
	maxStmts  = 24
)

type random struct {
	src     Source
	opt     Options
	out     strings.Builder
	labels  int
	loops   int // loop counters in use, which are registers of their own
	maxLoop int
	stmts   int
	threads int
}

func (g *random) n(n int) int { return g.src.Intn(n) }

func (g *random) emit(format string, args ...any) {
	fmt.Fprintf(&g.out, "\t"+format+"\n", args...)
}

func (g *random) label() string {
	g.labels++
	return fmt.Sprintf("L%d", g.labels)
}

func (g *random) value() string { return fmt.Sprintf("%%v%d", g.n(valueRegs)) }

func (g *random) pred() string { return fmt.Sprintf("%%p%d", g.n(predRegs)) }

func (g *random) text() string {
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem, .param .u32 n)
{
	.reg .b32 %%v<%d>, %%i, %%s, %%w;
	.reg .b32 %%c<%d>;
	.reg .b64 %%g, %%a, %%d;
	.reg .b16 %%h;
	.reg .pred %%p<%d>, %%q;
	.shared .align 16 .b8 sh[%d];
	.local .align 8 .b8 lo[8];
	ld.param.u64 %%g, [mem];
	ld.param.u32 %%v0, [n];
	mov.u32 %%v1, %%tid.x;
	mov.u32 %%v2, %%ctaid.x;
	mov.u32 %%v3, %%laneid;
	mov.u32 %%v4, %%ntid.x;
	mov.u32 %%v5, 5;
	add.cc.u32 %%w, %%v5, 0;
%s	ret;
}
`, valueRegs, g.maxLoop+1, predRegs, 4*Words, g.out.String())
}

func (g *random) body() {
	for i := range predRegs {
		g.emit("setp.lt.u32 %%p%d, %%v%d, %d;", i, 1+i%3, 1+3*i)
	}
	g.block(3)
}

func (g *random) block(depth int) {
	for range 1 + g.n(6) {
		if g.stmts++; g.stmts > maxStmts {
			return
		}
		g.statement(depth)
	}
}

func (g *random) statement(depth int) {
	kinds := []func(int){
		g.compute, g.access, g.access, g.access, g.barrier, g.branch, g.loop, g.atomic, g.fence,
		g.compute,
		g.access, g.warp, g.counted, g.leave, g.compare, g.jump, g.copy, g.copy, g.group, g.group,
	}
	k := g.n(len(kinds))
	if g.opt.Traceable && k >= 16 {
		[]func(int){g.carry, g.choice}[k%2](depth)
		return
	}
	kinds[k](depth)
}

// choice is a branch on an input, each of whose paths accesses the thread's own word, one at a
// distance, or none, and may add.
func (g *random) choice(int) {
	p, other, end := g.pred(), g.label(), g.label()
	g.emit("and.b32 %%w, %%v1, %d;", Words-1)
	g.emit("mad.wide.u32 %%a, %%w, 4, %%g;")
	g.emit("ld.global.u32 %%w, [%%a];")
	g.emit("and.b32 %%w, %%w, 1;")
	g.emit("setp.eq.u32 %s, %%w, 0;", p)
	path := func() {
		if g.n(4) == 0 {
			g.emit("add.cc.u32 %s, %%v1, %d;", g.value(), -g.n(2))
		}
		if g.n(4) == 0 {
			return
		}
		g.emit("mov.u32 %%w, %%tid.x;")
		g.emit("xor.b32 %%w, %%w, %d;", []int{0, 0, 1, Words - 1}[g.n(4)])
		g.emit("and.b32 %%w, %%w, %d;", Words-1)
		g.emit("mov.u32 %%s, sh;")
		g.emit("mad.lo.u32 %%s, %%w, 4, %%s;")
		g.emit("%s", []string{"st.shared.u32 [%s], %v1;", "ld.shared.u32 %w, [%s];",
			"red.shared.add.u32 [%s], 1;"}[g.n(3)])
	}
	g.emit("@%s bra %s;", p, other)
	path()
	g.emit("bra %s;", end)
	g.out.WriteString(other + ":\n")
	path()
	g.out.WriteString(end + ":\n")
}

// carry adds with the carry of an earlier addition, which may be on another path.
func (g *random) carry(int) {
	switch g.n(3) {
	case 0:
		g.emit("add.cc.u32 %s, %s, %d;", g.value(), g.value(), -1-g.n(3))
	case 1:
		g.emit("addc.u32 %s, %s, 0;", g.value(), g.value())
	case 2:
		g.compute(0)
	}
}

func (g *random) compute(int) {
	d, a, b := g.value(), g.value(), g.value()
	switch g.n(6) {
	case 0:
		g.emit("add.u32 %s, %s, %s;", d, a, b)
	case 1:
		g.emit("xor.b32 %s, %s, %d;", d, a, 1+g.n(31))
	case 2:
		g.emit("mad.lo.u32 %s, %s, %d, %s;", d, a, 1+g.n(4), b)
	case 3:
		d = "%v1"
		g.emit("mov.u32 %s, %%tid.x;", d)
	case 4:
		g.emit("mov.u32 %s, %d;", d, g.n(Words))
	case 5:
		g.emit("selp.u32 %s, %s, %s, %s;", d, a, b, g.pred())
	}
}

func (g *random) compare(int) {
	op := []string{"lt", "eq", "ge", "ne"}[g.n(4)]
	if g.n(2) == 0 {
		g.emit("setp.%s.u32 %s, %s, %d;", op, g.pred(), g.value(), g.n(40))
	} else {
		g.emit("setp.%s.u32 %s, %s, %s;", op, g.pred(), g.value(), g.value())
	}
}

// address puts the address of a word in a register and returns the space and the operand.
func (g *random) address(align int) (space, operand string) {
	index := g.value()
	if g.n(3) == 0 || (g.opt.BlockBarriers || g.opt.Traceable) && g.n(4) > 0 {
		index = "%v1" // often the thread's id, so that some kernels are free of races
	}
	g.emit("and.b32 %%w, %s, %d;", index, Words-1)
	g.emit("shl.b32 %%w, %%w, 2;")
	if align > 4 {
		g.emit("and.b32 %%w, %%w, %d;", 4*Words-align)
	}
	if g.n(3) == 0 {
		g.emit("cvt.u64.u32 %%a, %%w;")
		g.emit("add.u64 %%a, %%a, %%g;")
		return ".global", "[%a]"
	}
	g.emit("mov.u32 %%s, sh;")
	g.emit("add.u32 %%s, %%s, %%w;")
	if g.opt.Traceable && g.n(3) == 0 {
		g.emit("cvt.u64.u32 %%a, %%s;")
		g.emit("cvta.shared.u64 %%a, %%a;")
		if g.n(2) == 0 {
			g.emit("st.local.u64 [lo], %%a;")
			g.emit("ld.local.u64 %%a, [lo];")
		}
		return "", "[%a]"
	}
	return ".shared", "[%s]"
}

func (g *random) access(int) {
	guard := ""
	if g.n(4) == 0 {
		guard = []string{"@", "@!"}[g.n(2)] + g.pred() + " "
	}
	switch g.n(8) {
	case 0:
		space, at := g.address(8)
		g.emit("%sld%s.v2.u32 {%s, %s}, %s;", guard, space, "%v4", "%v5", at)
	case 1:
		space, at := g.address(8)
		g.emit("cvt.u64.u32 %%d, %s;", g.value())
		g.emit("%sst%s.u64 %s, %%d;", guard, space, at)
	case 2:
		space, at := g.address(4)
		g.emit("cvt.u16.u32 %%h, %s;", g.value())
		g.emit("%sst%s.u8 %s, %%h;", guard, space, strings.Replace(at, "]", fmt.Sprintf("+%d]", g.n(4)),
			1))
	case 3, 4:
		sem := []string{".relaxed", ".acquire", ".volatile"}[g.n(3)]
		space, at := g.address(4)
		g.emit("%sld%s%s%s.u32 %s, %s;", guard, sem, g.scope(sem), space, g.value(), at)
	case 5:
		sem := []string{".relaxed", ".release", ".volatile"}[g.n(3)]
		space, at := g.address(4)
		g.emit("%sst%s%s%s.u32 %s, %s;", guard, sem, g.scope(sem), space, at, g.value())
	case 6:
		space, at := g.address(4)
		g.emit("%sst%s.u32 %s, %s;", guard, space, at, g.value())
	case 7:
		space, at := g.address(4)
		nc := ""
		if space == ".global" && g.n(4) == 3 {
			nc = ".nc"
		}
		g.emit("%sld%s%s.u32 %s, %s;", guard, space, nc, g.value(), at)
	}
}

// copy is an asynchronous copy, of all of the source, a part of it, or nothing.
func (g *random) copy(int) {
	size := 4 << g.n(3)
	g.emit("and.b32 %%w, %s, %d;", g.value(), 4*Words-size)
	g.emit("mov.u32 %%s, sh;")
	g.emit("add.u32 %%s, %%s, %%w;")
	g.emit("and.b32 %%w, %s, %d;", g.value(), 4*Words-size)
	g.emit("cvt.u64.u32 %%a, %%w;")
	g.emit("add.u64 %%a, %%a, %%g;")
	part := []string{"", "", fmt.Sprintf(", %d", g.n(size+1)), ", " + g.pred()}[g.n(4)]
	g.emit("cp.async.ca.shared.global [%%s], [%%a], %d%s;", size, part)
}

func (g *random) group(int) {
	g.emit("cp.async.%s;", []string{"commit_group", "commit_group", "wait_all", "wait_group 0",
		"wait_group 1"}[g.n(5)])
}

func (g *random) scope(sem string) string {
	if sem == ".volatile" {
		return ""
	}
	return []string{".cta", ".gpu", ".sys"}[g.n(3)]
}

func (g *random) atomic(int) {
	space, at := g.address(4)
	sem := []string{"", ".relaxed", ".acquire", ".release", ".acq_rel"}[g.n(5)]
	scope := []string{".cta", ".gpu"}[g.n(2)]
	switch g.n(4) {
	case 0:
		g.emit("atom%s%s%s.add.u32 %s, %s, %s;", sem, scope, space, g.value(), at, g.value())
	case 1:
		g.emit("atom%s%s%s.cas.b32 %s, %s, %d, %s;", sem, scope, space, g.value(), at, g.n(3), g.value())
	case 2:
		g.emit("atom%s%s%s.exch.b32 %s, %s, %s;", sem, scope, space, g.value(), at, g.value())
	case 3:
		if sem == ".acquire" || sem == ".acq_rel" {
			sem = ""
		}
		g.emit("red%s%s%s.max.u32 %s, %s;", sem, scope, space, at, g.value())
	}
}

func (g *random) fence(int) {
	g.emit("%s;", []string{
		"membar.cta", "membar.gl", "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.sc.cta",
		"fence.sc.gpu", "membar.sys",
	}[g.n(7)])
}

func (g *random) barrier(int) { g.emit("bar.sync 0;") }

// counted is a named barrier, which may well not match.
func (g *random) counted(int) {
	if g.opt.BlockBarriers {
		g.barrier(0)
		return
	}
	id, count := 1+g.n(2), 32*(1+g.n((g.threads+31)/32))
	op := []string{"bar.sync", "bar.arrive", "bar.sync", "barrier.sync"}[g.n(4)]
	g.emit("%s %d, %d;", op, id, count)
}

func (g *random) warp(int) {
	switch g.n(4) {
	case 0, 1:
		g.emit("activemask.b32 %%w;")
		g.emit("bar.warp.sync %%w;")
	case 2:
		g.emit("activemask.b32 %%w;")
		g.emit("shfl.sync.bfly.b32 %s, %s, %d, 31, %%w;", g.value(), g.value(), 1<<g.n(5))
	case 3:
		g.emit("activemask.b32 %%w;")
		g.emit("vote.sync.any.pred %s, %s, %%w;", g.pred(), g.pred())
	}
}

func (g *random) leave(int) {
	if g.n(3) == 0 {
		g.emit("@%s ret;", g.pred())
	}
}

func (g *random) branch(depth int) {
	if depth == 0 {
		return
	}
	p, other, end := g.pred(), g.label(), g.label()
	g.emit("@!%s bra %s;", p, other)
	g.block(depth - 1)
	if g.n(2) == 0 {
		g.emit("bra %s;", end)
		g.out.WriteString(other + ":\n")
		g.block(depth - 1)
		g.out.WriteString(end + ":\n")
		return
	}
	g.out.WriteString(other + ":\n")
}

// jump is a forward branch out of a nested if, which structured code cannot say.
func (g *random) jump(depth int) {
	if depth == 0 {
		return
	}
	p, q, in, end := g.pred(), g.pred(), g.label(), g.label()
	g.emit("@%s bra %s;", p, in)
	g.block(depth - 1)
	g.emit("@%s bra %s;", q, end)
	g.block(depth - 1)
	g.out.WriteString(in + ":\n")
	g.block(depth - 1)
	g.out.WriteString(end + ":\n")
}

// loop counts to a bound that is uniform, or depends on the thread.
func (g *random) loop(depth int) {
	if depth == 0 {
		return
	}
	c := g.loops
	g.loops++
	g.maxLoop = max(g.maxLoop, g.loops)
	head, end := g.label(), g.label()
	g.emit("mov.u32 %%c%d, 0;", c)
	g.out.WriteString(head + ":\n")
	if g.n(3) == 0 && !g.opt.BlockBarriers {
		g.emit("and.b32 %%w, %%v1, 3;")
	} else {
		g.emit("mov.u32 %%w, %d;", 1+g.n(3))
	}
	g.emit("setp.ge.u32 %%q, %%c%d, %%w;", c)
	g.emit("@%%q bra %s;", end)
	g.block(depth - 1)
	g.emit("add.u32 %%c%d, %%c%d, 1;", c, c)
	g.emit("bra %s;", head)
	g.out.WriteString(end + ":\n")
	g.loops--
}
