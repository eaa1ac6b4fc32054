package alu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// notImplemented are the forms of executable arithmetic opcodes, as isa decodes them, that Lookup
// rejects.
var notImplemented = []struct {
	what string
	is   func(d *isa.Desc) bool
}{
	{"min and max of three inputs with .abs: ThreeInputs",
		func(d *isa.Desc) bool { return d.Has(isa.Abs) }},
	{"fma.oob", func(d *isa.Desc) bool { return d.Has(isa.OOB) }},
	{"128-bit mov", func(d *isa.Desc) bool { return d.Type == isa.B128 }},
	{"conversions to four values: StochasticPair", func(d *isa.Desc) bool { return isX4(d.Type) }},
	{"fixed-point numbers", func(d *isa.Desc) bool {
		return d.Type == isa.S2F6x2 || d.SType == isa.S2F6x2
	}},
	// Not in the ISA text, which isa reads leniently.
	{"cvt between the 16-bit formats without a rounding to 16 bits", func(d *isa.Desc) bool {
		sixteen := func(t isa.Type) bool { return t == isa.F16 || t == isa.BF16 }
		return d.Row.Opcode == "cvt" && sixteen(d.Type) && sixteen(d.SType) && d.Type != d.SType &&
			(d.Round == isa.NoRounding || d.Round.Integral())
	}},
	{"cvt.ftz without a single-precision side", func(d *isa.Desc) bool {
		return d.Row.Opcode == "cvt" && d.Has(isa.FTZ) && d.Type != isa.F32 && d.SType != isa.F32
	}},
	{"cvt.sat to bfloat16", func(d *isa.Desc) bool {
		return d.Row.Opcode == "cvt" && d.Has(isa.Sat) && d.Type == isa.BF16
	}},
	{"set.ftz of integers or doubles", func(d *isa.Desc) bool {
		return d.Row.Opcode == "set" && d.Has(isa.FTZ) && (!d.SType.IsFloat() || d.SType == isa.F64)
	}},
}

func listed(d *isa.Desc) bool {
	for _, n := range notImplemented {
		if n.is(d) {
			return true
		}
	}
	return false
}

// vocabulary are the words that an arithmetic opcode may have, by kind; of a kind at most one is
// written, but of flags any number and of types up to three.
var vocabulary = struct{ types, fns, cmps, rounds, flags []string }{
	types: strings.Fields(
		"pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 " +
			"u16x2 s16x2 f32x2 tf32 e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2 s2f6x2 e4m3x4 e2m1x4 u4"),
	fns: strings.Fields(
		"and or xor lo hi wide l r f4e b4e rc8 ecl ecr rc16 finite infinite number notanumber " +
			"normal subnormal"),
	cmps:   strings.Fields("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"),
	rounds: strings.Fields("rn rz rm rp rna rs rni rzi rmi rpi"),
	flags: strings.Fields(
		"ftz sat approx full cc wrap clamp shiftamt NaN xorsign abs relu satfinite oob"),
}

// known returns the words that the opcode has at all, and none at first for those that may be left
// out.
func known(opcode string, words []string) []string {
	out := []string{""}
	for _, w := range words {
		_, err := isa.Decode(opcode, []string{w})
		var bad *isa.DecodeError
		if errors.As(err, &bad) && (strings.HasPrefix(bad.Msg, "not a modifier") ||
			bad.Msg == "unknown") {
			continue
		}
		out = append(out, w)
	}
	return out
}

func subsets(words []string) [][]string {
	all := [][]string{nil}
	for _, w := range words {
		if w == "" {
			continue
		}
		for _, s := range all {
			all = append(all, append(slices.Clone(s), w))
		}
	}
	return all
}

func product3(a, b, c []string) [][3]string {
	var all [][3]string
	for _, x := range a {
		for _, y := range b {
			for _, z := range c {
				if x != y || x == "" { // .lo and .hi compare in set and setp
					all = append(all, [3]string{x, y, z})
				}
			}
		}
	}
	return all
}

// Every form of an executable arithmetic opcode of the ISA table has a function or is listed, and
// listed forms have none.
func TestTable(t *testing.T) {
	forms := 0
	for row := range isa.Rows() {
		if row.Category != isa.Arith || !row.Executable || row.Opcode == "cvt.pack" ||
			row.Opcode == "mov.vec" {
			continue
		}
		v := vocabulary
		types := known(row.Opcode, v.types)
		cmps := []string{""}
		if strings.HasPrefix(row.Opcode, "set") {
			cmps = known(row.Opcode, v.cmps)
		}
		fns, rounds, flags := known(row.Opcode, v.fns), known(row.Opcode, v.rounds),
			subsets(known(row.Opcode, v.flags))
		count := 0
		for _, head := range product3(cmps, fns, rounds) {
			for _, ty := range types {
				for _, st := range types {
					if ty == "" && st != "" {
						continue
					}
					for _, flag := range flags {
						mods := slices.DeleteFunc(slices.Concat(head[:], []string{ty, st}, flag),
							func(s string) bool { return s == "" })
						if d, err := isa.Decode(row.Opcode, mods); err == nil {
							count++
							checkForm(t, &d)
						}
					}
				}
			}
		}
		if count == 0 {
			t.Errorf("%s: no form found", row.Opcode)
		}
		forms += count
	}
	if forms < 3000 {
		t.Errorf("only %d forms of the table tried", forms)
	}
}

func checkForm(t *testing.T, d *isa.Desc) {
	t.Helper()
	f, err := Lookup(d)
	var un *UnsupportedError
	switch {
	case err == nil && f == nil:
		t.Errorf("%s: neither function nor error", d.Text())
	case err == nil && listed(d):
		t.Errorf("%s: listed as not implemented, but has a function", d.Text())
	case err != nil && !errors.As(err, &un):
		t.Errorf("%s: error %v is no *UnsupportedError", d.Text(), err)
	case err != nil && !listed(d):
		t.Errorf("%s: %v", d.Text(), err)
	}
}

// A flag without meaning for arithmetic is rejected, not ignored.
func TestStrayFlags(t *testing.T) {
	for _, text := range forms() {
		for _, f := range []isa.Flag{isa.Volatile, isa.NC, isa.MMIO, isa.OOB, isa.Scaled, isa.Abs,
			isa.Uni, isa.Warp} {
			d := desc(t, text)
			d.Flags |= f
			if _, err := Lookup(d); err == nil {
				t.Errorf("%s with flag %v has a function", text, f)
			}
		}
	}
	for _, d := range []*isa.Desc{{}, desc(t, "ld.global.u32"), desc(t, "vote.sync.any.pred")} {
		if f, err := Lookup(d); err == nil || f != nil {
			t.Errorf("%s has a function", d.Text())
		}
	}
}
