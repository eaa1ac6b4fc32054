package ir_test

import (
	"slices"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	. "heddle/internal/ir/irtest"
)

func TestInferPointers(t *testing.T) {
	regs := Regs("a u64", "b u64", "c u64", "d u64", "i u32", "p pred", "v u32")
	for _, c := range []struct {
		name  string
		stmts []Stmt
		want  []string // of the parameters x and y
	}{
		{"base of an access", []Stmt{Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.u32", "v", Mem{Base: "a", Off: 4})}, []string{"x"}},
		{"tile of a matrix", []Stmt{Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("wmma.load.a.sync.aligned.row.m8n8k32.s4", []any{"v"}, Mem{Base: "a"}), Op("wmma.store.d.sync.aligned.row.m8n8k32.global.s32", Mem{Base: "b"}, []any{"v", "v"})},
			[]string{"x", "y"}},
		{"cvta", []Stmt{Op("ld.param.u64", "a", Mem{Base: "y"}), Op("cvta.to.global.u64", "b", "a")}, []string{"y"}},
		{"through mov, add and mad", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("mov.b64", "b", "a"), Op("add.s64", "c", "b", 16),
			Op("mad.wide.u32", "d", "i", 4, "c"), Op("st.global.u32", Mem{Base: "d"}, "v")}, []string{"x"}},
		{"an index is no pointer", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("cvta.to.global.u64", "c", "a"), Op("add.s64", "d", "b", "c"), Op("ld.global.u8", "v", Mem{Base: "d"})}, []string{"x"}},
		{"a scaled index is no pointer", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("shl.b64", "c", "b", 2), Op("add.s64", "d", "c", "a"), Op("ld.global.u32", "v", Mem{Base: "d"})}, []string{"x"}},
		{"an index of a variable is no pointer", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("mov.u64", "b", "glob"),
			Op("add.s64", "d", "b", "a"), Op("ld.global.u8", "v", Mem{Base: "d"})}, nil},
		{"selp takes both", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("selp.b64", "c", "a", "b", "p"), Op("atom.global.add.u32", "v", Mem{Base: "c"}, 1)}, []string{"x", "y"}},
		{"a value that is only stored", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("st.global.u64", Mem{Base: "a"}, "b")}, []string{"x"}},
		{"shared addresses", []Stmt{Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.shared.u32", "v", Mem{Base: "a"})}, nil},
		{"through a local copy", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("mov.u64", "b", "frame"), Op("st.local.u64", Mem{Base: "b", Off: 8}, "a"),
			Op("cvta.local.u64", "c", "b"), Op("ld.u64", "d", Mem{Base: "c", Off: 8}), Op("ld.global.u32", "v", Mem{Base: "d"})}, []string{"x"}},
		{"through the address of the parameter", []Stmt{
			Op("mov.b64", "a", "x"), Op("ld.param.u64", "b", Mem{Base: "a"}), Op("ld.global.u32", "v", Mem{Base: "b"})}, []string{"x"}},
		{"the source of cp.async", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("cp.async.ca.shared.global", Mem{Base: "b"}, Mem{Base: "a"}, 4)}, []string{"x"}},
		{"the source of a bulk copy", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", Mem{Base: "b"}, Mem{Base: "a"}, 16,
				Mem{Base: "c"})}, []string{"x"}},
		{"the destination of a bulk copy", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.param.u64", "b", Mem{Base: "y"}),
			Op("cp.async.bulk.global.shared::cta.bulk_group", Mem{Base: "b"}, Mem{Base: "a"}, 16)}, []string{"y"}},
		{"loop", []Stmt{
			Op("ld.param.u64", "a", Mem{Base: "x"}), Op("ld.global.u32", "v", Mem{Base: "a"}), Op("add.s64", "a", "a", 4)}, []string{"x"}},
	} {
		k := Fun("k", regs, Param("x", 8), Param("y", 8), Var("glob", event.Global, 64, 8), Var("frame", event.Local, 64, 8),
			Block("entry", append(c.stmts, Op("ret"))...))
		ir.InferPointers(k)
		var got []string
		for _, v := range k.Params {
			if v.Pointer {
				got = append(got, v.Name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: pointers %v, want %v", c.name, got, c.want)
		}
	}
}

// The fields of a struct parameter, also by vector loads.
func TestInferPointerFields(t *testing.T) {
	k := Fun("k", Regs("a u64", "b u64", "v u32"), Param("s", 32),
		Block("entry",
			Op("ld.param.u64", "a", Mem{Base: "s", Off: 8}),
			Op("st.global.u32", Mem{Base: "a"}, 1),
			Op("ld.param.v2.u64", []any{"a", "b"}, Mem{Base: "s", Off: 16}),
			Op("ld.global.u32", "v", Mem{Base: "b"}),
			Op("ret")))
	// a is written twice, and a flow-insensitive analysis takes both.
	ir.InferPointers(k)
	if s := k.Params[0]; s.Pointer || !slices.Equal(s.PtrFields, []int{8, 16, 24}) {
		t.Errorf("Pointer %v, PtrFields %v", s.Pointer, s.PtrFields)
	}
}
