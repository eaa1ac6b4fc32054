package run

import "testing"

// TestForStep: the variable that the header of a for statement changes, by the grammar of C; no name
// for anything else.
func TestForStep(t *testing.T) {
	for _, test := range []struct{ line, name, step string }{
		{"for (int i = 0; i < n; i++) {", "i", " i++"},
		{"    for (int k = 128; k > 0; k >>= 1)", "k", " k >>= 1"},
		{"for (i = f(a, b); i; --i) x[i] = 0;", "i", " --i"},
		{"for (size_t j = t; j < n; j += blockDim.x * f(2)) {", "j", " j += blockDim.x * f(2)"},
		{"if (a) for (;; p = next(p)) {", "p", " p = next(p)"},
		{"for (int i = 0; i < n; i++, j--) {", "", ""},
		{"for (auto x : list) {", "", ""},
		{"for (int i = 0;", "", ""},
		{"for (;;) {", "", ""},
		{"for (int i = 0; i < n; f(i)) {", "", ""},
		{"before(a; b; c++)", "", ""},
		{"for", "", ""},
		{"", "", ""},
	} {
		name, from, to := forStep(test.line)
		if name != test.name || test.line[from:to] != test.step {
			t.Errorf("%s: %q in %q", test.line, name, test.line[from:to])
		}
	}
}
