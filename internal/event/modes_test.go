package event

import "testing"

// Every value has a word that its parser reads; the empty word is the default, and others are errors.
func TestModes(t *testing.T) {
	for m := Independent; m <= Lockstep; m++ {
		if got, err := ParseWarpModel(m.String()); got != m || err != nil {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	for b := BenignWarp; b <= BenignNone; b++ {
		if got, err := ParseBenign(b.String()); got != b || err != nil {
			t.Errorf("%v: %v, %v", b, got, err)
		}
	}
	if m, err := ParseWarpModel(""); m != Independent || err != nil {
		t.Error(m, err)
	}
	if b, err := ParseBenign(""); b != BenignWarp || err != nil {
		t.Error(b, err)
	}
	if _, err := ParseWarpModel("simd"); err == nil {
		t.Error("no error")
	}
	if _, err := ParseBenign("some"); err == nil {
		t.Error("no error")
	}
}
