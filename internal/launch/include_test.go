package launch

import (
	"path"
	"strconv"
	"strings"
	"testing"
)

// headers opens the files of a map by the directory of the file that includes them.
func headers(files map[string]string) *Preprocessing {
	return &Preprocessing{Include: func(from, name string) (string, []byte) {
		at := path.Join(path.Dir(from), name)
		if text, ok := files[at]; ok {
			return at, []byte(text)
		}
		return "", nil
	}}
}

// Constants, types, macros and functions of the project's headers decide a launch as if they stood
// in the file; a header with a guard counts once, and one that is missing leaves its names unknown.
func TestIncluded(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		files     map[string]string
		want      string
	}{
		{"constants", "#include \"sizes.h\"\nvoid f() { k<<<BLOCKS, 2 * half>>>(sizeof(real)); }",
			map[string]string{"sizes.h": "#ifndef S\n#define S\n#define BLOCKS 4\nconst int half = 32;\ntypedef double real;\n#endif\n"},
			"k 4 64 (8)"},
		{"function", "#include \"a/div.h\"\nvoid f() { k<<<ceil_div(1000, 64), 64>>>(); }",
			map[string]string{"a/div.h": "#include \"more.h\"\n", "a/more.h": "static int ceil_div(int a, int b) { return (a + b - 1) / b; }"},
			"k 16 64"},
		{"itself", "#include \"loop.h\"\nvoid f() { k<<<N, 32>>>(); }",
			map[string]string{"loop.h": "#include \"loop.h\"\n#include \"k.cu\"\nenum { N = 3 };"},
			"k 3 32"},
		{"launch in a header", "#include \"go.h\"\nint main() { go(128); }",
			map[string]string{"go.h": "void go(int n) { k<<<n / 32, 32>>>(n); }"},
			"k 4 32 (128)"},
		{"not compiled", "#if 0\n#include \"n.h\"\n#endif\nvoid f() { k<<<n, 32>>>(); }",
			map[string]string{"n.h": "const int n = 7;"},
			"k n 32"},
		{"of the system", "#include <n.h>\nvoid f() { k<<<n, 32>>>(); }",
			map[string]string{"n.h": "const int n = 7;"},
			"k n 32"},
		{"twice with another macro", "#define N 4\n#include \"go.inc\"\n#undef N\n#define N 8\n#include \"go.inc\"",
			map[string]string{"go.inc": "static void PASTE(run, N)() { k<<<N, 32>>>(); }"},
			"k 4 32|k 8 32"},
		{"twice in a function", "int main() {\n#define N 4\n#include \"go.inc\"\n#undef N\n#define N 8\n#include \"go.inc\"\n}",
			map[string]string{"go.inc": "k<<<N, 32>>>();"},
			"k 4 32|k 8 32"},
		{"twice with a guard", "#include \"g.h\"\n#include \"g.h\"\nvoid f() { k<<<n, 32>>>(); }",
			map[string]string{"g.h": "#pragma once\nconst int n = 4;"},
			"k 4 32"},
		{"twice with a guard that has a second part", "#include \"g.h\"\n#include \"g.h\"\nint main() { k<<<n, 32>>>(); }",
			map[string]string{"g.h": "#ifndef G\n#define G\nstatic int n = 4;\n#else\nstatic int set() { n = 8; return 0; }\nstatic int d = set();\n#endif"},
			"k n 32"},
		{"missing", "#include \"m.h\"\nvoid f() { k<<<n, 32>>>(); }", nil, "k n 32"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range ScanCUDA(cuda(t, tt.src), headers(tt.files)).Launches {
				got = append(got, show(l))
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), tt.want)
			}
		})
	}
}

// A launch in a header is reported at the line that includes it, and a chain of headers ends.
func TestIncludedBounds(t *testing.T) {
	l := ScanCUDA(cuda(t, "\n#include \"go.h\"\n"),
		headers(map[string]string{"go.h": "\n\n\n\nvoid go() { k<<<1, 32>>>(); }"})).Launches
	if len(l) != 1 || l[0].Span.Start.Line() != 2 {
		t.Errorf("got %+v, want one launch in line 2", l)
	}
	chain := &Preprocessing{Include: func(_, name string) (string, []byte) {
		n, _ := strconv.Atoi(name)
		return name, []byte("#include \"" + strconv.Itoa(n+1) + "\"\nenum { LAST = " + name + " };")
	}}
	l = ScanCUDA(cuda(t, "#include \"0\"\nvoid f() { k<<<LAST, 32>>>(); }"), chain).Launches
	if len(l) != 1 {
		t.Errorf("got %+v, want the launch of a file whose headers never end", l)
	}
}
