package ir_test

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	. "heddle/internal/ir/irtest"
)

// A kernel and a function that it calls, in one module with shared variables: Layout takes those
// that either mentions, aligned, and puts all arrays without bound at the end.
func TestLayout(t *testing.T) {
	k := Fun("k",
		Regs("q u64"),
		Var("local", event.Local, 16, 8), // not shared
		Var("own", event.Shared, 10, 2),
		Var("unused", event.Shared, 1000, 4),
		Block("entry", Op("mov.u64", "q", "own"), Op("ret")))
	f := Fun("f",
		Regs("q u64"),
		Var("callee", event.Shared, 8, 8),
		Block("entry", Op("mov.u64", "q", "callee"), Op("ret")))
	shared := func(name string, size, align int) *ir.Var {
		return &ir.Var{Name: name, Space: event.Shared, Size: size, Align: align, Unsized: size == 0}
	}
	m := k.Module
	f.Module, f.Kernel, f.Index = m, false, 1
	m.Funcs = append(m.Funcs, f)
	m.Vars = []*ir.Var{shared("first", 3, 1), shared("other", 100, 16), shared("dyn", 0, 4), shared("dyn2", 0, 16)}
	mention := func(g *ir.Func, v *ir.Var) {
		b := g.Blocks[0]
		b.Instrs[0].Src = append(b.Instrs[0].Src, ir.Operand{Kind: ir.VarAddr, Reg: ir.NoReg, Var: v})
	}
	mention(k, m.Vars[0])
	mention(f, m.Vars[2])
	mention(f, m.Vars[3])

	// Nothing calls f yet.
	vars, size := ir.Layout(k)
	if len(vars) != 2 || vars[0].Name != "first" || vars[1].Name != "own" || vars[1].At != 4 || size != 14 {
		t.Errorf("without f: %v, size %d", vars, size)
	}

	k.Blocks[0].Instrs[0].Src = append(k.Blocks[0].Instrs[0].Src, ir.Operand{Kind: ir.FuncAddr, Reg: ir.NoReg, Func: f})
	vars, size = ir.Layout(k)
	want := []struct {
		name string
		at   int
	}{{"first", 0}, {"own", 4}, {"callee", 16}, {"dyn", 32}, {"dyn2", 32}}
	if len(vars) != len(want) || size != 32 {
		t.Fatalf("with f: %d variables, size %d", len(vars), size)
	}
	for i, w := range want {
		if vars[i].Name != w.name || vars[i].At != w.at {
			t.Errorf("%s at %d, want %s at %d", vars[i].Name, vars[i].At, w.name, w.at)
		}
	}
}

// A function whose address stands in the initialiser of a variable that the kernel uses can run.
func TestReachableFuncs(t *testing.T) {
	k := Fun("k", Regs("q u64"), Block("entry", Op("mov.u64", "q", 0), Op("ret")))
	f := Fun("f", Block("entry", Op("ret")))
	g := Fun("g", Block("entry", Op("ret")))
	inner := &ir.Var{Name: "inner", Space: event.Global, Relocs: []ir.Reloc{{Func: f}}}
	table := &ir.Var{Name: "table", Space: event.Global, Relocs: []ir.Reloc{{Target: inner}}}
	k.Module.Funcs = []*ir.Func{k, f, g}
	k.Blocks[0].Instrs[0].Src[0] = ir.Operand{Kind: ir.VarAddr, Reg: ir.NoReg, Var: table}
	got := ir.ReachableFuncs(k)
	if len(got) != 2 || got[0] != k || got[1] != f {
		t.Errorf("%d functions", len(got))
	}
}
