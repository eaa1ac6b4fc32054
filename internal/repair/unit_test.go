package repair

import (
	"context"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// kernelOf parses a kernel with the registers %r, %d and %p, and the parameter A in %d1.
func kernelOf(t *testing.T, head, body string) *Kernel {
	t.Helper()
	return parse(t, head+"\n.address_size 64\n.visible .entry k(.param .u64 A)\n{\n"+
		"\t.reg .pred %p<4>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %d<9>;\n\t.shared .align 4 .b8 s[64];\n"+
		"\tld.param.u64 %d1, [A];\n"+body+"\tret;\n}\n")
}

// TestKnowsFence: fence and scopes need PTX 6.0 and sm_70 (PTX ISA 9.7.13.4).
func TestKnowsFence(t *testing.T) {
	for head, want := range map[string]bool{
		".version 6.0\n.target sm_70":  true,
		".version 8.3\n.target sm_90a": true,
		".version 8.3\n.target sm_62":  false,
		".version 5.1\n.target sm_70":  false,
		".version 5.0\n.target sm_35":  false,
	} {
		r := &repairer{x: New(kernelOf(t, head, ""))}
		if got := r.knowsFence(); got != want {
			t.Errorf("%q: knows fence %v", head, got)
		}
	}
}

// instrs returns the instructions of a kernel whose text begins with one of the opcodes.
func instrs(k *Kernel, ops ...string) (out []*ir.Instr) {
	for _, b := range k.Func.Blocks {
		for _, in := range b.Instrs {
			for _, op := range ops {
				if strings.HasPrefix(in.Text(), op) {
					out = append(out, in)
				}
			}
		}
	}
	return out
}

const modern = ".version 8.3\n.target sm_80"

// TestSameCell: a store updates what a load read if the address is the same and still has the same
// value, and nothing writes memory between them.
func TestSameCell(t *testing.T) {
	for body, want := range map[string]bool{
		"ld.global.u32 %r1, [%d1];\nst.global.u32 [%d1], %r1;":                                   true,
		"ld.global.u32 %r1, [%d1+4];\nst.global.u32 [%d1+4], %r1;":                               true,
		"ld.shared.u32 %r1, [s];\nst.shared.u32 [s], %r1;":                                       true,
		"ld.global.u32 %r1, [%d1];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%d1], %r1;":             true,
		"ld.global.u32 %r1, [%d1];\nst.global.u32 [%d2], %r1;":                                   false,
		"ld.global.u32 %r1, [%d1];\nst.global.u32 [%d1+4], %r1;":                                 false,
		"ld.shared.u32 %r1, [s];\nst.shared.u32 [s+4], %r1;":                                     false,
		"ld.shared.u32 %r1, [s];\nst.shared.u32 [%r2], %r1;":                                     false,
		"ld.shared.u32 %r1, [%r2];\nst.shared.u32 [s], %r1;":                                     false,
		"ld.global.u32 %r1, [%d1];\nst.shared.u32 [s], %r1;":                                     false,
		"ld.global.u32 %r1, [%d1];\nst.global.u16 [%d1], %r1;":                                   false,
		"ld.global.u32 %r1, [%d1];\nadd.u64 %d1, %d1, 4;\nst.global.u32 [%d1], %r1;":             false,
		"ld.global.u32 %r1, [%d1];\nst.global.u32 [%d2], 1;\nst.global.u32 [%d1], %r1;":          false,
		"ld.global.u32 %r1, [%d1];\nbar.sync 0;\nst.global.u32 [%d1], %r1;":                      false,
		"ld.global.u32 %r1, [%d1];\nld.global.u32 %r2, [%d2];\nst.global.u32 [%d1], %r1;":        true,
		"ld.volatile.global.u32 %r1, [%d1];\nst.global.u32 [%d1], %r1;":                          false,
		"ld.global.v2.u32 {%r1, %r2}, [%d1];\nst.global.u32 [%d1], %r1;":                         false,
		"setp.eq.u64 %p1, %d1, 0;\n@%p1 ld.global.u32 %r1, [%d1];\nst.global.u32 [%d1], %r1;":    false,
		"atom.global.add.u32 %r1, [%d1], 1;\nst.global.u32 [%d1], %r1;":                          false,
		"ld.global.u32 %r1, [%d1];\natom.global.add.u32 %r2, [%d2], 1;\nst.global.u32 [%d1], 1;": false,
	} {
		k := kernelOf(t, modern, body+"\n")
		b := k.Func.Blocks[0]
		first, last := 1, len(b.Instrs)-2 // behind the load of the parameter, in front of ret
		if strings.HasPrefix(body, "setp") {
			first++
		}
		if got := sameCell(b, first, last); got != want {
			t.Errorf("%s\nsame cell %v, want %v", body, got, want)
		}
	}
}

// TestSpins: a loop waits for the result of a load or an atomic operation if the value decides
// whether it continues, and it stores nothing.
func TestSpins(t *testing.T) {
	const again = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
	for _, c := range []struct {
		what, body string
		want       bool
	}{
		{"a flag", "L:\nld.volatile.global.u32 %r1, [%d1];\n" + again, true},
		{"a lock", "L:\natom.global.cas.b32 %r1, [%d1], 0, 1;\n" + again, true},
		{"the flag through another register", "L:\nld.volatile.global.u32 %r2, [%d1];\n" +
			"and.b32 %r1, %r2, 1;\n" + again, true},
		{"another value", "L:\nld.volatile.global.u32 %r2, [%d1];\n" +
			"add.u32 %r1, %r1, 1;\n" + again, false},
		{"several blocks", "L:\nld.volatile.global.u32 %r1, [%d1];\nsetp.eq.u32 %p2, %r3, 0;\n" +
			"@%p2 bra M;\nadd.u32 %r2, %r2, 1;\nM:\n" + again, true},
		{"no loop", "ld.volatile.global.u32 %r1, [%d1];\n", false},
		{"two values", "L:\nld.volatile.global.v2.u32 {%r1, %r2}, [%d1];\n" + again, true},
		{"the second of two values", "L:\nld.volatile.global.v2.u32 {%r2, %r1}, [%d1];\n" + again, true},
		{"two values, and a condition on another", "L:\nld.volatile.global.v2.u32 {%r1, %r2}, [%d1];\n" +
			"setp.eq.u32 %p0, %r3, 0;\n@%p0 bra L;\n", false},
		{"what the loop does, but not whether it goes on", "L:\nld.volatile.global.u32 %r1, [%d1];\n" +
			"setp.eq.u32 %p2, %r1, 0;\n@%p2 bra M;\nadd.u32 %r2, %r2, 1;\nM:\n" +
			"setp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\n", false},
		{"a loop that stores", "L:\nld.volatile.global.u32 %r1, [%d1];\n" +
			"st.global.u32 [%d2], 1;\n" + again, false},
	} {
		k := kernelOf(t, modern, c.body)
		r := &repairer{x: New(k)}
		if got := r.spins(instrs(k, "ld.volatile", "atom")[0]); got != c.want {
			t.Errorf("%s: spins %v", c.what, got)
		}
	}
	k := kernelOf(t, modern, "L:\nadd.u32 %r1, %r1, 1;\n"+again)
	if r := (&repairer{x: New(k)}); r.spins(instrs(k, "add")[0]) {
		t.Error("a loop that counts waits for its sum")
	}
}

// TestReasons: why nothing helps is said of the findings that a run showed.
func TestReasons(t *testing.T) {
	k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nld.global.u32 %r1, [%d1];\nbar.warp.sync 3;\n"+
		"bar.sync 1, 32;\nbar.sync 0;\n")
	store, load := instrs(k, "st.global")[0], instrs(k, "ld.global")[0]
	warp, some, all := instrs(k, "bar.warp")[0], instrs(k, "bar.sync")[0], instrs(k, "bar.sync")[1]
	for _, c := range []struct {
		kind  Kind
		reach Reach
		a, b  *ir.Instr
		want  string
	}{
		{Race, AcrossBlocks, store, load, "threads of different blocks race"},
		{Race, InWarp, store, load, "barriers order only some lanes of the warp"},
		{Race, InBlock, store, load, "no barrier or fence"},
		{Race, InBlock, store, store, "two threads race at the same instruction"},
		{Divergence, InWarp, warp, nil, "lanes wait at a warp operation"},
		{Divergence, InBlock, warp, nil, "lanes wait at a warp operation"},
		{Divergence, InBlock, some, nil, "barriers that count only some threads"},
		{Divergence, InWarp, all, nil, "no barrier or fence"},
		{Divergence, AcrossBlocks, all, nil, "no barrier or fence"},
		{Race, InBlock, warp, some, "no barrier or fence"},
		{Coherence, InWarp, store, load, "no barrier or fence"},
	} {
		for _, shown := range []bool{false, true} {
			r := &repairer{x: New(k), found: []located{{Finding{Kind: c.kind, Reach: c.reach, Shown: shown},
				c.a, c.b}}}
			want := c.want
			if !shown {
				want = "no barrier or fence"
			}
			if got := r.reason(); !strings.HasPrefix(got, want) {
				t.Errorf("kind %v, reach %v, shown %v: %q, want %q", c.kind, c.reach, shown, got, want)
			}
			if got := r.reason(); strings.Contains(got, "atomic") { // there is no update
				t.Errorf("kind %v, reach %v, shown %v: %q", c.kind, c.reach, shown, got)
			}
		}
	}
}

// TestCopied: findings about asynchronous copies are those of the kind, and races in which a copy
// takes part.
func TestCopied(t *testing.T) {
	k := kernelOf(t, modern, "cp.async.ca.shared.global [s], [%d1], 4;\nst.global.u32 [%d1], 1;\n"+
		"bar.sync 0;\n")
	issue, store := instrs(k, "cp.async")[0], instrs(k, "st.global")[0]
	for _, c := range []struct {
		kind Kind
		a, b *ir.Instr
		want bool
	}{
		{Race, issue, store, true}, {Race, store, issue, true}, {Race, store, store, false},
		{Copy, store, store, true}, {Divergence, issue, nil, false}, {Other, issue, issue, false},
	} {
		r := &repairer{x: New(k)}
		if got := r.copied(located{Finding{Kind: c.kind}, c.a, c.b}); got != c.want {
			t.Errorf("kind %v of %v and %v: copied %v", c.kind, c.a, c.b, got)
		}
	}
}

// TestLearn: findings accumulate, each once: another reach, place or kind makes another finding.
func TestLearn(t *testing.T) {
	k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nld.global.u32 %r1, [%d1];\n")
	at := func(op string) int {
		off, _ := k.File.Offset(instrs(k, op)[0].Span.Start)
		return off
	}
	st, ld := at("st.global"), at("ld.global")
	base := Finding{Kind: Race, A: st, B: ld, Reach: InBlock}
	for _, c := range []struct {
		what  string
		f     Finding
		warps bool
		fresh bool
	}{
		{"the same", base, false, false},
		{"the same with another message", Finding{Kind: Race, A: st, B: ld,
			Reach: InBlock, Shown: true, Text: "text"}, false, false},
		{"another reach", Finding{Kind: Race, A: st, B: ld, Reach: InWarp}, false, true},
		{"another kind", Finding{Kind: Divergence, A: st, B: ld, Reach: InBlock}, false, true},
		{"another kind, of the plan's own barriers", Finding{Kind: Divergence, A: st, B: ld,
			Reach: InBlock}, true, false},
		{"a race beside the plan's own barriers", Finding{Kind: Race, A: st, B: st, Reach: InBlock}, true,
			true},
		{"another place", Finding{Kind: Race, A: st, B: st, Reach: InBlock}, false, true},
		{"another first place", Finding{Kind: Race, A: ld, B: ld, Reach: InBlock}, false, true},
	} {
		r := &repairer{x: New(k), byOff: map[int]*ir.Instr{}}
		for _, in := range instrs(k, "st.global", "ld.global") {
			off, _ := k.File.Offset(in.Span.Start)
			r.byOff[off] = in
		}
		r.learn(&Judgement{Findings: []Finding{base}}, nil, false)
		if got := r.learn(&Judgement{Findings: []Finding{c.f}}, nil, c.warps); got != c.fresh {
			t.Errorf("%s: new %v, want %v", c.what, got, c.fresh)
		}
	}
}

// A judgeFunc judges by the text alone.
type judgeFunc func(text string) *Judgement

func (f judgeFunc) Judge(_ context.Context, text []byte, _ bool) (*Judgement, error) {
	return f(string(text)), nil
}

// TestNarrow: of the barriers that the findings ask for, those remain that the judge needs, also
// where it never proves anything.
func TestNarrow(t *testing.T) {
	for _, good := range []Grade{Clean, Verified} {
		k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nld.global.u32 %r1, [%d1];\n"+
			"st.shared.u32 [s], %r1;\nld.shared.u32 %r2, [s];\n")
		var fs []Finding
		for _, ops := range [][2]string{{"st.global", "ld.global"}, {"st.shared", "ld.shared"}} {
			a, _ := k.File.Offset(instrs(k, ops[0])[0].Span.Start)
			b, _ := k.File.Offset(instrs(k, ops[1])[0].Span.Start)
			fs = append(fs, Finding{Kind: Race, A: a, B: b, Reach: InBlock, Shown: true})
		}
		judge := judgeFunc(func(text string) *Judgement {
			store, load := strings.Index(text, "st.global"), strings.Index(text, "ld.global")
			if strings.Contains(text[store:load], "bar.sync") {
				return &Judgement{Grade: good}
			}
			return &Judgement{Grade: Buggy, Findings: fs}
		})
		res, err := Repair(t.Context(), k, judge, Options{})
		if err != nil || res.Patch == nil {
			t.Fatalf("%+v, %v", res, err)
		}
		if n := strings.Count(string(res.Patch.Text), "bar.sync"); n != 1 || res.After.Grade != good {
			t.Errorf("%d barriers, grade %v, want one and %v", n, res.After.Grade, good)
		}
	}
}

// TestFirstIsKept: of strategies whose results are equally good, the first one is kept: here the
// barriers of warps, which cost less than those of blocks.
func TestFirstIsKept(t *testing.T) {
	k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nld.global.u32 %r1, [%d1];\n")
	a, _ := k.File.Offset(instrs(k, "st.global")[0].Span.Start)
	b, _ := k.File.Offset(instrs(k, "ld.global")[0].Span.Start)
	judge := judgeFunc(func(text string) *Judgement {
		if strings.Contains(text, "sync") {
			return &Judgement{Grade: Clean}
		}
		return &Judgement{Grade: Buggy, Findings: []Finding{{Kind: Race, A: a, B: b, Shown: true}}}
	})
	res, err := Repair(t.Context(), k, judge, Options{})
	if err != nil || res.Patch == nil || !strings.Contains(string(res.Patch.Text), "bar.warp.sync") {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestBefore: an instruction comes before another if control can get there, by however many blocks.
func TestBefore(t *testing.T) {
	k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nL:\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\n"+
		"not.b32 %r3, %r3;\nM:\nsetp.eq.u32 %p2, %r2, 1;\n@%p2 bra N;\nneg.s32 %r3, %r3;\nN:\n"+
		"ld.global.u32 %r1, [%d1];\nsetp.eq.u32 %p3, %r1, 1;\n@%p3 bra L;\nst.shared.u32 [s], %r3;\n")
	r := &repairer{x: New(k)}
	at := func(op string) *ir.Instr { return instrs(k, op)[0] }
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"st.global", "ld.global", true}, {"ld.global", "st.global", false},
		{"st.global", "st.shared", true}, {"st.shared", "ld.global", false},
		{"neg", "not", true}, {"neg", "neg", true}, // around the loop
		{"st.global", "st.global", false},
	} {
		if got := r.before(at(c.a), at(c.b)); got != c.want {
			t.Errorf("%s before %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestReasonOfCalls: threads that miss a barrier may have exited in a function. A barrier that is
// in a function, so that the finding names the call, is said to be there.
func TestReasonOfCalls(t *testing.T) {
	const exited, inside = "threads have exited", "the barrier is inside a function"
	for _, c := range []struct {
		call, at string // of the finding
		want     string // of a divergence
	}{
		{"", "bar.sync", ""},
		{"\tcall f, ();\n", "bar.sync", exited},
		{"\tcall f, ();\n", "call", inside},
	} {
		k := parse(t, modern+"\n.address_size 64\n.func f()\n{\n\texit;\n}\n.visible .entry k()\n{\n"+
			"\t.shared .align 4 .b8 s[64];\n"+c.call+"\tst.shared.u32 [s], 1;\n\tbar.sync 0;\n\tret;\n}\n")
		for _, kind := range []Kind{Divergence, Race, Coherence} {
			r := &repairer{x: New(k), found: []located{{Finding{Kind: kind, Reach: InBlock, Shown: true},
				instrs(k, c.at)[0], nil}}}
			for _, text := range []string{exited, inside} {
				want := kind == Divergence && text == c.want
				if got := strings.HasPrefix(r.reason(), text); got != want {
					t.Errorf("kind %v, call %q, at %s: %q", kind, c.call, c.at, r.reason())
				}
			}
		}
	}
}

// TestUpdates: what a race may turn into an atomic operation is a load, an operation on its result
// and what does not change in between, and a store to the same place.
func TestUpdates(t *testing.T) {
	const load, store = "ld.global.u32 %r1, [%d1];\n", "st.global.u32 [%d1], %r2;\n"
	for body, want := range map[string]bool{
		load + "add.u32 %r2, %r1, 1;\n" + store:                              true,
		load + "add.u32 %r2, %r3, %r1;\n" + store:                            true,
		"add.u32 %r2, %r1, 1;\n" + load + store:                              false,
		load + "add.u32 %r3, %r1, 1;\n" + store:                              false,
		load + "add.u32 %r2, %r3, 1;\n" + store:                              false,
		load + "mov.u32 %r3, %tid.x;\nadd.u32 %r2, %r1, %r3;\n" + store:      false,
		"mov.u32 %r3, %tid.x;\n" + load + "add.u32 %r2, %r1, %r3;\n" + store: true,
		"ld.global.u32 %r1, [%d2];\nadd.u32 %r2, %r1, 1;\n" + store:          false,
	} {
		for kind, is := range map[Kind]bool{Race: true, Divergence: false, Copy: false} {
			k := kernelOf(t, modern, body)
			st := instrs(k, "st.global")[0]
			r := &repairer{x: New(k), found: []located{{Finding{Kind: kind}, st, st}}}
			if got := len(r.updates()) == 1; got != (want && is) {
				t.Errorf("kind %v of\n%s: an update: %v", kind, body, got)
			}
		}
	}
}

// TestDivergent: the barriers to mend are those of the findings that some threads miss by the
// analysis; if it says that all reach them, then others that some miss, whose missing arrivals are
// seen later; and if there are none, it took a branch that keeps threads away for one that all take
// alike. A barrier behind no branch is not to be mended.
func TestDivergent(t *testing.T) {
	const some = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra Z;\n"
	const loaded = "ld.global.u32 %r1, [%d1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra Z;\n"
	for _, c := range []struct {
		what, body string
		a, b       int // the barriers of the finding
		want       []int
	}{
		{"one that some miss", some + "bar.sync 0;\nZ:\nbar.sync 0;\n", 0, 1, []int{0}},
		{"the next one", some + "bar.sync 0;\nZ:\nbar.sync 0;\n", 1, 1, []int{0}},
		{"behind a loaded value", loaded + "bar.sync 0;\nZ:\nbar.sync 0;\n", 0, 1, []int{0}},
		{"behind no branch", "bar.sync 0;\nbar.sync 0;\n", 0, 1, nil},
	} {
		k := kernelOf(t, modern, c.body)
		bars := instrs(k, "bar.sync")
		r := &repairer{x: New(k), found: []located{{Finding{Kind: Divergence, Shown: true},
			bars[c.a], bars[c.b]}}}
		var got []int
		for _, in := range r.divergent() {
			got = append(got, slices.Index(bars, in))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: barriers %v, want %v", c.what, got, c.want)
		}
	}
}

// TestVaryingResults: bar.red gives all threads that execute it the same result (PTX ISA 9.7.13.1),
// so that it varies only where some threads do not. What an arrival at an mbarrier returns depends
// on the arrivals before it.
func TestVaryingResults(t *testing.T) {
	const some = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n"
	for _, c := range []struct {
		what, body string
		varies     bool
	}{
		{"all threads", some + "bar.red.popc.u32 %r2, 0, %p1;\n", false},
		{"some threads", some + "@%p1 bra Z;\nbar.red.popc.u32 %r2, 1, 32, %p2;\nZ:\n", true},
		{"some threads by a guard", some + "@%p1 bar.red.popc.u32 %r2, 1, 32, %p2;\n", true},
		{"an arrival", "mbarrier.arrive.shared.b64 %d2, [s];\ncvt.u32.u64 %r2, %d2;\n", true},
	} {
		w := newFlow(kernelOf(t, modern, c.body+"setp.eq.u32 %p3, %r2, 1;\n@%p3 bra E;\n"+
			"bar.sync 0;\nE:\n").Func)
		for _, b := range w.f.Blocks {
			for _, in := range b.Instrs {
				if strings.HasPrefix(in.Text(), "bar.sync") && w.uniform[b.ID] == c.varies {
					t.Errorf("%s: the same for all threads: %v", c.what, w.uniform[b.ID])
				}
			}
		}
	}
}

// TestLoopFromTheEntry: what each iteration of a loop executes is control dependent on the branch
// that continues the loop, also if its header is the entry of the kernel.
func TestLoopFromTheEntry(t *testing.T) {
	k := parse(t, modern+"\n.address_size 64\n.visible .entry k()\n{\n\t.reg .pred %p<3>;\n"+
		"HEAD:\n@%p1 bra BODY;\n\tbar.sync 0;\nBODY:\n\t@%p2 bra HEAD;\n\tret;\n}\n")
	w := newFlow(k.Func)
	branch := k.Func.Blocks[2].ID
	for _, b := range k.Func.Blocks {
		inLoop := b.ID == 0 || b.ID == branch
		if got := slices.Contains(w.controls[b.ID], branch); got != inLoop {
			t.Errorf("block %d depends on the branch of the loop: %v", b.ID, got)
		}
	}
}

// TestNoRegionAroundItsEntry: blocks from which a thread comes back to the entry are no region,
// since an edge would lead from it to the entry, which may also be that of the kernel. Outside of
// the loop they are one.
func TestNoRegionAroundItsEntry(t *testing.T) {
	for _, c := range []struct {
		before, back string
		want         bool
	}{
		{"\tneg.s32 %r4, %r4;\n", "\t@%p2 bra HEAD;\n", false},
		{"", "\t@%p2 bra HEAD;\n", false},
		{"\tneg.s32 %r4, %r4;\n", "", true},
		{"", "", true},
	} {
		k := parse(t, modern+"\n.address_size 64\n.visible .entry k()\n{\n\t.reg .pred %p<3>;\n"+
			"\t.reg .b32 %r<5>;\n"+c.before+"HEAD:\n\t@%p1 bra BODY;\n\tadd.u32 %r1, %r1, 1;\nBODY:\n"+
			"\tadd.u32 %r2, %r2, 1;\n"+c.back+"\tbra EXIT;\nEXIT:\n\tadd.u32 %r3, %r3, 1;\n\tret;\n}\n")
		x := New(k)
		block := func(i int) ir.BlockID { return x.where(instrs(k, "add")[i]).Block }
		head := k.Func.Block(block(0)).Preds[0]
		r := x.flow.between(head, block(2), []ir.BlockID{block(1)})
		if (r != nil) != c.want {
			t.Errorf("with %q and %q a region: %v", c.before, c.back, r != nil)
		}
	}
}

// TestEarlierInTheSource: of two blocks the one that comes first in the source is earlier, also if
// it comes later in the text; without lines, or on one line, the text decides.
func TestEarlierInTheSource(t *testing.T) {
	for _, c := range []struct {
		lines [2]string
		want  bool
	}{
		{[2]string{"", ""}, true},
		{[2]string{".loc 1 3 1\n", ".loc 1 9 1\n"}, true},
		{[2]string{".loc 1 9 1\n", ".loc 1 3 1\n"}, false},
		{[2]string{".loc 1 3 1\n", ".loc 1 3 1\n"}, true},
		{[2]string{".loc 1 9 1\n", ".loc 2 3 1\n"}, true}, // of two files no line comes first
	} {
		k := kernelOf(t, modern+"\n.file 1 \"a.cu\"\n.file 2 \"b.cu\"", "@%p1 bra B;\n"+c.lines[0]+
			"neg.s32 %r1, %r1;\nbra C;\nB:\n"+c.lines[1]+"neg.s32 %r2, %r2;\nC:\n")
		x := New(k)
		first, second := x.where(instrs(k, "neg")[0]).Block, x.where(instrs(k, "neg")[1]).Block
		l := &levels{w: x.flow}
		if l.earlier(first, second) != c.want || l.earlier(second, first) == c.want {
			t.Errorf("%q: the first is earlier: %v", c.lines, !c.want)
		}
	}
}
