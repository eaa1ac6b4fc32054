package emu

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// randomKernel generates kernels that mix values with forms (indices, counters, addresses) and
// without, under guards, branches, loops and early exits.
type randomKernel struct {
	rt     *rapid.T
	text   strings.Builder
	labels int
}

func (k *randomKernel) pick(list ...string) string {
	return rapid.SampledFrom(list).Draw(k.rt, "pick")
}

func (k *randomKernel) r() string { return k.pick("%r0", "%r1", "%r2", "%r3", "%r4") }
func (k *randomKernel) q() string { return k.pick("%q0", "%q1", "%q2") }

// r32 and q64 are sources.
func (k *randomKernel) r32() string {
	return k.pick("%r0", "%r1", "%r2", "%r3", "%r4", "%tx", "%ty", "%ln", "0", "1", "3", "16", "-4",
		"0x80000000", "0x7fffffff", "31")
}
func (k *randomKernel) q64() string {
	return k.pick("%q0", "%q1", "%q2", "0", "8", "-16", "0x100000000", "0x7fffffffffffffff")
}

func (k *randomKernel) line(format string, args ...any) {
	fmt.Fprintf(&k.text, "\t"+format+"\n", args...)
}

// guard is a guard or nothing.
func (k *randomKernel) guard() string { return k.pick("", "", "", "@%c ", "@!%c ", "@%d ") }

func (k *randomKernel) statement(depth int) {
	g := k.guard()
	switch n := rapid.IntRange(0, 16).Draw(k.rt, "statement"); n {
	case 0:
		k.line("%smov.u32 %s, %s;", g, k.r(), k.pick("%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x",
			"%ntid.x", "%warpid", "7"))
	case 1, 2:
		op := k.pick("add.s32", "sub.u32", "mul.lo.u32", "shl.b32", "and.b32", "or.b32", "xor.b32",
			"shr.u32", "shr.s32", "min.s32", "max.u32", "add.sat.s32", "rem.u32", "mul.hi.u32")
		k.line("%s%s %s, %s, %s;", g, op, k.r(), k.r32(), k.r32())
	case 3:
		k.line("%s%s %s, %s, %s;", g, k.pick("add.s64", "sub.s64", "mul.lo.u64", "and.b64", "max.s64"),
			k.q(), k.q64(), k.q64())
	case 4:
		k.line("%sshl.b64 %s, %s, %s;", g, k.q(), k.q64(), k.r32())
	case 5:
		k.line("%smad.lo.s32 %s, %s, %s, %s;", g, k.r(), k.r32(), k.r32(), k.r32())
	case 6:
		k.line("%s%s %s, %s, %s;", g, k.pick("mul.wide.u32", "mul.wide.s32"), k.q(), k.r32(), k.r32())
	case 7:
		k.line("%s%s %s, %s, %s, %s;", g, k.pick("mad.wide.u32", "mad.wide.s32"), k.q(), k.r32(), k.r32(),
			k.q64())
	case 8:
		k.line("%s%s %s, %s;", g, k.pick("cvt.u64.u32", "cvt.s64.s32", "cvt.u64.s32"), k.q(), k.r())
		k.line("%s%s %s, %s;", g, k.pick("cvt.u32.u64", "cvt.s32.s64", "cvt.u32.u64", "cvt.s32.s8"),
			k.r(), k.pick("%q0", "%q1"))
	case 9:
		k.line("setp.%s %s, %s, %s;", k.pick("lt.s32", "ge.s32", "eq.u32", "ne.s32", "lt.u32", "hi.u32",
			"le.s32", "gt.u32"), k.pick("%c", "%d", "%c|%d"), k.r(), k.r32())
	case 10:
		k.line("setp.%s %s, %s, %s;", k.pick("lt.s64", "eq.u64", "gt.u64"), k.pick("%c", "%d"), k.q(),
			k.q64())
	case 11:
		k.line("%sselp.b32 %s, %s, %s, %s;", g, k.r(), k.r32(), k.r32(), k.pick("%c", "%d"))
	case 12, 13:
		k.memory(g)
	case 14:
		k.compound(depth)
	case 15:
		k.edge(g)
	case 16:
		k.line("activemask.b32 %s;", k.r())
		if depth == 0 && rapid.IntRange(0, 3).Draw(k.rt, "exit") == 0 {
			k.line("@%%d exit;")
		}
	}
}

// memory is an access at an address that is aligned and in bounds; it may be affine or not.
func (k *randomKernel) memory(g string) {
	index := k.pick("%tx", "%ty", "%ln", "%r0", "%r1")
	stride := k.pick("8", "16", "0", "24", "4096")
	k.line("and.b32 %%a, %s, %s;", index, k.pick("31", "0", "24"))
	if index == "%tx" || index == "%ty" || index == "%ln" { // and gives a form only to uniform values
		k.line("mov.u32 %%a, %s;", index)
	}
	space, addr := "global", "%p"
	if k.pick("global", "shared") == "shared" {
		space, addr = "shared", "%w"
		k.line("mad.lo.u32 %%w, %%a, %s, %s;", k.pick("8", "16", "0"), "%sh")
	} else {
		k.line("mad.wide.u32 %%p, %%a, %s, %%x;", stride)
		if k.pick("global", "generic") == "generic" {
			space = ""
		}
	}
	k.access(g, space, addr, k.pick("", "+8", "+16"))
}

// edge is an access at an address near an end of an object or of the address space, or with lanes
// so far apart that their addresses wrap around. Some or all of its lanes are outside of memory, or
// not aligned.
func (k *randomKernel) edge(g string) {
	index := k.pick("%tx", "%ty", "%ln", "%r0")
	off := k.pick("", "+4", "+8", "+-4", "+-8", "+-128", "+1")
	if k.pick("32", "64") == "32" { // shared memory of 8192 bytes, by 32-bit addresses
		k.line("mad.lo.u32 %%w, %s, %s, %s;", index, k.pick("0", "4", "8", "16", "-4", "-8", "256",
			"0x40000000", "0x80000000"), k.pick("0", "%sh", "-4", "-8", "-128", "8064", "8068", "8188",
			"8192", "0x7ffffffc", "0x80000000"))
		k.access(g, "shared", "%w", off)
		return
	}
	space, base := "global", k.pick("0", "-4", "-8", "-128", "0x3ff80", "0x3ff84", "0x3fffc", "0x40000",
		"0x7fffffffffffff80", "0x8000000000000000")
	switch k.pick("global", "generic", "shared", "absolute") {
	case "shared": // 64-bit addresses are allowed
		space, base = "shared", k.pick("0", "-4", "-8", "-128", "8064", "8068", "8192",
			"0x7ffffffffffffffc", "0xffffffff", "0x100000000")
		k.line("mov.u64 %%p, %s;", base)
	case "absolute": // null, and the windows of shared, local and parameter memory
		space, base = "", k.pick("0", "4", "-4", "-128", "0x100000000", "0x100001f80", "0x100001ffc",
			"0xfffffff8", "0x200000000", "0x300000000", "0x400000000", "0x7fffffffffffffff")
		k.line("mov.u64 %%p, %s;", base)
	case "generic":
		space = ""
		k.line("add.s64 %%p, %%x, %s;", base)
	default:
		k.line("add.s64 %%p, %%x, %s;", base)
	}
	k.line("mad.wide.s32 %%p, %s, %s, %%p;", index, k.pick("0", "4", "8", "16", "-4", "-8", "4096",
		"0x40000000"))
	k.access(g, space, "%p", off)
}

// access emits an access to a state space, or by a generic address if space is empty.
func (k *randomKernel) access(g, space, addr, off string) {
	if space != "" {
		space = "." + space
	}
	switch k.pick("ld32", "ld64", "ldv2", "lds", "st32", "st64", "stv2", "red") {
	case "ld32":
		k.line("%sld%s.u32 %s, [%s%s];", g, space, k.r(), addr, off)
	case "ld64":
		k.line("%sld%s.u64 %s, [%s%s];", g, space, k.q(), addr, off)
	case "ldv2":
		k.line("%sld%s.v2.u32 {%%r0, %%r3}, [%s%s];", g, space, addr, off)
	case "lds":
		k.line("%sld%s.s8 %s, [%s%s];", g, space, k.r(), addr, off)
	case "st32":
		k.line("%sst%s.u32 [%s%s], %s;", g, space, addr, off, k.r32())
	case "st64":
		k.line("%sst%s.u64 [%s%s], %s;", g, space, addr, off, k.q())
	case "stv2":
		k.line("%sst%s.v2.u32 [%s%s], {%s, %s};", g, space, addr, off, k.r(), k.r())
	case "red":
		k.line("%sred%s.add.u32 [%s%s], %s;", g, space, addr, off, k.r())
	}
}

// compound is a branch or a loop around statements.
func (k *randomKernel) compound(depth int) {
	if depth > 1 {
		return
	}
	k.labels++
	n := k.labels
	loop := rapid.Bool().Draw(k.rt, "loop")
	if loop {
		k.line("mov.u32 %%n%d, 0;", depth)
		fmt.Fprintf(&k.text, "L%d:\n", n)
	} else {
		k.line("@%s bra L%d;", k.pick("%c", "!%c", "%d"), n)
	}
	for range rapid.IntRange(1, 4).Draw(k.rt, "body") {
		k.statement(depth + 1)
	}
	if loop {
		k.line("add.u32 %%n%d, %%n%d, 1;", depth, depth)
		k.line("setp.lt.u32 %%e, %%n%d, %s;", depth, k.pick("3", "%ty", "2"))
		k.line("@%%e bra L%d;", n)
		return
	}
	fmt.Fprintf(&k.text, "L%d:\n", n)
}

// source draws a kernel. Each thread stores all of its registers at the end.
func (k *randomKernel) source() string {
	k.text.WriteString(`.visible .entry k(.param .u64 out, .param .u64 x) {
	.reg .u32 %r<5>, %tx, %ty, %tz, %ln, %a, %w, %sh, %n0, %n1, %i, %j;
	.reg .u64 %q<3>, %p, %x, %o;
	.reg .pred %c, %d, %e;
	.shared .align 16 .b8 buf[8192];
	ld.param.u64 %o, [out];
	ld.param.u64 %x, [x];
	mov.u32 %sh, buf;
	mov.u32 %tx, %tid.x;
	mov.u32 %ty, %tid.y;
	mov.u32 %tz, %tid.z;
	mov.u32 %ln, %laneid;
	mov.u32 %r0, %tx;
	mad.lo.u32 %r1, %ty, 5, %ln;
	setp.lt.u32 %c, %ln, 12;
`)
	for range rapid.IntRange(1, 12).Draw(k.rt, "statements") {
		k.statement(0)
	}
	k.text.WriteString(`	mov.u32 %i, %ntid.y;
	mad.lo.u32 %j, %tz, %i, %ty;
	mov.u32 %i, %ntid.x;
	mad.lo.u32 %j, %j, %i, %tx;
	mov.u32 %i, %ctaid.x;
	mad.lo.u32 %j, %i, 256, %j;
	mad.wide.u32 %p, %j, 64, %o;
	st.global.v4.u32 [%p], {%r0, %r1, %r2, %r3};
	st.global.v2.u64 [%p+16], {%q0, %q1};
	st.global.u64 [%p+32], %q2;
	selp.u32 %a, 1, 0, %c;
	st.global.v2.u32 [%p+40], {%r4, %a};
	selp.u32 %a, 1, 0, %d;
	st.global.u32 [%p+48], %a;
	ret;
}
`)
	return k.text.String()
}

// outcome is the observable result of a run.
type outcome struct {
	Status        Status
	Stop          *Stop
	Faults        []Fault
	Steps, Lanes  uint64
	Events        []any
	Out, X        string
	OutOK, XKnown bool
}

func outcomeOf(rt *rapid.T, k *ir.Func, cfg *launch.Config, forms bool, opt Options,
	events bool) (o outcome) {
	m, err := newMachine(k, cfg, nil, forms)
	if err != nil {
		rt.Fatal(err)
	}
	rec := &recorder{}
	var sink event.Sink
	if events {
		sink = rec
	}
	res, err := m.Run(context.Background(), opt, sink)
	if err != nil {
		rt.Fatal(err)
	}
	o = outcome{Status: res.Status, Stop: res.Stop, Faults: res.Faults, Steps: res.Steps, Lanes: res.LaneInstrs,
		Events: rec.events}
	out, x := make([]byte, 2*256*64), make([]byte, 1<<18)
	o.OutOK, _ = res.Read("out", 0, out)
	o.XKnown, _ = res.Read("x", 0, x)
	o.Out, o.X = string(out), string(x)
	return o
}

// TestAffine compares runs with affine registers with runs without: same memory, same events, same
// invalid accesses, same number of instructions, on one core and on two.
func TestAffine(t *testing.T) {
	shapes := []event.Dim3{{X: 32, Y: 1, Z: 1}, {X: 40, Y: 1, Z: 1}, {X: 16, Y: 4, Z: 1},
		{X: 8, Y: 5, Z: 1}, {X: 4, Y: 4, Z: 4}, {X: 2, Y: 4, Z: 5},
		{X: 24, Y: 2, Z: 1}, {X: 32, Y: 2, Z: 2}, {X: 1, Y: 40, Z: 1}, {X: 64, Y: 1, Z: 1},
		{X: 5, Y: 1, Z: 1}}
	rapid.Check(t, func(rt *rapid.T) {
		g := &randomKernel{rt: rt}
		text := g.source()
		k := module(t, text)
		cfg := config(2, 1, buffer("out", 2*256*64), buffer("x", 1<<18))
		cfg.Args[1].Buffer.Fill = launch.FillRandom
		cfg.Geometry.Block = rapid.SampledFrom(shapes).Draw(rt, "block")
		model := rapid.SampledFrom([]event.WarpModel{event.Independent, event.Lockstep}).Draw(rt, "model")
		for _, events := range []bool{true, false} {
			want := outcomeOf(rt, k, cfg, false, Options{Model: model, Workers: 1}, events)
			for _, workers := range []int{1, 2} {
				got := outcomeOf(rt, k, cfg, true, Options{Model: model, Workers: workers}, events)
				if !reflect.DeepEqual(want, got) {
					rt.Fatalf("%s\nblock %v, %d workers, events %v: without forms (-), with (+):\n%s", text,
						cfg.Geometry.Block, workers, events, cmp.Diff(want, got))
				}
			}
		}
	})
}
