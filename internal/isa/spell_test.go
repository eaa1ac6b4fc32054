package isa

import (
	"strings"
	"testing"
)

// Spellings decode to the row that they are of.
func TestSpellings(t *testing.T) {
	total := 0
	for r := range Rows() {
		first, _, _ := strings.Cut(r.Opcode, ".")
		list := r.Spellings()
		if len(list) < len(r.forms) && len(r.forms) < 4 {
			t.Errorf("%s: %d spellings of %d forms", r.Opcode, len(list), len(r.forms))
		}
		for _, mods := range list {
			total++
			d, err := Decode(first, mods)
			if err != nil || d.Row != r {
				t.Errorf("%s.%s: %v", first, strings.Join(mods, "."), err)
			}
		}
	}
	if total < 1000 {
		t.Errorf("%d spellings only", total)
	}
}
