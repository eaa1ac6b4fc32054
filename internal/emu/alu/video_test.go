package alu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// A transcription of the semantics of PTX ISA 9.7.18 into numbers without bounds.

var selectors = map[string][2]uint{"": {0, 32}, "b0": {0, 8}, "b1": {8, 8}, "b2": {16, 8},
	"b3": {24, 8}, "h0": {0, 16}, "h1": {16, 16}}

func bigPart(r uint64, at, size uint, signed bool) *big.Int {
	x := new(big.Int).SetUint64(r >> at & (1<<size - 1))
	if signed && x.Bit(int(size)-1) == 1 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), size))
	}
	return x
}

func clampTo(x *big.Int, size uint, signed bool) *big.Int {
	lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), size)
	if signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// low returns the low n bits of x in two's complement.
func low(x *big.Int, n uint) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), n)
	return new(big.Int).And(new(big.Int).Mod(x, m), new(big.Int).Sub(m, big.NewInt(1))).Uint64()
}

func operate(op, cmp, mode string, a, b *big.Int) *big.Int {
	sum := new(big.Int).Add(a, b)
	switch op {
	case "vadd":
		return sum
	case "vsub":
		return new(big.Int).Sub(a, b)
	case "vabsdiff":
		return sum.Abs(sum.Sub(a, b))
	case "vmin":
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	case "vmax":
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	case "vavrg":
		if sum.Sign() >= 0 {
			sum.Add(sum, big.NewInt(1))
		}
		return sum.Rsh(sum, 1)
	case "vset":
		c := a.Cmp(b)
		if map[string]bool{"eq": c == 0, "ne": c != 0, "lt": c < 0, "le": c <= 0, "gt": c > 0,
			"ge": c >= 0}[cmp] {
			return big.NewInt(1)
		}
		return big.NewInt(0)
	}
	n := b.Uint64()
	if mode == "clamp" {
		n = min(n, 32)
	} else {
		n &= 31
	}
	if op == "vshl" {
		return new(big.Int).Lsh(a, uint(n))
	}
	return new(big.Int).Rsh(a, uint(n))
}

func pickOne(r *rand.Rand, s ...string) string { return s[r.IntN(len(s))] }

func videoFunc(t *testing.T, text string, o VideoOperands) Func {
	t.Helper()
	w := strings.Split(text, ".")
	d, err := isa.Decode(w[0], w[1:])
	if err != nil {
		t.Fatal(err)
	}
	f, err := Video(&d, o)
	if err != nil {
		t.Fatalf("%s %+v: %v", text, o, err)
	}
	return f
}

func eval3(f Func, a, b, c uint64) uint64 {
	var d Lanes
	x, y, z := *splat(a), *splat(b), *splat(c)
	f(&Ops{D: [2]*Lanes{&d}, S: [4]*Lanes{&x, &y, &z}}, full)
	return d[7]
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ".")
}

func TestScalarVideo(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	ops := []string{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"}
	for range 20000 {
		op := ops[r.IntN(len(ops))]
		dt, at, bt := pickOne(r, "u32", "s32"), pickOne(r, "u32", "s32"), pickOne(r, "u32", "s32")
		sat, mode, cmp, second := pickOne(r, "", "sat"), "", "", pickOne(r, "", "add", "min", "max")
		o := VideoOperands{Sel: [3]string{"", pickOne(r, "", "b0", "b3", "h0", "h1"),
			pickOne(r, "", "b1", "b2", "h0", "h1")}}
		text := ""
		switch op {
		case "vset":
			cmp, sat, dt = pickOne(r, "eq", "ne", "lt", "le", "gt", "ge"), "", "u32"
			text = join(op, at, bt, cmp)
		case "vshl", "vshr":
			bt, mode = "u32", pickOne(r, "clamp", "wrap")
			text = join(op, dt, at, bt, sat, mode)
		default:
			text = join(op, dt, at, bt, sat)
		}
		if second == "" && r.IntN(2) == 0 {
			o.Sel[0] = pickOne(r, "b0", "b1", "b2", "b3", "h0", "h1")
		}
		o.Third = second != "" || o.Sel[0] != ""
		f := videoFunc(t, join(text, second), o)
		a, b, c := operand(r), operand(r), operand(r)
		if r.IntN(2) == 0 {
			b = uint64(r.IntN(40))
		}
		sa, sb, sd := selectors[o.Sel[1]], selectors[o.Sel[2]], selectors[o.Sel[0]]
		tmp := operate(op, cmp, mode, bigPart(a, sa[0], sa[1], at == "s32"),
			bigPart(b, sb[0], sb[1], bt == "s32"))
		if sat != "" {
			tmp = clampTo(tmp, sd[1], dt == "s32")
		}
		tmp = bigPart(low(tmp, 33), 0, 33, true) // .s33
		third := bigPart(c, 0, 32, dt == "s32")
		switch second {
		case "add":
			tmp = new(big.Int).Add(tmp, third)
		case "min":
			tmp = operate("vmin", "", "", tmp, third)
		case "max":
			tmp = operate("vmax", "", "", tmp, third)
		}
		want := low(tmp, sd[1])<<sd[0] | c&0xffffffff&^((1<<sd[1]-1)<<sd[0])
		if !o.Third {
			c = 0
		}
		if got := eval3(f, a, b, c); got != want {
			t.Fatalf("%s %+v (%#x, %#x, %#x) = %#x, want %#x", join(text, second), o, a, b, c, got, want)
		}
	}
}

func TestVmad(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	for range 20000 {
		at, bt := pickOne(r, "u32", "s32"), pickOne(r, "u32", "s32")
		po, sat, scale := pickOne(r, "", "", "po"), pickOne(r, "", "sat"), pickOne(r, "", "shr7", "shr15")
		o := VideoOperands{Third: true, Sel: [3]string{"", pickOne(r, "", "b1", "h0"),
			pickOne(r, "", "b0", "h1")}}
		if po == "" {
			o.Neg[r.IntN(3)] = r.IntN(2) == 0
			if r.IntN(4) == 0 {
				o.Neg = [3]bool{true, true, r.IntN(2) == 0}
			}
		}
		text := join("vmad", pickOne(r, "u32", "s32"), at, bt, po, sat, scale)
		f := videoFunc(t, text, o)
		a, b, c := operand(r), operand(r), operand(r)
		sa, sb := selectors[o.Sel[1]], selectors[o.Sel[2]]
		x, y := bigPart(a, sa[0], sa[1], at == "s32"), bigPart(b, sb[0], sb[1], bt == "s32")
		// As numbers: ~x + 1 is -x. The product is negated, or c, or one is added.
		negProduct := o.Neg[0] != o.Neg[1]
		signed := at == "s32" || bt == "s32" || negProduct || o.Neg[2]
		tmp := new(big.Int).Mul(x, y)
		third := bigPart(c, 0, 32, signed)
		switch {
		case po != "":
			tmp.Add(tmp, big.NewInt(1))
		case negProduct:
			tmp.Neg(tmp)
		case o.Neg[2]: // ~c first, then extended
			third = bigPart(^c, 0, 32, signed)
			tmp.Add(tmp, big.NewInt(1))
		}
		tmp.Add(tmp, third)
		tmp.Rsh(tmp, map[string]uint{"": 0, "shr7": 7, "shr15": 15}[scale])
		tmp = bigPart(low(tmp, 64), 0, 64, signed)
		if sat != "" {
			tmp = clampTo(tmp, 32, signed)
		}
		if got, want := eval3(f, a, b, c), low(tmp, 32); got != want {
			t.Fatalf("%s %+v (%#x, %#x, %#x) = %#x, want %#x", text, o, a, b, c, got, want)
		}
	}
}

func TestSIMDVideo(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 76))
	for range 20000 {
		lanes := uint(2 << r.IntN(2))
		op := pickOne(r, "vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
		dt, at, bt := pickOne(r, "u32", "s32"), pickOne(r, "u32", "s32"), pickOne(r, "u32", "s32")
		sat, cmp, second := pickOne(r, "", "sat"), "", pickOne(r, "", "add")
		name := fmt.Sprint(op, lanes)
		head := join(name, dt, at, bt)
		if op == "vset" {
			cmp, sat = pickOne(r, "eq", "ne", "lt", "le", "gt", "ge"), ""
			head = join(name, at, bt, cmp)
		}
		if second != "" {
			sat = ""
		}
		letter, all := "h", "10"
		if lanes == 4 {
			letter, all = "b", "3210"
		}
		o := VideoOperands{Third: true}
		var choose [2][4]uint
		for k := range 2 {
			sel := letter
			for i := range lanes {
				choose[k][i] = uint(r.IntN(2 * int(lanes)))
			}
			for i := range lanes {
				sel += fmt.Sprint(choose[k][lanes-1-i])
			}
			if o.Sel[1+k] = sel; r.IntN(3) == 0 {
				o.Sel[1+k] = ""
				for i := range lanes {
					choose[k][i] = uint(k)*lanes + i
				}
			}
		}
		mask := uint(1<<lanes - 1)
		if r.IntN(2) == 0 {
			o.Sel[0] = letter
			mask = 0
			for i, d := range all {
				if r.IntN(2) == 0 || i == len(all)-1 && mask == 0 {
					o.Sel[0] += string(d)
					mask |= 1 << uint(d-'0')
				}
			}
		}
		text := join(head, sat, second)
		f := videoFunc(t, text, o)
		a, b, c := operand(r), operand(r), operand(r)
		size := 32 / lanes
		both := a&0xffffffff | b<<32
		sum, merged := bigPart(c, 0, 32, false), uint64(0)
		for i := range lanes {
			x, y := bigPart(both, choose[0][i]*size, size, at == "s32"),
				bigPart(both, choose[1][i]*size, size, bt == "s32")
			v := operate(op, cmp, "", x, y)
			if sat != "" {
				v = clampTo(v, size, dt == "s32")
			}
			if mask>>i&1 == 1 {
				sum = new(big.Int).Add(sum, v)
				merged |= low(v, size) << (i * size)
			} else {
				merged |= c >> (i * size) & (1<<size - 1) << (i * size)
			}
		}
		want := merged
		if second != "" {
			want = low(sum, 32)
		}
		if got := eval3(f, a, b, c); got != want {
			t.Fatalf("%s %+v (%#x, %#x, %#x) = %#x, want %#x", text, o, a, b, c, got, want)
		}
	}
}

// Combinations that the syntax does not have are refused.
func TestVideoForms(t *testing.T) {
	for text, o := range map[string]VideoOperands{
		"vadd.u32.u32":         {},
		"vadd.u32.u32.u32.add": {}, // without c
		// merge and second operation
		"vadd.u32.u32.u32.max": {Third: true, Sel: [3]string{"b0", "", ""}},
		"vadd.u32.u32.u32":     {Sel: [3]string{"", "b4", ""}}, // no such byte
		// neither .clamp nor .wrap
		"vshl.u32.u32.u32": {},
		// the amount is unsigned
		"vshl.u32.u32.s32.clamp": {},
		// no signs in .po mode
		"vmad.u32.u32.u32.po": {Third: true, Neg: [3]bool{true, false, false}},
		"vmad.u32.u32.u32":    {Third: true, Neg: [3]bool{true, false, true}}, // product or c
		// the mask goes down
		"vadd2.u32.u32.u32": {Third: true, Sel: [3]string{"h01", "", ""}},
		"vadd2.u32.u32.s32": {Third: true, Sel: [3]string{"", "h14", ""}},  // no such half-word
		"vadd4.u32.u32.u32": {Third: true, Sel: [3]string{"", "b321", ""}}, // three of four
		// "Saturation cannot be used with the secondary accumulate operation"
		"vmin2.u32.u32.u32.sat.add": {Third: true},
		// without comparison
		"vset.u32.u32":              {},
		"vabsdiff4.u32.u32.u32.min": {Third: true}, // only .add
	} {
		w := strings.Split(text, ".")
		d, err := isa.Decode(w[0], w[1:])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Video(&d, o); err == nil {
			t.Errorf("%s %+v has a function", text, o)
		}
	}
}
