package depend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/depend"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
)

// The threads that are paired with the first one, in a grid of several blocks of at least 8 by 2 threads.
var (
	neighbour = depend.Access{Index: event.Dim3{X: 1}}
	nextRow   = depend.Access{Index: event.Dim3{Y: 1}}
	nextBlock = depend.Access{Block: event.Dim3{X: 1}}
	nextPlane = depend.Access{Block: event.Dim3{Z: 1}}
)

// cases are bodies of kernels with the facts that decide whether the last store of thread first and
// that of another thread are to one address. The parameters are int *out, const int *at, int n,
// int pitch. Facts that are no guesses (indices, sizes of blocks) are left out of the expectation.
var cases = []struct {
	name, body string
	other      depend.Access
	want       string
}{
	{"every thread writes one word of the array: true for every array", "out[3] = 1;", neighbour, ""},
	{"an offset that all threads have moves both addresses", "out[n] = 1;", neighbour, ""},
	{"the same between blocks", "out[n + threadIdx.x] = 1;", nextBlock, ""},
	{"a pitch decides whether rows overlap", "out[threadIdx.y * pitch + threadIdx.x] = 1;", nextRow,
		"pitch"},
	{"two threads of one row have one row offset",
		"out[threadIdx.y * pitch + threadIdx.x / 2] = 1;", neighbour, ""},
	{"planes that no index tells apart meet for every pitch",
		"out[blockIdx.y * pitch + blockIdx.x + blockIdx.z * 0] = 1;", nextPlane, ""},
	{"a clamped index depends on the bound", "out[min((int)threadIdx.x, n)] = 1;", neighbour, "n"},
	{"a remainder too", "out[threadIdx.x % n] = 1;", neighbour, "n"},
	{"a bound decides only whether the store is reached", "if (threadIdx.x < n) out[0] = 1;",
		neighbour, ""},
	{"the number of iterations too", "for (int i = 0; i < n; i++) out[i + threadIdx.x] = i;",
		neighbour, ""},
	{"a step of a loop is part of the address",
		"for (int i = threadIdx.x; i < 64; i += n) out[i] = i;", neighbour, "n"},
	{"an index from memory", "out[at[threadIdx.x]] = 1;", neighbour, "contents of at"},
	{"one index for the block moves all its threads alike", "out[at[blockIdx.x] + threadIdx.x / 2] = 1;",
		neighbour, ""},
	{"and another one for the next block", "out[at[blockIdx.x] + threadIdx.x] = 1;", nextBlock,
		"contents of at"},
	{"the size of the grid", "out[threadIdx.x * gridDim.x + blockIdx.x] = 1;", neighbour, "grid"},
	{"values that go through shared memory keep their origin",
		"__shared__ int s[64]; s[threadIdx.x] = at[threadIdx.x]; __syncthreads();\n" +
			"out[s[63 - threadIdx.x]] = 1;", neighbour, "contents of at"},
	{"a branch between two indices", "int i = threadIdx.x; if (at[0] > n) i = threadIdx.x / 2;\n" +
		"out[i] = 1;", neighbour, "n, contents of at"},
	{"a field of memory that the kernel writes itself", "at2[threadIdx.x] = n; __syncthreads();\n" +
		"out[at2[threadIdx.x ^ 1]] = 1;", neighbour, "n, contents of at2"},
	{"a constant that the host sets", "out[threadIdx.x * stride] = 1;", neighbour,
		"contents of stride"},
	{"a function that is not inlined", "out[twice(n) * threadIdx.x] = 1;", neighbour, "n"},
}

// TestBetween compares the facts for each case with those that the address has by the meaning of
// the program: see the name of the case.
func TestBetween(t *testing.T) {
	var text strings.Builder
	text.WriteString("__constant__ int stride;\n" +
		"__device__ __noinline__ int twice(int n) { return 2 * n; }\n")
	for i, c := range cases {
		fmt.Fprintf(&text, "__global__ void k%d(int *out, const int *at, int n, int pitch, int *at2) {\n"+
			"%s\n}\n", i, c.body)
	}
	path := filepath.Join(t.TempDir(), "k.cu")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	m, _ := kernels.File(t, path, lower.Options{})
	for i, c := range cases {
		for _, f := range m.Funcs {
			if !f.Kernel || !strings.HasPrefix(f.Demangled, fmt.Sprintf("k%d(", i)) {
				continue
			}
			k := depend.New(f)
			store := lastStore(f)
			other := c.other
			other.Instr = store
			if got := guessable(k.Between(depend.Access{Instr: store}, other)); got != c.want {
				t.Errorf("%s: %s\n got %q\nwant %q", c.name, c.body, got, c.want)
			}
		}
	}
}

// lastStore is the last store to global memory in the text of a kernel.
func lastStore(f *ir.Func) *ir.Instr {
	var last *ir.Instr
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Action() == isa.ActStore && in.Space == event.Global {
				last = in
			}
		}
	}
	return last
}

// guessable lists the facts that a launch may leave open.
func guessable(facts []depend.Source) string {
	var out []string
	for _, s := range facts {
		switch {
		case s.Kind == depend.Argument && !s.Var.Pointer:
			out = append(out, s.Var.Shown())
		case s.Kind == depend.Contents && s.Var == nil:
			out = append(out, "contents of memory")
		case s.Kind == depend.Contents && s.Var.Space != event.Shared:
			out = append(out, "contents of "+s.Var.Shown())
		case s.Kind == depend.GridSize:
			out = append(out, "grid")
		}
	}
	return strings.Join(out, ", ")
}

// TestFactors: the factors of the indices in an address of 4-byte elements, by the definition.
func TestFactors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.cu")
	text := `__global__ void a(int *p) { p[blockIdx.x * 96 + threadIdx.x] = 1; }
__global__ void b(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void c(int *p, int n) { p[(blockIdx.x * 8 + threadIdx.x) * 2 + n] = 1; }
__global__ void d(int *p, int n) { p[threadIdx.y * 8 + threadIdx.x] = 1; }
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m, _ := kernels.File(t, path, lower.Options{})
	want := map[string]string{
		"a": "[384 0 0] [4 0 0]", "b": "[0 0 0] [4 0 0]", "c": "[64 0 0] [8 0 0]", "d": "[0 0 0] [4 32 0]",
	}
	for _, f := range m.Funcs {
		block, thread := depend.New(f).Factors(lastStore(f))
		name, _, _ := strings.Cut(f.Demangled, "(")
		if got := fmt.Sprint(block, thread); got != want[name] {
			t.Errorf("%s: %s, want %s", name, got, want[name])
		}
	}
}

// TestTrips: an access that moves on in each iteration gets as far as the loop runs; one that does not
// is where it is however often.
func TestTrips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.cu")
	text := `__global__ void a(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
__global__ void b(int *p, int n) { for (int i = 0; i < n; i++) p[threadIdx.x] += i; }
__global__ void c(int *p, int n) { for (int i = 0; i < 100; i++) p[i] = i; }
__global__ void d(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }
__global__ void e(int *p, int n) { int i = 0; do p[i] = i; while (++i < n); }
__global__ void f(int *p, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) p[j] = i; }
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m, _ := kernels.File(t, path, lower.Options{})
	// f: both loops are around the access, and which of them moves it is not asked
	want := map[string]string{"a": "n", "b": "", "c": "", "d": "", "e": "n", "f": "n"}
	for _, f := range m.Funcs {
		name, _, _ := strings.Cut(f.Demangled, "(")
		if got := guessable(depend.New(f).Trips(lastStore(f))); got != want[name] {
			t.Errorf("%s: %q, want %q", name, got, want[name])
		}
	}
}

// TestCoincidence: two threads find a wanted value only if the array has it twice. Whether a value is a
// certain one or differs from another is no coincidence, nor is it that two threads look at one place.
func TestCoincidence(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"search for a value from memory", "if (at[threadIdx.x] == key[blockIdx.x]) out[0] = 1;",
			"contents of at"},
		{"behind another test", "if (at[threadIdx.x] == key[0] && n > 3) out[0] = 1;", "contents of at"},
		{"values of one block", "if (at[blockIdx.x] == key[0]) out[0] = 1;", ""},
		{"a flag", "if (at[threadIdx.x] == 1) out[0] = 1;", ""},
		{"a level", "if (at[threadIdx.x] == n) out[0] = 1;", ""},
		{"another value", "if (at[threadIdx.x] != key[0]) out[0] = 1;", ""},
		{"the else branch", "if (at[threadIdx.x] != key[0]) { out[threadIdx.x + 8] = 2; } else out[0] = 1;",
			"contents of at"},
		{"one of two ways", "if (at[threadIdx.x] == key[0] || n > 3) out[0] = 1;", ""},
		{"larger", "if (at[threadIdx.x] > key[0]) out[0] = 1;", ""},
		{"where an array changes", "if (at[threadIdx.x + 1] != at[threadIdx.x]) out[0] = 1;",
			"contents of at"},
		{"where it falls", "if (at[threadIdx.x + 1] < at[threadIdx.x]) out[0] = 1;", "contents of at"},
		{"two elements that all threads look at", "if (at[1] < at[0]) out[0] = 1;", ""},
		{"two arrays", "if (at[threadIdx.x] < key[threadIdx.x]) out[0] = 1;", ""},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "k.cu")
		text := "__global__ void k(int *out, const int *at, const int *key, int n) {\n" + tt.body + "\n}\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		m, _ := kernels.File(t, path, lower.Options{})
		one := depend.Access{Instr: lastStore(m.Funcs[0]), Write: true}
		two := neighbour
		two.Instr, two.Write = one.Instr, true
		if got := guessable(depend.New(m.Funcs[0]).Coincidence(one, two)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestStructs: the numbers of a struct decide addresses as numbers of their own do, each by its
// offset (C++: p at 0, n at 8, s at 16), and an array in it that is indexed counts whole.
func TestStructs(t *testing.T) {
	tests := []struct {
		name, body string
		other      depend.Access
		want       []string // offset of each argument
	}{
		{"a stride", "v.p[blockIdx.x * v.s[0]] = 1;", nextBlock, []string{"v+16"}},
		{"the second stride", "v.p[blockIdx.x * v.s[1]] = 1;", nextBlock, []string{"v+20"}},
		{"an indexed stride", "v.p[blockIdx.x * v.s[d]] = 1;", nextBlock, []string{"v+any", "d+0"}},
		{"a bound", "if (threadIdx.x < v.n[0]) v.p[blockIdx.x] = 1;", neighbour, nil},
		{"the pointer", "v.p[blockIdx.x] = 1;", neighbour, nil},
	}
	text := "struct V { float *p; int n[2]; int s[2]; };\n"
	for i, c := range tests {
		text += fmt.Sprintf("__global__ void k%d(V v, int d) { %s }\n", i, c.body)
	}
	path := filepath.Join(t.TempDir(), "k.cu")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m, _ := kernels.File(t, path, lower.Options{})
	for _, f := range m.Funcs {
		if !f.Kernel {
			continue
		}
		i := int(f.Demangled[1] - '0')
		store := lastStore(f)
		other := tests[i].other
		other.Instr = store
		var got []string
		for _, s := range depend.New(f).Between(depend.Access{Instr: store}, other) {
			if s.Kind == depend.Argument {
				at := fmt.Sprint(s.Offset)
				if s.Offset == depend.AnyOffset {
					at = "any"
				}
				got = append(got, s.Var.Shown()+"+"+at)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tests[i].want) {
			t.Errorf("%s: %v, want %v", tests[i].name, got, tests[i].want)
		}
	}
}
