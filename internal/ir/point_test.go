package ir_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/testing/kernels"
)

// pointKernel has a point before and after a store, a barrier that can go, one that cannot be told
// (it is named by a register), and a function with a point that is called at two places, once by a
// table.
const pointKernel = `.version 8.3
.target sm_80
.address_size 64
.func f(.param .u64 p)
{
	.reg .u64 %p;
	ld.param.u64 %p, [p];
	.pragma "heddle.point 7";
	st.u32 [%p], 1;
	ret;
}
.global .u64 table[1] = {f};
.visible .entry k(.param .u64 a, .param .u32 which)
{
	.reg .u64 %a, %t, %f;
	.reg .u32 %w;
	ld.param.u64 %a, [a];
	ld.param.u32 %w, [which];
	.pragma "nounroll";
	.pragma "heddle.point 0";
	st.global.u32 [%a], 1;
	.pragma "heddle.point 1";
	.pragma "heddle.barrier 2";
	bar.sync 0;
	st.global.u32 [%a], 2;
	{
		.param .u64 arg;
		st.param.u64 [arg], %a;
		call.uni f, (arg);
	}
	mov.u64 %t, table;
	ld.global.u64 %f, [%t];
	.pragma "heddle.barrier 3";
	bar.sync %w;
	ret;
}
`

func ops(f *ir.Func) []string {
	var out []string
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			switch in.Op() {
			case "st", "bar", "bar.warp.sync", "heddle.point":
				out = append(out, in.Text())
			}
		}
	}
	return out
}

func TestPlaced(t *testing.T) {
	m := kernels.PTX(t, pointKernel)
	before := m.Kernel("k").String() + m.Funcs[0].String()
	if got, want := ir.Points(m.Kernel("k")), []int{0, 1, 2, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("points %v, want %v", got, want)
	}
	choose := func(on map[int]ir.Sync) ir.Choice {
		return func(n int) (ir.Sync, event.Orders) { return on[n], event.OrdersShared }
	}
	for _, tt := range []struct {
		name string
		on   map[int]ir.Sync
		k, f []string
	}{
		{"all that stand", map[int]ir.Sync{2: ir.BlockSync, 3: ir.BlockSync},
			[]string{"st.global.u32", "bar.sync", "st.global.u32", "st.param.u64", "bar.sync"}, []string{"st.u32"}},
		{"as it is", map[int]ir.Sync{0: ir.AsIs, 1: ir.AsIs, 2: ir.AsIs, 3: ir.AsIs, 7: ir.AsIs},
			[]string{"st.global.u32", "bar.sync", "st.global.u32", "st.param.u64", "bar.sync"}, []string{"st.u32"}},
		{"one goes", map[int]ir.Sync{3: ir.BlockSync},
			[]string{"st.global.u32", "st.global.u32", "st.param.u64", "bar.sync"}, []string{"st.u32"}},
		{"points of both functions", map[int]ir.Sync{0: ir.BlockSync, 3: ir.BlockSync, 7: ir.WarpSync},
			[]string{"bar.sync", "st.global.u32", "st.global.u32", "st.param.u64", "bar.sync"}, []string{"bar.warp.sync", "st.u32"}},
		{"a barrier of the block becomes one of the warp", map[int]ir.Sync{2: ir.WarpSync, 3: ir.BlockSync},
			[]string{"st.global.u32", "bar.warp.sync", "st.global.u32", "st.param.u64", "bar.sync"}, []string{"st.u32"}},
	} {
		p, err := ir.Placed(m, choose(tt.on))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range ir.CheckModule(p) {
			t.Errorf("%s: %v", tt.name, err)
		}
		k, f := p.Kernel("k"), p.Funcs[0]
		if got := ops(k); !slices.Equal(got, tt.k) {
			t.Errorf("%s: k has %v, want %v", tt.name, got, tt.k)
		}
		if got := ops(f); !slices.Equal(got, tt.f) {
			t.Errorf("%s: f has %v, want %v", tt.name, got, tt.f)
		}
		// What refers to functions refers to those of the copy.
		if got := ir.ReachableFuncs(k); len(got) != 2 || got[0] != k || got[1] != f {
			t.Errorf("%s: the copy calls functions outside of it", tt.name)
		}
		if p.Vars[0].Relocs[0].Func != f || m.Vars[0].Relocs[0].Func == f {
			t.Errorf("%s: the table of functions is not that of the copy", tt.name)
		}
	}
	if after := m.Kernel("k").String() + m.Funcs[0].String(); after != before {
		t.Errorf("the module has changed:\n%s\nwas\n%s", after, before)
	}
}

// TestPlacedOrders: a barrier at a point orders what the choice says, one that stands what it did.
func TestPlacedOrders(t *testing.T) {
	m := kernels.PTX(t, strings.Replace(pointKernel, "\tbar.sync 0;", "\t.pragma \"heddle.order global\";\n\tbar.sync 0;", 1))
	p, err := ir.Placed(m, func(n int) (ir.Sync, event.Orders) { return ir.BlockSync, event.OrdersShared })
	if err != nil {
		t.Fatal(err)
	}
	var got []event.Orders
	for _, in := range p.Kernel("k").Blocks[0].Instrs {
		if in.Row.Category == isa.Barrier {
			got = append(got, in.Orders)
		}
	}
	want := []event.Orders{event.OrdersShared, event.OrdersShared, event.OrdersGlobal, event.OrdersAll}
	if !slices.Equal(got, want) {
		t.Errorf("barriers order %v, want %v", got, want)
	}
}

// TestLostBarrier: a barrier that cannot be told from its mark does not silently stay.
func TestLostBarrier(t *testing.T) {
	m := kernels.PTX(t, pointKernel)
	_, err := ir.Placed(m, func(n int) (ir.Sync, event.Orders) { return ir.NoSync, event.OrdersAll })
	var lost *ir.LostBarrierError
	if !errors.As(err, &lost) || lost.Point != 3 {
		t.Errorf("error %v, want that of point 3", err)
	}
}

// TestPlacedGrid: a barrier of the grid is marked as one, and one that stands stays of the block.
func TestPlacedGrid(t *testing.T) {
	m := kernels.PTX(t, pointKernel)
	p, err := ir.Placed(m, func(int) (ir.Sync, event.Orders) { return ir.GridSync, event.OrdersAll })
	if err != nil {
		t.Fatal(err)
	}
	grid, block := 0, 0
	for _, b := range p.Kernel("k").Blocks {
		for _, in := range b.Instrs {
			switch {
			case in.Row.Category != isa.Barrier:
			case in.Grid:
				grid++
			default:
				block++
			}
		}
	}
	if grid != 2 || block != 2 {
		t.Errorf("%d barriers of the grid and %d of the block, want 2 and 2", grid, block)
	}
}
