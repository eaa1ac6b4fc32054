package launch

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func show(l HostLaunch) string {
	s := l.Kernel
	for _, d := range []any{l.Grid, l.Block} {
		s += fmt.Sprintf(" %v", d)
	}
	if l.Shared != nil {
		s += fmt.Sprintf(" shared=%d", *l.Shared)
	}
	if l.Args != nil {
		s += fmt.Sprintf(" %q", l.Args)
	}
	return s
}

func TestHostLaunches(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"literals", `int main() { k<<<4, 256>>>(a, 1024, 1.5f, -2); }`,
			`k (4,1,1) (256,1,1) ["" "1024" "1.5" "-2"]`},
		{"shared", `void f() { k<<<1, 64, 2*64*sizeof(float)>>>(); }`, `k (1,1,1) (64,1,1) shared=512`},
		{"dim3", `void f() { k<<<dim3(4,2), dim3(16,16,1), 0, s>>>(); }`, `k (4,2,1) (16,16,1) shared=0`},
		{"braces", `void f() { k<<<{4,2}, dim3{8}>>>(); }`, `k (4,2,1) (8,1,1)`},
		{"dim3 variable", `void f() { dim3 g(2,3); dim3 b = dim3(32), c{4,4}; k<<<g, c>>>(); k<<<g.y, b.x>>>(); }`,
			`k (2,3,1) (4,4,1)|k (3,1,1) (32,1,1)`},
		{"dim3 from int", `void f() { dim3 g = 7; k<<<g.x+1, g>>>(); }`, `k (8,1,1) (7,1,1)`},
		{"const", `const int N = 1 << 20, T = 256; constexpr unsigned B{(N + T - 1) / T}; void f() { k<<<B, T>>>(N); }`,
			`k (4096,1,1) (256,1,1) ["1048576"]`},
		{"define", "#define T 128 // threads\n#define B \\\n (T*2)\nvoid f() { k<<<B, T>>>(); }",
			`k (256,1,1) (128,1,1)`},
		{"define twice", "#if X\n#define T 128\n#else\n#define T 64\n#endif\nvoid f() { k<<<2, T>>>(); }",
			`k (2,1,1) <nil>`},
		{"macro with arguments", "#define B(x) (x)\nvoid f() { k<<<B(2), 32>>>(); }", `k <nil> (32,1,1)`},
		{"recursive macro", "#define A B\n#define B A\nvoid f() { k<<<A, 32>>>(); }", `k <nil> (32,1,1)`},
		{"exponential macro", "#define A (B+B)\n#define B (A+A)\nvoid f() { k<<<A, 32>>>(); }",
			`k <nil> (32,1,1)`},
		{"plain int", `int main() { int n = 1000; int t = 256; int b = (n + t - 1) / t; k<<<b, t>>>(n); }`, `k (4,1,1) (256,1,1) ["1000"]`},
		{"assigned", `int main() { int b = 4; b = atoi(argv[1]); k<<<b, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"incremented", `int main() { int b = 4; b++; k<<<b, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"address taken", `int main() { int b = 4; scanf("%d", &b); k<<<b, 32>>>(); }`,
			`k <nil> (32,1,1)`},
		{"stream input", `int main() { int b = 4; std::cin >> b; k<<<b, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"member assigned", `int main() { dim3 g(1); g.y = 4; k<<<g, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"parameter", `const int n = 4; void f(int n) { k<<<n, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"default argument", `void f(int n = 4) { k<<<n, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"after a parameter", `__global__ void k(int *n, int m); const int n = 4; void f() { k<<<n, 32>>>(); }`, `k (4,1,1) (32,1,1)`},
		{"inner scope ended", `const int n = 4; void g() { const int n = 8; } void f() { k<<<n, 32>>>(); }`, `k (4,1,1) (32,1,1)`},
		{"template parameter", `const int N = 4; template <int N> void f() { k<N><<<N, 32>>>(); }`,
			`k <nil> (32,1,1)`},
		{"for loop", `void f() { for (int s = 1; s < 9; s *= 2) k<<<s, 32>>>(s); }`,
			`k <nil> (32,1,1) [""]`},
		{"unknown call", `void f() { const int b = blocks(); k<<<b, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"template kernel", `void f() { ns::k<float, (4 > 3)><<<1, 32>>>(); }`, `k (1,1,1) (32,1,1)`},
		{"comment and string", "// k<<<1,2>>>()\n/* k<<<1,2>>>() */ const char *s = \"k<<<1,2>>>()\", *r = R\"x(k<<<1,2>>>()\")x\"; void f() { k<<<3, 32>>>(); }",
			`k (3,1,1) (32,1,1)`},
		{"digit separator", `void f() { k<<<1'0, 0x20u>>>(); }`, `k (10,1,1) (32,1,1)`},
		{"casts", `void f() { const size_t n = 64; k<<<(int)n / 8, static_cast<unsigned int>(n)>>>(); }`,
			`k (8,1,1) (64,1,1)`},
		{"division by zero", `void f() { k<<<4 / 0, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"overflow", `void f() { k<<<(1<<62)*4, 32>>>(); }`, `k <nil> (32,1,1)`},
		{"zero", `void f() { k<<<0, 32>>>(); }`, `k <nil> (32,1,1)`},
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

func TestDefineOption(t *testing.T) {
	f := cuda(t, "#ifndef T\n#define T 128\n#endif\nvoid f() { k<<<2, T>>>(); }")
	l := ScanCUDA(f, []string{"T=64", "DEBUG"}).Launches
	if len(l) != 1 || l[0].Block == nil || l[0].Block.X != 64 {
		t.Errorf("got %v, want the block that -D gives", l)
	}
}

func TestUnresolved(t *testing.T) {
	l := ScanCUDA(cuda(t, "void f() { k<<<blocks(n), 64>>>(); }"), nil).Launches
	if len(l) != 1 || len(l[0].Unresolved) != 1 ||
		l[0].Unresolved[0] != "grid: blocks(n) is not constant" {
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
	f.Add("k<<<(((1<<62)*9)-0x7fffffffffffffff), R\"(\"'>>>")
	f.Fuzz(func(t *testing.T, text string) {
		file := cuda(t, text)
		for _, facts := range []*SourceFacts{ScanCUDA(file, []string{"X=1"}), ScanPTX(file)} {
			for _, l := range facts.Launches {
				checkSpan(t, file, l.Span)
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
