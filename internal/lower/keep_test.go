package lower

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Each case is a source whose optimized form would have fewer accesses than the source; all of them
// must be in the PTX, since the optimizer must not hide a race. The counts are the accesses of the
// abstract machine of C++: every lvalue-to-rvalue conversion is a read, every assignment a write.
var keepCases = []struct {
	name string
	src  string
	want map[string]int // pattern -> number of instructions
}{
	{"never-read shared array", `__global__ void k(int n) { __shared__ int s[64]; s[threadIdx.x] = n; }`,
		map[string]int{`st\.shared`: 1}},
	{"dead store", `__global__ void k(int *p) { p[threadIdx.x] = 1; p[threadIdx.x] = 2; }`,
		map[string]int{`st\.global`: 2}},
	{"dead store of the same value", `__global__ void k(int *p) { p[0] = 1; p[0] = 1; }`,
		map[string]int{`st\.global`: 2}},
	{"store before exit", `__global__ void k(int n) { __shared__ int s[4]; if (n) { s[0] = n; return; } s[1] = n; __trap(); }`,
		map[string]int{`st\.shared`: 2}},
	{"store before infinite loop",
		`__global__ void k(volatile int *f) { __shared__ int s[4]; s[threadIdx.x] = 1; while (*f) { } }`,
		map[string]int{`st\.shared`: 1, `ld\.volatile\.global`: 1}},
	{"two loads of one address", `__global__ void k(const int *p, int *q) { int a = p[0]; int b = p[0]; q[1] = a + b; }`,
		map[string]int{`ld\.global`: 2}},
	{"two loads of a restrict pointer",
		`__global__ void k(const int *__restrict__ p, int *__restrict__ q) { q[1] = p[0] + p[0]; }`,
		map[string]int{`ld\.global`: 2}},
	{"load whose value is unused",
		`__global__ void k(const int *p) { int a = p[threadIdx.x]; (void)a; }`,
		map[string]int{`ld\.global`: 1}},
	{"load multiplied by zero", `__global__ void k(const int *p, int *q) { q[0] = p[0] * 0; }`,
		map[string]int{`ld\.global`: 1, `st\.global`: 1}},
	{"store then load by the same thread",
		`__global__ void k(int *q) { __shared__ int s[64]; s[threadIdx.x] = 5; q[0] = s[threadIdx.x]; }`,
		map[string]int{`st\.shared`: 1, `ld\.shared`: 1, `st\.global`: 1}},
	{"load stored back", `__global__ void k(int *p) { p[0] = p[0]; }`,
		map[string]int{`ld\.global`: 1, `st\.global`: 1}},
	{"same store in both branches",
		`__global__ void k(int *p, int n) { if (n > 3) { p[0] = 7; } else { p[0] = 7; } }`,
		map[string]int{`st\.global`: 2}},
	{"same barrier in both branches",
		`__global__ void k(int n, int *p) { if (n > 3) { p[0] = 1; __syncthreads(); } else { p[1] = 2; __syncthreads(); } }`,
		map[string]int{`bar\.sync`: 2, `st\.global`: 2}},
	{"adjacent stores stay scalar",
		`__global__ void k(int *p) { p[0] = 1; p[1] = 2; p[2] = 3; p[3] = 4; }`,
		map[string]int{`st\.global\.u32`: 4}},
	{"adjacent byte loads", `__global__ void k(const unsigned char *p, int *q) { q[0] = p[0] | p[1] << 8 | p[2] << 16 | p[3] << 24; }`,
		map[string]int{`ld\.global\.u8`: 4}},
	{"stores of bytes that make a word",
		`__global__ void k(unsigned char *p, unsigned v) { p[0] = v; p[1] = v >> 8; p[2] = v >> 16; p[3] = v >> 24; }`,
		map[string]int{`st\.global\.u8`: 4}},
	{"struct copy with unused part",
		`struct P { int a, b; }; __global__ void k(const P *p, int *q) { P v = p[threadIdx.x]; q[0] = v.a; }`,
		map[string]int{`ld\.global`: 2}},
	{"vector copy with unused part",
		`__global__ void k(const float4 *p, float *q) { float4 v = p[threadIdx.x]; q[0] = v.x; }`,
		map[string]int{`ld\.global`: 4}},
	{"store of a variable without a value",
		`__global__ void k(int *p, double *d, bool *b) { int a; p[0] = a; double c; d[0] = c; bool e; b[0] = e; }`,
		map[string]int{`st\.global\.u32`: 1, `st\.global\.f64`: 1, `st\.global\.u8`: 1}},
	{"copy of a struct without values",
		`struct P { short a; float b; }; __global__ void k(P *p) { P v; p[threadIdx.x / 2] = v; }`,
		map[string]int{`st\.global\.u16`: 1, `st\.global\.f32`: 1}},
	{"copy of a struct with some values",
		`struct P { int a, b; }; __global__ void k(int *q) { __shared__ P s[4]; P v; v.b = 1; s[threadIdx.x] = v; q[0] = s[0].b; }`,
		map[string]int{`st\.shared`: 2, `ld\.shared`: 1}},
	{"store of what is computed of a variable without a value",
		`__global__ void k(int *p, int n) { int a; for (int i = 0; i < n; i++) p[i] = (a + i) * 2; }`,
		map[string]int{`st\.global\.u32`: 1}},
	{"memset by a variable without a value",
		`__global__ void k(char *p) { int a; __builtin_memset(p, a, 4); }`,
		map[string]int{`st\.u8`: 4}},
	{"loop without effect", `__global__ void k(const int *p) { int s = 0; for (int i = 0; i < 4; i++) s += p[i]; }`,
		map[string]int{`ld\.global`: 1, `bra`: 1}},
	{"constant trip count is not unrolled",
		`__global__ void k(int *p) { for (int i = 0; i < 3; i++) p[i] = i; }`,
		map[string]int{`st\.global`: 1}},
	{"copy loop stays a loop", `__global__ void k(int *p, const int *q, int n) { for (int i = 0; i < n; i++) p[i] = q[i]; }`,
		map[string]int{`st\.global`: 1, `ld\.global`: 1}},
	{"clearing loop is not a memset",
		`__global__ void k(char *p, int n) { for (int i = 0; i < n; i++) p[i] = 0; }`,
		map[string]int{`st\.global\.u8`: 1}},
	{"constant memory read", `__constant__ int c[4]; __global__ void k(int *q) { q[0] = c[1] + c[1]; }`,
		map[string]int{`ld\.const`: 2}},
	{"global variable", `__device__ int g; __global__ void k() { g = 1; g = 2; int a = g; (void)a; }`,
		map[string]int{`st\.global`: 2, `ld\.global`: 1}},
	{"by reference through a function",
		`__device__ void set(int &r, int v) { r = v; r = v + 1; } __global__ void k(int *p) { set(p[0], 3); }`,
		map[string]int{`st\.global`: 2}},
	{"atomics with unused result",
		`__global__ void k(int *p) { atomicAdd(p, 1); atomicAdd(p, 0); atomicExch(p, 3); }`,
		map[string]int{`atom\.global`: 3}},
	{"locals are not accesses", `__global__ void k(int *q, int n) { int a[2]; a[0] = n; a[1] = n + 1; q[0] = a[0] + a[1]; }`,
		map[string]int{`st\.global`: 1, `st\.`: 1, `ld\.(local|global|shared|u32)`: 0}},
	{"generic pointer chosen at run time",
		`__global__ void k(int *p, int n) { __shared__ int s[4]; int *q = n ? s : p; *q = 1; *q = 2; }`,
		map[string]int{`st\.u32`: 2}},
	{"vector built and stored", `__global__ void k(float4 *p, float x) { p[threadIdx.x] = make_float4(x, x, x, x); }`,
		map[string]int{`st\.global\.(f32|u32|b32)`: 4, `st\.local|st\.u32`: 0}},
	{"struct assigned in memory",
		`struct P { int a; double b; int *c; }; __global__ void k(P *p) { p[0] = p[1]; }`,
		map[string]int{`ld\.global`: 3, `st\.global`: 3}},
	{"struct copied through a reference",
		`struct P { int a, b, c; }; __device__ int f(const P &p) { P q = p; return q.b; } __global__ void k(P *p, int *q) { q[0] = f(p[3]); }`,
		map[string]int{`ld\.global`: 3, `st\.global`: 1}},
	{"struct of volatile use", `struct P { int a, b; }; __global__ void k(volatile P *p, int *q) { q[0] = p->a; }`,
		map[string]int{`ld\.volatile\.global`: 1}},
}

// All cases are compiled as kernels k0, k1, ... of one file.
func TestKeepsAccesses(t *testing.T) {
	var src strings.Builder
	for i, c := range keepCases {
		fmt.Fprintf(&src, "namespace n%d { %s }\n", i, c.src)
	}
	eachCompiler(t, func(t *testing.T, compiler string) {
		kernels := entries(lowerSource(t, src.String(), Options{Compiler: compiler}).PTX)
		for i, c := range keepCases {
			t.Run(c.name, func(t *testing.T) {
				body := kernels[fmt.Sprintf("n%d", i)]
				for pattern, want := range c.want {
					if got := count([]byte(body), pattern); got != want && !(pattern == "bra" && got >= want) {
						t.Errorf("%d instructions %s, want %d\n%s", got, pattern, want, body)
					}
				}
			})
		}
	})
}

var entryRE = regexp.MustCompile(`(?ms)^\.visible \.entry _ZN\d+(n\d+)1kE.*?^}`)

// entries splits PTX into its kernels, by namespace.
func entries(ptx []byte) map[string]string {
	out := make(map[string]string)
	for _, m := range entryRE.FindAllSubmatch(ptx, -1) {
		out[string(m[1])] = string(m[0])
	}
	return out
}

// A read in a loop or after a branch must stay there: if it were hoisted, it would be in another
// barrier interval, or be executed by threads that do not execute it in the source.
func TestLoadsStayInPlace(t *testing.T) {
	eachCompiler(t, func(t *testing.T, compiler string) {
		t.Run("loop-invariant load", func(t *testing.T) {
			r := lowerSource(
				t, `__global__ void k(const int *p, int *q, int n) { int s = 0; for (int i = 0; i < n; i++) { s += p[5]; __syncthreads(); } q[0] = s; }`, Options{Compiler: compiler})
			body := loopBody(string(r.PTX))
			if !strings.Contains(body, "ld.global") || !strings.Contains(body, "bar.sync") {
				t.Errorf("the load is not in the loop with its barrier:\n%s", r.PTX)
			}
		})
		t.Run("load under a condition", func(t *testing.T) {
			r := lowerSource(
				t, `__global__ void k(int *q, int n) { __shared__ int s[8]; int v = 1; if (n > 4) v = s[3]; q[0] = v; }`, Options{Compiler: compiler})
			before, _, ok := strings.Cut(string(r.PTX), "bra")
			if !ok || strings.Contains(before, "ld.shared") {
				t.Errorf("the load does not come after a branch:\n%s", r.PTX)
			}
		})
		t.Run("store under a condition after a store", func(t *testing.T) {
			r := lowerSource(t, `__global__ void k(int *q, int n) { q[0] = 1; if (n > 4) q[0] = 2; }`,
				Options{Compiler: compiler})
			before, after, ok := strings.Cut(string(r.PTX), "bra")
			if !ok || count([]byte(before), `st\.global`) != 1 || count([]byte(after), `st\.global`) != 1 {
				t.Errorf("want one store before the branch and one after:\n%s", r.PTX)
			}
		})
	})
}

// loopBody returns the text between a label and the last branch back to it.
func loopBody(ptx string) string {
	lines := strings.Split(ptx, "\n")
	at := map[string]int{}
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if strings.HasSuffix(l, ":") {
			at[strings.TrimSuffix(l, ":")] = i
		}
		f := strings.Fields(strings.TrimSuffix(l, ";"))
		if len(f) >= 2 && strings.HasPrefix(f[len(f)-2], "bra") {
			if start, ok := at[f[len(f)-1]]; ok {
				return strings.Join(lines[start:i+1], "\n")
			}
		}
	}
	return ""
}

// A memset becomes stores that cover its bytes once; the compiler chooses their width.
func TestMemset(t *testing.T) {
	eachCompiler(t, func(t *testing.T, compiler string) {
		r := lowerSource(
			t, `struct P { int a[4]; }; __global__ void k() { __shared__ P s; memset(&s, 0, sizeof s); }`,
			Options{Compiler: compiler})
		bytes := 0
		for _, width := range []int{1, 2, 4, 8} {
			bytes += width * count(r.PTX, fmt.Sprintf(`st\.shared\.[ub]%d\b`, 8*width))
		}
		if bytes != 16 {
			t.Errorf("%d bytes stored, want 16\n%s", bytes, r.PTX)
		}
	})
}

// Only accesses that are volatile in the source are volatile in the PTX (PTX ISA 8.4.2: volatile is
// relaxed.sys).
func TestVolatile(t *testing.T) {
	eachCompiler(t, func(t *testing.T, compiler string) {
		r := lowerSource(t, `__global__ void k(volatile int *v, int *p) {
  v[0] = p[0]; p[1] = v[1]; v[2] = v[3]; p[2] = p[3];
  int r; asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(r) : "l"(p)); p[5] = r;
}`, Options{Compiler: compiler})
		for pattern, want := range map[string]int{
			`st\.volatile\.global`: 2, `ld\.volatile\.global`: 3,
			`st\.global`: 3, `ld\.global`: 2,
		} {
			if got := count(r.PTX, pattern); got != want {
				t.Errorf("%d instructions %s, want %d\n%s", got, pattern, want, r.PTX)
			}
		}
	})
}

// -O selects the code of a release build, in which the optimizer may remove accesses.
func TestOptLevel(t *testing.T) {
	eachCompiler(t, func(t *testing.T, compiler string) {
		src := `__global__ void k(int *p) { p[threadIdx.x] = 1; p[threadIdx.x] = 2; }`
		for _, level := range []string{"1", "2", "3"} {
			r := lowerSource(t, src, Options{Compiler: compiler, OptLevel: level})
			if got := count(r.PTX, `st\.global`); got != 1 {
				t.Errorf("-O%s: %d stores, want 1\n%s", level, got, r.PTX)
			}
			if !strings.Contains(string(r.PTX), ".loc 1 1 ") {
				t.Errorf("-O%s: no line information\n%s", level, r.PTX)
			}
		}
	})
}
