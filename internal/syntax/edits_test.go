package syntax_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/edit"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/testing/long"
)

// In the texts of this test, ^ requests a barrier after the preceding statement, and ~ after a
// barrier requests its removal.
var editTests = []struct {
	name, file string
	in, want   string
}{
	{
		name: "own line with the indentation of the statement before",
		in: "__global__ void k(int *a) {\n    __shared__ int s[64];\n    s[threadIdx.x] = 1;^ // " +
			"written\n    a[0] = s[1];\n}\n",
		want: "__global__ void k(int *a) {\n    __shared__ int s[64];\n    s[threadIdx.x] = 1; // " +
			"written\n    __syncthreads();\n    a[0] = s[1];\n}\n",
	},
	{
		name: "tabs",
		in:   "__global__ void k(int *a) {\n\tif (a[0]) {^\n\t\ta[1] = 1;^\n\t}^\n}\n",
		want: "__global__ void k(int *a) {\n\tif (a[0]) {\n\t\t__syncthreads();\n\t\ta[1] = " +
			"1;\n\t\t__syncthreads();\n\t}\n\t__syncthreads();\n}\n",
	},
	{
		name: "CRLF",
		in:   "__global__ void k(int *a) {\r\n  a[1] = 1;^\r\n  a[2] = 1;\r\n}\r\n",
		want: "__global__ void k(int *a) {\r\n  a[1] = 1;\r\n  __syncthreads();\r\n  a[2] = 1;\r\n}\r\n",
	},
	{
		name: "no final line break",
		in:   "__global__ void k(int *a) { a[1] = 1;^ a[2] = 2;^ }",
		want: "__global__ void k(int *a) { a[1] = 1; __syncthreads(); a[2] = 2; __syncthreads(); }",
	},
	{
		name: "braces for a loop with its statement in another line",
		in: "__global__ void k(int *a, int n) {\n  for (int i = 0; i < n; i++) // each\n    a[i] = " +
			"1;^ // one\n  a[0] = 2;\n}\n",
		want: "__global__ void k(int *a, int n) {\n  for (int i = 0; i < n; i++) { // each\n    a[i] = " +
			"1; // one\n    __syncthreads();\n  }\n  a[0] = 2;\n}\n",
	},
	{
		name: "braces in one line",
		in: "__global__ void k(int *a, int n) {\n  for (int i = 0; i < n; i++) a[i] = 1;^\n  a[0] = " +
			"2;\n}\n",
		want: "__global__ void k(int *a, int n) {\n  for (int i = 0; i < n; i++) { a[i] = 1; " +
			"__syncthreads(); }\n  a[0] = 2;\n}\n",
	},
	{
		name: "braces of both branches",
		in:   "__global__ void k(int *a, int n) {\n  if (n)\n    a[0] = 1;^\n  else\n    a[1] = 1;^\n}\n",
		want: "__global__ void k(int *a, int n) {\n  if (n) {\n    a[0] = 1;\n    __syncthreads();\n  " +
			"}\n  else {\n    a[1] = 1;\n    __syncthreads();\n  }\n}\n",
	},
	{
		name: "braces of the outer of two, which end together",
		in:   "__global__ void k(int *a, int n) {\n  while (n--)\n    if (a[n])\n      a[n] = 0;\n^}\n",
		want: "__global__ void k(int *a, int n) {\n  while (n--) {\n    if (a[n])\n      a[n] = 0;\n   " +
			" __syncthreads();\n  }\n}\n",
	},
	{
		name: "between do and while",
		in:   "__global__ void k(int *a, int n) {\n  do a[n] = 0;^ while (n--);\n}\n",
		want: "__global__ void k(int *a, int n) {\n  do { a[n] = 0; __syncthreads(); } while (n--);\n}\n",
	},
	{
		name: "behind a case",
		in: "__global__ void k(int *a, int n) {\n  switch (n) {\n  case 1:^\n    a[0] = 1;\n    " +
			"break;\n  default: a[1] = 1;^\n  }\n}\n",
		want: "__global__ void k(int *a, int n) {\n  switch (n) {\n  case 1:\n    __syncthreads();\n   " +
			" a[0] = 1;\n    break;\n  default: a[1] = 1;\n      __syncthreads();\n  }\n}\n",
	},
	{
		name: "a barrier goes with its line",
		in:   "__global__ void k(int *a) {\n  a[0] = 1;\n  __syncthreads();~\n  a[1] = 1;\n}\n",
		want: "__global__ void k(int *a) {\n  a[0] = 1;\n  a[1] = 1;\n}\n",
	},
	{
		name: "a barrier among others goes alone",
		in: "__global__ void k(int *a) {\n  a[0] = 1; __syncthreads();~ a[1] = 1; __syncthreads();~ " +
			"// why\n  __syncthreads();~ // so\n  a[2] = 1;\n}\n",
		want: "__global__ void k(int *a) {\n  a[0] = 1; a[1] = 1; // why\n  // so\n  a[2] = 1;\n}\n",
	},
	{
		name: "a barrier that is all of a branch leaves an empty statement",
		in:   "__global__ void k(int *a) {\n  if (a[0]) __syncthreads();~\n  a[1] = 1;\n}\n",
		want: "__global__ void k(int *a) {\n  if (a[0]) ;\n  a[1] = 1;\n}\n",
	},
	{
		name: "a barrier moves",
		in: "__global__ void k(int *a) {\n  a[0] = 1;^\n  a[1] = 1;\n  __syncthreads();~\n  a[2] = " +
			"1;\n}\n",
		want: "__global__ void k(int *a) {\n  a[0] = 1;\n  __syncthreads();\n  a[1] = 1;\n  a[2] = " +
			"1;\n}\n",
	},
	{
		name: "a macro around the statement",
		in: "#define SET(x, v) do { (x) = (v); } while (0)\n#define SYNC __syncthreads()\n__global__ " +
			"void k(int *a) {\n  SET(a[0], 1);^\n  SYNC;~\n  SET(a[1], (a[2], 1));\n}\n",
		want: "#define SET(x, v) do { (x) = (v); } while (0)\n#define SYNC __syncthreads()\n__global__ " +
			"void k(int *a) {\n  SET(a[0], 1);\n  __syncthreads();\n  SET(a[1], (a[2], 1));\n}\n",
	},
	{
		name: "a comment between the statement and its semicolon",
		in:   "__global__ void k(int *a) {\n  a[0] = 1 /* ; */ // ;\n  ;^\n  a[1] = 1;\n}\n",
		want: "__global__ void k(int *a) {\n  a[0] = 1 /* ; */ // ;\n  ;\n  __syncthreads();\n  a[1] = " +
			"1;\n}\n",
	},
	{
		name: "code that was left out stays",
		in: "__global__ void k(int *a) {\n#ifdef OTHER\n  a[0] = 1;\n#else\n  a[0] = 2;^\n#endif\n  " +
			"a[1] = 1;\n}\n",
		want: "__global__ void k(int *a) {\n#ifdef OTHER\n  a[0] = 1;\n#else\n  a[0] = 2;\n  " +
			"__syncthreads();\n#endif\n  a[1] = 1;\n}\n",
	},
	{
		name: "a pragma of a loop stays before it",
		in: "__global__ void k(int *a) {\n  a[0] = 1;^\n#pragma unroll\n  for (int i = 0; i < 4; " +
			"i++)\n    a[i] = 1;^\n}\n",
		want: "__global__ void k(int *a) {\n  a[0] = 1;\n  __syncthreads();\n#pragma unroll\n  for " +
			"(int i = 0; i < 4; i++) {\n    a[i] = 1;\n    __syncthreads();\n  }\n}\n",
	},
	{
		name: "two kernels and a template",
		in: "template <typename T> __global__ void t(T *a) {\n  a[0] = 1;^\n  a[1] = " +
			"1;\n}\n__global__ void k(int *a) {\n  a[0] = 1;\n  a[1] = 1;^\n}\ntemplate __global__ void " +
			"t<int>(int *);\ntemplate __global__ void t<long>(long *);\n",
		want: "template <typename T> __global__ void t(T *a) {\n  a[0] = 1;\n  __syncthreads();\n  " +
			"a[1] = 1;\n}\n__global__ void k(int *a) {\n  a[0] = 1;\n  a[1] = 1;\n  " +
			"__syncthreads();\n}\ntemplate __global__ void t<int>(int *);\ntemplate __global__ void " +
			"t<long>(long *);\n",
	},
	{
		name: "a lambda expression",
		in:   "__global__ void k(int *a) {\n  auto f = [&](int i) {\n    a[i] = 1;^\n  };\n  f(1);\n}\n",
		want: "__global__ void k(int *a) {\n  auto f = [&](int i) {\n    a[i] = 1;\n    " +
			"__syncthreads();\n  };\n  f(1);\n}\n",
	},
	{
		name: "OpenCL C", file: "k.cl",
		in: "kernel void k(global int *a) {\n  local int s[64];\n  s[get_local_id(0)] = 1;^\n  a[1] " +
			"= 1;\n  barrier(CLK_GLOBAL_MEM_FENCE);~\n  a[0] = s[1];\n}\n",
		want: "kernel void k(global int *a) {\n  local int s[64];\n  s[get_local_id(0)] = 1;\n  " +
			"barrier(CLK_LOCAL_MEM_FENCE);\n  a[1] = 1;\n  a[0] = s[1];\n}\n",
	},
}

// TestEdits applies placements and compares the complete file with the text that a careful author
// would write. The result is read again: each barrier must be an existing one at the same place of
// the same tree.
func TestEdits(t *testing.T) {
	for _, tt := range editTests {
		t.Run(tt.name, func(t *testing.T) {
			long.Sample(t, 3)
			name := tt.file
			if name == "" {
				name = "k.cu"
			}
			path := filepath.Join(t.TempDir(), name)
			text, marks := unmark(tt.in)
			write(t, path, text)
			set := source.NewSet()
			u := read(t, set, lower.Input{Name: path}, lower.Options{})
			edits := ask(t, u, marks)
			if len(edits) != 1 {
				t.Fatalf("edits of %d files", len(edits))
			}
			got, err := edit.Apply(edits[0].File, edits[0].Edits)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Fatalf("got\n%s\nwant\n%s", got, tt.want)
			}
			applyPatch(t, path, edits[0], got)
			write(t, path, string(got))
			compile(t, source.NewSet(), lower.Input{Name: path}, lower.Options{})
			again := read(t, source.NewSet(), lower.Input{Name: path}, lower.Options{})
			want, have := strings.Count(tt.in, "^")-strings.Count(tt.in, "~"), standing(again)-standing(u)
			if want != have {
				t.Errorf("%d more barriers than before, want %d", have, want)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mark is a ^ or ~ in the text of a test.
type mark struct {
	offset int // in the text without marks
	kind   byte
}

func unmark(s string) (string, []mark) {
	var b strings.Builder
	var marks []mark
	for i := range len(s) {
		if s[i] == '^' || s[i] == '~' {
			marks = append(marks, mark{b.Len(), s[i]})
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String(), marks
}

func standing(u *syntax.Unit) int {
	n := 0
	for _, f := range u.Funcs {
		for _, l := range f.Tree.Labels {
			if l.Barrier {
				n++
			}
		}
	}
	return n
}

// ask places barriers at the marks: a ^ directly after a statement means the innermost statement
// that ends there, a ^ at the start of a line the outermost statement that ends before it.
func ask(t *testing.T, u *syntax.Unit, marks []mark) []syntax.FileEdits {
	t.Helper()
	placements := make(map[*syntax.Func]place.Placement)
	taken := 0
	for _, f := range u.Funcs {
		p := make(place.Placement)
		for l := range f.Nodes {
			n := &f.Nodes[l]
			end, _ := f.File.Offset(n.Span.End)
			for _, m := range marks {
				switch {
				case m.kind == '~' && end == m.offset && f.Tree.Labels[l].Barrier:
					taken++
				case m.kind == '^' && n.At == m.offset && !f.Tree.Labels[l].Barrier &&
					!shadowed(f, p, n.At, place.Label(l)):
					p[place.Label(l)] = true
				case m.kind == '^' && m.offset > 0 && f.File.Content[m.offset-1] == '\n' &&
					n.At == m.offset-1 && f.Tree.Labels[l].Kind == place.Cond:
					p[place.Label(l)] = true
				}
			}
		}
		for l, n := range f.Tree.Labels {
			end, _ := f.File.Offset(f.Nodes[l].Span.End)
			if n.Barrier {
				p[place.Label(l)] = true
				for _, m := range marks {
					if m.kind == '~' && m.offset == end {
						delete(p, place.Label(l))
					}
				}
			}
		}
		placements[f] = p
		taken += len(p)
	}
	if taken < len(marks) {
		t.Fatalf("only %d of %d marks are places", taken, len(marks))
	}
	edits, err := u.Edits(placements,
		func(*syntax.Func, place.Label) string { return u.Barrier(true, false) })
	if err != nil {
		t.Fatal(err)
	}
	return edits
}

// shadowed reports whether a deeper or already chosen label at the offset is meant instead of l.
func shadowed(f *syntax.Func, p place.Placement, at int, l place.Label) bool {
	depth := func(l place.Label) int {
		n := 0
		for ; l != place.None; l = f.Tree.Labels[l].Parent {
			n++
		}
		return n
	}
	for k := range f.Nodes {
		if k := place.Label(k); k != l && f.Nodes[k].At == at && !f.Tree.Labels[k].Barrier &&
			depth(k) > depth(l) {
			return true
		}
	}
	return false
}

// applyPatch applies the diff with patch and git and compares the results with the text.
func applyPatch(t *testing.T, path string, fe syntax.FileEdits, want []byte) {
	t.Helper()
	dir, name := filepath.Dir(path), filepath.Base(path)
	file, err := source.NewSet().Add(name, fe.File.Content)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := edit.Diff(file, fe.Edits)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range [][]string{{"patch", "-p1", "--binary"}, {"git", "apply", "-p1"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			continue
		}
		write(t, path, string(fe.File.Content))
		cmd := exec.Command(tool[0], tool[1:]...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s\n%s", tool, err, out, diff)
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%v gives\n%s\nwant\n%s", tool, got, want)
		}
	}
}
