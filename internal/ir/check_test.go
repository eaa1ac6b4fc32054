package ir_test

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	. "heddle/internal/ir/irtest"
	"heddle/internal/source"
)

func diamond() *ir.Func {
	return Fun("k",
		Regs("a u32", "b u32", "p pred", "q u64"),
		Param("in", 8),
		Var("buf", event.Shared, 64, 4),
		Block("entry",
			Op("mov.u32", "a", "%tid.x"),
			Op("setp.lt.u32", "p", "a", 3),
			If("!p", "join")),
		Block("then",
			Op("ld.param.u64", "q", Mem{Base: "in"}),
			Op("st.global.v2.u32", Mem{Base: "q", Off: 8}, []any{"a", "b"})),
		Block("join",
			Op("mov.u64", "q", "buf"),
			Op("ret")))
}

// Every rule of the checker is broken once, in a function that passes otherwise.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, want string
		breakIt    func(f *ir.Func)
	}{
		{"nothing", "", func(f *ir.Func) {}},
		{"edge without predecessor", "is not among its predecessors", func(f *ir.Func) { f.Blocks[2].Preds = f.Blocks[2].Preds[:1] }},
		{"predecessor without edge", "has no edge to it", func(f *ir.Func) { f.Blocks[1].Preds = append(f.Blocks[1].Preds, 2) }},
		{"successor out of range", "successor b9 does not exist", func(f *ir.Func) { f.Blocks[1].Succs[0] = 9 }},
		{"target is not the successor", "is not successor 0", func(f *ir.Func) { f.Blocks[0].Last().Src[0].Block = 1 }},
		{"fall-through missing", "1 successors, but", func(f *ir.Func) {
			f.Blocks[0].Succs, f.Blocks[1].Preds = f.Blocks[0].Succs[:1], nil
		}},
		{"fall-through elsewhere", "which is not the next block", func(f *ir.Func) {
			f.Blocks[1].Succs[0] = 0
			f.Link()
		}},
		{"terminator in the middle", "terminator in the middle", func(f *ir.Func) {
			b := f.Blocks[2]
			b.Instrs[0], b.Instrs[1] = b.Instrs[1], b.Instrs[0]
			f.Link()
		}},
		{"wrong index", "Index is 7, want 1", func(f *ir.Func) { f.Blocks[0].Instrs[1].Index = 7 }},
		{"wrong count", "NumInstrs is 3", func(f *ir.Func) { f.NumInstrs = 3 }},
		{"no span", "no span", func(f *ir.Func) { f.Blocks[0].Instrs[0].Span = source.Span{} }},
		{"no opcode", "no opcode", func(f *ir.Func) { f.Blocks[0].Instrs[0].Row = nil }},
		{"register out of range", "register 17 does not exist", func(f *ir.Func) { f.Blocks[0].Instrs[0].Dst[0].Reg = 17 }},
		{"destination is an immediate", "a destination of kind", func(f *ir.Func) { f.Blocks[0].Instrs[0].Dst[0].Kind = ir.Imm }},
		{"guard is no predicate", "guard is not a predicate", func(f *ir.Func) { f.Blocks[0].Last().Guard = 0 }},
		{"type", "a is of type .u32, but setp takes .pred", func(f *ir.Func) { f.Blocks[0].Instrs[1].Dst[0].Reg = 0 }},
		{"narrow register", "but mov takes .u64", func(f *ir.Func) { f.Blocks[2].Instrs[0].Dst[0].Reg = 0 }},
		{"vector element", "but st takes .u32", func(f *ir.Func) { f.Blocks[1].Instrs[1].Src[1].Elems[1].Reg = 2 }},
		{"address in a predicate", "an address needs an integer register", func(f *ir.Func) { f.Blocks[1].Instrs[1].Src[0].Reg = 2 }},
		{"special register", "special register 0 does not exist", func(f *ir.Func) { f.Blocks[0].Instrs[0].Src[0].Sreg = ir.NoSreg }},
		{"parameter outside the area", "does not fit a parameter area", func(f *ir.Func) { f.ParamSize = 4 }},
		{"block number", "block 1 has ID 5", func(f *ir.Func) { f.Blocks[1].ID = 5 }},
	} {
		f := diamond()
		c.breakIt(f)
		var msgs []string
		for _, err := range ir.Check(f) {
			msgs = append(msgs, err.Error())
		}
		got := strings.Join(msgs, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Registers may be wider than the instruction type for ld, st and cvt only, and floats never (PTX
// ISA 9.4.1, Tables 27 and 28).
func TestRegisterTypes(t *testing.T) {
	regs := Regs("p pred", "b16 b16", "b32 b32", "b64 b64", "u16 u16", "s32 s32", "u64 u64", "f32 f32", "f64 f64")
	for _, c := range []struct {
		op   string
		args []any
		ok   bool
	}{
		{"ld.global.u8", []any{"u16", Mem{Base: "u64"}}, true},
		{"ld.global.s16", []any{"u64", Mem{Base: "u64"}}, true},
		{"ld.global.b32", []any{"f32", Mem{Base: "u64"}}, true},
		{"ld.global.b32", []any{"f64", Mem{Base: "u64"}}, true},
		{"ld.global.f32", []any{"b64", Mem{Base: "u64"}}, true},
		{"ld.global.f32", []any{"s32", Mem{Base: "u64"}}, false},
		{"ld.global.u32", []any{"f32", Mem{Base: "u64"}}, false},
		{"ld.global.f32", []any{"f64", Mem{Base: "u64"}}, false},
		{"ld.global.u64", []any{"b32", Mem{Base: "u64"}}, false},
		{"st.global.u8", []any{Mem{Base: "u64"}, "b32"}, true},
		{"cvt.u32.u8", []any{"s32", "b64"}, true},
		{"cvt.rn.f32.s32", []any{"f32", "s32"}, true},
		{"cvt.rn.f32.s32", []any{"s32", "s32"}, false},
		{"add.u32", []any{"s32", "b32", "s32"}, true},
		{"add.u32", []any{"u64", "b32", "s32"}, false},
		{"add.s32", []any{"s32", "f32", "s32"}, false},
		{"add.f32", []any{"f32", "b32", "f32"}, true},
		{"and.b32", []any{"b32", "f32", "s32"}, true},
		{"mul.wide.s32", []any{"b64", "s32", "s32"}, true},
		{"mul.wide.s32", []any{"s32", "s32", "s32"}, false},
		{"shl.b64", []any{"b64", "b64", "s32"}, true},
		{"shl.b64", []any{"b64", "b64", "b64"}, false},
		{"mov.b64", []any{"b64", []any{"b32", "f32"}}, true},
		{"mov.b64", []any{"b64", []any{"b64", "b64"}}, false},
		{"selp.b32", []any{"b32", "b32", "b32", "p"}, true},
		{"selp.b32", []any{"b32", "b32", "b32", "b32"}, false},
	} {
		func() {
			defer func() {
				if r := recover(); (r == nil) != c.ok {
					t.Errorf("%s %v: %v, want ok = %v", c.op, c.args, r, c.ok)
				}
			}()
			Fun("k", regs, Block("entry", Op(c.op, c.args...), Op("ret")))
		}()
	}
}

func TestPrint(t *testing.T) {
	want := `kernel k
  param in .param.b8 size 8 align 8 at 0
  var buf .shared.b8 size 64 align 4 at 0
b0 entry:
    0  mov.u32 a, %tid.x
    1  setp.lt.u32 p, a, 3
    2  @!p bra b2
       -> b2 b1
b1 then: <- b0
    3  ld.param.u64 q, [in]
    4  st.global.v2.u32 [q+8], {a, b}
       -> b2
b2 join: <- b0 b1
    5  mov.u64 q, buf
    6  ret
`
	if got := diamond().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
