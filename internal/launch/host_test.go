package launch

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"heddle/internal/ir"
	"heddle/internal/source"
)

func cuda(t testing.TB, text string) *source.File {
	t.Helper()
	f, err := source.NewSet().Add("k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// show formats a launch: kernel, grid, block, shared memory, and arguments.
func show(l HostLaunch) string {
	s := l.Kernel
	for _, d := range [][3]*Expr{l.Grid, l.Block} {
		s += " " + showDim(d)
	}
	if l.Shared != nil {
		s += fmt.Sprintf(" shared=%v", l.Shared)
	}
	if l.Limit != nil {
		s += fmt.Sprintf(" limit=%v", l.Limit)
	}
	for i, a := range l.Args {
		s += [...]string{" (", ", "}[min(i, 1)] + showArg(a)
	}
	if len(l.Args) > 0 {
		s += ")"
	}
	return s
}

// showDim formats dimensions without trailing ones; "?" if they are not understood.
func showDim(d [3]*Expr) string {
	if d[0] == nil {
		return "?"
	}
	last := 3
	for last > 1 && d[last-1].Equal(number(1)) {
		last--
	}
	s := d[0].String()
	for _, e := range d[1:last] {
		s += "," + e.String()
	}
	return s
}

// showArg formats an argument: a number, or the memory that it points into and where.
func showArg(a HostArg) string {
	s := a.Float
	if a.Value != nil {
		s = a.Value.String()
	}
	p := a.Pointer
	for _, f := range a.Fields {
		s += fmt.Sprintf(" +%d:%d=%s", f.Offset, f.Size, showArg(f.Value))
	}
	if p == nil || a.Value != nil {
		return s
	}
	s += fmt.Sprintf("#%d", p.Root)
	switch n, ok := p.Offset.Constant(); {
	case p.Offset == nil:
		s += "+?"
	case !ok || n != 0:
		s += fmt.Sprintf("+%v", p.Offset)
	}
	if p.Size != nil {
		s += fmt.Sprintf(" of %v", p.Size)
	}
	if p.Fill >= 0 {
		s += fmt.Sprintf(" = %x...%02x", p.Data, p.Fill)
	}
	return s
}

func TestHostLaunches(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"literals", `int main() { k<<<4, 256>>>(1024, 1.5f, -2); }`, `k 4 256 (1024, 1.5, -2)`},
		{"shared", `void f() { k<<<1, 64, 2*64*sizeof(float)>>>(); }`, `k 1 64 shared=512`},
		{"dim3", `void f() { k<<<dim3(4,2), dim3(16,16,1), 0, s>>>(); }`, `k 4,2 16,16 shared=0`},
		{"braces", `void f() { k<<<{4,2}, dim3{8}>>>(); }`, `k 4,2 8`},
		{"dim3 variable", `void f() { dim3 g(2,3); dim3 b = dim3(32), c{4,4}; k<<<g, c>>>(); k<<<g.y, b.x>>>(); }`,
			`k 2,3 4,4|k 3 32`},
		{"dim3 from int", `void f() { dim3 g = 7; k<<<g.x+1, g>>>(); }`, `k 8 7`},
		{"const", `const int N = 1 << 20, T = 256; constexpr unsigned B{(N + T - 1) / T}; void f() { k<<<B, T>>>(N); }`,
			`k 4096 256 (1048576)`},
		{"a static variable keeps what an earlier call left",
			`void f() { static int n = 64; static const int T = 32; k<<<n, T>>>(n); n = 1; }`, `k n 32 (n)`},
		{"enum", `enum { T = 64, U }; enum class E : int { B = 3 }; void f() { k<<<E::B, U>>>(); }`,
			`k 3 65`},
		{"define", "#define T 128 // threads\n#define B \\\n (T*2)\nvoid f() { k<<<B, T>>>(); }",
			`k 256 128`},
		// Which branch is compiled depends on what defines X.
		{"define twice", "#if X\n#define T 128\n#else\n#define T 64\n#endif\nvoid f() { k<<<2, T>>>(); }",
			`k 2 T`},
		{"declared twice", "void f() {\n#if X\nint t = 128;\n#else\nint t = 64;\n#endif\nk<<<2, t>>>(); }",
			`k 2 t`},
		{"assigned in a branch of #if", "void f() { int t = 128;\n#if X\nt = 64;\n#endif\nk<<<2, t>>>(); }",
			`k 2 t`},
		{"#if 0", "#if 0\n#define T 128\n#else\n#define T 64\n#endif\nvoid f() { k<<<2, T>>>(); }",
			`k 2 64`},
		{"macro with arguments", "#define B(x) (x)\nvoid f() { k<<<B(2), 32>>>(); }", `k 2 32`},
		{"macro of macros", "#define UP(a, b) (((a) + (b) - 1) / (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\nvoid f(int n) { k<<<MAX(UP(n, 32), MAX(1, 2)), 32>>>(n); }",
			`k 2 < (n + 32 - 1) / 32 ? (n + 32 - 1) / 32 : 2 32 (n)`},
		{"launch in a macro", "#define GO(n) k<<<(n) / 32, 32>>>(n)\nvoid f() { GO(64); }", `k 2 32 (64)`},
		{"recursive macro", "#define A B\n#define B A\nvoid f() { k<<<A, 32>>>(); }", `k A 32`},
		{"plain int", `int main() { int n = 1000; int t = 256; int b = (n + t - 1) / t; k<<<b, t>>>(n); }`, `k 4 256 (1000)`},
		// A member that a loop changes leaves the others what they are.
		{"one member in a loop", `void f(int n) { dim3 g; g.x = n; while (g.x > h()) g.x >>= 1; k<<<g, 64>>>(); }`, `k g.x 64`},
		// The condition of a do loop may assign, too.
		{"assigned in the condition of a do loop", `void f() { int n = 8, m = 2; do g(); while (n = h()); k<<<m, 64>>>(n); }`, `k 2 64 (n)`},
		{"counted in the condition of a do loop", `void f() { int n = 8; do k<<<n, 64>>>(n); while (--n > 6); l<<<1, 64>>>(n); }`, `k n 64 (n)|l 1 64 (n)`},
		{"one member in an arm", `void f(int n) { dim3 g(n, 2); if (n > 9) g.x = 9; k<<<g, 64>>>(); }`, `k 9 < n ? 9 : n,2 64`},
		{"one member in an arm of unknown condition", `void f(int n) { dim3 g(n, 2); if (h()) g.x = 9; else g.x = i(n); k<<<g, 64>>>(); }`, `k h() ? 9 : g.x,2 64`},
		// Both values are known, and so is which of them counts.
		{"one more block", `void f(int n) { int b = n / 64; if (n % 64) b++; k<<<b, 64>>>(n); }`, `k n % 64 ? n / 64 + 1 : n / 64 64 (n)`},
		{"smaller in an arm", `void f(int n) { if (n > 3) n /= 2; k<<<n, 64>>>(n); }`, `k 3 < n ? n / 2 : n 64 (3 < n ? n / 2 : n)`},
		{"two members in a loop", `void f(int n) { dim3 g(1, 1); for (int i = 0; i < n; i++) { g.y = g.x; g.x++; } k<<<g, 64>>>(); }`, `k g.x,g.y 64`},
		{"a member by a function", `void h(dim3 &d) { while (c()) d.y *= 2; } void f() { dim3 g(3); h(g); k<<<g, 64>>>(); }`, `k 3,g.y 64`},
		// What a condition says of an unknown holds for the launches under it.
		{"cases", `void f(int t) { dim3 b(t); switch (t) { case 64: k<<<1, b>>>(t); break; case 32: k<<<2, b>>>(t); break; default: k<<<3, b>>>(t); } k<<<4, b>>>(t); }`,
			`k 1 64 (64)|k 2 32 (32)|k 3 t (t)|k 4 t (t)`},
		{"a case that another runs into", `void f(int t) { switch (t) { case 64: case 32: k<<<1, t>>>(); case 16: k<<<2, t>>>(); } }`,
			`k 1 t|k 2 t`},
		{"equation", `void f(int t) { if (t == 64) k<<<1, t>>>(); else k<<<2, t>>>(); if (t != 32) k<<<3, t>>>(); else { k<<<4, 2 * t>>>(); } }`,
			`k 1 64|k 2 t|k 3 t|k 4 64`},
		{"assigned under an equation", `void f(int t) { if (t == 64) { t = g(); k<<<1, t>>>(); } }`, `k 1 t`},
		{"straight line", `int main() { int b = 4; b = 5; b *= 2; b++; k<<<b, 32>>>(); b = 1; k<<<b, 32>>>(); }`, `k 11 32|k 1 32`},
		{"assigned", `int main() { int b = 4; b = atoi(argv[1]); k<<<b, 32>>>(b * 32); }`, `k b 32 (b * 32)`},
		{"address taken", `int main() { int b = 4; scanf("%d", &b); k<<<b, 32>>>(); }`, `k b 32`},
		{"pointer to it", `int main() { int b = 4; int *p = &b; *p = 5; k<<<b, 32>>>(); }`, `k b 32`},
		{"reference to it", `int main() { int b = 4; int &r = b; r = 5; k<<<b, 32>>>(); }`, `k 5 32`},
		{"passed on", `int main() { int b = 4; choose(b); k<<<b, 32>>>(); }`, `k b 32`},
		{"const is passed on", `int main() { const int b = 4; choose(b); k<<<b, 32>>>(); }`, `k 4 32`},
		{"printed", `int main() { int b = 4; printf("%d", b); k<<<b, 32>>>(); }`, `k 4 32`},
		{"stream input", `int main() { int b = 4; std::cin >> b; k<<<b, 32>>>(); }`, `k b 32`},
		{"captured", `int main() { int b = 4; auto f = [&]() { b = 5; }; f(); k<<<b, 32>>>(); }`,
			`k b 32`},
		{"assigned in if", `int main() { int b = 4; if (argc > 1) b = 5; k<<<b, 32>>>(); }`, `k 1 < argc ? 5 : 4 32`},
		{"equal in both arms", `int main() { int b; if (argc > 1) b = 5; else b = 5; k<<<b, 32>>>(); }`,
			`k 5 32`},
		{"decided if", `int main() { int b = 4; if (b > 5) { b = 6; } else b = 7; k<<<b, 32>>>(); }`,
			`k 7 32`},
		{"arm that returns", `int main() { int b = 4; if (argc > 1) { b = 6; return 1; } k<<<b, 32>>>(); }`,
			`k 4 32`},
		{"assigned in a loop", `int main() { int b = 4; while (more()) b = b + 1; k<<<b, 32>>>(); }`,
			`k b 32`},
		{"switch", `int main() { int b = 4; switch (argc) { case 1: b = 5; break; case 2: k<<<b, 32>>>(); } k<<<b, 64>>>(); }`,
			`k b 32|k b 64`},
		{"label", `int main() { int b = 4; again: k<<<b, 32>>>(); b = 5; goto again; }`, `k b 32`},
		{"member assigned", `int main() { dim3 g(1); g.y = 4; k<<<g, 32>>>(); }`, `k 1,4 32`},
		{"struct fields", `struct P { int w, h; }; int main() { P p; p.w = 64; k<<<p.w / 32, p.h>>>(p); }`,
			`k 2 p.h (p +0:4=64 +4:4=p.h)`},
		{"struct of pointers", `struct P { int *a, *b, n, **c; }; void f(int *d, int *e) { P p = {d, e, 3}; k<<<1, 32>>>(p, e); }`,
			`k 1 32 (p +0:8=#1 +8:8=#2 +16:4=3, #2)`},
		{"members by name", `struct P { int *a, *b, n; }; void f(int *d, int *e) { P p = {.b = d, .n = 3}; k<<<1, 32>>>(p); }`,
			`k 1 32 (p +8:8=#1 +16:4=3)`},
		{"struct without a name", `struct P { int *a, *b, n; }; void f(int *d) { k<<<1, 32>>>(P{d, d, 3}); }`,
			`k 1 32 (P +0:8=#1 +8:8=#1 +16:4=3)`},
		{"two assignments at once", `struct P { int *a, *b; }; void f(int *d) { P p; p.a = p.b = d; k<<<1, 32>>>(p); }`,
			`k 1 32 (p +0:8=#1 +8:8=#1)`},
		{"three assignments at once", `int main() { int a, b = 1, c = 2; a = b += c = 3; k<<<a, c>>>(); }`, `k 4 3`},
		{"assigned and more", `int main() { int a, b = 2; a = b += 3; k<<<a, b>>>(); }`, `k 5 5`},
		{"set elsewhere", `int n; void g(); int main() { int b = n / 32; g(); k<<<b, 32>>>(n); }`, `k n#2 / 32 32 (n#4)`},
		{"changed elsewhere", `int n = 64; void g(); int main() { g(); k<<<1, n>>>(); }`, `k 1 n`},
		{"of other files", `int n = 64; void f() { k<<<1, n>>>(); }`, `k 1 n`},
		{"not changed by a library", `int n = 64; int main() { g(); k<<<1, n>>>(); }`, `k 1 64`},
		{"constant elsewhere", `const int n = 64; static int m = 2; void g(); void f() { g(); k<<<m, n>>>(); }`,
			`k 2 64`},
		{"not set elsewhere", `static int n; void g(); void f() { int b = n / 32; g(); k<<<b, 32>>>(n); }`,
			`k n / 32 32 (n)`},
		{"method after a store", `struct S { int n; int size() const { return n; } }; void f(S s) { int b = s.size(); s.n += 1; k<<<b, 32>>>(s.size()); }`,
			`k s#2.size() 32 (s#2.size()#2)`},
		{"method that reads a global", `static int w; struct S { int width() const { return w; } }; void f(S s) { int b = s.width(); w++; k<<<b, 32>>>(s.width()); }`,
			`k s#2.width() 32 (s#2.width()#2)`},
		{"method of a declared class", `struct R { int xorshift(); }; void f(R r) { k<<<r.xorshift(), r.xorshift()>>>(); }`,
			`k ? ?`},
		{"function object", `void f(std::function<int(int)> g) { k<<<g(1), g(1)>>>(); }`, `k ? ?`},
		{"declared function in capitals", `int READ(); void f() { k<<<READ(), READ()>>>(); }`, `k ? ?`},
		{"elements of rows", `void f(int m[2][2]) { k<<<m[0][1], m[1][1]>>>(); }`, `k m[0][1] m[1][1]`},
		{"elements of results", `void f(T t, T u) { k<<<t.sizes()[0], u.sizes()[0]>>>(); }`, `k t.sizes()[0] u.sizes()[0]`},
		{"container in a struct", `struct S { std::vector<int> v; }; void f(S s) { int c = s.v.size(); s.v.push_back(1); k<<<c, s.v.size()>>>(); }`,
			`k s.v.size() s#2.v.size()`},
		{"operator of a class", `struct N { int v; N operator+(N o) const { return {v + o.v + 1}; } operator int() const; }; int main() { k<<<1, 32>>>(N{1} + N{1}); }`,
			`k 1 32 (N{1} + N{1})`},
		{"struct parameter", `struct P { char c; int w; double d; }; void f(P p) { k<<<p.w / 32, 32>>>(p); }`,
			`k p.w / 32 32 (p +4:4=p.w)`},
		{"parameter", `const int n = 4; void f(int n) { k<<<n, 32>>>(); }`, `k n 32`},
		{"default argument", `void f(int n = 4) { k<<<n, 32>>>(); }`, `k n 32`},
		{"after a parameter", `__global__ void k(int *n, int m); const int n = 4; void f() { k<<<n, 32>>>(); }`, `k 4 32`},
		{"inner scope ended", `const int n = 4; void g() { const int n = 8; } void f() { k<<<n, 32>>>(); }`, `k 4 32`},
		{"global variable", `int n = 4; void g() { n = 8; } void f() { k<<<n, 32>>>(); }`, `k n 32`},
		{"template parameter", `template <int N> void f() { k<N><<<N, 32>>>(); }`, `k N 32`},
		{"template argument", `template <int N> void f() { k<N><<<N, 32>>>(); } void g() { f<8>(); }`,
			`k 8 32`},
		{"for loop", `void f() { for (int s = 1; s < 9; s *= 2) k<<<s, 32>>>(s); }`,
			`k 1 32 (1)|k 2 32 (2)|k 4 32 (4)|k 8 32 (8)`},
		{"for loop of unknown length", `void f(int n) { for (int s = 1; s < n; s *= 2) k<<<s, 32>>>(s); }`,
			`k s 32 (s)`},
		{"for loop with break", `void f() { int s; for (s = 1; s < 9; s *= 2) { k<<<s, 32>>>(); if (g()) break; } k<<<s, 64>>>(); }`,
			`k s 32|k s 64`},
		{"unknown call", `void f() { const int b = blocks(); k<<<b, 32>>>(b); }`, `k b 32 (b)`},
		{"call in the launch", `void f(int n) { k<<<blocks(n), 32>>>(); }`, `k ? 32`},
		{"function of the file", `int up(int a, int b) { return (a + b - 1) / b; } void f(int n) { k<<<up(n, 64), 64>>>(n); }`,
			`k (n + 64 - 1) / 64 64 (n)`},
		{"function template", `template <class T> T up(T a, T b) { return (a + b - 1) / b; } void f() { k<<<up<int>(100, 64), 64>>>(); }`,
			`k 2 64`},
		{"called with a constant", `void run(int n) { k<<<n / 64, 64>>>(n); } int main() { run(1024); }`,
			`k 16 64 (1024)`},
		{"called twice", `void run(int n) { k<<<n / 64, 64>>>(n); } int main() { run(128); run(64); }`,
			`k 2 64 (128)|k 1 64 (64)`},
		{"set by reference", `void set(int &n) { n = 64; } int main() { int n = 1; set(n); k<<<n, 64>>>(); }`,
			`k 64 64`},
		{"perhaps set by reference", `void set(int &n) { if (x) { n = 64; return; } } int main() { int n = 1; set(n); k<<<n, 64>>>(); }`,
			`k n 64`},
		{"ceil", `void f(int n) { k<<<(int)ceil(n / 256.0), 256>>>(n); k<<<ceil((float)n / 32), 32>>>(n); k<<<ceil(100 / 64.0f), 32>>>(n); }`,
			`k ceil(n / 256) 256 (n)|k ceil(n / 32) 32 (n)|k 2 32 (n)`},
		{"integer division in ceil", `void f(int n) { k<<<ceil(n / 256), 256>>>(); }`, `k n / 256 256`},
		{"min and max", `void f(int n) { k<<<std::min((n + 255) / 256, 64), max(32, 64)>>>(n); }`,
			`k min((n + 255) / 256, 64) 64 (n)`},
		{"conditional", `void f(int n) { int t = n > 64 ? 64 : n; k<<<1, t>>>(1 ? n : 2); }`,
			`k 1 64 < n ? 64 : n (n)`},
		{"vector", `void f(int n) { std::vector<float> v(n), w; w.resize(64); k<<<(v.size() + 31) / 32, w.size()>>>(v.size()); }`,
			`k (n + 31) / 32 64 (n)`},
		{"unknown vector", `void f(std::vector<float> &v) { k<<<(v.size() + 31) / 32, 32>>>(v.size()); }`,
			`k (v.size() + 31) / 32 32 (v.size())`},
		{"behind a pointer", `void f(P *p) { k<<<p->n / 32, 32>>>(p->n); g(p); k<<<1, 32>>>(p->n); }`,
			`k p->n / 32 32 (p->n)|k 1 32 (p->n)`},
		{"opt-in", `void f(int n) { int b = n * sizeof(float); cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, b); k<<<4, 64, b>>>(); }`,
			`k 4 64 shared=n * 4 limit=n * 4`},
		{"template kernel", `void f() { ns::k<float, (4 > 3)><<<1, 32>>>(); }`, `k 1 32`},
		{"comment and string", "// k<<<1,2>>>()\n/* k<<<1,2>>>() */ const char *s = \"k<<<1,2>>>()\", *r = R\"x(k<<<1,2>>>()\")x\"; void f() { k<<<3, 32>>>(); }",
			`k 3 32`},
		{"digit separator", `void f() { k<<<1'0, 0x20u>>>(); }`, `k 10 32`},
		{"casts", `void f() { const size_t n = 64; k<<<(int)n / 8, static_cast<unsigned int>(n)>>>(); }`,
			`k 8 64`},
		{"narrow cast", `void f() { k<<<(unsigned char)300, 32>>>(); }`, `k ? 32`},
		{"division by zero", `void f() { k<<<4 / 0, 32>>>(); }`, `k 4 / 0 32`},
		{"overflow", `void f() { k<<<(1<<62)*4, 32>>>(); }`, `k 1<<62 * 4 32`},
		{"method", `struct S { int n; void go() { k<<<n / 32, 32>>>(n); } };`, `k n / 32 32 (n)`},
		{"namespace", `namespace a { namespace { void go() { k<<<2, 32>>>(); } } }`, `k 2 32`},
		{"an unsigned difference that wraps has no value",
			`void f() { unsigned u = 64; k<<<u - 65 > 100 ? 2 : 1, u>>>(); }`, `k 100 < u - 65 ? 2 : 1 64`},
		{"sizeof is unsigned", `void f() { k<<<sizeof(int) - 5 > 0 ? 2 : 1, sizeof(int) - 2>>>(); }`,
			`k 0 < sizeof(int) - 5 ? 2 : 1 2`},
		{"an int compared with an unsigned",
			`void f() { int i = -1; k<<<i > 1u ? 2 : 1, i > 1 ? 64 : 32>>>(); }`, `k i > 1u ? 2 : 1 32`},
		{"a conversion that changes the value has no value",
			`void f() { char c = 200; bool t = 2; unsigned u = -1; int i = 0x80000000; k<<<c, t>>>(u, i); }`,
			`k c t (u, i)`},
		{"a conversion that keeps it", `void f() { unsigned char c = 200; bool t = 1; k<<<c, t>>>(); }`,
			`k 200 1`},
		{"assigned and incremented", `void f() { int i = 96, b = 1; b = i++; k<<<b, i>>>(); }`, `k b i`},
		{"incremented, then assigned", `void f() { int i = 96, b = 1; ++i, b = 2; k<<<b, i>>>(); }`,
			`k b i`},
		{"not closed", `void f() { k<<<1, 32; } k<<<`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for i, l := range ScanCUDA(cuda(t, tt.src), nil).Launches {
				if i > 0 {
					got += "|"
				}
				got += show(l)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Two pointers with one number share memory; "of" is the size of the memory, and "=" its contents.

// TestHostOperators: functions whose name is an operator end where their body ends. They hid all that
// follows up to the next semicolon outside of brackets.
func TestHostOperators(t *testing.T) {
	for _, op := range []string{
		"inline __device__ int2 operator^(int2 a, int2 b) { return a; }",
		"__device__ void operator^=(int2 &a, const int2 b) { a.x ^= b.x; }",
		"struct V { float *p; float &operator[](int i) { return p[i]; } };",
		"struct F { __device__ int operator()(int i) const { return i; } };",
		"struct C { operator int() const { return 1; } operator const char *() { return 0; } };",
		"bool operator<(const V &a, const V &b);",
		"struct M { M &operator=(const M &) = delete; M operator+(M o) const { return o; } };",
	} {
		src := op + "\nint main() { const int n = 10; dim3 b(1, 4); k<<<n, b>>>(n); }"
		var got []string
		for _, l := range ScanCUDA(cuda(t, src), nil).Launches {
			got = append(got, show(l))
		}
		if s := strings.Join(got, "|"); s != "k 10 1,4 (10)" {
			t.Errorf("%s\ngot %q", op, s)
		}
	}
}

// What changes through another name is unknown, or known by that name too: the grid and the
// argument must not follow from one value if a store lies between them.
func TestHostReferences(t *testing.T) {
	const head = "struct P { int n; }; struct R { int &x; };\n" +
		"int &same(int &x) { return x; }\n" +
		"extern int other;\n" +
		"int count() { static int c = 64; return c += 64; }\n" +
		"void f(int n, P p, std::vector<int> v, P *q, int *a, int *d, int m) { "
	tests := []struct{ name, src, want string }{
		{"a reference is another name", `int &r = n; int b = n / 32; r *= 5; k<<<b, 32>>>(n, r);`,
			`k n / 32 32 (n * 5, n * 5)`},
		{"a constant reference sees changes", `const int &r = n; int b = n / 32; n = 7; k<<<b, 32>>>(r);`,
			`k n / 32 32 (7)`},
		{"a constant reference to a temporary object", `const long &r = n; n = 7; k<<<r / 32, 32>>>(n);`,
			`k n / 32 32 (7)`},
		{"reference to a member", `int &r = p.n; int b = p.n / 32; r = 5; k<<<b, 32>>>(p.n);`,
			`k p#2.n / 32 32 (p#3.n)`},
		{"constant reference to a member", `const int &r = p.n; int b = r / 32; p.n = 5; k<<<b, 32>>>(r);`,
			`k r / 32 32 (r#2)`},
		{"reference to an object", `auto &r = p; int b = p.n / 32; r.n = 5; k<<<b, 32>>>(p.n);`,
			`k p.n / 32 32 (5)`},
		{"reference to an element", `int &r = v[0]; int b = v[0] / 32; r = 5; k<<<b, 32>>>(v[0]);`,
			`k v[0] / 32 32 (v[0]#2)`},
		{"bound names", `auto &[x] = p; int b = p.n / 32; x = 5; k<<<b, 32>>>(p.n);`,
			`k p#2.n / 32 32 (p#3.n)`},
		{"bound copies", `auto [x] = p; int b = p.n / 32; x = 5; k<<<b, 32>>>(p.n);`,
			`k p.n / 32 32 (p.n)`},
		{"member through a pointer", `P *q = &p; int b = p.n / 32; q->n = 5; k<<<b, 32>>>(p.n);`,
			`k p#3.n / 32 32 (p#4.n)`},
		{"pointer to a member", `int *q; q = &p.n; int b = p.n / 32; *q = 5; k<<<b, 32>>>(p.n);`,
			`k p#3.n / 32 32 (p#4.n)`},
		{"one of two pointers", `int m = 3, *q = n > 4 ? &m : &n; int b = n / 32; *q = 5; k<<<b, 32>>>(n);`,
			`k n#4 / 32 32 (n#5)`},
		{"reference in a range-based for", `int b = v[0] / 32; for (int &e : v) e = 5; k<<<b, 32>>>(v[0]);`,
			`k v[0] / 32 32 (v[0]#2)`},
		{"copies in a range-based for", `int b = v[0] / 32; for (int e : v) e = 5; k<<<b, 32>>>(v[0]);`,
			`k v[0] / 32 32 (v[0])`},
		{"object with a reference", `R r{n}; int b = n / 32; r.x = 5; k<<<b, 32>>>(n);`,
			`k n#4 / 32 32 (n#5)`},
		{"choice of lvalues", `int m = 3, b = n / 32; (argc ? n : m) = 5; k<<<b, 32>>>(n);`,
			`k n#2 / 32 32 (n#3)`},
		{"assignment in a choice", `int b = n / 32; argc ? n = 5 : 0; k<<<b, 32>>>(n);`,
			`k n#3 / 32 32 (n#4)`},
		{"reference that a function returns", `int b = n / 32; same(n) = 5; k<<<b, 32>>>(n);`,
			`k n#2 / 32 32 (n#3)`},
		{"std::exchange", `int b = n / 32, o = std::exchange(n, 5); k<<<b, 32>>>(n);`,
			`k n#2 / 32 32 (n#3)`},
		{"std::tie", `int m, b = n / 32; std::tie(n, m) = g(); k<<<b, 32>>>(n);`,
			`k n#2 / 32 32 (n#3)`},
		{"constant reference to what a pointer points to", `const P &r = *q; int b = r.n / 32; q->n = 5; k<<<b, 32>>>(r.n);`,
			`k r.n / 32 32 (r#2.n)`},
		{"copied to by the API", `int b = n / 32; cudaMemcpy(&n, d, 4, cudaMemcpyDeviceToHost); k<<<b, 32>>>(n);`,
			`k n#3 / 32 32 (n#4)`},
		{"an element copied to", `int b = a[0] / 32; cudaMemcpy(a, d, 4, cudaMemcpyDeviceToHost); k<<<b, 32>>>(a[0]);`,
			`k a[0] / 32 32 (a[0]#2)`},
		{"written by a kernel", `int *m; cudaMallocManaged(&m, 4); int b = m[0] / 32; j<<<1, 1>>>(m); k<<<b, 32>>>(m[0]);`,
			`j 1 1 (#0 of 4)|k m[0] / 32 32 (m[0]#2)`},
		{"extern and a call", `int b = other / 32; g(); k<<<b, 32>>>(other);`,
			`k other#4 / 32 32 (other#7)`},
		{"a function that counts", `k<<<count() / 32, 32>>>(count());`,
			`k count() / 32 32 (count()#2)`},
		{"long texts", `k<<<a_function_with_a_name_that_is_too_long_for_a_message_of_heddle(n) / 32, 32>>>(a_function_with_a_name_that_is_too_long_for_a_message_of_heddle(m));`,
			`k a_function_with_a_name_that_is_too_long_for_a_message_of_... / 32 32 (a_function_with_a_name_that_is_too_long_for_a_message_of_...#2)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range ScanCUDA(cuda(t, head+tt.src+" }"), nil).Launches {
				got = append(got, show(l))
			}
			if s := strings.Join(got, "|"); renumbered(s) != renumbered(tt.want) {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

// renumbered numbers unknowns in the order in which they appear: only which of them are equal counts.
func renumbered(s string) string {
	seen := make(map[string]int)
	return regexp.MustCompile(`\b#\d+`).ReplaceAllStringFunc(s, func(m string) string {
		if seen[m] == 0 {
			seen[m] = len(seen) + 1
		}
		return fmt.Sprint("#", seen[m])
	})
}

func TestHostPointers(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"allocated", `int main() { float *d; cudaMalloc(&d, 4096); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4096)`},
		{"size in elements", `void f(int n) { float *d; CHECK(cudaMalloc((void **)&d, n * sizeof(float))); k<<<1, 64>>>(d, n); }`,
			`k 1 64 (#0 of n * 4, n)`},
		{"the same twice", `void f(int *d) { k<<<1, 64>>>(d, d); }`, `k 1 64 (#0, #0)`},
		{"two", `void f(int *d, int *e) { k<<<1, 64>>>(d, e); }`, `k 1 64 (#0, #1)`},
		{"copied", `void f(int *d) { int *e = d; float *g = (float *)e; k<<<1, 64>>>(d, e, g + 1); }`,
			`k 1 64 (#0, #0, #0+4)`},
		{"offset", `void f(int *d, int n) { k<<<1, 64>>>(d, d + 1, &d[n], d - 2); }`,
			`k 1 64 (#0, #0+4, #0+n * 4, #0+-8)`},
		{"offset of unknown type", `template <class T> void f(T *d) { k<<<1, 64>>>(d, d + 1); }`,
			`k 1 64 (#0, #0+?)`},
		{"reassigned", `void f(int *d, int *e) { d = e; k<<<1, 64>>>(d, e); }`, `k 1 64 (#0, #0)`},
		{"perhaps reassigned", `void f(int *d, int *e) { if (g()) d = e; k<<<1, 64>>>(d, e); }`,
			`k 1 64 (#0, #1)`},
		{"swapped in a loop", `void f(int *d, int *e) { for (int i = 0; i < 2; i++) { k<<<1, 64>>>(d, e, i); std::swap(d, e); } k<<<1, 64>>>(e, e); }`,
			`k 1 64 (#0, #1, 0)|k 1 64 (#0, #1, 1)|k 1 64 (#0, #0)`},
		{"vectors", `void f() { thrust::device_vector<int> v(64), w(64); k<<<1, 64>>>(thrust::raw_pointer_cast(v.data()), v.data() + 2, thrust::raw_pointer_cast(&w[0])); }`,
			`k 1 64 (#0, #0+8, #1)`},
		{"symbol", `__device__ int t[4]; void f() { int *p; cudaGetSymbolAddress((void **)&p, t); k<<<1, 64>>>(p); }`,
			`k 1 64 (#0)`},
		{"memset", `int main() { int *d; cudaMalloc(&d, 64); cudaMemset(d, 0xff, 64); k<<<1, 64>>>(d); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 64 = ...ff)|k 1 64 (#0 of 64)`},
		{"memset of a part", `int main() { int *d; cudaMalloc(&d, 64); cudaMemset(d, 0, 32); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 64)`},
		{"memset of a part of known memory", `int main() { int *d; cudaMalloc(&d, 8); cudaMemset(d, 1, 8); cudaMemset(d + 1, 2, 3); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 8 = 0101010102020201...00)`},
		{"copy to a part of known memory", `int main() { int h[2] = {5, 6}, *d; cudaMalloc(&d, 12); cudaMemset(d, 0, 12); cudaMemcpy(d + 1, h, 8, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 12 = 000000000500000006000000...00)`},
		{"memset behind the end", `int main() { int *d; cudaMalloc(&d, 8); cudaMemset(d, 1, 8); cudaMemset(d + 1, 2, 8); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 8)`},
		{"perhaps memset of a part", `int main() { int *d; cudaMalloc(&d, 8); cudaMemset(d, 1, 8); if (g()) cudaMemset(d, 2, 4); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 8)`},
		{"perhaps memset", `int main() { int *d; cudaMalloc(&d, 64); if (g()) cudaMemset(d, 0, 64); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 64)`},
		{"memset, then used", `int main() { int *d; cudaMalloc(&d, 64); cudaMemset(d, 0, 64); g(d); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0)`},
		{"memset, then used by a library", `int main() { int *d; cudaMalloc(&d, 64); cudaMemset(d, 0, 64); cudaMemcpy2D(d, 8, h, 8, 8, 8, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 64)`},
		{"memset in a loop", `int main() { int *d; cudaMalloc(&d, 64); cudaMemset(d, 0, 64); while (g()) j<<<1, 1>>>(d); k<<<1, 64>>>(d); }`,
			`j 1 1 (#0 of 64)|k 1 64 (#0 of 64)`},
		{"copied from an array", `int main() { const int h[4] = {0, 1, -1}; int *d; cudaMalloc(&d, sizeof(h)); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 16 = 0000000001000000ffffffff00000000...00)`},
		{"copied from a variable", `int main() { int one = 1; one += 2; int *d; cudaMalloc(&d, 4); cudaMemcpy(d, &one, sizeof(one), cudaMemcpyHostToDevice); k<<<1, 64>>>(d, one); }`,
			`k 1 64 (#0 of 4 = 03000000...00, 3)`},
		{"copied from a variable that is not known", `int main() { int one = 1; set(&one); int *d; cudaMalloc(&d, 4); cudaMemcpy(d, &one, 4, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"copied from more than a variable", `int main() { short one = -1; int *d; cudaMalloc(&d, 4); cudaMemcpy(d, &one, 4, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"copied from a member", `int main() { S s; s.n = 1; int *d; cudaMalloc(&d, 4); cudaMemcpy(d, &s.n, 4, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"copied from an array that changed", `int main() { int h[2] = {0, 1}; h[0] = 2; int *d; cudaMalloc(&d, sizeof(h)); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 8)`},
		{"array passed on", `int main() { int h[2] = {0, 1}; fill(h); int *d; cudaMalloc(&d, sizeof(h)); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 8)`},
		{"memset of one of two", `int main() { int *d, *e; cudaMalloc(&d, 4); cudaMalloc(&e, 4); cudaMemset(d, 1, 4); int *p = g() ? d : e; cudaMemset(p, 2, 4); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"stored in an array", `int main() { int *d; cudaMallocManaged(&d, 4); int *a[] = {d}; cudaMemset(d, 1, 4); *a[0] = 2; k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"kept in an integer", `int main() { int *d; cudaMallocManaged(&d, 4); long a = (long)d; cudaMemset(d, 1, 4); *(int *)a = 2; k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"an array of bool", `int main() { const bool h[4] = {5, 1}; int *d; cudaMalloc(&d, 4); cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); k<<<1, 64>>>(d); }`,
			`k 1 64 (#0 of 4)`},
		{"null", `int main() { k<<<1, 64>>>(nullptr, NULL); }`, `k 1 64 (0, 0)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for i, l := range ScanCUDA(cuda(t, tt.src), nil).Launches {
				if i > 0 {
					got += "|"
				}
				got += show(l)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDefineOption(t *testing.T) {
	f := cuda(t, "#ifndef T\n#define T 128\n#endif\nvoid f() { k<<<2, T>>>(); }")
	l := ScanCUDA(f, &Preprocessing{Defines: []string{"T=64", "DEBUG"}}).Launches
	if len(l) != 1 || !l[0].Block[0].Equal(number(64)) {
		t.Errorf("got %v, want the block that -D gives", l)
	}
}

func TestUnresolved(t *testing.T) {
	l := ScanCUDA(cuda(t, "void f() { k<<<blocks(n), 64>>>(); }"), nil).Launches
	if len(l) != 1 || len(l[0].Unresolved) != 1 ||
		l[0].Unresolved[0] != "grid: blocks(n) is not understood" {
		t.Errorf("got %+v", l)
	}
}

// Malformed input must not take quadratic time: each input is a megabyte of opening brackets that
// the scanner searches past.
func TestJunkIsLinear(t *testing.T) {
	for _, unit := range []string{"int a(", "int a = b + ", "k<<<a,", "template <", "dim3 a{",
		"{int a=b;", "a<a<", "__global__ a(", "// heddle: x\n", "/*", "R\"(", "'\n"} {
		text := "// heddle: grid=4\nint z = 1; k<<<1,2>>>(); " + strings.Repeat(unit, 1<<20/len(unit)/4)
		start := time.Now()
		ScanCUDA(cuda(t, text), nil)
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%q repeated: %v", unit, d)
		}
	}
}

func FuzzScanCUDA(f *testing.F) {
	f.Add(
		"#define N 4\n// heddle: grid=4 n=7\n__global__ void k(int *p, int n) {}\nint main() { dim3 g(N, 2); k<<<g, {8}, N*sizeof(int)>>>(0, N); }")
	f.Add(
		"/* heddle: block=16,16 w=\"file:a b\" */ template <int T> __global__ void __launch_bounds__(256) k<3>(int *p) {}")
	f.Add("template <int T> int up(int n) { return (n + T - 1) / T; }\nstruct P { int w; };\n" +
		"void f(int *d, int n, P p) { for (int i = 0; i < 3; i++) { if (n > i) n *= 2; else p.w = 4;\n" +
		"k<<<dim3(up<32>(n), 2), min(64, n)>>>(d, p.w, d + 1); std::swap(n, i); } }")
	f.Add("int main() { int h[] = {1, 2}, *d; cudaMalloc(&d, sizeof(h)); auto f = [&](int n) { h[0] = n; };\n" +
		"switch (h[1]) { case 1: cudaMemset(d, 1, 8); default: k<<<ceil(h[0] / 2.0f), 32>>>(d, 1, &d[1]); } }")
	f.Add("k<<<(((1<<62)*9)-0x7fffffffffffffff), R\"(\"'>>>")
	f.Fuzz(func(t *testing.T, text string) {
		file := cuda(t, text)
		for _, facts := range []*SourceFacts{ScanCUDA(file, &Preprocessing{Defines: []string{"X=1"}}), ScanPTX(file)} {
			for _, l := range facts.Launches {
				checkSpan(t, file, l.Span)
			}
			all, _ := Launches(withParams("pa in pb", ir.CtaidX), Request{}, facts)
			if all == nil {
				all = &HostLaunches{}
			}
			for _, c := range all.Configs {
				if c.Geometry.Blocks() == 0 || c.Geometry.ThreadsPerBlock() > maxThreads {
					t.Errorf("an impossible launch: %s", c.Describe())
				}
			}
			for _, p := range facts.Pragmas {
				checkSpan(t, file, p.Span)
			}
			for _, e := range facts.Errs {
				checkSpan(t, file, e.Span)
			}
		}
	})
}

func checkSpan(t *testing.T, f *source.File, s source.Span) {
	t.Helper()
	start, ok1 := f.Offset(s.Start)
	end, ok2 := f.Offset(s.End)
	if !ok1 || !ok2 || start > end {
		t.Errorf("span %v-%v is not in the file", s.Start, s.End)
	}
}

// An expression that stands twice in a launch has two values if evaluating it changes something or
// reads from outside; C++ leaves open which comes first. One that only reads has the same value.
func TestHostTwice(t *testing.T) {
	const head = "struct S { int n; int next() { return n /= 2; } int count() const { return n; }\n" +
		"  int at(int i); };\n" +
		"int g = 64; int tick() { static int n = 64; return n /= 2; }\n" +
		"int step() { return g++ ? 16 : 32; } int deep() { return step() + 1; }\n" +
		"int halve(int &m) { m = m / 2; return m; } int cut(int *m) { *m = *m / 2; return *m; }\n" +
		"int half(int &m) { m = m / 2; return m; }\n" +
		"int up(int a, int b) { return (a + b - 1) / b; } int ask(int);\n" +
		"void f(int n, int i, S s, std::vector<int> v, Image img, const int *t, R r) { "
	tests := []struct {
		name, expr string
		same       bool
	}{
		{"variable", "n", true},
		{"function that only reads", "up(n, 32)", true},
		{"method that only reads", "s.count()", true},
		{"size of a vector", "v.size()", true},
		{"width of an image", "img.width()", true},
		{"increment", "n++", false},
		{"assignment", "n /= 2", false},
		{"index that changes", "t[i++]", false},
		{"function that changes a global variable", "step()", false},
		{"function that calls such a function", "deep()", false},
		{"static variable", "tick()", false},
		{"reference", "halve(n)", false},
		{"name of a type", "half(n)", false},
		{"pointer", "cut(&n)", false},
		{"method that changes its object", "s.next()", false},
		{"next of a class of others", "r.next()", false},
		{"random numbers", "rand() % 64", false},
		{"function of another file", "ask(0)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := head + "int b[2] = {" + tt.expr + ", " + tt.expr + "};" +
				"k<<<4, b[0]>>>(b[1]); k<<<4, " + tt.expr + ">>>(" + tt.expr + "); }"
			launches := ScanCUDA(cuda(t, src), nil).Launches
			if len(launches) != 2 {
				t.Fatalf("%d launches", len(launches))
			}
			for i, l := range launches {
				block, arg := l.Block[0], l.Args[0].Value
				same := block != nil && arg != nil && block.Equal(arg)
				if same && !tt.same || !same && tt.same && i == 1 {
					t.Errorf("launch %d: block %v, argument %v: equal %v", i, block, arg, same)
				}
			}
		})
	}
	// What a call in a launch changes is unknown in its other arguments.
	src := head + "n = 64; k<<<4, halve(n)>>>(n); }"
	l := ScanCUDA(cuda(t, src), nil).Launches[0]
	if v, ok := l.Args[0].Value.Constant(); ok {
		t.Errorf("the argument is %d, though its order with the call is not known", v)
	}
}
