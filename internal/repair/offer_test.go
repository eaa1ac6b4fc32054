package repair

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// offered returns what a strategy offers for findings, as lines: what an action inserts and the
// opcode in front of which it does, or the opcode that it replaces and by what.
func offered(k *Kernel, s strategy, found ...located) []string {
	r := &repairer{x: New(k), opt: Options{Cost: DefaultCost}, found: found}
	var out []string
	for _, a := range s(r) {
		pl := &Plan{Texts: map[int]string{}, Split: map[int]bool{}}
		a.add(pl)
		for i, text := range pl.Texts {
			out = append(out, instr(k, i).Text()+" becomes "+text)
		}
		for _, in := range pl.Inserts {
			out = append(out, strings.ReplaceAll(in.Text, "\n\t", " ")+" at "+opAt(k, in.At))
		}
		for _, p := range pl.Barriers {
			out = append(out, "barrier at "+opAt(k, p))
		}
		for _, p := range pl.Warps {
			out = append(out, "warp barrier at "+opAt(k, p))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// opAt returns the opcode at a place, or "end".
func opAt(k *Kernel, p Point) string {
	if b := k.Func.Block(p.Block); p.Index < len(b.Instrs) {
		return b.Instrs[p.Index].Text()
	}
	return "end"
}

// raceOf returns a race, which a run showed, between the first instructions with the opcodes.
func raceOf(k *Kernel, reach Reach, a, b string) located {
	f := Finding{Kind: Race, Reach: reach, Shown: true}
	return located{f, instrs(k, a)[0], instrs(k, b)[0]}
}

const wait = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nadd.u32 %r1, %r1, 1;\n"

// Parts of the kernels of fenceTests.
const flagStores = "st.global.u32 [%d1], 1;\nst.volatile.global.u32 [%d1+4], 1;\n"
const oldTarget = ".version 6.0\n.target sm_60"
const dataStore = "st.global.u32 [%d2], 1;\nadd.u32 %r2, %r2, 1;\n"

// besideFlag returns the places next to the strong store of flagStores.
func besideFlag(text string) []string {
	return []string{text + " at ret", text + " at st.volatile.global.u32"}
}

// fenceTests are kernels with a race, and what is offered against it.
var fenceTests = []struct {
	what, head, body string
	reach            Reach
	want             []string
}{
	{"a flag in a block", modern, flagStores, InBlock, besideFlag("fence.acq_rel.cta;")},
	{"a flag in a warp", modern, flagStores, InWarp, besideFlag("fence.acq_rel.cta;")},
	{"a flag between blocks", modern, flagStores, AcrossBlocks, besideFlag("fence.acq_rel.gpu;")},
	{"in a block, an old target", oldTarget, flagStores, InBlock, besideFlag("membar.cta;")},
	{"between blocks, an old target", oldTarget, flagStores, AcrossBlocks, besideFlag("membar.gl;")},
	{"no strong access", modern, "st.global.u32 [%d1], 1;\n", InBlock, nil},
	{"a flag for which a loop waits", modern,
		"st.global.u32 [%d1], 1;\nL:\nld.volatile.global.u32 %r1, [%d1];\n" + wait, InBlock,
		[]string{"fence.acq_rel.cta; at add.u32", "fence.acq_rel.cta; at end",
			"fence.acq_rel.cta; at st.global.u32",
			"st.global.u32 becomes st.relaxed.cta.global.u32 [%d1], 1;"}},
	{"a loop that waits for nothing", modern,
		"st.global.u32 [%d1], 1;\nL:\nld.volatile.global.u32 %r2, [%d1];\nmov.u32 %r3, 1;\n" + wait,
		InBlock, []string{"fence.acq_rel.cta; at add.u32",
			"fence.acq_rel.cta; at ld.volatile.global.u32", "fence.acq_rel.cta; at mov.u32"}},
	{"scopes of a block", modern, "st.global.u32 [%d1], 1;\n" +
		"atom.acquire.cta.global.add.u32 %r1, [%d2], 1;\n",
		InBlock, []string{"fence.acq_rel.cta; at atom.acquire.cta.global.add.u32",
			"fence.acq_rel.cta; at ret"}},
	{"scopes that are too narrow, and others", modern, "st.global.u32 [%d1], 1;\n" +
		"atom.acquire.cta.global.add.u32 %r1, [%d2], 1;\nfence.acq_rel.cta;\nmembar.cta;\n" +
		"fence.acq_rel.gpu;\nfence.sc.sys;\nmembar.gl;\nbar.sync 0;\n",
		AcrossBlocks, []string{
			"atom.acquire.cta.global.add.u32 becomes atom.acquire.gpu.global.add.u32 %r1, [%d2], 1;",
			"fence.acq_rel.cta becomes fence.acq_rel.gpu;",
			"fence.acq_rel.gpu; at atom.acquire.cta.global.add.u32",
			"fence.acq_rel.gpu; at fence.acq_rel.cta", "membar.cta becomes membar.gl;"}},
	{"a plain flag for which a loop waits", modern,
		dataStore + "L:\nld.global.cg.u32 %r1, [%d1];\n" + wait, InBlock, []string{
			"fence.acq_rel.cta; at add.u32", "fence.acq_rel.cta; at st.global.u32",
			"ld.global.cg.u32 becomes ld.relaxed.cta.global.u32 %r1, [%d1];",
			"st.global.u32 becomes st.relaxed.cta.global.u32 [%d2], 1;"}},
	{"the same between blocks", modern, strings.Replace(dataStore, "st.", "st.weak.", 1) +
		"L:\nld.weak.global.u32 %r1, [%d1];\n" + wait, AcrossBlocks, []string{
		"fence.acq_rel.gpu; at add.u32", "fence.acq_rel.gpu; at st.weak.global.u32",
		"ld.weak.global.u32 becomes ld.relaxed.gpu.global.u32 %r1, [%d1];",
		"st.weak.global.u32 becomes st.relaxed.gpu.global.u32 [%d2], 1;"}},
	{"an old target has no relaxed accesses", oldTarget,
		dataStore + "L:\nld.global.cg.u32 %r1, [%d1];\n" + wait, InBlock, nil},
	{"a load through the texture cache", modern,
		dataStore + "L:\nld.global.nc.u32 %r1, [%d1];\n" + wait, InBlock, []string{
			"fence.acq_rel.cta; at add.u32", "fence.acq_rel.cta; at st.global.u32",
			"ld.global.nc.u32 becomes ld.relaxed.cta.global.u32 %r1, [%d1];",
			"st.global.u32 becomes st.relaxed.cta.global.u32 [%d2], 1;"}},
	{"a lock whose release is plain", modern,
		dataStore + "L:\natom.global.cas.b32 %r1, [%d1], 0, 1;\n" + wait, InBlock, []string{
			"fence.acq_rel.cta; at add.u32", "fence.acq_rel.cta; at st.global.u32",
			"st.global.u32 becomes st.relaxed.cta.global.u32 [%d2], 1;"}},
}

// TestFences: fences are offered next to strong accesses, and behind the loops that wait. Threads
// of one block need scope cta, others gpu (PTX ISA 8.5), with which both accesses must be written
// to be morally strong (8.7.1). A target before sm_70 has membar only (9.7.13.4).
func TestFences(t *testing.T) {
	for _, c := range fenceTests {
		k := kernelOf(t, c.head, c.body)
		b := "st"
		if strings.Contains(c.body, "L:") {
			b = instrs(k, "ld.global", "ld.weak.global", "ld.volatile", "atom")[0].Text()
		}
		race := raceOf(k, c.reach, "st", b)
		if got := offered(k, fences(false), race); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		// What a proof could not exclude may be no bug; what a run showed is one, and no fence helps.
		proof := located{Finding{Kind: Divergence}, race.a, nil}
		if got := offered(k, fences(false), race, proof); !slices.Equal(got, c.want) {
			t.Errorf("%s, and a failed proof:\n%s", c.what, strings.Join(got, "\n"))
		}
		proof.Shown = true
		if got := offered(k, fences(false), race, proof); got != nil {
			t.Errorf("%s, and a barrier that diverges:\n%s", c.what, strings.Join(got, "\n"))
		}
	}
}

// TestRelaxed: an access becomes relaxed without its cache operator, which relaxed accesses do not
// have (PTX ISA 9.7.9.8, 9.7.9.11), and with all else.
func TestRelaxed(t *testing.T) {
	for _, op := range []string{"", ".ca", ".cg", ".cs", ".lu", ".cv"} {
		k := kernelOf(t, modern, "st.global.u32 [%d2], 1;\nL:\n"+
			"ld.global"+op+".L2::64B.u32 %r1, [%d1];\n"+wait)
		got := offered(k, fences(false), raceOf(k, InBlock, "st", "ld.global"))
		want := "ld.global" + op + ".L2::64B.u32 becomes ld.relaxed.cta.global.L2::64B.u32 %r1, [%d1];"
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
	for _, op := range []string{"", ".wb", ".cg", ".cs", ".wt"} {
		k := kernelOf(t, modern, "st.global"+op+".u32 [%d2], 1;\nL:\nld.global.u32 %r1, [%d1];\n"+wait)
		got := offered(k, fences(false), raceOf(k, InBlock, "st", "ld.global"))
		want := "st.global" + op + ".u32 becomes st.relaxed.cta.global.u32 [%d2], 1;"
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestFlags: only an access that races with a wait loop becomes relaxed.
func TestFlags(t *testing.T) {
	k := kernelOf(t, modern, "st.global.u32 [%d2], 1;\nst.volatile.global.u32 [%d2+4], 1;\n"+
		"ld.shared.u32 %r2, [s];\nL:\nld.global.u32 %r1, [%d1];\n"+wait)
	relaxed := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "relaxed") })
	}
	st, ld := instrs(k, "st.global")[0], instrs(k, "ld.global")[0]
	for _, c := range []struct {
		what string
		f    located
		want bool
	}{
		{"a race", located{Finding{Kind: Race}, st, ld}, true},
		{"in the other order", located{Finding{Kind: Race}, ld, st}, true},
		{"without the loop", located{Finding{Kind: Race}, st, instrs(k, "ld.shared")[0]}, false},
		{"with an instruction of the repair", located{Finding{Kind: Race}, nil, ld}, false},
		{"with one, in the other order", located{Finding{Kind: Race}, ld, nil}, false},
		{"another finding", located{Finding{Kind: Copy}, st, ld}, false},
	} {
		if got := relaxed(offered(k, fences(false), c.f)); got != c.want {
			t.Errorf("%s: relaxed accesses: %v", c.what, got)
		}
	}
}

// TestCopies: a wait may be at each barrier, at each strong access, which may announce the copy,
// and near the finding; with a barrier behind it only where all threads are.
func TestCopies(t *testing.T) {
	k := kernelOf(t, modern, "cp.async.ca.shared.global [s], [%d1], 4;\nadd.u32 %r1, %r1, 1;\n"+
		"bar.sync 0;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\n"+
		"st.volatile.global.u32 [%d2], 1;\nM:\nnot.b32 %r1, %r1;\nld.global.nc.u32 %r3, [%d1];\n"+
		"ld.shared.u32 %r2, [s];\n")
	issue, load := instrs(k, "cp.async")[0], instrs(k, "ld.shared")[0]
	copied := located{Finding{Kind: Copy}, issue, load}
	alone := []string{"add.u32", "bar.sync", "cp.async.ca.shared.global", "ld.shared.u32", "ret",
		"st.volatile.global.u32"}
	all := []string{}
	for _, p := range alone {
		all = append(all, "cp.async.wait_all; at "+p)
		if p != "st.volatile.global.u32" {
			all = append(all, "cp.async.wait_all; bar.sync \t0; at "+p)
		}
		if p != "st.volatile.global.u32" && p != "bar.sync" {
			all = append(all, "barrier at "+p)
		}
	}
	for i, p := range alone {
		alone[i] = "cp.async.wait_all; at " + p
	}
	slices.Sort(all)
	nc := instrs(k, "ld.global.nc")[0]
	coherent := []string{"ld.global.nc.u32 becomes ld.global.u32 %r3, [%d1];"}
	for _, c := range []struct {
		what     string
		barriers bool
		found    []located
		want     []string
	}{
		{"waits", false, []located{copied}, alone},
		{"waits and barriers", true, []located{copied}, all},
		{"a race of other accesses", false, []located{raceOf(k, InBlock, "st.", "ld.shared")}, nil},
		{"the same with barriers", true, []located{raceOf(k, InBlock, "st.", "ld.shared")}, nil},
		{"a load that is not coherent", false, []located{{Finding{Kind: Coherence}, nc, load}}, coherent},
		{"both", false, []located{{Finding{Kind: Coherence}, load, nc}, copied},
			append(slices.Clone(alone), coherent...)},
	} {
		if got := offered(k, copies(c.barriers), c.found...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestWarps: warp barriers are offered if all that a run showed is races within warps.
func TestWarps(t *testing.T) {
	k := kernelOf(t, modern, "st.shared.u32 [s], 1;\nld.shared.u32 %r1, [s];\n")
	all := []string{"warp barrier at ld.shared.u32", "warp barrier at ret",
		"warp barrier at st.shared.u32"}
	in := raceOf(k, InWarp, "st.shared", "ld.shared")
	for _, c := range []struct {
		kind  Kind
		reach Reach
		shown bool
		want  []string
	}{
		{Race, InWarp, true, all}, {Race, InBlock, true, nil}, {Race, AcrossBlocks, true, nil},
		{Divergence, InWarp, true, nil}, {Race, InBlock, false, all}, {Divergence, InBlock, false, all},
	} {
		f := located{Finding{Kind: c.kind, Reach: c.reach, Shown: c.shown}, in.a, in.b}
		if got := offered(k, warps, in, f); !slices.Equal(got, c.want) {
			t.Errorf("kind %v, reach %v, shown %v: %q", c.kind, c.reach, c.shown, got)
		}
	}
}

// TestWarpsToo: warp barriers are offered near accesses that race within a warp and that not all
// threads reach, with the block barriers that all threads reach; without such accesses, nothing.
func TestWarpsToo(t *testing.T) {
	k := kernelOf(t, modern, "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;\n"+
		"st.shared.u32 [s], 1;\nld.volatile.shared.u32 %r3, [s];\n@%p1 bra L;\n"+
		"ld.shared.u32 %r2, [s];\nL:\n")
	for _, c := range []struct {
		kind  Kind
		reach Reach
		load  string
		want  bool
	}{
		{Race, InWarp, "ld.shared", true}, {Race, InBlock, "ld.shared", false},
		{Divergence, InWarp, "ld.shared", false}, {Race, InWarp, "ld.volatile", false},
	} {
		f := raceOf(k, c.reach, "st.shared", c.load)
		f.Kind = c.kind
		got := offered(k, warpsToo, f)
		if (got != nil) != c.want {
			t.Errorf("kind %v, reach %v, %s: %q", c.kind, c.reach, c.load, got)
		}
		for _, a := range []string{"warp barrier at ld.shared.u32", "barrier at st.shared.u32"} {
			if slices.Contains(got, a) != c.want {
				t.Errorf("kind %v, reach %v, %s: %q, with %s %v", c.kind, c.reach, c.load, got, a, c.want)
			}
		}
		for _, a := range []string{"warp barrier at st.shared.u32", "barrier at ld.shared.u32"} {
			if slices.Contains(got, a) {
				t.Errorf("kind %v, reach %v, %s: %s", c.kind, c.reach, c.load, a)
			}
		}
	}
}

// TestSpell: the atomic operation that an update becomes (PTX ISA 9.7.13.5: add of u32, u64, f32
// and f64, and, or and xor of b32 and b64, min and max of integers). Results of an operation with a
// carry, and of others, depend on more than the old value.
func TestSpell(t *testing.T) {
	for _, c := range []struct{ typ, op, want string }{
		{"global.u32", "add.u32 %r2, %r1, 5", "atom.global.add.u32 \t%r1, [%d1], 5;"},
		{"global.s32", "add.s32 %r2, 5, %r1", "atom.global.add.u32 \t%r1, [%d1], 5;"},
		{"u32", "add.u32 %r2, %r1, %r5", "atom.add.u32 \t%r1, [%d1], %r5;"},
		{"global.f32", "add.f32 %r2, %r1, 0f3F800000", "atom.global.add.f32 \t%r1, [%d1], 0f3F800000;"},
		{"global.b32", "and.b32 %r2, %r1, 5", "atom.global.and.b32 \t%r1, [%d1], 5;"},
		{"global.b32", "or.b32 %r2, %r1, 5", "atom.global.or.b32 \t%r1, [%d1], 5;"},
		{"global.b32", "xor.b32 %r2, %r1, 5", "atom.global.xor.b32 \t%r1, [%d1], 5;"},
		{"global.s32", "min.s32 %r2, %r1, 5", "atom.global.min.s32 \t%r1, [%d1], 5;"},
		{"global.u32", "max.u32 %r2, %r1, 5", "atom.global.max.u32 \t%r1, [%d1], 5;"},
		{"global.f32", "min.f32 %r2, %r1, 0f3F800000", ""},
		{"global.u32", "add.cc.u32 %r2, %r1, 5", "atom.global.add.u32 \t%r1, [%d1], 5;"},
		{"global.u32", "addc.u32 %r2, %r1, 5", ""},
		{"global.u32", "mul.lo.u32 %r2, %r1, 5", ""},
		{"global.u32", "sub.u32 %r2, %r1, 5", ""},
		{"global.u16", "add.u16 %h2, %h1, 5", ""},
		{"global.u64", "add.u64 %d4, %d3, 5", "atom.global.add.u64 \t%d3, [%d1], 5;"},
		{"global.f64", "add.f64 %d4, %d3, 0d3FF0000000000000",
			"atom.global.add.f64 \t%d3, [%d1], 0d3FF0000000000000;"},
		{"global.u64", "xor.b64 %d4, %d3, %d5", "atom.global.xor.b64 \t%d3, [%d1], %d5;"},
		{"global.u32", "and.b64 %d4, %d3, 5", ""},
	} {
		dst, src := "%r1", "%r2"
		if strings.Contains(c.op, "%d4") {
			dst, src = "%d3", "%d4"
		} else if strings.Contains(c.op, "%h2") {
			dst, src = "%h1", "%h2"
		}
		k := kernelOf(t, modern, fmt.Sprintf(".reg .b16 %%h<3>;\nld.%s %s, [%%d1];\n%s;\n"+
			"st.%s [%%d1], %s;\n",
			c.typ, dst, c.op, c.typ, src))
		st := instrs(k, "st.")[0]
		float := strings.Contains(c.op, "add.f")
		for _, in := range []*ir.Instr{st, instrs(k, "ld."+c.typ)[0]} {
			r := &repairer{x: New(k), found: []located{{Finding{Kind: Race}, in, in}}}
			got := ""
			for _, u := range r.updates() {
				if got = u.text; u.float != float || u.store != st {
					t.Errorf("%s: floating-point %v, store %v", c.op, u.float, u.store)
				}
			}
			if got != c.want {
				t.Errorf("%s of %s: %q, want %q", c.op, c.typ, got, c.want)
			}
		}
	}
}

// TestUpdateIs: no update are a store that does more than the plain store of one value (strong,
// under a guard, of a vector), an operation under a guard, and accesses that do not race.
func TestUpdateIs(t *testing.T) {
	const load, op = "ld.global.u32 %r1, [%d1];\n", "add.u32 %r2, %r1, 1;\n"
	for body, want := range map[string]int{
		load + op + "st.global.u32 [%d1], %r2;\n":                                   1,
		load + op + "st.volatile.global.u32 [%d1], %r2;\n":                          0,
		load + op + "@%p1 st.global.u32 [%d1], %r2;\n":                              0,
		load + op + "st.global.v2.u32 [%d1], {%r2, %r3};\n":                         0,
		load + op + "st.global.u32 [%d1], 1;\n":                                     0,
		load + op + "red.global.add.u32 [%d1], %r2;\n":                              0,
		load + "@%p1 " + op + "st.global.u32 [%d1], %r2;\n":                         0,
		load + "mad.lo.u32 %r2, %r1, 1, 1;\nst.global.u32 [%d1], %r2;\n":            0,
		load + "bra L;\nL:\n" + op + "st.global.u32 [%d1], %r2;\n":                  0,
		load + "ld.global.u32 %r4, [%d1+4];\n" + op + "st.global.u32 [%d1], %r2;\n": 1,
		load + "add.u32 %r2, %r1, %tid.x;\nst.global.u32 [%d1], %r2;\n":             0,
		load + "add.u32 %r2, %r1, %r1;\nst.global.u32 [%d1], %r2;\n":                0,
		"mov.u32 %r2, 1;\nst.global.u32 [%d1], %r2;\n" + load:                       0,
		"bra L;\nL:\n" + load + op + "st.global.u32 [%d1], %r2;\n":                  1,
		// from the start of a block
		load + op + "st.global.u32 [%d1], %r2;\nld.global.u32 %r1, [%d1+4];\n" + op +
			"st.global.u32 [%d1+4], %r2;\n": 2,
	} {
		k := kernelOf(t, modern, body)
		var found []located
		for _, in := range instrs(k, "ld.global", "st.", "red.") {
			found = append(found, located{Finding{Kind: Race}, in, nil}, located{Finding{Kind: Race},
				nil, in})
		}
		r := &repairer{x: New(k), found: found}
		if got := len(r.updates()); got != want {
			t.Errorf("%s\n%d updates, want %d", body, got, want)
		}
		other := instrs(k, "ld.param")[0] // takes part in no update
		r.found = []located{{Finding{Kind: Race}, other, other}}
		if got := len(r.updates()); got != 0 {
			t.Errorf("%s\n%d updates that do not race", body, got)
		}
	}
}

// TestPointCost: each loop around a place counts 100 times, each condition half, and a place that
// needs a transformation 1.5 times, whatever conditions keep threads away from it (AutoSync,
// section III.C). The branch that continues a loop is the loop.
func TestPointCost(t *testing.T) {
	const tid = "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p2, %r2, 0;\n"
	const same = "setp.eq.u32 %p2, %r2, 0;\n"
	const bar = "not.b32 %r1, %r1;\n"
	loop := func(l, body string) string {
		return l + ":\n" + body + "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 9;\n@%p1 bra " + l + ";\n"
	}
	when := func(l, body string) string { return "@%p2 bra " + l + ";\n" + body + l + ":\n" }
	for _, c := range []struct {
		what, body string
		want       float64
	}{
		{"no loop", bar, 1},
		{"a loop", loop("L", bar), 100},
		{"two loops", loop("L", loop("M", bar)), 10000},
		{"behind a loop", loop("L", "") + bar, 1},
		{"a condition", same + when("M", bar), 0.5},
		{"two conditions", same + when("M", when("N", bar)), 0.25},
		{"behind a condition", same + when("M", "") + bar, 1},
		{"a loop under a condition", same + when("M", loop("L", bar)), 50},
		{"a condition in a loop", same + loop("L", when("M", bar)), 50},
		{"the end of a loop under a condition", same + loop("L", when("M",
			"not.b32 %r4, %r4;\n")+bar), 100},
		{"some threads", tid + when("M", bar), 1.5},
		{"some threads in a loop", tid + loop("L", when("M", bar)), 150},
		{"a loop of some threads", tid + when("M", loop("L", bar)), 150},
	} {
		k := kernelOf(t, modern, c.body)
		x := New(k)
		p := x.where(instrs(k, "not.b32 %r1", "not")[len(instrs(k, "not"))-1])
		if got := x.pointCost(DefaultCost, p); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
		// The barriers of a kernel are those of all threads and those that count some.
		for _, text := range []string{"bar.sync 0;", "bar.sync 1, 32;", "bar.arrive 1, 64;"} {
			k := kernelOf(t, modern, strings.ReplaceAll(c.body, bar, text+"\nmembar.cta;\n"))
			if got := New(k).BarrierCost(DefaultCost); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%s: %s costs %v, want %v", c.what, text, got, c.want)
			}
		}
	}
}

// TestUniform: all threads enter a block equally often if its condition has one value in the block
// of threads. What a thread loads from its own memory may differ, and so may what comes from other
// lanes, from an atomic operation, from a call, and from anything that only some threads define.
func TestUniform(t *testing.T) {
	for body, want := range map[string]bool{
		"":                                           true,
		"mov.u32 %r1, %ctaid.x;":                     true,
		"mov.u32 %r1, %ntid.x;":                      true,
		"mov.u32 %r1, %nctaid.z;":                    true,
		"mov.u32 %r1, %tid.x;":                       false,
		"mov.u32 %r1, %laneid;":                      false,
		"mov.u32 %r1, %warpid;":                      false,
		"mov.u32 %r1, %clock;":                       false,
		"ld.param.u32 %r1, [A];":                     true,
		"ld.global.u32 %r1, [%d1];":                  true, // the judge sees whether it is
		"ld.shared.u32 %r1, [s];":                    true,
		"ld.local.u32 %r1, [l];":                     false,
		"ld.u32 %r1, [%d1];":                         false,
		"ld.volatile.global.u32 %r1, [%d1];":         false,
		"ld.relaxed.gpu.global.u32 %r1, [%d1];":      false,
		"atom.global.add.u32 %r1, [%d1], 1;":         false,
		"mov.u32 %r2, %tid.x;\nadd.u32 %r1, %r2, 1;": false,
		"mov.u32 %r2, %tid.x;\nmov.u32 %r2, 1;\nmov.u32 %r1, %r2;":                         true,
		"mov.u32 %r2, %tid.x;\nand.b32 %r2, %r2, 0;\nadd.u32 %r1, %r1, %r2;":               false,
		"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r1, 1;":             false,
		"mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r1, 1;":             false,
		"setp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r1, 1;":                                   true,
		"mov.u32 %r2, %tid.x;\nmul.wide.u32 %d2, %r2, 4;\nld.global.u32 %r1, [%d2];":       false,
		"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\nmov.u32 %r1, 1;\nM:": false,
		"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\n" +
			"ld.global.u32 %r1, [%d1];\nM:": false, // which some threads do not execute
		"setp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\nmov.u32 %r1, 1;\nM:": true,
		"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\nvote.sync.any.pred %p2, %p1, -1;\n" +
			"selp.u32 %r1, 1, 0, %p2;": false,
		"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\nbar.red.or.pred %p2, 0, %p1;\n" +
			"selp.u32 %r1, 1, 0, %p2;": true,
		"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\nbar.red.or.pred %p2, 1, 64, %p1;\n" +
			"M:\nselp.u32 %r1, 1, 0, %p2;": false, // some threads keep what %p2 was
		"mov.u32 %r2, 1;\nshfl.sync.idx.b32 %r1, %r2, 0, 31, -1;": false,
		"call (%r1), f, ();": false,
	} {
		k := kernelOf(t, modern+"\n.func (.reg .b32 %o) f()\n{\n\tmov.u32 %o, 1;\n\tret;\n}",
			".local .b32 l;\n"+body+"\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra END;\nnot.b32 %r8, %r8;\nEND:\n")
		x := New(k)
		at := instrs(k, "not")[0]
		if got := x.Uniform(x.blockOf(at)); got != want {
			t.Errorf("%s\nuniform %v", body, got)
		}
		for _, end := range instrs(k, "ret") {
			if !x.Uniform(x.blockOf(end)) {
				t.Errorf("%s\nsome threads do not reach the end", body)
			}
		}
	}
}

// TestEarly: no fence helps where the data is stored behind its flag only. A release orders what
// precedes it (PTX ISA 8.8).
func TestEarly(t *testing.T) {
	const data, flag = "st.global.u32 [%d1], 1;\n", "st.volatile.global.u32 [%d2], 1;\n"
	const waits = "L:\nld.volatile.global.u32 %r1, [%d2];\n" + wait + "ld.global.u32 %r2, [%d1];\n"
	for body, want := range map[string]bool{
		flag + data + waits: true,
		waits + flag + data: true,
		"atom.global.exch.b32 %r3, [%d2], 1;\n" + data + waits: true,
		"red.global.add.u32 [%d2], 1;\n" + data + waits:        true,
		data + flag + waits:        false,
		flag + data + flag + waits: false,
		data + waits:               false,
		"ld.global.u32 %r2, [%d1];\nL:\nld.volatile.global.u32 %r1, [%d2];\n" + wait + flag +
			data: false,
		flag + data + "ld.volatile.global.u32 %r1, [%d2];\nld.global.u32 %r2, [%d1];\n":            false,
		flag + "ld.global.u32 %r2, [%d1];\nL:\nld.volatile.global.u32 %r1, [%d2];\n" + wait + data: false,
		flag + "bra M;\nM:\n" + data +
			waits: true,
		flag + "st.volatile.global.u32 [%d1], 1;\n" + strings.Replace(waits, "ld.global",
			"ld.volatile.global", 1): false,
	} {
		k := kernelOf(t, modern, body)
		stores := instrs(k, "st.global", "st.volatile")
		store, loads := stores[len(stores)-1], instrs(k, "ld.global", "ld.volatile")
		if len(instrs(k, "st.global")) > 0 {
			store = instrs(k, "st.global")[0]
		}
		load := loads[len(loads)-1]
		if l := instrs(k, "ld.global"); len(l) > 0 {
			load = l[0]
		}
		for _, ends := range [][2]*ir.Instr{{store, load}, {load, store}} {
			f := Finding{Kind: Race, Reach: InBlock, Shown: true}
			r := &repairer{x: New(k), found: []located{{f, ends[0], ends[1]}}}
			if got := strings.HasPrefix(r.reason(), "the flag is set before"); got != want {
				t.Errorf("%s\n%q", body, r.reason())
			}
		}
	}
}

// TestNear: a barrier that orders an access may be next to it, around the conditions that keep
// threads away from it, and at the ends of each loop around it.
func TestNear(t *testing.T) {
	const first = "abs.s32 %r4, %r4;\n"
	loop := func(l, body string) string {
		return l + ":\ncnot.b32 %r5, %r5;\n" + body + "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 9;\n" +
			"@%p1 bra " + l + ";\n"
	}
	const access, behind = "st.global.u32 [%d1], 1;\n", "not.b32 %r1, %r1;\n"
	const some = "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra E;\n"
	for _, c := range []struct {
		what, body string
		want       []string
	}{
		{"no loop", first + access + behind, []string{"not.b32", "st.global.u32"}},
		{"a loop", first + loop("L", access) + behind,
			[]string{"add.u32", "bra", "cnot.b32", "end", "not.b32", "st.global.u32"}},
		// Only threads of the loop reach its start from the block in front, and its end.
		{"a loop beside another path", first + "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra.uni X;\n" +
			loop("L", access) + "X:\n" + behind, []string{"add.u32", "bra", "cnot.b32", "st.global.u32"}},
		{"two loops", first + loop("M", loop("L", access)) + behind,
			[]string{"add.u32", "bra", "cnot.b32", "end", "not.b32", "st.global.u32"}},
		{"some threads", first + some + access + "E:\n" + behind,
			[]string{"bra", "end", "not.b32", "st.global.u32"}},
	} {
		k := kernelOf(t, modern, c.body)
		x := New(k)
		at := map[string]bool{}
		for _, p := range x.near(instrs(k, "st.global")[0]) {
			at[opAt(k, p)] = true
		}
		if got := slices.Sorted(maps.Keys(at)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
