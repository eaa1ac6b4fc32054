package long

import (
	"fmt"
	"testing"
)

// The sample has about the promised size, and that of -short is a part of it.
func TestKeep(t *testing.T) {
	if All() {
		t.Skip("HEDDLE_LONG keeps all")
	}
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
