package alu

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// Integer instructions against their defining formulas in PTX ISA 9.7.1 on integers without bound,
// reduced to the width of the result at the end.

// bigInt reads the low bits of v as an integer of type t.
func bigInt(t isa.Type, v uint64) *big.Int {
	width := 8 * t.Size()
	x := new(big.Int).SetUint64(v)
	x.And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1)))
	if t.Signed() && x.Bit(width-1) == 1 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(width)))
	}
	return x
}

// reduce returns x modulo 2^width.
func reduce(x *big.Int, width int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(width))
	return m.Mod(x, m).Uint64()
}

func clampBig(x, lo, hi *big.Int) *big.Int {
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// limits returns the range of an integer type.
func limits(t isa.Type) (lo, hi *big.Int) {
	width := uint(8 * t.Size())
	if t.Signed() {
		hi = new(big.Int).Lsh(big.NewInt(1), width-1)
		lo = new(big.Int).Neg(hi)
	} else {
		lo, hi = new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
	}
	return lo, hi.Sub(hi, big.NewInt(1))
}

// intOracle is an instruction of three operands or fewer.
type intOracle func(t isa.Type, a, b, c uint64) uint64

// onInts makes an oracle of a formula whose operands and result are of the type.
func onInts(f func(a, b, c *big.Int) *big.Int) intOracle {
	return func(t isa.Type, a, b, c uint64) uint64 {
		return reduce(f(bigInt(t, a), bigInt(t, b), bigInt(t, c)), 8*t.Size())
	}
}

// high returns x<2n-1..n> of a product.
func high(t isa.Type, x *big.Int) *big.Int { return new(big.Int).Rsh(x, uint(8*t.Size())) }

func wideType(t isa.Type) isa.Type {
	return map[isa.Type]isa.Type{isa.U16: isa.U32, isa.S16: isa.S32, isa.U32: isa.U64,
		isa.S32: isa.S64}[t]
}

func product(t isa.Type, a, b uint64) *big.Int {
	return new(big.Int).Mul(bigInt(t, a), bigInt(t, b))
}

var intOracles = map[string]intOracle{
	"add": onInts(func(a, b, _ *big.Int) *big.Int { return a.Add(a, b) }),
	"sub": onInts(func(a, b, _ *big.Int) *big.Int { return a.Sub(a, b) }),
	"min": onInts(func(a, b, _ *big.Int) *big.Int {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}),
	"max": onInts(func(a, b, _ *big.Int) *big.Int {
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	}),
	"abs":    onInts(func(a, _, _ *big.Int) *big.Int { return a.Abs(a) }),
	"neg":    onInts(func(a, _, _ *big.Int) *big.Int { return a.Neg(a) }),
	"mul.lo": onInts(func(a, b, _ *big.Int) *big.Int { return a.Mul(a, b) }),
	"mad.lo": onInts(func(a, b, c *big.Int) *big.Int { return a.Mul(a, b).Add(a, c) }),
	"sad":    onInts(func(a, b, c *big.Int) *big.Int { return a.Sub(a, b).Abs(a).Add(a, c) }),
	"div": func(t isa.Type, a, b, c uint64) uint64 {
		y := bigInt(t, b)
		if y.Sign() == 0 { // unspecified; divrem.go decides
			return ones(uint64(8 * t.Size()))
		}
		return reduce(new(big.Int).Quo(bigInt(t, a), y), 8*t.Size())
	},
	"rem": func(t isa.Type, a, b, c uint64) uint64 {
		y := bigInt(t, b)
		if y.Sign() == 0 {
			return a & ones(uint64(8*t.Size()))
		}
		return reduce(new(big.Int).Rem(bigInt(t, a), y), 8*t.Size())
	},
	"mul.hi": func(t isa.Type, a, b, _ uint64) uint64 {
		return reduce(high(t, product(t, a, b)), 8*t.Size())
	},
	"mad.hi": func(t isa.Type, a, b, c uint64) uint64 {
		h := high(t, product(t, a, b))
		return reduce(h.Add(h, bigInt(t, c)), 8*t.Size())
	},
	"mad.hi.sat": func(t isa.Type, a, b, c uint64) uint64 {
		lo, hi := limits(t)
		h := high(t, product(t, a, b))
		return reduce(clampBig(h.Add(h, bigInt(t, c)), lo, hi), 8*t.Size())
	},
	"add.sat": func(t isa.Type, a, b, _ uint64) uint64 {
		lo, hi := limits(t)
		return reduce(clampBig(new(big.Int).Add(bigInt(t, a), bigInt(t, b)), lo, hi), 32)
	},
	"sub.sat": func(t isa.Type, a, b, _ uint64) uint64 {
		lo, hi := limits(t)
		return reduce(clampBig(new(big.Int).Sub(bigInt(t, a), bigInt(t, b)), lo, hi), 32)
	},
	"mul.wide": func(t isa.Type, a, b,
		_ uint64) uint64 {
		return reduce(product(t, a, b), 16*t.Size())
	},
	"mad.wide": func(t isa.Type, a, b, c uint64) uint64 {
		p := product(t, a, b)
		return reduce(p.Add(p, bigInt(wideType(t), c)), 16*t.Size())
	},
	"shl": func(t isa.Type, a, b, _ uint64) uint64 {
		n := min(uint(uint32(b)), uint(8*t.Size()))
		return reduce(new(big.Int).Lsh(bigInt(t, a), n), 8*t.Size())
	},
	"shr": func(t isa.Type, a, b, _ uint64) uint64 {
		n := min(uint(uint32(b)), uint(8*t.Size()))
		return reduce(new(big.Int).Rsh(bigInt(t, a), n), 8*t.Size()) // rounds down: fills with the sign
	},
	"mul24.lo": mul24Oracle(0), "mul24.hi": mul24Oracle(16),
	"bfe": bfeOracle,
}

// mul24Oracle multiplies 24-bit integers and takes 32 bits from the given one on: 9.7.1.5.
func mul24Oracle(from uint) intOracle {
	return func(t isa.Type, a, b, _ uint64) uint64 {
		x, y := new(big.Int).SetUint64(a&0xffffff), new(big.Int).SetUint64(b&0xffffff)
		for _, v := range []*big.Int{x, y} {
			if t.Signed() && v.Bit(23) == 1 {
				v.Sub(v, big.NewInt(1<<24))
			}
		}
		return reduce(x.Mul(x, y).Rsh(x, from), 32)
	}
}

// bfeOracle is the pseudocode of 9.7.1.19, bit by bit.
func bfeOracle(t isa.Type, a, b, c uint64) uint64 {
	msb := 8*t.Size() - 1
	pos, n := int(b&0xff), int(c&0xff)
	var sbit uint64
	if t.Signed() && n != 0 {
		sbit = a >> min(pos+n-1, msb) & 1
	}
	var d uint64
	for i := 0; i <= msb; i++ {
		bit := sbit
		if i < n && pos+i <= msb {
			bit = a >> (pos + i) & 1
		}
		d |= bit << i
	}
	return d
}

func TestIntegerOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	tested := 0
	for _, text := range forms() {
		d := desc(t, text)
		oracle := intOracles[strings.TrimSuffix(text, "."+d.Type.String())]
		if oracle == nil || d.Type.IsFloat() || d.Type == isa.U16x2 || d.Type == isa.S16x2 {
			continue
		}
		tested++
		f := lookup(t, text)
		for range 60 {
			before := randomState(r)
			if r.IntN(2) == 0 { // small shift amounts and divisors
				for l := range 32 {
					before.s[1][l] %= 70
				}
			}
			after := run(f, *before, full)
			for l := range 32 {
				a, b, c := before.s[0][l], before.s[1][l], before.s[2][l]
				if exp := oracle(d.Type, a, b, c); after.d[0][l] != exp {
					t.Fatalf("%s %#x, %#x, %#x = %#x, want %#x", text, a, b, c, after.d[0][l], exp)
				}
			}
		}
	}
	if tested < 90 {
		t.Errorf("only %d forms have an oracle", tested)
	}
}

// bfi, shf, lop3, fns and prmt bit by bit, as the ISA's pseudocode has them.
func TestBitOperations(t *testing.T) {
	oracles := map[string]func(a, b, c, d uint64) uint64{
		"bfi.b32": func(a, b, c, d uint64) uint64 { return bfiOracle(31, a, b, c, d) },
		"bfi.b64": func(a, b, c, d uint64) uint64 { return bfiOracle(63, a, b, c, d) },
		"lop3.b32": func(a, b, c, lut uint64) (d uint64) {
			for i := range 32 {
				index := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
				d |= lut & 0xff >> index & 1 << i
			}
			return d
		},
		"shf.l.clamp.b32": func(a, b, c,
			_ uint64) uint64 {
			return shfOracle(a, b, min(c&0xffffffff, 32), true)
		},
		"shf.r.clamp.b32": func(a, b, c,
			_ uint64) uint64 {
			return shfOracle(a, b, min(c&0xffffffff, 32), false)
		},
		"shf.l.wrap.b32": func(a, b, c, _ uint64) uint64 { return shfOracle(a, b, c&31, true) },
		"shf.r.wrap.b32": func(a, b, c, _ uint64) uint64 { return shfOracle(a, b, c&31, false) },
	}
	r := rand.New(rand.NewPCG(13, 14))
	for text, oracle := range oracles {
		f := lookup(t, text)
		for range 200 {
			before := randomState(r)
			for l := range 32 {
				if r.IntN(2) == 0 {
					before.s[2][l] %= 80
				}
				if text[0] == 'b' {
					before.s[3][l] = r.Uint64N(80)
				}
			}
			after := run(f, *before, full)
			for l := range 32 {
				s := [4]uint64{before.s[0][l], before.s[1][l], before.s[2][l], before.s[3][l]}
				if exp := oracle(s[0], s[1], s[2], s[3]); after.d[0][l] != exp {
					t.Fatalf("%s %#x = %#x, want %#x", text, s, after.d[0][l], exp)
				}
			}
		}
	}
}

// bfiOracle is 9.7.1.20.
func bfiOracle(msb int, a, b, c, d uint64) uint64 {
	pos, n := int(c&0xff), int(d&0xff)
	f := b & ones(uint64(msb+1))
	for i := 0; i < n && pos+i <= msb; i++ {
		f = f&^(1<<(pos+i)) | a>>i&1<<(pos+i)
	}
	return f
}

// shfOracle is 9.7.8.7: 32 bits of the shifted concatenation.
func shfOracle(a, b, n uint64, left bool) uint64 {
	x := new(big.Int).SetUint64(b & 0xffffffff)
	x.Lsh(x, 32).Or(x, new(big.Int).SetUint64(a&0xffffffff))
	if left {
		return reduce(x.Lsh(x, uint(n)).Rsh(x, 32), 32)
	}
	return reduce(x.Rsh(x, uint(n)), 32)
}

// Extended precision: chains of carries compute what integers without bound do (PTX ISA 9.7.2).
func TestCarryChains(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, width := range []int{32, 64} {
		ty := map[int]string{32: "u32", 64: "s64"}[width]
		for _, c := range []struct {
			first, rest string
			op          func(z, a, b *big.Int) *big.Int
		}{
			{"add.cc.", "addc.cc.", (*big.Int).Add}, {"sub.cc.", "subc.cc.", (*big.Int).Sub},
		} {
			first, rest := lookup(t, c.first+ty), lookup(t, c.rest+ty)
			for range 300 {
				var cc uint32
				a, b, got := new(big.Int), new(big.Int), new(big.Int)
				for word := range 4 {
					x, y := operand(r)&ones(uint64(width)), operand(r)&ones(uint64(width))
					var d Lanes
					o := &Ops{D: [2]*Lanes{&d}, S: [4]*Lanes{splat(x), splat(y)}, CC: &cc}
					if word == 0 {
						first(o, full)
					} else {
						rest(o, full)
					}
					shift := uint(word * width)
					addWord(a, x, shift)
					addWord(b, y, shift)
					addWord(got, d[5], shift)
				}
				m := new(big.Int).Lsh(big.NewInt(1), uint(4*width))
				exact := c.op(new(big.Int), a, b)
				exp := new(big.Int).Mod(exact, m)
				carry := uint32(0)
				if exact.Cmp(exp) != 0 {
					carry = full
				}
				if got.Cmp(exp) != 0 || cc != carry {
					t.Fatalf("%s%s of %x and %x: %x carry %#x, want %x carry %#x", c.first, ty, a, b, got, cc, exp,
						carry)
				}
			}
		}
	}
}

func addWord(z *big.Int, v uint64, shift uint) {
	z.Add(z, new(big.Int).Lsh(new(big.Int).SetUint64(v), shift))
}

// The ISA's own example of madc (9.7.2.6): a 64×64-bit product from 32-bit words.
func TestMadcExample(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 300 {
		x, y := operand(r), operand(r)
		var cc uint32
		var reg [8]Lanes
		reg[4], reg[5] = *splat(x & 0xffffffff), *splat(x >> 32)
		reg[6], reg[7] = *splat(y & 0xffffffff), *splat(y >> 32)
		var nil0 Lanes
		step := func(text string, d *Lanes, s ...*Lanes) {
			o := &Ops{D: [2]*Lanes{d}, CC: &cc}
			copy(o.S[:], s)
			lookup(t, text)(o, full)
		}
		step("mul.lo.u32", &reg[0], &reg[4], &reg[6])
		step("mul.hi.u32", &reg[1], &reg[4], &reg[6])
		step("mad.lo.cc.u32", &reg[1], &reg[5], &reg[6], &reg[1])
		step("madc.hi.u32", &reg[2], &reg[5], &reg[6], &nil0)
		step("mad.lo.cc.u32", &reg[1], &reg[4], &reg[7], &reg[1])
		step("madc.hi.cc.u32", &reg[2], &reg[4], &reg[7], &reg[2])
		step("addc.u32", &reg[3], &nil0, &nil0)
		step("mad.lo.cc.u32", &reg[2], &reg[5], &reg[7], &reg[2])
		step("madc.hi.u32", &reg[3], &reg[5], &reg[7], &reg[3])
		got := new(big.Int)
		for i := range 4 {
			addWord(got, reg[i][9], uint(32*i))
		}
		exp := new(big.Int).Mul(new(big.Int).SetUint64(x), new(big.Int).SetUint64(y))
		if got.Cmp(exp) != 0 {
			t.Fatalf("%x × %x = %x, want %x", x, y, got, exp)
		}
	}
}
