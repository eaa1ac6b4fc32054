package weaken

import (
	"slices"
	"strings"
	"testing"
)

// A call is read with its arguments, unless something is in it that may hide their ends.
func TestCallAt(t *testing.T) {
	for _, c := range []struct {
		text, name string
		args       []string
	}{
		{"f()", "f", nil},
		{"f (a, g(b, c), d[1])", "f", []string{"a", "g(b, c)", "d[1]"}},
		{"f(a,\n  b)", "f", []string{"a", "b"}},
		{"f", "", nil},
		{"F;", "", nil},
		{"f(a /* , */, b)", "", nil},
		{"f('a')", "", nil},
		{"f(a", "", nil},
	} {
		s := callAt([]byte(c.text), 0)
		var args []string
		for _, a := range s.args {
			args = append(args, a.text)
			if c.text[a.from:a.to] != a.text {
				t.Errorf("%q: argument %q is at %q", c.text, a.text, c.text[a.from:a.to])
			}
		}
		if s.name != c.name || s.name != "" && !slices.Equal(args, c.args) {
			t.Errorf("%q: %q of %q", c.text, s.name, args)
		}
	}
	if s := callAt([]byte("xf()"), 1); s.name != "" {
		t.Errorf("the end of a name is read as %q", s.name)
	}
}

// A statement may be removed only if it is one of a list: comments, conditions, labels and
// directives in front of it count.
func TestStatement(t *testing.T) {
	for _, c := range []struct {
		before, after string
		free, ok      bool
	}{
		{"a = 1;\n", ";", true, true},
		{"{ ", ";", true, true},
		{"} ", " ;", true, true},
		{"a = 1; // then wait.\n", ";", true, true},
		{"a = 1;\n/* { */", ";", true, true},
		{"if (c) // {\n", ";", false, true},
		{"if (c) /* ; */", ";", false, true},
		{"if (c)\n", ";", false, true},
		{"else ", ";", false, true},
		{"case 1: ", ";", false, true},
		{"#define X ;\n", ";", false, true},
		{"a = 1; \\\n", ";", false, false},
		{"a = ", ";", false, false},
		{"a, ", ";", false, false},
		{"a = 1;\n", ", b;", false, false},
		{`s = "//"; `, ";", true, true},
		{"c = '\"'; ", ";", true, true},
		{"n = 1'000; ", ";", true, true},
		{"", ";", false, false},
	} {
		text := c.before + "wait()" + c.after
		s := callAt([]byte(text), len(c.before))
		end, free, ok := s.statement([]byte(text))
		if free != c.free || ok != c.ok {
			t.Errorf("%q: free %v, %v; want %v, %v", text, free, ok, c.free, c.ok)
		}
		if ok && !strings.HasSuffix(text[:end], ";") {
			t.Errorf("%q ends at %q", text, text[:end])
		}
	}
}
