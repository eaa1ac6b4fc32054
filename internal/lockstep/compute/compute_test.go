package compute_test

import (
	"slices"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ir/irtest"
	"heddle/internal/lockstep/compute"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/smt"
)

// values are operands of which the values are known.
type values struct {
	c *smt.Context
	f *ir.Func
	v map[string]uint64
}

func (v values) Read(o ir.Operand, w int) smt.Term {
	switch {
	case o.Kind == ir.Imm && w == 0:
		return smt.Bool(o.Val != 0)
	case o.Kind == ir.Imm:
		return v.c.Const(o.Val, w)
	}
	val := v.v[v.f.Regs[o.Reg].Name]
	if n := kernel.Width(v.f.Regs[o.Reg].Type); n > 0 {
		return v.Resize(v.c.Const(val, n), w, v.f.Regs[o.Reg].Type.Signed())
	}
	return smt.Bool(val != 0)
}

func (v values) Resize(t smt.Term, w int, signed bool) smt.Term {
	switch n := v.c.Width(t); {
	case n >= w:
		return v.c.Extract(t, 0, w)
	case signed:
		return v.c.SExt(t, w)
	}
	return v.c.ZExt(t, w)
}

// TestExecute: the results are those of the PTX ISA, in the section that each case names.
func TestExecute(t *testing.T) {
	const none = 1<<64 - 1
	for _, tt := range []struct {
		section string
		op      irtest.Stmt
		a, b    uint64
		want    []uint64 // nil: not modelled
	}{
		{"9.7.1.1", irtest.Op("add.u32", "d", "a", "b"), 1<<32 - 1, 2, []uint64{1}},
		{"9.7.1.3", irtest.Op("mul.hi.u32", "d", "a", "b"), 1 << 31, 6, []uint64{3}},
		{"9.7.1.3", irtest.Op("mul.wide.s32", "w", "a", "b"), 1<<32 - 1, 3, []uint64{1<<64 - 3}},
		{"9.7.1.4", irtest.Op("mad.lo.s32", "d", "a", "b", "a"), 5, 7, []uint64{40}},
		{"9.7.1.5", irtest.Op("mul24.lo.u32", "d", "a", "b"), 0xff000003, 2, []uint64{6}},
		{"9.7.1.5", irtest.Op("mul24.hi.u32", "d", "a", "b"), 0x800000, 0x20000, []uint64{0x1000000}},
		{"9.7.1.8", irtest.Op("div.s32", "d", "a", "b"), 1<<32 - 7, 2, []uint64{1<<32 - 3}},
		{"9.7.1.9", irtest.Op("rem.s32", "d", "a", "b"), 1<<32 - 7, 2, []uint64{1<<32 - 1}},
		{"9.7.1.10", irtest.Op("abs.s32", "d", "a"), 1<<32 - 7, 0, []uint64{7}},
		{"9.7.1.12", irtest.Op("min.s32", "d", "a", "b"), 1<<32 - 7, 2, []uint64{1<<32 - 7}},
		{"9.7.1.13", irtest.Op("max.u32", "d", "a", "b"), 1<<32 - 7, 2, []uint64{1<<32 - 7}},
		{"9.7.1.19", irtest.Op("bfe.s32", "d", "a", 4, 4), 0xf0, 0, []uint64{1<<32 - 1}},
		{"9.7.1.14", irtest.Op("popc.b32", "d", "a"), 0xf0000103, 0, []uint64{7}},
		{"9.7.1.15", irtest.Op("clz.b32", "d", "a"), 0x00012345, 0, []uint64{15}},
		{"9.7.1.15", irtest.Op("clz.b32", "d", "a"), 0, 0, []uint64{32}},
		{"9.7.1.16", irtest.Op("bfind.u32", "d", "a"), 0x00012345, 0, []uint64{16}},
		// No bit differs from the sign.
		{"9.7.1.16", irtest.Op("bfind.s32", "d", "a"), 1<<32 - 1, 0, []uint64{1<<32 - 1}},
		{"9.7.1.16", irtest.Op("bfind.shiftamt.u32", "d", "a"), 0x00012345, 0, []uint64{15}},
		{"9.7.1.18", irtest.Op("brev.b32", "d", "a"), 0x80000006, 0, []uint64{0x60000001}},
		// The field reaches beyond the source.
		{"9.7.1.19", irtest.Op("bfe.u32", "d", "a", 28, 8), 0xf00000f0, 0, []uint64{0xf}},
		{"9.7.1.20", irtest.Op("bfi.b32", "d", "a", "b", 4, 8), 0x5a, 0xffffffff, []uint64{0xfffff5af}},
		// The low 4 bits extended; .clamp limits the size to 32, .wrap takes it modulo 32.
		{"9.7.1.21", irtest.Op("szext.clamp.s32", "d", "a", 4), 0x5a, 0, []uint64{1<<32 - 6}},
		{"9.7.1.21", irtest.Op("szext.wrap.u32", "d", "a", 36), 0x5a, 0, []uint64{0xa}},
		{"9.7.1.21", irtest.Op("szext.clamp.u32", "d", "a", 36), 0x5a, 0, []uint64{0x5a}},
		// Bits from 4 on, 8 of them.
		{"9.7.1.22", irtest.Op("bmsk.clamp.b32", "d", "a", "b"), 4, 8, []uint64{0xff0}},
		{"9.7.1.22", irtest.Op("bmsk.wrap.b32", "d", "a", "b"), 36, 8, []uint64{0xff0}},
		{"9.7.1.23", irtest.Op("dp4a.u32.u32", "d", "a", "b", "a"), 0x01020304, 0x01010101,
			[]uint64{0x0102030e}},
		// The half-words of a times the lower or the upper two bytes of b, added to a.
		{"9.7.1.24", irtest.Op("dp2a.lo.u32.u32", "d", "a", "b", "a"), 0x00020003, 0x07060504,
			[]uint64{0x00020003 + 3*4 + 2*5}},
		{"9.7.1.24", irtest.Op("dp2a.hi.u32.u32", "d", "a", "b", "a"), 0x00020003, 0x07060504,
			[]uint64{0x00020003 + 3*6 + 2*7}},
		// |1 - 3| + 0xffff wraps in 16 bits.
		{"9.7.1.6", irtest.Op("sad.u16", "h", "h", 3, 0xffff), 0, 0, []uint64{1}},
		// The table of (a & b) | ~c, with c = a: bit 4x+2y+z is the result for x, y, z (9.7.8.6).
		{"9.7.8.6", irtest.Op("lop3.b32", "d", "a", "b", "a", 0xd5), 0b1100, 0b1010, []uint64{1<<32 - 5}},
		{"9.7.8.6", irtest.Op("lop3.or.b32", "d", "p", "a", "b", "a", 0xd5, "p"), 0b1100, 0b1010, nil},
		{"9.7.8.7", irtest.Op("shf.l.wrap.b32", "d", "a", "b", 36), 0xf0000000, 0x1, []uint64{0x1f}},
		{"9.7.8.7", irtest.Op("shf.r.clamp.b32", "d", "a", "b", 36), 0xf0000000, 0x1, []uint64{1}},
		{"9.7.9.7", irtest.Op("prmt.b32", "d", "a", "b", 0x0f54), 0x44332211, 0x88776655,
			[]uint64{0x11ff6655}},
		{"9.7.2.1", irtest.Op("addc.u32", "d", "a", "b"), 1, 2, nil}, // the carry is no operand
		{"9.7.5.1", irtest.Op("setp.lt.s32", "p", "a", "b"), 1<<32 - 7, 2, []uint64{1}},
		{"9.7.5.1", irtest.Op("setp.lt.u32", "p", "a", "b"), 1<<32 - 7, 2, []uint64{0}},
		{"9.7.5.2", irtest.Op("selp.u32", "d", "a", "b", "p"), 3, 4, []uint64{3}},
		{"9.7.7.1", irtest.Op("and.b32", "d", "a", "b"), 6, 3, []uint64{2}},
		{"9.7.7.5", irtest.Op("cnot.b32", "d", "a"), 0, 0, []uint64{1}},
		{"9.7.8.7", irtest.Op("shl.b32", "d", "a", "b"), 1, 33, []uint64{0}},
		{"9.7.8.7", irtest.Op("shl.b16", "h", "h", "b"), 1, 16, []uint64{0}},
		{"9.7.8.8", irtest.Op("shr.s32", "d", "a", "b"), 1 << 31, 40, []uint64{1<<32 - 1}},
		{"9.7.8.8", irtest.Op("shr.u32", "d", "a", "b"), 1 << 31, 31, []uint64{1}},
		{"9.7.9.4", irtest.Op("mov.b64", "w", []any{"a", "b"}), 1, 2, []uint64{2<<32 | 1}},
		{"9.7.9.4", irtest.Op("mov.b32", []any{"h", "h"}, "a"), 0x20001, 0, []uint64{1, 2}},
		{"9.7.9.22", irtest.Op("cvt.s64.s32", "w", "a"), 1<<32 - 7, 0, []uint64{1<<64 - 7}},
		{"9.7.9.22", irtest.Op("cvt.u16.u32", "h", "a"), 0x12345, 0, []uint64{0x2345}},
		{"9.7.3.1", irtest.Op("add.f32", "f", "f", "f"), 0, 0, nil},
	} {
		f := irtest.Fun("k", irtest.Regs("a b32", "b b32", "d b32", "h b16", "w b64", "p pred", "f f32"),
			irtest.Block("b", tt.op, irtest.Op("ret")))
		c, in := smt.New(), f.Blocks[0].Instrs[0]
		v := map[string]uint64{"a": tt.a, "b": tt.b, "h": 1, "p": 1}
		results, ok := compute.New(c, values{c, f, v}).Execute(in)
		var got []uint64
		for _, r := range results {
			x, known := c.Value(r.Value)
			switch {
			case r.Value == smt.True:
				x = 1
			case r.Value == smt.False:
				x = 0
			case !known:
				x = none
			}
			got = append(got, x)
		}
		if ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%s (%s) of %#x and %#x is %#x, %v; want %#x", in.Text(), tt.section, tt.a, tt.b, got, ok, tt.want)
		}
	}
}

// TestDivisionByZero: the result is a value that the ISA leaves open, the same for equal dividends.
func TestDivisionByZero(t *testing.T) {
	f := irtest.Fun("k", irtest.Regs("a u32", "b u32", "d u32"),
		irtest.Block("b", irtest.Op("div.u32", "d", "a", "b"), irtest.Op("ret")))
	c := smt.New()
	run := func(a, b uint64) smt.Term {
		v := values{c, f, map[string]uint64{"a": a, "b": b}}
		r, ok := compute.New(c, v).Execute(f.Blocks[0].Instrs[0])
		if !ok {
			t.Fatal("not modelled")
		}
		return r[0].Value
	}
	if x := run(5, 0); c.Op(x) != smt.OpApp {
		t.Errorf("5/0 is %s", c.String(x))
	}
	if again := run(5, 0); again != run(5, 0) || again == run(6, 0) {
		t.Error("the result is not a function of the dividend")
	}
}
