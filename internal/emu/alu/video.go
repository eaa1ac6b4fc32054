package alu

import (
	"math"
	"math/bits"
	"strings"

	"heddle/internal/isa"
)

// Video instructions: PTX ISA 9.7.18. Their operands have selectors and signs that are no part of a
// Desc.

// VideoOperands is what is written at the operands: selectors of destination, first and second
// source, without the dot, and minus signs of the sources (vmad only).
type VideoOperands struct {
	Sel   [3]string // of d, a, b
	Neg   [3]bool   // of a, b, c
	Third bool      // there is an operand c
}

// Video returns the function of a video instruction with three sources; an absent third one is
// zero.
func Video(d *isa.Desc, o VideoOperands) (Func, error) {
	v := &video{op: d.Row.Opcode, o: o}
	if !v.modifiers(d.Mods) {
		return noForm(d)
	}
	if n := v.op[len(v.op)-1]; n == '2' || n == '4' {
		v.op, v.lanes = v.op[:len(v.op)-1], uint(n-'0')
		if !v.simdForm() {
			return noForm(d)
		}
		return lane3(v.simd), nil
	}
	if !v.scalarForm() {
		return noForm(d)
	}
	if v.op == "vmad" {
		return lane3(v.mad), nil
	}
	return lane3(v.scalar), nil
}

type video struct {
	op         string // without 2 or 4
	o          VideoOperands
	signed     [3]bool // of d, a, b
	sat        bool
	second     string // add, min, max
	cmp        string
	clamp      string // clamp or wrap
	po         bool
	shift      uint // of vmad
	lanes      uint // of SIMD; else 0
	choose     [2][4]uint
	mask       uint
	aSel, bSel part
}

// part is a byte, half-word or word of a register.
type part struct{ at, size uint }

// modifiers reads the dotted modifiers; false for one that no video instruction has.
func (v *video) modifiers(mods []string) bool {
	var signs []bool
	for _, m := range mods {
		switch m {
		case "u32", "s32":
			signs = append(signs, m == "s32")
		case "sat":
			v.sat = true
		case "add", "min", "max":
			v.second = m
		case "eq", "ne", "lt", "le", "gt", "ge":
			v.cmp = m
		case "clamp", "wrap":
			v.clamp = m
		case "po":
			v.po = true
		case "shr7":
			v.shift = 7
		case "shr15":
			v.shift = 15
		default:
			return false
		}
	}
	set := strings.HasPrefix(v.op, "vset")
	if set { // .atype.btype; the result is unsigned
		signs = append([]bool{false}, signs...)
	}
	if len(signs) != 3 || set != (v.cmp != "") {
		return false
	}
	copy(v.signed[:], signs)
	return true
}

// selectPart reads .b0 to .b3, .h0, .h1 or nothing.
func selectPart(s string) (part, bool) {
	switch {
	case s == "":
		return part{0, 32}, true
	case len(s) == 2 && s[0] == 'b' && s[1] >= '0' && s[1] <= '3':
		return part{uint(s[1]-'0') * 8, 8}, true
	case len(s) == 2 && s[0] == 'h' && (s[1] == '0' || s[1] == '1'):
		return part{uint(s[1]-'0') * 16, 16}, true
	}
	return part{}, false
}

// scalarForm checks a scalar instruction.
func (v *video) scalarForm() bool {
	var okA, okB bool
	v.aSel, okA = selectPart(v.o.Sel[1])
	v.bSel, okB = selectPart(v.o.Sel[2])
	_, okD := selectPart(v.o.Sel[0])
	merge := v.o.Sel[0] != ""
	if !okA || !okB || !okD || merge && v.second != "" {
		return false
	}
	switch v.op {
	case "vmad":
		return v.o.Third && !merge && v.second == "" && v.clamp == "" &&
			!(v.po && (v.o.Neg[0] || v.o.Neg[1] || v.o.Neg[2])) &&
			!(v.o.Neg[2] && v.o.Neg[0] != v.o.Neg[1])
	case "vshl", "vshr":
		if v.clamp == "" || v.signed[2] {
			return false
		}
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset":
		if v.clamp != "" {
			return false
		}
	default:
		return false
	}
	return v.o.Third == (merge || v.second != "") && !v.po && v.shift == 0 && v.o.Neg == [3]bool{}
}

// extract is partSelectSignExtend.
func (p part) extract(r uint64, signed bool) int64 {
	x := int64(r << (64 - p.at - p.size))
	if signed {
		return x >> (64 - p.size)
	}
	return int64(uint64(x) >> (64 - p.size))
}

// boundsOf returns the range of an integer type of size bits.
func boundsOf(size uint, signed bool) (lo, hi int64) {
	if signed {
		return -1 << (size - 1), 1<<(size-1) - 1
	}
	return 0, 1<<size - 1
}

// scalar is everything but vmad.
func (v *video) scalar(ra, rb, rc uint64) uint64 {
	a, b := v.aSel.extract(ra, v.signed[1]), v.bSel.extract(rb, v.signed[2])
	t := v.primary(a, b)
	dsel, _ := selectPart(v.o.Sel[0])
	if v.sat {
		lo, hi := boundsOf(dsel.size, v.signed[0])
		t = min(max(t, lo), hi)
	}
	t = t << 31 >> 31 // .s33
	switch c := (part{0, 32}).extract(rc, v.signed[0]); v.second {
	case "add":
		t += c
	case "min":
		t = min(t, c)
	case "max":
		t = max(t, c)
	}
	keep := uint64(1<<dsel.size-1) << dsel.at
	return uint64(uint32(uint64(t)<<dsel.at&keep | rc&^keep))
}

func (v *video) primary(a, b int64) int64 {
	switch v.op {
	case "vadd":
		return a + b
	case "vsub":
		return a - b
	case "vabsdiff":
		return max(a-b, b-a)
	case "vmin":
		return min(a, b)
	case "vmax":
		return max(a, b)
	case "vset":
		return int64(b2u(v.compare(a, b)))
	case "vavrg": // rounds halves up, away from zero where the sum is positive
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	}
	n := min(b, 32)
	if v.clamp == "wrap" {
		n = b & 31
	}
	if v.op == "vshr" {
		return a >> n
	}
	return shiftLeft(a, uint(n))
}

// shiftLeft is a<<n for a value of 33 bits and n up to 32; where that does not fit in 64 bits the
// low 33 bits are right and, for clamping, the sign and that it is large.
func shiftLeft(a int64, n uint) int64 {
	t := a << n
	if t>>n == a {
		return t
	}
	low := t & (1<<33 - 1)
	if a < 0 {
		return math.MinInt64 | low
	}
	return math.MaxInt64&^(1<<33-1) | low
}

func (v *video) compare(a, b int64) bool {
	switch v.cmp {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "lt":
		return a < b
	case "le":
		return a <= b
	case "gt":
		return a > b
	}
	return a >= b
}

// mad is vmad (9.7.18.1.3), in 128 bits.
func (v *video) mad(ra, rb, rc uint64) uint64 {
	a, b := v.aSel.extract(ra, v.signed[1]), v.bSel.extract(rb, v.signed[2])
	n := v.o.Neg
	product := n[0] != n[1]
	signed := v.signed[1] || v.signed[2] || product || n[2]
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	if a < 0 != (b < 0) {
		hi, lo = minus(hi, lo)
	}
	one := uint64(0)
	c := rc & 0xffffffff
	switch {
	case v.po:
		one = 1
	case product:
		hi, lo, one = ^hi, ^lo, 1
	case n[2]:
		c, one = ^c&0xffffffff, 1
	}
	cHi, cLo := uint64(0), c
	if signed {
		cLo = uint64(int64(int32(c)))
		cHi = uint64(int64(cLo) >> 63)
	}
	lo, carry := bits.Add64(lo, cLo, one)
	hi, _ = bits.Add64(hi, cHi, carry)
	r := lo
	if v.shift > 0 {
		r = lo>>v.shift | hi<<(64-v.shift)
	}
	if v.sat && signed {
		r = uint64(min(max(int64(r), math.MinInt32), math.MaxInt32))
	} else if v.sat {
		r = min(r, math.MaxUint32)
	}
	return uint64(uint32(r))
}

// minus is the two's complement of a 128-bit number.
func minus(hi, lo uint64) (uint64, uint64) {
	lo, borrow := bits.Sub64(0, lo, 0)
	hi, _ = bits.Sub64(0, hi, borrow)
	return hi, lo
}

// simdForm checks a SIMD instruction and reads its selectors, whose digits name elements from the
// highest down.
func (v *video) simdForm() bool {
	switch v.op {
	case "vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset":
	default:
		return false
	}
	if v.second != "" && (v.second != "add" || v.sat) || v.clamp != "" || v.po || v.shift != 0 ||
		v.o.Neg != [3]bool{} || !v.o.Third {
		return false
	}
	letter, all := byte('h'), "10"
	if v.lanes == 4 {
		letter, all = 'b', "3210"
	}
	for k := range 2 {
		s := v.o.Sel[1+k]
		for i := range v.lanes {
			v.choose[k][i] = i + uint(k)*v.lanes
		}
		if s == "" {
			continue
		}
		if len(s) != 1+int(v.lanes) || s[0] != letter {
			return false
		}
		for i := range v.lanes {
			e := uint(s[v.lanes-i] - '0')
			if e >= 2*v.lanes {
				return false
			}
			v.choose[k][i] = e
		}
	}
	mask := v.o.Sel[0]
	if mask == "" {
		mask = string(letter) + all
	}
	if len(mask) < 2 || mask[0] != letter {
		return false
	}
	for i := 1; i < len(mask); i++ {
		e := uint(mask[i] - '0')
		if e >= v.lanes || i > 1 && mask[i] >= mask[i-1] {
			return false
		}
		v.mask |= 1 << e
	}
	return true
}

// simd operates on pairs of half-words or four bytes.
func (v *video) simd(ra, rb, rc uint64) uint64 {
	size := 32 / v.lanes
	both := ra&0xffffffff | rb<<32
	out := rc & 0xffffffff
	for i := range v.lanes {
		if v.mask>>i&1 == 0 {
			continue
		}
		a := part{v.choose[0][i] * size, size}.extract(both, v.signed[1])
		b := part{v.choose[1][i] * size, size}.extract(both, v.signed[2])
		t := v.primary(a, b)
		if v.sat {
			lo, hi := boundsOf(size, v.signed[0])
			t = min(max(t, lo), hi)
		}
		if v.second == "add" {
			out += uint64(t)
			continue
		}
		keep := uint64(1<<size-1) << (i * size)
		out = out&^keep | uint64(t)<<(i*size)&keep
	}
	return uint64(uint32(out))
}
