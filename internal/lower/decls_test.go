package lower

import (
	"bytes"
	"strings"
	"testing"
)

func TestDeclAt(t *testing.T) {
	src := `#include <x>
// a comment with { and ;
namespace a { class C : public B { int m; void f() const { g("}"); h(); } }; }
static int v[] = {1, 2}, w{3};
template <class T> struct P { T t; };
struct P<int> *make(int n) { return 0; }
C::C(int x) : m{x}, n(2) { start(); }
extern "C" { void e(void); }
bool operator==(const C &x, const C &y) { return x.m == y.m; }
enum E { A, B };
char c = '{'; const char *s = R"x(})" {)x";
int last() {
  if (v[0]) { one(); } else two();
  for (int i = 0; i < 3; i++) { three(); }
  int a[2] = {1, 2}; auto l = [&] { four(); five(); };
}
`
	for _, c := range []struct{ at, decl, stmt string }{
		{"int m;", "int m;", ""},
		{"h();", `void f() const { g("}"); h(); }`, "h();"},
		{"{1, 2}, w", "static int v[] = {1, 2}, w{3};", ""},
		{"T t;", "T t;", ""},
		{"return 0", "struct P<int> *make(int n) { return 0; }", "return 0;"},
		{"start", "C::C(int x) : m{x}, n(2) { start(); }", "start();"},
		{"void e", "void e(void);", ""},
		{"x.m ==", "bool operator==(const C &x, const C &y) { return x.m == y.m; }",
			"return x.m == y.m;"},
		{"A, B", "enum E { A, B };", ""},
		{"char c", "char c = '{';", ""},
		{"const char *s", `const char *s = R"x(})" {)x";`, ""},
		{"one()", "", "one();"},
		{"two()", "", "else two();"},
		{"i < 3", "", "for (int i = 0; i < 3; i++) { three(); }"},
		{"three", "", "three();"},
		{"a[2]", "", "int a[2] = {1, 2};"},
		{"five", "", "auto l = [&] { four(); five(); };"},
	} {
		off := strings.Index(src, c.at)
		d, ok := declAt([]byte(src), off)
		if !ok {
			t.Errorf("%s: no declaration", c.at)
			continue
		}
		if got := src[d.start:d.end]; c.decl != "" && got != c.decl {
			t.Errorf("%s: declaration %q, want %q", c.at, got, c.decl)
		}
		if c.stmt != "" {
			if d.bodyStart < 0 {
				t.Errorf("%s: no body in %q", c.at, src[d.start:d.end])
				continue
			}
			start, end := statementAt([]byte(src), d, off)
			if got := src[start:end]; got != c.stmt {
				t.Errorf("%s: statement %q, want %q", c.at, got, c.stmt)
			}
		}
	}
}

func TestLaunchedKernel(t *testing.T) {
	for stmt, want := range map[string]string{
		"k<<<1, 2>>>(p);":    "",
		"k<4><<<1, 2>>>(p);": "k<4>",
		"ns::k<4, std::pair<int, int> > <<<g, b>>>(p);": "ns::k<4, std::pair<int, int> >",
		"x = 1;":      "",
		"<<<":         "",
		"a < b > <<<": "",
	} {
		if got := launchedKernel(stmt); got != want {
			t.Errorf("%s: %q, want %q", stmt, got, want)
		}
	}
}

func FuzzDeclarations(f *testing.F) {
	for _, c := range hostCases {
		f.Add([]byte(c.src), 40)
	}
	f.Fuzz(func(t *testing.T, src []byte, off int) {
		if off < 0 || off > len(src) {
			return
		}
		d, ok := declAt(src, off)
		if !ok {
			return
		}
		if d.start > off || off >= d.end || d.end > len(src) {
			t.Fatalf("%+v does not hold offset %d of %d", d, off, len(src))
		}
		if d.bodyStart >= 0 && off >= d.bodyStart && off < d.bodyEnd {
			start, end := statementAt(src, d, off)
			if start > len(src) || end > d.bodyEnd {
				t.Fatalf("statement %d..%d of a body %d..%d", start, end, d.bodyStart, d.bodyEnd)
			}
		}
		out := blanked(src, d.start, d.end)
		if len(out) != len(src) || bytes.Count(out, []byte{'\n'}) != bytes.Count(src, []byte{'\n'}) {
			t.Fatal("blanking moved positions")
		}
	})
}
