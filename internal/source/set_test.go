package source

import "testing"

// TestPosNear compares PosNear with PosAt for every offset and every line.
func TestPosNear(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "\n\n", "ab\nc\n\nd", "ab\r\ncd\n"} {
		f, err := NewSet().Add("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for offset := range len(text) + 1 {
			for line := -1; line <= f.NumLines()+1; line++ {
				if got, want := f.PosNear(offset, line), f.PosAt(offset); got != want {
					t.Errorf("%q: offset %d near line %d is %v, want %v", text, offset, line, got, want)
				}
			}
		}
	}
}
