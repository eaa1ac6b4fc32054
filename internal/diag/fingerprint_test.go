package diag

import (
	"strings"
	"testing"

	"heddle/internal/source"
)

// twoLines returns a race between the first lines of a text that contain "one" and "two".
func twoLines(t *testing.T, text string) (*source.Set, *Diagnostic) {
	t.Helper()
	set := source.NewSet()
	f := add(t, set, "f.cu", text)
	return set, &Diagnostic{
		Code: CodeRaceShared, Kernel: "k(int*)", Message: "by thread 1",
		Span:    source.Span{Start: f.PosAt(strings.Index(text, "two"))},
		Related: []Related{{Span: source.Span{Start: f.PosAt(strings.Index(text, "one"))}}},
		Witness: &Witness{First: WitnessAccess{Op: "st.shared.u32", Thread: "a"},
			Second: WitnessAccess{Op: "ld.shared.u32", Thread: "b"}},
	}
}

// A fingerprint depends on code, kernel, operations, and the text of the lines without white space
// and comments. It does not depend on line numbers, threads, or the order of the accesses.
func TestFingerprint(t *testing.T) {
	const text = "one = 1;\ntwo = 2;\n"
	base := func() string { set, d := twoLines(t, text); return Fingerprint(set, d) }()
	tests := []struct {
		name, text string
		change     func(*Diagnostic)
		same       bool
	}{
		{"again", text, nil, true},
		{"moved", "\n\n// new\n" + text, nil, true},
		{"apart", "one = 1;\nint other;\ntwo = 2;\n", nil, true},
		{"indented", "\tone=1;\n  two  =  2 ;\r\n", nil, true},
		{"commented", "one = 1; // heddle:ignore x\ntwo = 2; // why\n", nil, true},
		{"one line changed", "one = 7;\ntwo = 2;\n", nil, false},
		{"other threads", text, func(d *Diagnostic) {
			d.Message, d.Witness.First.Thread,
				d.Count = "by thread 9", "z", 7
		}, true},
		{"other order", text, func(d *Diagnostic) {
			d.Span, d.Related[0].Span = d.Related[0].Span, d.Span
			d.Witness.First, d.Witness.Second = d.Witness.Second, d.Witness.First
		}, true},
		{"operations exchanged", text,
			func(d *Diagnostic) { d.Witness.First, d.Witness.Second = d.Witness.Second, d.Witness.First },
			false},
		{"other operation", text, func(d *Diagnostic) { d.Witness.First.Op = "st.shared.u8" }, false},
		{"other kernel", text, func(d *Diagnostic) { d.Kernel = "j(int*)" }, false},
		{"other code", text, func(d *Diagnostic) { d.Code = CodeRaceGlobal }, false},
		{"one place less", text, func(d *Diagnostic) { d.Related = nil }, false},
	}
	for _, tt := range tests {
		set, d := twoLines(t, tt.text)
		if tt.change != nil {
			tt.change(d)
		}
		if got := Fingerprint(set, d); (got == base) != tt.same {
			t.Errorf("%s: the same fingerprint: %v, want %v", tt.name, got == base, tt.same)
		} else if len(got) != 32 {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
