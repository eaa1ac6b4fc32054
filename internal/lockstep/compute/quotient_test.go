package compute_test

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ir/irtest"
	"heddle/internal/lockstep/compute"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/smt"
)

// registers are operands whose values are terms.
type registers struct {
	values
	terms map[string]smt.Term
}

func (r registers) Read(o ir.Operand, w int) smt.Term {
	if o.Kind == ir.Register {
		if t, ok := r.terms[r.f.Regs[o.Reg].Name]; ok {
			return r.Resize(t, w, false)
		}
	}
	return r.values.Read(o, w)
}

// division is the code of a division by a constant, as compilers write it.
type division struct {
	w      int // bits of the dividend
	signed bool
	d      uint64
	m      uint64 // the factor, modulo 2^w
	add    bool   // the factor is m + 2^w, or for signed numbers m as an unsigned one
	shift  int    // after the high half is taken
}

// divide returns the code for an unsigned or signed division by d (Granlund and Montgomery, figures
// 4.2 and 5.2).
func divide(w int, signed bool, d uint64) division {
	one := big.NewInt(1)
	l := bits.Len64(d - 1) // ceil(log2 d)
	v := division{w: w, signed: signed, d: d, shift: l}
	top := w + l
	if signed {
		v.shift, top = l-1, w+l-1
	}
	m := new(big.Int).Lsh(one, uint(top))
	m.Add(m.Div(m, new(big.Int).SetUint64(d)), one)
	limit := new(big.Int).Lsh(one, uint(w))
	if signed {
		v.add = m.Bit(w-1) != 0
	} else {
		v.add = m.Cmp(limit) >= 0
	}
	v.m = new(big.Int).Mod(m, limit).Uint64()
	return v
}

// code writes the division as instructions that leave the quotient in q.
func (v division) code() []irtest.Stmt {
	u, s := fmt.Sprintf("u%d", v.w), fmt.Sprintf("s%d", v.w)
	switch {
	case v.signed:
		out := []irtest.Stmt{irtest.Op("mul.hi."+s, "t", "a", int(v.m))}
		if v.add {
			out = append(out, irtest.Op("add."+s, "t", "t", "a"))
		}
		return append(out, irtest.Op("shr.u"+u[1:], "n", "t", v.w-1),
			irtest.Op("shr."+s, "q", "t", v.shift), irtest.Op("add."+s, "q", "q", "n"))
	case v.add:
		return []irtest.Stmt{irtest.Op("mul.hi."+u, "t", "a", int(v.m)),
			irtest.Op("sub."+u, "n", "a", "t"), irtest.Op("shr."+u, "n", "n", 1),
			irtest.Op("add."+u, "n", "n", "t"), irtest.Op("shr."+u, "q", "n", v.shift-1)}
	}
	return []irtest.Stmt{irtest.Op("mul.hi."+u, "t", "a", int(v.m)),
		irtest.Op("shr."+u, "q", "t", v.shift)}
}

// of is what the code computes for a dividend, by integers.
func (v division) of(a uint64) uint64 {
	num := func(x uint64) *big.Int {
		if v.signed && x>>(v.w-1) != 0 {
			return new(big.Int).Sub(new(big.Int).SetUint64(x), new(big.Int).Lsh(big.NewInt(1), uint(v.w)))
		}
		return new(big.Int).SetUint64(x)
	}
	m := new(big.Int).SetUint64(v.m)
	if v.signed && !v.add {
		m = num(v.m)
	} else if !v.signed && v.add {
		m.Add(m, new(big.Int).Lsh(big.NewInt(1), uint(v.w)))
	}
	q := new(big.Int).Mul(num(a), m)
	q.Rsh(q, uint(v.w)) // Rsh rounds down
	sign := q.Sign() < 0
	q.Rsh(q, uint(v.shift))
	if v.signed && sign {
		q.Add(q, big.NewInt(1))
	}
	return q.And(q, new(big.Int).SetUint64(1<<v.w-1)).Uint64()
}

// execute returns the term of the quotient for a dividend.
func (v division) execute(t *testing.T, c *smt.Context, a smt.Term) smt.Term {
	t.Helper()
	width := fmt.Sprintf(" b%d", v.w)
	f := irtest.Fun("k", irtest.Regs("a"+width, "t"+width, "n"+width, "q"+width),
		irtest.Block("b", append(v.code(), irtest.Op("ret"))...))
	r := registers{values{c, f, nil}, map[string]smt.Term{"a": a}}
	e := compute.New(c, r)
	for _, in := range f.Blocks[0].Instrs {
		if in.Op() == "ret" {
			break
		}
		results, ok := e.Execute(in)
		if !ok {
			t.Fatalf("%s is not modelled", in.Text())
		}
		r.terms[f.Regs[in.Dst[0].Reg].Name] = r.Resize(results[0].Value,
			kernel.Width(f.Regs[in.Dst[0].Reg].Type), false)
	}
	return r.terms["q"]
}

// TestQuotients: a division by a constant is one again, whatever the dividend is.
func TestQuotients(t *testing.T) {
	src := rand.New(rand.NewSource(1))
	for i := range 4000 {
		w, signed := 32<<src.Intn(2), src.Intn(2) > 0
		d := 3 + src.Uint64()>>(64-1-src.Intn(w-2))
		if i < 400 {
			d = uint64(3 + i/4)
		}
		if d&(d-1) == 0 {
			continue
		}
		v := divide(w, signed, d)
		if v.m>>15 == 0 {
			continue // a factor as small as those of addresses
		}
		c := smt.New()
		a := c.Var("a", w)
		want := c.UDiv
		if signed {
			want = c.SDiv
		}
		if q := v.execute(t, c, a); q != want(a, c.Const(d, w)) {
			t.Errorf("%+v is %s", v, c.String(q))
		}
	}
}

// TestNoQuotientAtTheLimit: with m = (2^33 + 2^10) / 3, a*m / 2^33 is (a + a/2^23) / 3. Up to 2^23
// - 1 its floor is that of a/3, and at 2^23 it is one more.
func TestNoQuotientAtTheLimit(t *testing.T) {
	v := division{w: 32, d: 3, m: 2863311872, shift: 1}
	for most, want := range map[uint64]uint64{1<<23 - 1: 2796202, 1 << 23: 2796203} {
		c := smt.New()
		q := v.execute(t, c, c.VarIn("a", 32, 0, most))
		got := c.Evaluate(&smt.Model{Vars: map[string]uint64{"a": most}}).Value(q)
		if got != want || (c.Op(q) == smt.OpUDiv) != (most < 1<<23) {
			t.Errorf("up to %d: %s is %d, want %d", most, c.String(q), got, want)
		}
	}
}

// TestNoQuotients: with any factor, shift and range, the term has the value that the code computes.
func TestNoQuotients(t *testing.T) {
	src := rand.New(rand.NewSource(2))
	quotients, others := 0, 0
	for range 6000 {
		w, signed := 32<<src.Intn(2), src.Intn(2) > 0
		v := divide(w, signed, 3+src.Uint64()>>(64-1-src.Intn(w-2)))
		if v.shift == 0 {
			continue
		}
		switch src.Intn(4) {
		case 0:
			v.m += uint64(src.Intn(5) - 2)
		case 1:
			v.m += (src.Uint64() >> src.Intn(w-2)) * uint64(src.Intn(2)*2-1)
		case 2:
			v.shift = 1 + src.Intn(w-1)
		}
		v.m &= 1<<w - 1
		if v.m>>15 == 0 || signed && v.add != (v.m>>(w-1) != 0) {
			continue // a factor as small as those of addresses; code that adds what it need not
		}
		most := src.Uint64() >> (64 - w + src.Intn(w-1))
		if src.Intn(3) == 0 {
			most = 1<<w - 1
		}
		c := smt.New()
		a := c.VarIn("a", w, 0, most)
		q := v.execute(t, c, a)
		exact := w == 32
		switch c.Op(q) {
		case smt.OpUDiv, smt.OpSDiv:
			exact = true
			quotients++
		default:
			others++
		}
		if !exact {
			continue // the high half of a product of 64 bits is no term
		}
		for j := range 40 {
			x := most - uint64(j/2)
			switch {
			case j%4 == 1:
				x = uint64(j)
			case j%4 == 3:
				x = src.Uint64() >> src.Intn(w)
			}
			if signed && j > 30 {
				x = 1<<(w-1) - 17 + uint64(j-14)
			}
			x &= 1<<w - 1
			if x > most {
				continue
			}
			got := c.Evaluate(&smt.Model{Vars: map[string]uint64{"a": x}}).Value(q)
			if want := v.of(x); got != want {
				t.Fatalf("%+v up to %d: %s is %d for %d, want %d", v, most, c.String(q), got, x, want)
			}
		}
	}
	if quotients < 1000 || others < 500 {
		t.Errorf("%d quotients, %d others", quotients, others)
	}
}

// TestArithmetic executes random products by factors that may divide, shifts, sums and differences
// of 32 bits, and compares the terms of all results with integers.
func TestArithmetic(t *testing.T) {
	src := rand.New(rand.NewSource(3))
	names := []string{"a", "b", "c", "d", "e"}
	declared := irtest.Regs("a b32", "b b32", "c b32", "d b32", "e b32")
	quotients := 0
	for range 4000 {
		factors := []uint64{0xaaaaaaab, 0x24924925, 0x92492493, 0xcccccccd, 1 << 20, src.Uint64() >> 32}
		first := src.Intn(len(factors))
		var code []irtest.Stmt
		var eval []func(r []uint32)
		for range 3 + src.Intn(8) {
			d, x, y := src.Intn(5), src.Intn(5), src.Intn(5)
			m := factors[first]
			if src.Intn(4) == 0 {
				m = factors[src.Intn(len(factors))]
			}
			n := []int{1, 1, 2, 3, 31, src.Intn(32)}[src.Intn(6)]
			op, args := "", []any{names[d], names[x]}
			var f func(x, y uint32) uint32
			switch src.Intn(9) {
			case 0, 1:
				op, args = "mul.hi.u32", append(args, int(m))
				f = func(x, _ uint32) uint32 { return uint32(uint64(x) * m >> 32) }
			case 2:
				op, args = "mul.hi.s32", append(args, int(m))
				f = func(x, _ uint32) uint32 { return uint32(int64(int32(x)) * int64(int32(m)) >> 32) }
			case 3, 4:
				op, args = "shr.u32", append(args, n)
				f = func(x, _ uint32) uint32 { return x >> n }
			case 5:
				op, args = "shr.s32", append(args, n)
				f = func(x, _ uint32) uint32 { return uint32(int32(x) >> n) }
			case 6:
				op, args = "sub.u32", append(args, names[y])
				f = func(x, y uint32) uint32 { return x - y }
			case 7:
				op, args = "add.s32", append(args, names[y])
				f = func(x, y uint32) uint32 { return x + y }
			default:
				op, args = "mul.lo.u32", append(args, int(m))
				f = func(x, _ uint32) uint32 { return x * uint32(m) }
			}
			code = append(code, irtest.Op(op, args...))
			eval = append(eval, func(r []uint32) { r[d] = f(r[x], r[y]) })
		}
		f := irtest.Fun("k", declared, irtest.Block("b", append(code, irtest.Op("ret"))...))
		c := smt.New()
		most := uint64(1)<<(1+src.Intn(32)) - 1
		a := c.VarIn("a", 32, 0, most)
		r := registers{values{c, f, nil}, map[string]smt.Term{"a": a, "b": c.Const(7, 32), "c": a,
			"d": c.LShr(a, c.Const(1, 32)), "e": c.Sub(a, c.Const(9, 32))}}
		e := compute.New(c, r)
		var results []smt.Term
		for i := range eval {
			in := f.Blocks[0].Instrs[i]
			out, ok := e.Execute(in)
			if !ok {
				t.Fatalf("%s is not modelled", in.Text())
			}
			results = append(results, out[0].Value)
			r.terms[f.Regs[in.Dst[0].Reg].Name] = out[0].Value
			if op := c.Op(out[0].Value); op == smt.OpUDiv || op == smt.OpSDiv {
				quotients++
			}
		}
		for j := range 60 {
			v := []uint64{uint64(j), most - uint64(j), src.Uint64(),
				src.Uint64() >> (32 + src.Intn(32))}[j%4]
			v &= most
			model := c.Evaluate(&smt.Model{Vars: map[string]uint64{"a": v}})
			x := uint32(v)
			regs := []uint32{x, 7, x, x >> 1, x - 9}
			for i, step := range eval {
				step(regs)
				in := f.Blocks[0].Instrs[i]
				d := slices.Index(names, f.Regs[in.Dst[0].Reg].Name)
				if got := model.Value(results[i]); got != uint64(regs[d]) {
					for _, in := range f.Blocks[0].Instrs[:i+1] {
						t.Log(in.Text())
					}
					t.Fatalf("for %d: %s is %d, want %d", v, c.String(results[i]), got, regs[d])
				}
			}
		}
	}
	if quotients < 500 {
		t.Errorf("%d quotients", quotients)
	}
}
