package alu

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// compareOracle is a comparison by the tables of PTX ISA 9.3.1 on exact values.
func compareOracle(op isa.Cmp, t isa.Type, a, b uint64, ftz bool) bool {
	var order int
	unordered := false
	if l, ok := layouts[t]; ok {
		x, y := l.decode(a), l.decode(b)
		unordered = x.nan || y.nan
		if !unordered {
			order = realOrder(l, x).Cmp(realOrder(l, y))
			if ftz {
				order = flushed(l, x).Cmp(flushed(l, y))
			}
		}
	} else {
		order = bigInt(t, a).Cmp(bigInt(t, b))
	}
	switch op {
	case isa.EQ:
		return !unordered && order == 0
	case isa.NE:
		return !unordered && order != 0
	case isa.LT, isa.LO:
		return !unordered && order < 0
	case isa.LE, isa.LS:
		return !unordered && order <= 0
	case isa.GT, isa.HI:
		return !unordered && order > 0
	case isa.GE, isa.HS:
		return !unordered && order >= 0
	case isa.EQU:
		return unordered || order == 0
	case isa.NEU:
		return unordered || order != 0
	case isa.LTU:
		return unordered || order < 0
	case isa.LEU:
		return unordered || order <= 0
	case isa.GTU:
		return unordered || order > 0
	case isa.GEU:
		return unordered || order >= 0
	case isa.NUM:
		return !unordered
	}
	return unordered
}

// realOrder is a number that orders as v does: infinities are beyond all numbers.
func realOrder(l layout, v value) *big.Rat {
	if v.inf {
		x := pow2(l.maxExp + 2)
		if v.neg {
			x.Neg(x)
		}
		return x
	}
	return v.rat
}

func flushed(l layout, v value) *big.Rat {
	x := realOrder(l, v)
	if new(big.Rat).Abs(x).Cmp(pow2(l.minExp)) < 0 {
		return new(big.Rat)
	}
	return x
}

// comparands draws two operands, equal now and then.
func comparands(r *rand.Rand, t isa.Type) (a, b uint64) {
	draw := func() uint64 {
		if _, ok := layouts[t]; ok {
			return floatOperand(r, t)
		}
		return operand(r) & ones(uint64(8*t.Size()))
	}
	a, b = draw(), draw()
	if r.IntN(3) == 0 {
		b = a
	}
	return a, b
}

func boolOp(fn isa.Fn, t, c bool) bool {
	switch fn {
	case isa.FnAnd:
		return t && c
	case isa.FnOr:
		return t || c
	case isa.FnXor:
		return t != c
	}
	return t
}

// elementType is the type of the halves of a packed type.
func elementType(t isa.Type) (isa.Type, bool) {
	switch t {
	case isa.F16x2:
		return isa.F16, true
	case isa.BF16x2:
		return isa.BF16, true
	}
	return t, false
}

// PTX ISA 9.7.6.1, 9.7.6.2, 9.7.7.1, 9.7.7.2.
func TestSetAndSetp(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	yes := map[isa.Type]uint64{isa.U32: 0xffffffff, isa.S32: 0xffffffff, isa.U16: 0xffff,
		isa.S16: 0xffff,
		isa.F32: 0x3f800000, isa.F16: 0x3c00, isa.BF16: 0x3f80, isa.F16x2: 0x3c00, isa.BF16x2: 0x3f80}
	for _, text := range forms() {
		isSetp := strings.HasPrefix(text, "setp.")
		if !isSetp && !strings.HasPrefix(text, "set.") {
			continue
		}
		d := desc(t, text)
		f := lookup(t, text)
		src := d.SType
		if isSetp {
			src = d.Type
		}
		elem, packed := elementType(src)
		ftz := d.Has(isa.FTZ) && elem != isa.BF16
		for range 4 {
			before := randomState(r)
			for l := range 32 {
				a, b := comparands(r, elem)
				if packed {
					a2, b2 := comparands(r, elem)
					a, b = a|a2<<16, b|b2<<16
				}
				before.s[0][l], before.s[1][l] = a, b
			}
			after := run(f, *before, full)
			for l := range 32 {
				a, b, c := before.s[0][l], before.s[1][l], before.ps[0]>>l&1 == 1
				low := compareOracle(d.Cmp, elem, a&ones(uint64(8*elem.Size())), b&ones(uint64(8*elem.Size())),
					ftz)
				second := !low
				if packed {
					second = compareOracle(d.Cmp, elem, a>>16, b>>16, ftz)
				}
				p, q := boolOp(d.Fn, low, c), boolOp(d.Fn, second, c)
				if isSetp {
					if gp, gq := after.pd[0]>>l&1 == 1, after.pd[1]>>l&1 == 1; gp != p || gq != q {
						t.Fatalf("%s %#x, %#x, %v = %v|%v, want %v|%v", text, a, b, c, gp, gq, p, q)
					}
					continue
				}
				var exp uint64
				y := yes[d.Type]
				if packed {
					y &= 0xffff
					exp = uint64(b2u(q)) * y << 16
				}
				exp |= uint64(b2u(p)) * y
				if after.d[0][l] != exp {
					t.Fatalf("%s %#x, %#x, %v = %#x, want %#x", text, a, b, c, after.d[0][l], exp)
				}
			}
		}
	}
}

// A sink takes no predicate.
func TestSinks(t *testing.T) {
	a, b := splat(1), splat(2)
	p := uint32(0)
	lookup(t, "setp.lt.s32")(&Ops{S: [4]*Lanes{a, b}, PD: [2]*uint32{nil, &p}}, full)
	if p != 0 {
		t.Errorf("second predicate %#x, want 0: it is the complement", p)
	}
	lookup(t, "setp.lt.s32")(&Ops{S: [4]*Lanes{a, b}, PD: [2]*uint32{&p, nil}}, 0xff)
	if p != 0xff {
		t.Errorf("first predicate %#x, want 0xff", p)
	}
	// 9.7.8.6: the destination of lop3.BoolOp may be "_".
	lookup(t, "lop3.and.b32")(&Ops{S: [4]*Lanes{a, b, b, splat(0xfe)}, PD: [2]*uint32{&p},
		PS: [2]uint32{0xf0f}}, full)
	if p != 0xf0f {
		t.Errorf("lop3 predicate %#x, want 0xf0f", p)
	}
}

// Predicates: PTX ISA 9.7.8.1 to 9.7.8.4, 9.7.9.3, 9.7.6.3.
func TestPredicates(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint32
	}{
		{"and.pred", 0b1000}, {"or.pred", 0b1110}, {"xor.pred", 0b0110}, {"not.pred", 0b0011},
		{"mov.pred", 0b1100},
	} {
		p := uint32(0xa0)
		lookup(t, c.text)(&Ops{PD: [2]*uint32{&p}, PS: [2]uint32{0b1100, 0b1010}}, 0xf)
		if p != 0xa0|c.want {
			t.Errorf("%s = %#b, want %#b", c.text, p, 0xa0|c.want)
		}
	}
	var d Lanes
	lookup(t, "selp.f64")(&Ops{D: [2]*Lanes{&d}, S: [4]*Lanes{splat(5), splat(6)},
		PS: [2]uint32{1 << 3}}, full)
	if d[3] != 5 || d[4] != 6 {
		t.Errorf("selp = %d, %d, want 5, 6", d[3], d[4])
	}
}
