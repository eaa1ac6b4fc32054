package cltest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/lower"
)

// intType is an integer type of OpenCL C.
type intType struct {
	name   string
	bits   int
	signed bool
}

var intTypes = []intType{
	{"char", 8, true}, {"uchar", 8, false}, {"short", 16, true}, {"ushort", 16, false},
	{"int", 32, true}, {"uint", 32, false}, {"long", 64, true}, {"ulong", 64, false},
}

func pow2(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

// limits returns the smallest and the largest value.
func (t intType) limits() (lo, hi *big.Int) {
	if t.signed {
		return new(big.Int).Neg(pow2(t.bits - 1)), new(big.Int).Sub(pow2(t.bits-1), big.NewInt(1))
	}
	return new(big.Int), new(big.Int).Sub(pow2(t.bits), big.NewInt(1))
}

// wrap reduces a number to the type, modulo a power of two.
func (t intType) wrap(x *big.Int) *big.Int {
	r := new(big.Int).And(x, new(big.Int).Sub(pow2(t.bits), big.NewInt(1)))
	if t.signed && r.Bit(t.bits-1) == 1 {
		r.Sub(r, pow2(t.bits))
	}
	return r
}

// clamp limits a number to the range of the type.
func (t intType) clamp(x *big.Int) *big.Int {
	lo, hi := t.limits()
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// unsigned returns the unsigned type of the same size.
func (t intType) unsigned() intType {
	return intType{"u" + strings.TrimPrefix(t.name, "u"), t.bits, false}
}

// bytes returns values as bytes in memory.
func (t intType) bytes(xs []*big.Int) []byte {
	var out []byte
	for _, x := range xs {
		u := t.unsigned().wrap(x).Uint64()
		for i := range t.bits / 8 {
			out = append(out, byte(u>>(8*i)))
		}
	}
	return out
}

// values is the inverse of bytes.
func (t intType) values(b []byte) []*big.Int {
	var out []*big.Int
	for n := t.bits / 8; len(b) >= n; b = b[n:] {
		x := new(big.Int)
		for i := n - 1; i >= 0; i-- {
			x.Lsh(x, 8).Or(x, big.NewInt(int64(b[i])))
		}
		out = append(out, t.wrap(x))
	}
	return out
}

// samples returns the extreme values of a type and random values.
func (t intType) samples(r *rand.Rand, n int) []*big.Int {
	lo, hi := t.limits()
	corners := []*big.Int{lo, hi, big.NewInt(0), big.NewInt(1), big.NewInt(2), t.wrap(big.NewInt(-1)),
		t.wrap(big.NewInt(-2)),
		new(big.Int).Add(lo, big.NewInt(1)), new(big.Int).Sub(hi, big.NewInt(1)), new(big.Int).Rsh(hi, 1),
		big.NewInt(7)}
	var out []*big.Int
	for range n {
		if r.IntN(3) > 0 {
			out = append(out, corners[r.IntN(len(corners))])
			continue
		}
		out = append(out, t.wrap(new(big.Int).SetUint64(r.Uint64()>>r.IntN(64))))
	}
	return out
}

func add(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
func sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
func mul(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
func shr(a *big.Int, n int) *big.Int {
	return new(big.Int).Rsh(a, uint(n)) // rounds toward minus infinity, as an arithmetic shift
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func greatest(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// The integer functions as OpenCL C 3.0, section 6.15.3 defines them, over unbounded integers. The
// test reduces the result modulo the size of the type.
var integerFunctions = []struct {
	name string
	args int
	ref  func(t intType, a, b, c *big.Int) *big.Int
}{
	{"abs", 1, func(t intType, a, b, c *big.Int) *big.Int { return new(big.Int).Abs(a) }},
	{"abs_diff", 2, func(t intType, a, b, c *big.Int) *big.Int { return new(big.Int).Abs(sub(a, b)) }},
	{"add_sat", 2, func(t intType, a, b, c *big.Int) *big.Int { return t.clamp(add(a, b)) }},
	{"sub_sat", 2, func(t intType, a, b, c *big.Int) *big.Int { return t.clamp(sub(a, b)) }},
	{"hadd", 2, func(t intType, a, b, c *big.Int) *big.Int { return shr(add(a, b), 1) }},
	{"rhadd", 2, func(t intType, a, b,
		c *big.Int) *big.Int {
		return shr(add(add(a, b), big.NewInt(1)), 1)
	}},
	{"max", 2, func(t intType, a, b, c *big.Int) *big.Int { return greatest(a, b) }},
	{"min", 2, func(t intType, a, b, c *big.Int) *big.Int { return least(a, b) }},
	{"mul_hi", 2, func(t intType, a, b, c *big.Int) *big.Int { return shr(mul(a, b), t.bits) }},
	{"mad_hi", 3, func(t intType, a, b,
		c *big.Int) *big.Int {
		return add(shr(mul(a, b), t.bits), c)
	}},
	{"mad_sat", 3, func(t intType, a, b, c *big.Int) *big.Int { return t.clamp(add(mul(a, b), c)) }},
	{"clz", 1, func(t intType, a, b, c *big.Int) *big.Int {
		return big.NewInt(int64(t.bits - t.unsigned().wrap(a).BitLen()))
	}},
	{"ctz", 1, func(t intType, a, b, c *big.Int) *big.Int {
		if a.Sign() == 0 {
			return big.NewInt(int64(t.bits))
		}
		return big.NewInt(int64(t.unsigned().wrap(a).TrailingZeroBits()))
	}},
	{"popcount", 1, func(t intType, a, b, c *big.Int) *big.Int {
		return big.NewInt(int64(strings.Count(t.unsigned().wrap(a).Text(2), "1")))
	}},
	{"rotate", 2, func(t intType, a, b, c *big.Int) *big.Int {
		u := t.unsigned().wrap(a)
		n := uint(t.unsigned().wrap(b).Uint64() % uint64(t.bits)) // "the count is taken modulo the width"
		return new(big.Int).Or(new(big.Int).Lsh(u, n), new(big.Int).Rsh(u, uint(t.bits)-n))
	}},
	{"bitselect", 3, func(t intType, a, b, c *big.Int) *big.Int {
		return new(big.Int).Or(new(big.Int).AndNot(a, c), new(big.Int).And(b, c))
	}},
	{"clamp", 3, func(t intType, a, b, c *big.Int) *big.Int { return least(greatest(a, b), c) }},
	{"mul24", 2, func(t intType, a, b, c *big.Int) *big.Int { return mul(t.low24(a), t.low24(b)) }},
	{"mad24", 3, func(t intType, a, b, c *big.Int) *big.Int {
		return add(mul(t.low24(a), t.low24(b)), c)
	}},
}

// low24 is the value of the low 24 bits, all that mul24 uses. Beyond 24 bits its result is defined
// by the implementation: that of mul24.lo in PTX.
func (t intType) low24(a *big.Int) *big.Int {
	return intType{bits: 24, signed: t.signed}.wrap(a)
}

// has reports whether a function exists for a type.
func (t intType) has(function string) bool {
	return !strings.HasSuffix(function, "24") || t.bits == 32
}

const samples = 256

// TestIntegerFunctions compares the scalar form of each function, and its form for vectors of four.
func TestIntegerFunctions(t *testing.T) {
	var text strings.Builder
	for _, typ := range intTypes {
		for _, f := range integerFunctions {
			if !typ.has(f.name) {
				continue
			}
			ret := typ.name
			if strings.HasPrefix(f.name, "abs") {
				ret = typ.unsigned().name
			}
			args := strings.Join([]string{"a[i]", "b[i]", "c[i]"}[:f.args], ", ")
			vecs := strings.Join([]string{"vload4(i, a)", "vload4(i, b)", "vload4(i, c)"}[:f.args], ", ")
			fmt.Fprintf(
				&text, "kernel void %s_%s(global const %s *a, global const %s *b, global const %s *c, global %s *out) {\n",
				f.name, typ.name, typ.name, typ.name, typ.name, ret)
			fmt.Fprintf(
				&text, "  size_t i = get_global_id(0);\n  out[i] = %s(%s);\n  if (i < %d) vstore4(%s(%s), i, out + %d);\n}\n",
				f.name, args, samples/4, f.name, vecs, samples)
		}
	}
	m := compile(t, text.String(), lower.Options{})
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range intTypes {
		for _, f := range integerFunctions {
			if !typ.has(f.name) {
				continue
			}
			a, b, c := typ.samples(r, samples), typ.samples(r, samples), typ.samples(r, samples)
			if f.name == "clamp" { // undefined if the bounds are the wrong way round
				for i := range b {
					b[i], c[i] = least(b[i], c[i]), greatest(b[i], c[i])
				}
			}
			out := run(t, m, f.name+"_"+typ.name, samples,
				map[string][]byte{"a": typ.bytes(a), "b": typ.bytes(b), "c": typ.bytes(c)},
				"out", 2*samples*typ.bits/8)
			got := typ.values(out)
			for i := range 2 * samples {
				k := i % samples
				if want := typ.wrap(f.ref(typ, a[k], b[k], c[k])); got[i].Cmp(want) != 0 {
					t.Errorf("%s(%s %v, %v, %v) = %v, want %v (vector: %v)", f.name, typ.name, a[k], b[k], c[k],
						got[i], want, i >= samples)
					break
				}
			}
		}
	}
}
