package repair

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// parse reads one module and returns its only kernel.
func parse(t rapid.TB, text string) *Kernel {
	t.Helper()
	set := source.NewSet()
	file, err := set.Add("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v at %v\n%s", errs[0], errs[0].Span.Start, text)
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatalf("%v at %v\n%s", errs[0], errs[0].Span.Start, text)
	}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ptx.Func); ok && fn.Entry {
			return &Kernel{File: file, Tree: fn, Func: m.Kernel(fn.Name)}
		}
	}
	t.Fatal("no kernel")
	return nil
}

// A random control-flow graph: edges forward to any later block, and edges back to dominators, each
// taken a number of times that depends on the thread. So it is reducible, and structured only by
// chance.
type randomCFG struct {
	succs [][]int // forward: one, or two for a branch; none for the last block
	back  []int   // the target of a back edge from the block; -1: none
	ends  []bool  // threads may end here
	loads []bool
}

func drawCFG(t *rapid.T) *randomCFG {
	n := rapid.IntRange(2, 9).Draw(t, "blocks")
	g := &randomCFG{}
	dom := make([]uint, n) // by bits: the dominators of each block
	preds := make([][]int, n)
	for i := range n {
		dom[i] = 1 << i
		for k, p := range preds[i] {
			if k == 0 {
				dom[i] |= dom[p]
			}
		}
		meet := ^uint(0)
		for _, p := range preds[i] {
			meet &= dom[p]
		}
		if i > 0 {
			dom[i] = meet | 1<<i
		}
		var out []int
		if i < n-1 {
			out = append(out, i+1) // every block is reached
			if rapid.Bool().Draw(t, "branch") {
				out = append(out, rapid.IntRange(i+1, n-1).Draw(t, "to"))
			}
			if rapid.Bool().Draw(t, "swap") && len(out) == 2 {
				out[0], out[1] = out[1], out[0]
			}
		}
		for _, s := range out {
			preds[s] = append(preds[s], i)
		}
		g.succs = append(g.succs, out)
		back := -1
		if rapid.IntRange(0, 3).Draw(t, "loop") == 0 {
			h := rapid.IntRange(0, i).Draw(t, "header")
			if dom[i]>>h&1 != 0 && h > 0 {
				back = h
			}
		}
		g.back = append(g.back, back)
		g.ends = append(g.ends, rapid.IntRange(0, 9).Draw(t, "ends") == 0)
		g.loads = append(g.loads, rapid.Bool().Draw(t, "loads"))
	}
	return g
}

// text is a kernel of the graph. Each thread has 64 words of mem for itself: in each block it mixes
// what it knows with the number of the block and stores it. What the branches do depends on the
// thread.
func (g *randomCFG) text(uniform []bool) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 mem)
{
	.reg .b32 %t, %h, %i, %x, %c<16>;
	.reg .b64 %m, %a, %o;
	.reg .pred %p, %q;
	ld.param.u64 %m, [mem];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %o, %t, 256;
	add.s64 %m, %m, %o;
	mov.u32 %i, 0;
	mul.lo.s32 %h, %t, 0x9e3779b1;
`)
	for i, h := range g.back {
		if h >= 0 {
			fmt.Fprintf(&b, "\tshr.u32 %%c%d, %%h, %d;\n\tand.b32 %%c%d, %%c%d, 3;\n", i, i+3, i, i)
		}
	}
	for i := range g.succs {
		fmt.Fprintf(&b, "L%d:\n", i)
		fmt.Fprintf(&b, "\tmul.lo.s32 %%h, %%h, 0x85ebca6b;\n\tadd.s32 %%h, %%h, %d;\n", i+1)
		b.WriteString("\tand.b32 %x, %i, 63;\n\tmul.wide.u32 %o, %x, 4;\n\tadd.s64 %a, %m, %o;\n")
		if g.loads[i] {
			b.WriteString("\tld.global.u32 %x, [%a];\n\txor.b32 %h, %h, %x;\n")
		}
		b.WriteString("\tst.global.u32 [%a], %h;\n\tadd.s32 %i, %i, 1;\n")
		if h := g.back[i]; h >= 0 {
			fmt.Fprintf(&b, "\tsetp.gt.s32 %%p, %%c%d, 0;\n\tsub.s32 %%c%d, %%c%d, 1;\n\t@%%p bra L%d;\n", i, i, i, h)
		}
		cond := "%h"
		if uniform[i] {
			cond = "%i" // not the same in all threads once they took different ways, which is why this only seems uniform
		}
		if g.ends[i] {
			b.WriteString("\tshr.u32 %x, %h, 29;\n\tsetp.eq.u32 %q, %x, 1;\n\t@%q exit;\n")
		}
		switch s := g.succs[i]; len(s) {
		case 0:
			b.WriteString("\tret;\n")
		case 1:
			if s[0] != i+1 {
				fmt.Fprintf(&b, "\tbra L%d;\n", s[0])
			}
		case 2:
			fmt.Fprintf(&b, "\tshr.u32 %%x, %s, 2;\n\tand.b32 %%x, %%x, 1;\n\tsetp.eq.u32 %%q, %%x, 0;\n\t@%%q bra L%d;\n", cond, s[0])
			if s[1] != i+1 {
				fmt.Fprintf(&b, "\tbra L%d;\n", s[1])
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// effects records what each thread does to memory, in its order.
type effects struct {
	event.Discard
	of       map[event.Thread][]string
	stalls   int
	arrivals map[event.Thread]int
}

func (e *effects) Access(a *event.Access) {
	for l := range event.WarpSize {
		if a.Mask>>l&1 == 0 {
			continue
		}
		th := event.ThreadOf(a.Warp, l)
		s := fmt.Sprintf("%v %v %d at %#x", a.Kind, a.Space, a.Size, a.Addr[l])
		if a.Data != nil {
			s += fmt.Sprintf(" = %#x", a.Data[0][l])
		}
		e.of[th] = append(e.of[th], s)
	}
}
func (e *effects) Arrive(a *event.Arrive) {
	for l := range event.WarpSize {
		if a.Mask>>l&1 != 0 {
			e.arrivals[event.ThreadOf(a.Warp, l)]++
		}
	}
}
func (e *effects) Stall(*event.Stall) { e.stalls++ }

const testThreads = 48

// execute runs a kernel and returns what its threads did, and the memory that it left.
func execute(t rapid.TB, k *ir.Func, seed uint64) (*effects, []byte) {
	t.Helper()
	block := event.Dim3{X: testThreads, Y: 1, Z: 1}
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	cfg, errs := launch.Resolve(k, launch.Request{Block: &block, Grid: &one}, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0].Msg)
	}
	m, err := emu.New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := &effects{of: map[event.Thread][]string{}, arrivals: map[event.Thread]int{}}
	res, err := m.Run(context.Background(), emu.Options{Seed: seed, MaxSteps: 2_000_000, Workers: 1}, e)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != emu.Completed {
		t.Fatalf("the run ended with status %d, stop %+v, %d stalls", res.Status, res.Stop, e.stalls)
	}
	mem := make([]byte, testThreads*256)
	if _, err := res.Read("mem", 0, mem); err != nil {
		t.Fatal(err)
	}
	return e, mem
}

// Theorem 2: "for each execution path in the original there exists a semantic independent execution
// path contained in the generated graph": each thread does the same to memory in the same order.
// Beyond the theorem: all threads pass every stable block equally often, so that no barrier
// diverges.
func TestTransformationKeepsEffects(t *testing.T) {
	regions, loops, deep := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawCFG(t)
		uniform := make([]bool, len(g.succs))
		for i := range uniform {
			uniform[i] = rapid.IntRange(0, 3).Draw(t, "uniform") == 0
		}
		text := g.text(uniform)
		k := parse(t, text)
		plan := &Plan{Serial: rapid.Bool().Draw(t, "serial")}
		for range rapid.IntRange(1, 4).Draw(t, "cuts") {
			b := ir.BlockID(rapid.IntRange(0, len(k.Func.Blocks)-1).Draw(t, "block"))
			n := len(k.Func.Block(b).Instrs)
			if n == 0 {
				continue
			}
			if k.Func.Block(b).Terminator() != nil {
				n--
			}
			plan.Barriers = append(plan.Barriers, Point{b, rapid.IntRange(0, n).Draw(t, "at")})
		}
		p, err := New(k).Apply(plan)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, r := range p.Regions {
			regions++
			if loops += r.Loops; r.Loops > 1 {
				deep++
			}
		}
		neededOnly(t, text, string(p.Text))
		after := parse(t, string(p.Text))
		if errs := ir.Check(after.Func); len(errs) > 0 {
			t.Fatalf("%v\n%s", errs[0], p.Text)
		}
		for seed := range uint64(2) {
			was, mem := execute(t, k.Func, seed)
			defer func() {
				if t.Failed() {
					t.Logf("%s\n%v\n%s", text, plan.Barriers, p.Text)
				}
			}()
			is, memAfter := execute(t, after.Func, seed)
			if string(mem) != string(memAfter) {
				t.Fatalf("the memory differs")
			}
			for th, list := range was.of {
				if got := is.of[th]; fmt.Sprint(got) != fmt.Sprint(list) {
					t.Fatalf("thread %v did\n%v\nand does\n%v", th, list, got)
				}
			}
			for th, n := range is.arrivals {
				if n != is.arrivals[0] {
					t.Fatalf("thread %v passes %d barriers, thread 0 %d", th, n, is.arrivals[0])
				}
			}
			if len(is.arrivals) != 0 && len(is.arrivals) != testThreads {
				t.Fatalf("%d threads come to barriers", len(is.arrivals))
			}
		}
	})
	t.Logf("%d regions, %d loops gone round together, %d regions with several", regions, loops, deep)
	if regions == 0 || loops == 0 || long.All() && deep == 0 {
		t.Error("the generator reaches too little")
	}
}

var (
	labelMade   = regexp.MustCompile(`(?m)^\s*(\$fix1_\w+):`)
	labelUsed   = regexp.MustCompile(`bra(?:\.uni)? \t(\$?\w+);`)
	targetSet   = regexp.MustCompile(`mov\.u32 \t%fix1_next, (\d+);`)
	targetAsked = regexp.MustCompile(`setp\.eq\.u32 \t%fix1_p, %fix1_next, (\d+);`)
)

// neededOnly fails the test if the transformation adds what no thread needs: a label to which
// nothing branches, or a comparison with a target that no jump to a stable block writes. Edges
// between blocks of one level, and the exit of a region, have no target.
func neededOnly(t rapid.TB, before, after string) {
	t.Helper()
	names := func(re *regexp.Regexp) map[string]bool {
		out := map[string]bool{}
		for _, m := range re.FindAllStringSubmatch(after, -1) {
			out[m[1]] = true
		}
		return out
	}
	used, set := names(labelUsed), names(targetSet)
	for l := range names(labelMade) {
		if !used[l] {
			t.Fatalf("nothing branches to %s\n%s\n%s", l, before, after)
		}
	}
	for n := range names(targetAsked) {
		if !set[n] {
			t.Fatalf("no thread has the target %s\n%s\n%s", n, before, after)
		}
	}
}

// One plan carried out: what a repair costs beside the checks, for each text that is tried.
func BenchmarkApply(b *testing.B) {
	g := &randomCFG{succs: [][]int{{1, 4}, {2}, {3, 5}, {4, 6}, {5}, {6}, {}}, back: []int{-1, -1, -1, 2, -1, -1, -1}, ends: make([]bool, 7), loads: make([]bool, 7)}
	g.back[3] = 1
	set := source.NewSet()
	file, err := set.Add("k.ptx", []byte(g.text(make([]bool, 7))))
	if err != nil {
		b.Fatal(err)
	}
	tree, _ := ptx.Parse(file)
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		b.Fatal(errs[0])
	}
	k := &Kernel{File: file, Func: m.Kernel("k")}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ptx.Func); ok {
			k.Tree = fn
		}
	}
	x := New(k)
	plan := &Plan{Barriers: []Point{{2, 0}, {3, 2}, {4, 1}}, Serial: true}
	for b.Loop() {
		if _, err := x.Apply(plan); err != nil {
			b.Fatal(err)
		}
	}
}
