package alu

import (
	"strings"
	"testing"

	"heddle/internal/isa"
)

// desc decodes an instruction written as its opcode and dotted modifiers.
func desc(t testing.TB, text string) *isa.Desc {
	t.Helper()
	words := strings.Split(text, ".")
	d, err := isa.Decode(words[0], words[1:])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &d
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
