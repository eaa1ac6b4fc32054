package launch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDoubts gives for host code what the facts of its launch may depend on. The kernel takes two
// pointers and a number. Every case but the first has a class with a constructor, by which all of
// the file is outside of the language of hostlanguage.go.
func TestDoubts(t *testing.T) {
	const class = "struct C { int *p; C(int *q) : p(q) {} void add(); };\nvoid C::add() { ++*p; }\n"
	const alloc = "float *a, *b; cudaMalloc(&a, 400); cudaMalloc((void **)&b, 400);"
	in := func(body string) string { return "int main(int argc, char **argv) {\n" + body + "\n}\n" }
	for _, c := range []struct{ name, text, want string }{
		// In the language nothing is in doubt, whatever changes.
		{"plain C", in("int n = 3; " + alloc + " for (int i = 0; i < 9; i++) n += i; float *c = a; a = b; b = c;" +
			"k<<<n, n>>>(a, b, n);"), ""},
		// A local variable with one definition is certain beside a class, a lambda or an exception.
		{"one definition", class + in("int n = 64; "+alloc+" C c(0); auto f = [&] { c.add(); };"+
			"try { f(); } catch (...) { } k<<<n / 32, dim3(n, 2)>>>(a, b, n);"), ""},
		{"from the command line", class + in("C c(0); int n = atoi(argv[1]); "+alloc+
			"const int g = (n + 255) / 256; k<<<g, 256>>>(a, b, n);"), ""},
		{"a constant", "const int n = 4 * 16;\n" + class + in("C c(0);"+alloc+"k<<<1, n>>>(a, b, n);"), ""},
		// Several definitions in structured code, too: no class can reach a variable that it does
		// not get.
		{"assigned", class + in("C c(0); int n = 64; "+alloc+" if (argc > 1) n = 32; c.add(); n *= 2;"+
			"float *t = a; a = b; b = t; k<<<1, n>>>(a, b, n);"), ""},
		{"under a condition", class + in("C c(0); int n = 64, m = atoi(argv[1]); "+alloc+
			" if (m > 2) { n = 32; } else if (m < 1) { n = 16; } else { n = 8; } for (int i = 0; i < 3; i++) n++;"+
			" k<<<1, n>>>(a, b, n);"), ""},
		{"under a condition that depends on a class", class + in("int m = 1; C c(&m); int n = 64; "+alloc+
			" if (m) n = 32; k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"under an alternative that depends on a class", class + in("int m = 1; C c(&m); int n = 64; "+alloc+
			" if (m) { } else { n = 32; } k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"under a call", class + in("C c(0); int n = 64; "+alloc+
			" while (next()) { n = 32; } k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"members of a dim3", class + in("C c(0); dim3 g(4, 2); g.y = 8; "+alloc+" k<<<g, 64>>>(a, b, 1);"), ""},
		{"swapped", class + in("C c(0); "+alloc+" std::swap(a, b); k<<<1, 64>>>(a, b, 1);"), ""},
		{"filled", class + in("C c(0); int n; cudaGetDevice(&n); "+alloc+" k<<<1, 64>>>(a, b, n);"), ""},
		{"the steps of a for", class + in("C c(0); "+alloc+
			" for (int n = 1, m = 0; n < 9; n *= 2, m++) k<<<m, 64>>>(a, b, n);"), ""},
		{"a parameter", class + "void run(float *a, float *b, int n) { k<<<1, n>>>(a, b, n); }\n" +
			in("C c(0); "+alloc+" run(a, b, 64);"), ""},
		{"a template", class + "template <int N> void run(float *a, float *b) { k<<<1, N>>>(a, b, N); }\n" +
			in("C c(0); "+alloc+" run<64>(a, b);"), ""},
		// The order of definitions may be another than the text has it.
		{"a goto", class + in("C c(0); int n = 64; "+alloc+" if (argc > 1) goto end; n = 32;\nend:\n"+
			"k<<<1, n>>>(a, b, 1);"), "block: a goto"},
		{"an exception", class + in("C c(0); int n = 64; "+alloc+" try { c.add(); n = 32; } catch (...) { }"+
			"k<<<1, n>>>(a, b, 1);"), "block: a try block"},
		// What is named in other ways may change in ways that nobody lists.
		{"given to a class", class + in("int n = 64; C c(&n); c.add(); "+alloc+" k<<<1, n>>>(a, b, 1);"),
			"block: an object of type C"},
		{"a reference", class + in("C c(0); int n = 64; int &r = n; r = 32; "+alloc+" k<<<1, n>>>(a, b, n);"),
			"2: an object of type C, block: an object of type C"},
		{"an address", class + in("C c(0); int n = 64; int *p = &n; *p = 32; "+alloc+" k<<<1, n>>>(a, b, 1);"),
			"block: an object of type C"},
		{"a lambda", class + in("C c(0); int n = 64; auto f = [&] { n = 32; }; f(); "+alloc+
			"k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"an unknown function", class + in("C c(0); int n = 64; set(n); "+alloc+" k<<<1, n>>>(a, b, 1);"),
			"block: an object of type C"},
		{"a reference parameter", class + "void set(int &n) { n = 32; }\n" + in("C c(0); int n = 64; set(n); "+
			alloc+" k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"a pointer by reference", class + "void get(float *&p) { cudaMalloc(&p, 4); }\n" +
			in("C c(0); float *a, *b; get(a); cudaMalloc(&b, 4); k<<<1, 64>>>(a, b, 1);"),
			"0: an object of type C"},
		{"a member", class + "struct S { int n; };\n" + in("C c(0); S s; s.n = 64; "+alloc+
			" k<<<1, s.n>>>(a, b, 1);"), "block: an object of type C"},
		{"a global variable", "int n = 64;\n" + class + in("C c(0); "+alloc+" k<<<1, n>>>(a, b, 1);"),
			"block: an object of type C"},
		{"a static variable", class + in("C c(0); static int n = 64; "+alloc+" k<<<1, n>>>(a, b, 1);"),
			"block: an object of type C"},
		{"two variables of one name", class + in("C c(0); int n = 64; { int n = 32; printf(\"%d\", n); } "+
			alloc+" k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"sizes and masks", class + in("C c(0); int n = 64; float *a, *b; cudaMalloc(&a, 4 * n); "+
			"cudaMalloc((void **)&b, n * sizeof(float)); int m = n & 31, l = 2 * n; k<<<m, l>>>(a, b, n);"), ""},
		{"a reference in brackets", class + in("C c(0); int n = 64; int (&r) = n; r = 32; "+alloc+
			" k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"a reference after a number", class + in("C c(0); int n = 64; int m = 2 * n, &r = n; r = 32; "+alloc+
			" k<<<1, n>>>(a, b, m);"), "2: an object of type C, block: an object of type C"},
		{"a reference by name", class + in("C c(0); int n = 64; std::add_lvalue_reference_t<int> r = n; r = 32; "+
			alloc+" k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"a parameter in brackets", class + "void set(int (&n)) { n = 32; }\n" + in("C c(0); int n = 64; set(n); "+
			alloc+" k<<<1, n>>>(a, b, 1);"), "block: an object of type C"},
		{"a variable in brackets", class + in("C c(0); int n = 64; "+alloc+
			" { int (n)(32); k<<<1, n>>>(a, b, 1); }"), "block: an object of type C"},
		{"an element", class + in("C c(0); "+alloc+" float *d[2]; d[0] = a; k<<<1, 64>>>(d[0], b, 1);"),
			"0: an object of type C"},
		{"through others", class + in("C c(0); int n = 64; C e(&n); int m = n / 2; int l = m + 1; "+alloc+
			" k<<<1, l>>>(a, b, 1);"), "block: an object of type C"},
		{"an argument of a call", class + "void run(float *a, float *b, int n) { k<<<1, n>>>(a, b, 1); }\n" +
			in("int n = 64; C c(&n); "+alloc+" run(a, b, n);"), "block: an object of type C"},
		{"a parameter of a method", "struct R { R(); void run(float *a, float *b) { k<<<1, 64>>>(a, b, 1); } };\n" +
			in("R r; "+alloc+" r.run(a, b);"), "0: an object of type R, 1: an object of type R"},
		{"a member of a base", class + "struct R : B { R(); void run(float *a) { k<<<n, 64>>>(a, a, 1); } };\n" +
			in("C c(0);"), "0: a method, 1: a method, grid: a method"},
		{"a condition", class + in("C c(0); int n = 64; "+alloc+" while (n = next()) k<<<1, n>>>(a, b, 1);"),
			"block: an object of type C"},
	} {
		facts := ScanCUDA(cuda(t, "__global__ void k(float *, float *, int);\n"+c.text), nil)
		var got []string
		for _, l := range facts.Launches {
			for fact, d := range l.Doubts {
				if d != nil {
					got = append(got, fmt.Sprintf("%s: %s", fact, d.What))
				}
			}
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if len(facts.Launches) == 0 || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %d launches, doubts %q, want %q\n%s", c.name, len(facts.Launches),
				strings.Join(got, ", "), c.want, c.text)
		}
	}
}

// A launch that is never made if a condition is read right is named, if that may depend on a
// construct.
func TestUnmade(t *testing.T) {
	const head = "__global__ void k(int *);\nstruct C { int *p; C(int *q) : p(q) {} };\nstruct S { int debug; };\n" +
		"int main() { int *a; cudaMalloc(&a, 4);"
	for _, tt := range []struct{ name, text, want string }{
		{"a constant", head + "const int debug = 0; C c(0); k<<<1, 64>>>(a); if (debug) k<<<1, 128>>>(a); }", ""},
		{"a member", head + "S s = {0}; C c(0); k<<<1, 64>>>(a); if (s.debug) k<<<1, 128>>>(a); }",
			"an object of type C"},
	} {
		facts := ScanCUDA(cuda(t, tt.text), nil)
		got := ""
		for _, u := range facts.unmade {
			got += u.beyond.What
		}
		if got != tt.want || len(facts.Launches) == 0 {
			t.Errorf("%s: %q with %d launches, want %q", tt.name, got, len(facts.Launches), tt.want)
		}
	}
}
