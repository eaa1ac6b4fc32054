package launch

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/source"
)

func pragmaText(p Pragma) string {
	s := p.Kernel + ":"
	r := p.Request
	if r.Grid != nil {
		s += " grid=" + Dims(*r.Grid)
	}
	if r.Block != nil {
		s += " block=" + Dims(*r.Block)
	}
	if r.Cluster != nil {
		s += " cluster=" + Dims(*r.Cluster)
	}
	if r.Shared != nil {
		s += fmt.Sprintf(" shared=%d", *r.Shared)
	}
	for _, a := range r.Args {
		s += " " + a.String()
	}
	return s
}

func TestPragmas(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"line", "// heddle: grid=64 block=16,16 n=1024 in=random shared=1K\n__global__ void k(int *in, int n) {}",
			"k: grid=64 block=16,16 shared=1024 n=1024 in=random"},
		{"two lines", "// heddle: grid=2\n/// heddle: block=32\n__global__ void k() {}",
			"k: grid=2|k: block=32"},
		{"block comment", "/* heddle: grid=2\n * block=32\n */ __global__ void k() {}",
			"k: grid=2 block=32"},
		{"doc comment", "/** heddle: grid=2 **/ __global__ void k() {}", "k: grid=2"},
		{"launch bounds", "// heddle: grid=2\n__global__ void __launch_bounds__(256, 2) k(int n) {}",
			"k: grid=2"},
		{"bounds behind", "// heddle: grid=2\nextern \"C\" __global__ __launch_bounds__(256) void\n k\n(int n) {}", "k: grid=2"},
		{"attribute", "// heddle: grid=2\n__attribute__((used)) __global__ [[maybe_unused]] static void k(int n) __attribute__((noinline)) {}", "k: grid=2"},
		{"template", "// heddle: grid=2\ntemplate <typename T, int N = (4 > 3)> __global__ void k(T n) {}", "k: grid=2"},
		{"specialization", "// heddle: grid=2\ntemplate <> __global__ void k<int, 4>(int n) {}",
			"k: grid=2"},
		{"trailing return", "// heddle: grid=2\n__global__ auto k(int n) -> void {}", "k: grid=2"},
		{"macro", "// heddle: grid=2\n__global__ void BOUNDS(256) k(int n) {}", "k: grid=2"},
		{"comment within", "// heddle: grid=2\n__global__ /* void x() */ void k /* y( */ (int n) {}",
			"k: grid=2"},
		{"directive within", "// heddle: grid=2\n#if 1\n__global__ void\n#endif\nk(int n);", "k: grid=2"},
		{"device function between", "// heddle: grid=2\n__device__ int f(int x) { return x; }\n__global__ void k(int n) {}", "k: grid=2"},
		{"two kernels", "// heddle: grid=2\n__global__ void a() { }\n// heddle: grid=3\n__global__ void b() {}", "a: grid=2|b: grid=3"},
		{"opencl", "// heddle: grid=2\n__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(int n) {}", "k: grid=2"},
		{"named", "__global__ void k() {}\n// heddle: kernel=k grid=2", "k: grid=2"},
		{"reserved name", "// heddle: arg.grid=4 arg.n=5\n__global__ void k() {}", "k: grid=4 n=5"},
		{"quoted", "// heddle: w=\"file:/a b\"\n__global__ void k() {}", "k: w=file:/a b"},
		{"relative file", "// heddle: w=file:b.bin\n__global__ void k() {}", "k: w=file:dir/b.bin"},
		{"in a string", "const char *s = \"// heddle: grid=2\"; __global__ void k() {}", ""},
		{"other comment", "// uses heddle: grid=2\n__global__ void k() {}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := source.NewSet().Add("dir/k.cu", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			facts := ScanCUDA(f, nil)
			var got []string
			for _, p := range facts.Pragmas {
				got = append(got, pragmaText(p))
			}
			if g := strings.Join(got, "|"); g != tt.want || len(facts.Errs) > 0 {
				t.Errorf("got  %s %v\nwant %s", g, facts.Errs, tt.want)
			}
		})
	}
}

func TestPragmaPTX(t *testing.T) {
	f := cuda(
		t, "// heddle: grid=2\n.visible .func f() { ret; }\n.visible .entry _Z1kPi$x(\n.param .u64 p)\n{\n// heddle: grid=9\nret; }\n.entry %b() {}")
	facts := ScanPTX(f)
	if len(facts.Errs) != 0 || len(facts.Pragmas) != 2 || facts.Pragmas[0].Kernel != "_Z1kPi$x" ||
		facts.Pragmas[1].Kernel != "%b" {
		t.Errorf("got %+v %v", facts.Pragmas, facts.Errs)
	}
}

func TestPragmaErrors(t *testing.T) {
	set := source.NewSet()
	f, err := set.Add(
		"k.cu", []byte("// heddle: gird block=0 n=1\n__global__ void k() {}\n\n  // heddle: grid=2\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`k.cu:1:12: heddle: comment: "gird" lacks '='`,
		`k.cu:1:17: heddle: comment: block: "0" has a dimension of 0`,
		`k.cu:4:3: no kernel follows this heddle: comment`,
	}
	facts := ScanCUDA(f, nil)
	var errs []*Error
	for _, p := range facts.Pragmas {
		errs = append(errs, p.Errs...)
	}
	errs = append(errs, facts.Errs...)
	if len(errs) != len(want) {
		t.Fatalf("got %v", errs)
	}
	for i, e := range errs {
		if got := set.Format(e.Span.Start) + ": " + e.Msg; !strings.HasPrefix(got, want[i]) {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

// A heddle:ignore comment is not a pragma: it concerns findings, and needs no kernel below it. In a
// block comment it has no effect, which must be reported.
func TestIgnoreIsNoPragma(t *testing.T) {
	tests := []struct {
		text          string
		pragmas, errs int
	}{
		{"// heddle:ignore race-shared why\n", 0, 0},
		{"// heddle:ignore\n", 0, 0},
		{"/// heddle:ignore race-shared why\n", 0, 0},
		{"// heddle: ignore=3\n", 1, 1}, // a parameter of that name, for a kernel that does not follow
		{"// heddle:ignored x\n", 1, 1},
		{"/* heddle:ignore race-shared why */\n", 1, 1},
	}
	for _, tt := range tests {
		f, err := source.NewSet().Add("k.cu", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		facts := ScanCUDA(f, nil)
		if len(facts.Pragmas) != tt.pragmas || len(facts.Errs) != tt.errs {
			t.Errorf("%q: %d pragmas, errors %v", tt.text, len(facts.Pragmas), facts.Errs)
		}
	}
}

// A file that may not be read makes its argument invalid, with the place, before anything reads it.
// Other arguments keep their values.
func TestConfine(t *testing.T) {
	const text = "// heddle: a=file:/etc/secret b=file:data n=4\n__global__ void k(int *a, int *b, int n) {}"
	f, err := source.NewSet().Add("dir/k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	facts := ScanCUDA(f, nil)
	facts.Confine(func(path string) bool { return path == filepath.Join("dir", "data") })
	p := facts.Pragmas[0]
	if len(p.Request.Args) != 2 || p.Request.Args[0].Param != "b" || p.Request.Args[1].Param != "n" {
		t.Errorf("the arguments are %v", p.Request.Args)
	}
	if len(p.Errs) != 1 || p.Errs[0].Span.Start.Col() != 12 || !strings.Contains(p.Errs[0].Msg, "/etc/secret may not be read") {
		t.Errorf("the errors are %v", p.Errs)
	}
}

// Comments of Python: no # in a string is one, whatever its quotes.
func TestPythonComments(t *testing.T) {
	const text = "a = '#' # one\n    # two\r\nb = \"\"\"\n# no\n\\\"\"\" # no\n\"\"\"; c = r'\\' # no' # three\n" +
		"d = '# open\ne = 7 // 2 # four"
	f, err := source.NewSet().Add("k.py", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range LineComments(f, false) {
		got = append(got, fmt.Sprintf("%v %v %q", c.Span.Start, c.Alone, c.Text))
	}
	want := []string{`1:9 false " one"`, `2:5 true " two"`, `6:21 false " three"`, `8:12 false " four"`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// LineComments finds all // comments and nothing else.
func TestLineComments(t *testing.T) {
	const text = "a; // one\n  // two\r\n/* // no */ b; // three\n\"// no\" R\"(\n// no\n)\" // four"
	f, err := source.NewSet().Add("k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range LineComments(f, false) {
		got = append(got, fmt.Sprintf("%v %v %q", c.Span.Start, c.Alone, strings.TrimSpace(c.Text)))
	}
	want := []string{`1:4 false "one"`, `2:3 true "two"`, `3:16 false "three"`, `6:4 false "four"`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
