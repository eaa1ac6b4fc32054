package kernel_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/ir/irtest"
	"heddle/internal/lockstep/kernel"
)

const registers = 4

// randomKernel draws a kernel of up to eight blocks, with branches anywhere, whose instructions
// compute, copy and wait.
func randomKernel(t *rapid.T) *ir.Func {
	n := rapid.IntRange(1, 8).Draw(t, "blocks")
	reg := func() string { return fmt.Sprint("r", rapid.IntRange(0, registers-1).Draw(t, "register")) }
	parts := []irtest.Part{
		irtest.Regs("r0 u32", "r1 u32", "r2 u32", "r3 u32", "p pred"),
		irtest.Var("s", event.Shared, 64, 16), irtest.Var("g", event.Global, 64, 16),
	}
	for b := range n {
		var body []irtest.Stmt
		for range rapid.IntRange(0, 3).Draw(t, "instructions") {
			var s irtest.Stmt
			switch rapid.IntRange(0, 6).Draw(t, "instruction") {
			case 0, 1:
				s = irtest.Op("add.u32", reg(), reg(), reg())
			case 2:
				s = irtest.Op("st.shared.u32", irtest.Mem{Base: "s"}, reg())
			case 3:
				s = irtest.Op("cp.async.ca.shared.global", irtest.Mem{Base: "s"}, irtest.Mem{Base: "g"}, 4)
			case 4:
				s = irtest.Op("cp.async.commit_group")
			case 5:
				s = irtest.Op("cp.async.wait_group", rapid.IntRange(0, 1).Draw(t, "groups"))
			default:
				s = irtest.Op("cp.async.wait_all")
			}
			if rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
				s = irtest.When("p", s)
			}
			body = append(body, s)
		}
		to := fmt.Sprint("b", rapid.IntRange(0, n-1).Draw(t, "to"))
		switch kind := rapid.IntRange(0, 4).Draw(t, "end"); {
		case b == n-1:
			body = append(body, irtest.Op("ret"))
		case kind == 0:
			body = append(body, irtest.Goto(to))
		case kind == 1:
			body = append(body, irtest.When("p", irtest.Op("ret")))
		case kind < 4:
			body = append(body, irtest.If("p", to))
		}
		parts = append(parts, irtest.Block(fmt.Sprint("b", b), body...))
	}
	return irtest.Fun("k", parts...)
}

// analyzed draws a kernel that is reducible.
func analyzed(t *rapid.T, lockstep bool) (*ir.Func, *kernel.Facts) {
	f := randomKernel(t)
	k, err := kernel.Analyze(f, kernel.Options{Lockstep: lockstep})
	if err != nil {
		if ir.FindLoops(f, ir.Dominators(f)).Reducible {
			t.Fatal(err)
		}
		t.Skip("irreducible")
	}
	return f, k
}

// reads and writes are the registers of an instruction of randomKernel, straight from its operands.
func reads(in *ir.Instr, r ir.RegID) bool {
	has := func(o ir.Operand) bool { return (o.Kind == ir.Register || o.Kind == ir.Mem) && o.Reg == r }
	return in.Guard == r || slices.ContainsFunc(in.Src, has) || in.Guard != ir.NoReg && writes(in, r)
}

func writes(in *ir.Instr, r ir.RegID) bool {
	return slices.ContainsFunc(in.Dst, func(o ir.Operand) bool { return o.Kind == ir.Register && o.Reg == r })
}

// TestLiveness: a register is live at a block if some path from there reads it before it overwrites
// it.
func TestLiveness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, k := analyzed(t, false)
		var seen map[ir.BlockID]bool
		var live func(b ir.BlockID, r ir.RegID) bool
		live = func(b ir.BlockID, r ir.RegID) bool {
			if seen[b] {
				return false
			}
			seen[b] = true
			for _, in := range f.Blocks[b].Instrs {
				if reads(in, r) {
					return true
				}
				if writes(in, r) {
					return false
				}
			}
			return slices.ContainsFunc(f.Blocks[b].Succs, func(s ir.BlockID) bool { return live(s, r) })
		}
		for b := range f.Blocks {
			for r := range f.Regs {
				seen = map[ir.BlockID]bool{}
				if want := live(ir.BlockID(b), ir.RegID(r)); k.Live(ir.BlockID(b), r) != want {
					t.Fatalf("%s at b%d: live is %v\n%s", f.Regs[r].Name, b, !want, f)
				}
			}
		}
	})
}

// walk executes a random path of a kernel, and calls visit for each instruction with whether its
// guard holds.
func walk(t *rapid.T, f *ir.Func, enter func(ir.BlockID), visit func(in *ir.Instr, holds bool)) (ended bool) {
	b := ir.BlockID(0)
	for range 40 {
		enter(b)
		blk := f.Blocks[b]
		next := len(blk.Succs) - 1
		for _, in := range blk.Instrs {
			holds := in.Guard == ir.NoReg || rapid.Bool().Draw(t, "guard")
			visit(in, holds)
			switch {
			case in.Leaves() && holds:
				return true
			case in.IsTerminator() && holds:
				next = 0
			}
		}
		b = blk.Succs[next]
	}
	return false
}

// TestSharedReach: a thread reaches a block as often as it reaches the block whose reach condition
// it shares, and in turn. A loop is reached once, by an edge from outside.
func TestSharedReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, k := analyzed(t, false)
		owed := map[ir.BlockID]bool{} // blocks whose dominator was reached, and that are to follow
		var path []ir.BlockID
		ended := walk(t, f, func(b ir.BlockID) {
			l := k.LoopOf(b)
			again := l != nil && l.Header == b && len(path) > 0 && l.Contains(path[len(path)-1])
			path = append(path, b)
			if d := k.SharedReach(b); d != ir.NoBlock && !again {
				if !owed[b] {
					t.Fatalf("path %v reaches b%d without b%d\n%s", path, b, d, f)
				}
				owed[b] = false
			}
			for _, x := range k.Order() {
				if k.SharedReach(x) == b {
					if owed[x] {
						t.Fatalf("path %v reaches b%d twice without b%d\n%s", path, b, x, f)
					}
					owed[x] = true
				}
			}
		}, func(*ir.Instr, bool) {})
		for b, is := range owed {
			if ended && is {
				t.Fatalf("path %v ends without b%d\n%s", path, b, f)
			}
		}
	})
}

// TestPending: a copy that a thread has not waited for is among those that may be pending (PTX ISA
// 9.7.9.25.3: groups complete in order, and a copy belongs to a group once it is committed).
func TestPending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, k := analyzed(t, false)
		var open []*ir.Instr     // copies in no group
		var groups [][]*ir.Instr // committed, the oldest first
		walk(t, f, func(ir.BlockID) {}, func(in *ir.Instr, holds bool) {
			for _, c := range slices.Concat(open, slices.Concat(groups...)) {
				if !slices.Contains(k.Pending(in), c) {
					t.Fatalf("copy #%d is pending at #%d\n%s", c.Index, in.Index, f)
				}
			}
			if !holds {
				return
			}
			switch in.Op() {
			case "cp.async":
				open = append(open, in)
			case "cp.async.commit_group":
				groups, open = append(groups, open), nil
			case "cp.async.wait_group":
				groups = groups[max(0, len(groups)-int(in.Src[0].Val)):]
			case "cp.async.wait_all":
				groups, open = nil, nil
			}
		})
	})
}

// TestWaited: waits for all copies, or for all groups, end copies; nothing else does.
func TestWaited(t *testing.T) {
	cp := irtest.Op("cp.async.ca.shared.global", irtest.Mem{Base: "s"}, irtest.Mem{Base: "g"}, 4)
	commit, wait := irtest.Op("cp.async.commit_group"), irtest.Op("cp.async.wait_all")
	for _, tt := range []struct {
		name    string
		body    []irtest.Stmt
		pending int
	}{
		{"no wait", []irtest.Stmt{cp}, 1},
		{"wait for all", []irtest.Stmt{cp, wait}, 0},
		{"guarded wait", []irtest.Stmt{cp, irtest.When("p", wait)}, 1},
		{"wait for groups without a commit", []irtest.Stmt{cp, irtest.Op("cp.async.wait_group", 0)}, 1},
		{"wait for groups", []irtest.Stmt{cp, commit, irtest.Op("cp.async.wait_group", 0)}, 0},
		{"wait for all but one group", []irtest.Stmt{cp, commit, irtest.Op("cp.async.wait_group", 1)}, 1},
		{"a copy behind the commit", []irtest.Stmt{commit, cp, irtest.Op("cp.async.wait_group", 0)}, 1},
	} {
		f := irtest.Fun("k", irtest.Regs("p pred"), irtest.Var("s", event.Shared, 64, 16),
			irtest.Var("g", event.Global, 64, 16), irtest.Block("b", append(tt.body, irtest.Op("ret"))...))
		k, err := kernel.Analyze(f, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(k.Pending(f.Blocks[0].Last())); got != tt.pending {
			t.Errorf("%s: %d copies may be pending, want %d", tt.name, got, tt.pending)
		}
	}
}

// TestParts: which tags a kernel needs follows from its barriers, and each barrier ends the
// intervals of the parts that it orders.
func TestParts(t *testing.T) {
	build := func(ops ...irtest.Stmt) *ir.Func {
		return irtest.Fun("k", irtest.Block("b", append(ops, irtest.Op("ret"))...))
	}
	block, warp := irtest.Op("bar.sync", "_", 0), irtest.Op("bar.warp.sync", 1<<32-1)
	for _, tt := range []struct {
		name  string
		ops   []irtest.Stmt
		set   func(*ir.Func)
		parts int
		ends  [][]int // by barrier, the parts whose intervals it ends
	}{
		{"no barrier", nil, nil, 1, nil},
		{"a block barrier", []irtest.Stmt{block}, nil, 1, [][]int{{kernel.PartAll}}},
		{"a warp barrier", []irtest.Stmt{block, warp}, nil, 2,
			[][]int{{kernel.PartAll, 1}, {1}}},
		{"a barrier of shared memory", []irtest.Stmt{block, block}, func(f *ir.Func) {
			f.Blocks[0].Instrs[0].Orders = event.OrdersShared
		}, 3, [][]int{{kernel.PartAll, kernel.PartShared}, {kernel.PartAll, kernel.PartShared, kernel.PartGlobal}}},
		{"a grid barrier", []irtest.Stmt{block, block}, func(f *ir.Func) { f.Blocks[0].Instrs[0].Grid = true }, 2,
			[][]int{{kernel.PartAll, 1}, {kernel.PartAll}}},
	} {
		f := build(tt.ops...)
		if tt.set != nil {
			tt.set(f)
		}
		k, err := kernel.Analyze(f, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if k.Parts() != tt.parts {
			t.Errorf("%s: %d parts, want %d", tt.name, k.Parts(), tt.parts)
		}
		for i, want := range tt.ends {
			var got []int
			for p := range k.Parts() {
				if k.EndsInterval(f.Blocks[0].Instrs[i], p) {
					got = append(got, p)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: barrier %d ends intervals of parts %v, want %v", tt.name, i, got, want)
			}
		}
	}
}

// TestWarpMasks: a barrier of a warp is one of all lanes if its mask is known to name all of them:
// an operand -1, or a register that one unguarded move sets to -1 before the barrier, on each path
// to it. Another instruction may make another mask of -1, and a register that nothing has written may
// have any value.
func TestWarpMasks(t *testing.T) {
	const ones = 1<<32 - 1
	bar, ret := irtest.Op("bar.warp.sync", "m"), irtest.Op("ret")
	set := irtest.Op("mov.b32", "m", ones)
	one := func(ops ...irtest.Stmt) []irtest.Part {
		return []irtest.Part{irtest.Block("b", append(ops, ret)...)}
	}
	for _, tt := range []struct {
		name   string
		blocks []irtest.Part
		all    bool
	}{
		{"-1", one(irtest.Op("bar.warp.sync", ones)), true},
		{"a part", one(irtest.Op("bar.warp.sync", ones>>1)), false},
		{"one lane", one(irtest.Op("bar.warp.sync", 1)), false},
		{"a register", one(set, bar), true},
		{"a register with a part", one(irtest.Op("mov.b32", "m", 3), bar), false},
		{"a register that nothing writes", one(bar), false},
		{"a register that is written later", one(bar, set), false},
		{"two values", one(set, irtest.Op("mov.b32", "m", 1), bar), false},
		{"not of -1", one(irtest.Op("not.b32", "m", ones), bar), false},
		{"a sum", one(irtest.Op("add.u32", "m", ones, 1), bar), false},
		{"a guarded move", one(irtest.When("p", set), bar), false},
		{"a move of another register", one(irtest.Op("mov.b32", "m", "n"), bar), false},
		{"on each path", []irtest.Part{irtest.Block("a", set, irtest.If("p", "c")),
			irtest.Block("b", irtest.Op("mov.b32", "n", 1)), irtest.Block("c", bar, ret)}, true},
		{"on one path", []irtest.Part{irtest.Block("a", irtest.If("p", "c")), irtest.Block("b", set),
			irtest.Block("c", bar, ret)}, false},
		{"at the end of an iteration", []irtest.Part{irtest.Block("a"),
			irtest.Block("b", bar, set, irtest.If("p", "b")), irtest.Block("c", ret)}, false},
	} {
		stmts := append([]irtest.Part{irtest.Regs("m b32", "n b32", "p pred")}, tt.blocks...)
		k, err := kernel.Analyze(irtest.Fun("k", stmts...), kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := k.WarpPart() > 0; got != tt.all {
			t.Errorf("%s: a barrier of all lanes: %v", tt.name, got)
		}
	}
}
