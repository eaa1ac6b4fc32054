package lower

import "testing"

// Each access of the source is in the PTX whatever a function promises about its effects (GCC
// manual, "Common Function Attributes": pure, const), and whether or not an asm statement is
// volatile: an access that the compiler may drop is one that a release build may make.
func TestEffects(t *testing.T) {
	const load = `static __noinline__ __device__ int get(const int *p) { return *p; }
`
	for _, c := range []struct {
		name, src, access string
		n                 int
	}{
		{"pure, result unused", `__attribute__((pure)) ` + load +
			`__global__ void k() { __shared__ int s[64]; get(&s[threadIdx.x]); }`, `call`, 1},
		{"const, two equal calls", `__attribute__((const)) ` + load +
			`__global__ void k(int *g) { g[0] = get(g + 1); __syncthreads(); g[2] = get(g + 1); }`,
			`call`, 2},
		{"gnu::pure", `[[gnu::pure]] ` + load +
			`__global__ void k() { __shared__ int s[64]; get(&s[threadIdx.x]); }`, `call`, 1},
		{"pure through a macro, inlined", `#define PURE __attribute__((__pure__))
PURE __device__ int get(const int *p) { return *p; }
__global__ void k() { __shared__ int s[64]; get(&s[threadIdx.x]); }`, `ld\.(shared\.)?u32`, 1},
		{"pure, and it writes", `__attribute__((pure)) __device__ int put(int *p, int v) { return *p = v; }
__global__ void k(int *g) { put(g, 1); }`, `st\.(global\.)?u32`, 1},
		{"asm, result unused", `__global__ void k(int *g) {
  int v; asm("ld.u32 %0, [%1];" : "=r"(v) : "l"(g)); }`, `ld\.u32`, 1},
		{"asm, two equal statements", `__device__ int get(int *p) {
  int v; asm("ld.u32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
__global__ void k(int *g) { g[0] = get(g) + get(g); }`, `ld\.u32`, 2},
		{"asm with a memory operand", `__global__ void k(int *g) {
  int v; asm("mov.u32 %0, 1;" : "=r"(v) : "r"(g[1])); }`, `ld\.(global\.)?u32`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachCompiler(t, func(t *testing.T, compiler string) {
				r := lowerSource(t, c.src, Options{Compiler: compiler})
				if n := count(r.PTX, c.access); n != c.n {
					t.Errorf("%d accesses %s, want %d:\n%s", n, c.access, c.n, r.PTX)
				}
			})
		})
	}
}

// Each part of a struct is read when the struct is copied, even if most of the copy is unused. llc
// reads a large struct in a loop.
func TestLargeCopy(t *testing.T) {
	for _, src := range []string{
		`struct Big { int x[100]; };
__global__ void k(Big *g, int *out) { Big b = g[threadIdx.x]; out[0] = b.x[3]; }`,
		`struct Big { int x[100]; };
__device__ void get(Big *d, const Big *s) { *d = *s; }
__global__ void k(Big *g, int *out) { Big b; get(&b, g + threadIdx.x); out[0] = b.x[3]; }`,
		`struct Big { int x[100]; };
__global__ void k(Big *g) { Big b = g[threadIdx.x]; }`,
		`struct Huge { int x[6000]; };
__global__ void k(Huge *g, int *out) { Huge b = g[threadIdx.x]; out[0] = b.x[3]; }`,
		`struct Huge { int x[6000]; };
__device__ void get(Huge *d, const Huge *s) { *d = *s; }
__global__ void k(Huge *g) { Huge b; get(&b, g + threadIdx.x); }`,
	} {
		r := lowerSource(t, src, Options{Compiler: compilers(t)[0]})
		reads, loops := count(r.PTX, `ld\.global\.`), count(r.PTX, `bra`)
		if reads < 100 && (reads == 0 || loops == 0) {
			t.Errorf("%d reads and %d loops:\n%s\n%s", reads, loops, src, r.PTX)
		}
	}
}
