package alu

import (
	"strings"
	"testing"

	"heddle/internal/isa"
)

// desc builds a Desc by hand: the opcode and the dotted modifiers as in PTX, for example
// "mad.lo.s32" or "cvt.rn.ftz.f32.f64". It knows only what the tests need; isa has the real decoder.
func desc(t testing.TB, text string) *isa.Desc {
	t.Helper()
	words := strings.Split(text, ".")
	d := &isa.Desc{Row: &isa.Row{Opcode: words[0], Category: isa.Arith}, Mods: words[1:]}
	if strings.HasPrefix(text, "cvt.pack.") {
		d.Row.Opcode, d.Mods = "cvt.pack", words[2:]
	}
	for _, m := range d.Mods {
		applyMod(t, d, m)
	}
	return d
}

func applyMod(t testing.TB, d *isa.Desc, m string) {
	t.Helper()
	for ty := isa.Pred; ty < isa.OtherType; ty++ {
		if ty.String() == m {
			if d.Type == isa.NoType {
				d.Type = ty
			} else {
				d.SType = ty
			}
			return
		}
	}
	if c, ok := cmpNames[m]; ok && strings.HasPrefix(d.Row.Opcode, "set") {
		d.Cmp = c // before the halves of products: .lo and .hi
		return
	}
	if f, ok := flagNames[m]; ok {
		d.Flags |= f
		return
	}
	if r, ok := roundNames[m]; ok {
		d.Round = r
		return
	}
	if f, ok := fnNames[m]; ok {
		d.Fn = f
		return
	}
	switch m {
	case "abs", "clamp", "u2", "s2", "u4", "s4", "oob":
	default:
		t.Fatalf("test does not know modifier .%s", m)
	}
}

var flagNames = map[string]isa.Flag{
	"ftz": isa.FTZ, "sat": isa.Sat, "approx": isa.Approx, "full": isa.Full, "cc": isa.CC, "wrap": isa.Wrap,
	"shiftamt": isa.Shiftamt, "NaN": isa.NaNProp, "xorsign": isa.XorSign, "relu": isa.Relu,
	"satfinite": isa.Satfinite,
}

var roundNames = map[string]isa.Rounding{
	"rn": isa.RN, "rz": isa.RZ, "rm": isa.RM, "rp": isa.RP, "rna": isa.RNA, "rs": isa.RS,
	"rni": isa.RNI, "rzi": isa.RZI, "rmi": isa.RMI, "rpi": isa.RPI,
}

var fnNames = map[string]isa.Fn{
	"and": isa.FnAnd, "or": isa.FnOr, "xor": isa.FnXor, "lo": isa.FnLo, "hi": isa.FnHi, "wide": isa.FnWide,
	"l": isa.FnLeft, "r": isa.FnRight, "f4e": isa.FnF4E, "b4e": isa.FnB4E, "rc8": isa.FnRC8,
	"ecl": isa.FnECL, "ecr": isa.FnECR, "rc16": isa.FnRC16, "finite": isa.FnFinite,
	"infinite": isa.FnInfinite, "number": isa.FnNumber, "notanumber": isa.FnNotANumber,
	"normal": isa.FnNormal, "subnormal": isa.FnSubnormal,
}

var cmpNames = map[string]isa.Cmp{
	"eq": isa.EQ, "ne": isa.NE, "lt": isa.LT, "le": isa.LE, "gt": isa.GT, "ge": isa.GE,
	"lo": isa.LO, "ls": isa.LS, "hi": isa.HI, "hs": isa.HS, "equ": isa.EQU, "neu": isa.NEU, "ltu": isa.LTU, "leu": isa.LEU,
	"gtu": isa.GTU, "geu": isa.GEU, "num": isa.NUM, "nan": isa.NAN,
}

// lookup finds the function of an instruction given as text.
func lookup(t testing.TB, text string) Func {
	t.Helper()
	f, err := Lookup(desc(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// splat is a register that holds v in every lane.
func splat(v uint64) *Lanes {
	var l Lanes
	for i := range l {
		l[i] = v
	}
	return &l
}

// eval executes an instruction on one lane and returns the destination.
func eval(t testing.TB, text string, src ...uint64) uint64 {
	t.Helper()
	var d Lanes
	var cc uint32
	o := &Ops{D: [2]*Lanes{&d}, CC: &cc}
	for i, v := range src {
		o.S[i] = splat(v)
	}
	lookup(t, text)(o, 1<<7)
	return d[7]
}

// want checks one result.
func want(t *testing.T, text string, exp uint64, src ...uint64) {
	t.Helper()
	if got := eval(t, text, src...); got != exp {
		t.Errorf("%s %#x = %#x, want %#x", text, src, got, exp)
	}
}
