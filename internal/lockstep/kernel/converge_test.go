package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/ir"
	"heddle/internal/ir/irtest"
	"heddle/internal/lockstep/kernel"
)

// simt runs the lanes of a warp as section 3.3.1 of Barracuda has it: the lanes that diverge at a
// branch execute one path after the other up to its reconvergence point, where they wait for each
// other.
type simt struct {
	t     *rapid.T
	f     *ir.Func
	k     *kernel.Facts
	join  func(ir.BlockID) ir.BlockID
	lanes []lane
	steps int
}

// lane is what one lane has done: the loops around its block and its iterations of them, outermost
// first, and when it has executed each block in which iterations.
type lane struct {
	loops []*ir.Loop
	iters []int
	when  map[instance]int
}

type instance struct {
	block ir.BlockID
	iters string
}

// run executes a group of lanes from a block on, and returns those that reach stop.
func (s *simt) run(group []int, b, stop ir.BlockID) []int {
	for b != stop && len(group) > 0 {
		if s.steps++; s.steps > 300 {
			s.t.Skip("too many iterations")
		}
		for _, i := range group {
			s.lanes[i].enter(b, s.k, s.steps)
		}
		blk := s.f.Blocks[b]
		if in := blk.Terminator(); in != nil && in.Guard != ir.NoReg && len(blk.Succs) == 1 { // a guarded ret
			group = slices.DeleteFunc(slices.Clone(group), func(int) bool {
				return rapid.Bool().Draw(s.t, "ends")
			})
		}
		if len(blk.Succs) == 0 {
			return nil
		}
		ways := make([][]int, len(blk.Succs))
		for _, i := range group {
			w := rapid.IntRange(0, len(ways)-1).Draw(s.t, "way")
			w = slices.Index(blk.Succs, blk.Succs[w])
			ways[w] = append(ways[w], i)
		}
		if w := slices.IndexFunc(ways, func(l []int) bool { return len(l) == len(group) }); w >= 0 {
			b = blk.Succs[w]
			continue
		}
		join := s.join(b)
		group = nil
		for w, lanes := range ways {
			group = append(group, s.run(lanes, blk.Succs[w], join)...)
		}
		b = join
	}
	return group
}

// enter notes that the lane executes a block.
func (l *lane) enter(b ir.BlockID, k *kernel.Facts, now int) {
	var around []*ir.Loop
	for x := k.LoopOf(b); x != nil; x = x.Parent {
		around = append([]*ir.Loop{x}, around...)
	}
	same := 0
	for same < len(around) && same < len(l.loops) && around[same] == l.loops[same] {
		same++
	}
	if l.iters = l.iters[:same]; same == len(around) && same > 0 && around[same-1].Header == b {
		l.iters[same-1]++ // by a back edge
	}
	for len(l.iters) < len(around) {
		l.iters = append(l.iters, 0)
	}
	l.loops = around
	l.when[instance{b, fmt.Sprint(l.iters)}] = now
}

// TestConvergent: in whatever way the lanes of a warp branch, those that execute a convergent block in
// the same iterations of the loops around it execute it at the same time.
func TestConvergent(t *testing.T) {
	together := 0 // in loops, by several lanes
	rapid.Check(t, func(t *rapid.T) {
		f, k := analyzed(t, true)
		for name, join := range map[string]func(ir.BlockID) ir.BlockID{
			"all paths":                   ir.PostDominators(f).IDom,
			"paths that do not end early": func(b ir.BlockID) ir.BlockID { return ir.PostDom(f)[b] },
		} {
			s := simt{t: t, f: f, k: k, join: join, lanes: make([]lane, 4)}
			for i := range s.lanes {
				s.lanes[i].when = map[instance]int{}
			}
			s.run([]int{0, 1, 2, 3}, 0, ir.NoBlock)
			for i, a := range s.lanes {
				for x, at := range a.when {
					first := f.Blocks[x.block].Instrs
					if len(first) == 0 || !k.Convergent(first[0]) {
						continue
					}
					for j, b := range s.lanes[:i] {
						other, both := b.when[x]
						if both && other != at {
							t.Fatalf("%s: lanes %d and %d execute b%d in iterations %s at %d and %d\n%s",
								name, j, i, x.block, x.iters, other, at, f)
						}
						if both && k.LoopOf(x.block) != nil {
							together++
						}
					}
				}
			}
		}
	})
	if together < 100 {
		t.Errorf("lanes executed convergent blocks of loops together %d times only", together)
	}
}

// TestConvergentLoops has loops whose blocks are convergent or not, and why.
func TestConvergentLoops(t *testing.T) {
	set, ret := irtest.Op("mov.u32", "r", 1), irtest.Op("ret")
	block := func(name string, end ...irtest.Stmt) irtest.Part {
		return irtest.Block(name, append([]irtest.Stmt{set}, end...)...)
	}
	to := func(name string) irtest.Stmt { return irtest.If("p", name) }
	for _, tt := range []struct {
		name   string
		blocks []irtest.Part
		want   string // the convergent blocks
	}{
		{"lanes that leave wait behind the loop for those that stay", []irtest.Part{
			block("a"), block("l", to("l")), block("z", ret)}, "a l z"},
		{"an if in a loop merges before the next iteration", []irtest.Part{
			block("a"), block("l", to("m")), block("n"), block("m", to("l")), block("z", ret)}, "a l n m z"},
		{"a continue leads to the header, which all lanes reach with one more iteration", []irtest.Part{
			block("a"), block("l", to("z")), block("m", to("l")), block("n", irtest.Goto("l")), block("z", ret)},
			"a l m n z"},
		{"lanes that continue are one iteration ahead at n, where those that do not wait for them",
			[]irtest.Part{block("a"), block("l", to("l")), block("n", to("l")), block("z", ret)}, "a z"},
		{"lanes of several iterations leave to n, and others to y, one after the other", []irtest.Part{
			block("a"), block("l", to("n")), block("m", to("l")), block("y", irtest.Goto("z")), block("n"),
			block("z", ret)}, "a l m z"},
		{"an inner loop is left before the outer one goes on", []irtest.Part{
			block("a"), block("l"), block("m", to("m")), block("n", to("l")), block("z", ret)}, "a l m n z"},
		{"a continue of the outer loop that goes past n, where the others wait", []irtest.Part{
			block("a"), block("l"), block("m", to("m")), block("o", to("l")), block("n", to("l")),
			block("z", ret)}, "a z"},
		// A path that ends the thread counts in the textbook, so that lanes do not reconverge before the
		// end of the kernel.
		{"the same, where a path ends the thread", []irtest.Part{
			block("a"), block("l", to("c")), block("n", to("l")), block("z", ret), block("c", to("e")),
			block("d", irtest.Goto("l")), block("e", irtest.Op("exit"))}, "a"},
		// Even lanes may wait at n for odd ones, which wait for them at the barrier of the next iteration.
		{"a barrier in a loop in which lanes get to different iterations", []irtest.Part{
			block("a"), block("l", irtest.Op("bar.sync", "_", 0), to("l")), block("n", to("l")), block("z", ret)},
			""},
		{"one in a loop in which they do not", []irtest.Part{
			block("a"), block("l", irtest.Op("bar.sync", "_", 0), to("l")), block("z", ret)}, "a l z"},
		{"an operation of the warp that two paths lead to", []irtest.Part{
			block("a", to("c")), block("b", to("z")), block("n", irtest.Goto("m")), block("c", to("z")),
			block("m", irtest.Op("bar.warp.sync", -1)), block("z", ret)}, ""},
	} {
		parts := append([]irtest.Part{irtest.Regs("r u32", "p pred")}, tt.blocks...)
		f := irtest.Fun("k", parts...)
		k, err := kernel.Analyze(f, kernel.Options{Lockstep: true})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, b := range f.Blocks {
			if k.Convergent(b.Instrs[0]) {
				got += " " + b.Label
			}
		}
		if strings.TrimSpace(got) != tt.want {
			t.Errorf("%s: convergent are%s, want %s\n%s", tt.name, got, tt.want, f)
		}
	}
}

// reached are the blocks on paths from a block that do not enter stop.
func reached(f *ir.Func, from, stop ir.BlockID) map[ir.BlockID]bool {
	seen := map[ir.BlockID]bool{}
	var walk func(b ir.BlockID)
	walk = func(b ir.BlockID) {
		if b == stop || seen[b] {
			return
		}
		seen[b] = true
		for _, s := range f.Blocks[b].Succs {
			walk(s)
		}
	}
	walk(from)
	return seen
}

// TestConvergentOutsideLoops: a block in no loop is convergent if no branch leads to it by two
// successors before its paths reconverge.
func TestConvergentOutsideLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, k := analyzed(t, true)
		post, unended := ir.PostDominators(f), ir.PostDom(f)
		for b := range f.Blocks {
			in := f.Blocks[b].Last()
			if in == nil || k.BlockOf(in) != ir.BlockID(b) || k.LoopOf(ir.BlockID(b)) != nil {
				continue
			}
			want := true
			for _, x := range f.Blocks {
				for i, s := range x.Succs {
					for _, u := range x.Succs[i+1:] {
						for _, stop := range []ir.BlockID{post.IDom(x.ID), unended[x.ID]} {
							if u != s && reached(f, s, stop)[ir.BlockID(b)] && reached(f, u, stop)[ir.BlockID(b)] {
								want = false
							}
						}
					}
				}
			}
			if got := k.Convergent(in); got != want {
				t.Fatalf("b%d: convergent is %v\n%s", b, got, f)
			}
		}
	})
}
