package long

import (
	"fmt"
	"testing"
)

// The sample has about the promised size, and that of -short is a part of it.
func TestKeep(t *testing.T) {
	t.Setenv("HEDDLE_LONG", "")
	const cases = 6000
	kept := 0
	for i := range cases {
		name := fmt.Sprintf("TestTable/case_%d", i)
		if Keep(name, 3) {
			kept++
		}
		if Keep(name, 12) && !Keep(name, 3) {
			t.Errorf("%s is in the smaller sample alone", name)
		}
	}
	want := cases / 3
	if testing.Short() {
		want /= 4
	}
	if kept < want*9/10 || kept > want*11/10 {
		t.Errorf("%d of %d cases, want about %d", kept, cases, want)
	}
}

// HEDDLE_LONG=tables keeps every case, and makes nothing else long.
func TestTables(t *testing.T) {
	for value, want := range map[string][2]bool{"": {}, Tables: {true, false}, "1": {true, true}} {
		t.Setenv("HEDDLE_LONG", value)
		every := true
		for i := range 100 {
			every = every && Keep(fmt.Sprint(i), 3)
		}
		if every != want[0] || All() != want[1] || (Least(50) == 50) != want[0] {
			t.Errorf("HEDDLE_LONG=%q: keeps every case: %v, All: %v, Least(50): %d",
				value, every, All(), Least(50))
		}
	}
}
