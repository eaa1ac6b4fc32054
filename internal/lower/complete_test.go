package lower

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// memoryOp is an access of the source: its kind (load, store, atomic) at a position.
type memoryOp struct {
	file      string
	line, col int
	kind      string
}

func (o memoryOp) String() string { return fmt.Sprintf("%s:%d:%d %s", o.file, o.line, o.col, o.kind) }

// The kind of an access in inline assembly, and of an instruction of PTX that accesses memory of
// other threads, perhaps.
var (
	asmAccessRE = regexp.MustCompile(`asm (?:\w+ )*"[^"]*?\b(ld|st|atom|red)\.(?:param)?`)
	ptxAccessRE = regexp.MustCompile(`(?:^|[\s;{])(ld|st|ldu|atom|red)\.(\w+)`)
	locRE       = regexp.MustCompile(`^\.loc (\d+) (\d+) (\d+)`)
	fileRE      = regexp.MustCompile(`^\.file (\d+) "(.*)"`)
)

// kindOf maps opcodes of IR and PTX to kinds.
var kindOf = map[string]string{"load": "load", "store": "store", "atomicrmw": "atomic",
	"cmpxchg": "atomic", "ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic"}

// sourceOps returns the accesses in clang's module before any pass, apart from those of variables of
// the same function, in functions that kernels reach.
func sourceOps(m *irModule, d *debugInfo) map[memoryOp]bool {
	out := map[memoryOp]bool{}
	live := m.reachable(false)
	for _, f := range m.funcs {
		if !live[f.name] {
			continue
		}
		f.deriveLocals() // again, with what prepareOpenCL added
		for _, line := range f.body {
			text, dbg := splitAttach(line)
			chain := d.chain(dbg)
			if dbg == "" || len(chain) == 0 {
				continue
			}
			add := func(kind string) {
				out[memoryOp{chain[0].file, chain[0].line, chain[0].col, kind}] = true
			}
			_, rest := opcode(text)
			op, _, _ := strings.Cut(rest, " ")
			_, kind := f.keepAccess(text, false)
			switch {
			case kindOf[op] != "" && kind != localAccess:
				add(kindOf[op])
			case isCopy(text) && kind != localAccess:
				_, ops, _ := copyCall(text)
				if !f.localOperand(ops[0]) {
					add("store")
				}
				if isPointerArg(ops[1]) && !f.localOperand(ops[1]) {
					add("load")
				}
			default:
				if s := asmAccessRE.FindStringSubmatch(text); s != nil {
					add(kindOf[s[1]])
				}
			}
		}
	}
	return out
}

// ptxOps returns the accesses in PTX, and the lines that have any.
func ptxOps(ptx string) map[memoryOp]bool {
	out := map[memoryOp]bool{}
	files := map[string]string{}
	var at memoryOp
	for _, line := range strings.Split(ptx, "\n") {
		line = strings.TrimSpace(line)
		if s := fileRE.FindStringSubmatch(line); s != nil {
			files[s[1]] = s[2]
		} else if s := locRE.FindStringSubmatch(line); s != nil {
			at.file = files[s[1]]
			_, _ = fmt.Sscan(s[2], &at.line)
			_, _ = fmt.Sscan(s[3], &at.col)
		} else {
			for _, s := range ptxAccessRE.FindAllStringSubmatch(line, -1) {
				if s[2] == "param" {
					continue
				}
				at.kind = kindOf[s[1]]
				out[at] = true
			}
		}
	}
	return out
}

// suites returns the sources of the test suites and examples.
func suites(t *testing.T) []string {
	var out []string
	for _, dir := range []string{"../../testdata", "../../examples"} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && (ext == ".cu" || ext == ".cl") {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// missing compiles a file and returns the accesses of the source that its PTX lacks, sorted. ok is
// false if the file does not compile or has no access.
func missing(t *testing.T, name, compiler string) (list []string, ok bool) {
	t.Helper()
	ctx := context.Background()
	tc, err := findToolchain(ctx, compiler, &probeCache{testCache})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &compilation{tc: tc, in: Input{Name: name, Lang: Lang(filepath.Ext(name)[1:])},
		content: content, store: resultCache{testCache}}
	if strings.Contains(string(content), "__cluster_dims__") {
		c.opt.Arch = clusterArch
	}
	b, done, err := c.setUp()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var want map[memoryOp]bool
	b.inspect = func(m *irModule) { want = sourceOps(m, b.debugInfo(m)) }
	var out *output
	if c.in.Lang == OpenCL {
		out, err = b.runOpenCL(ctx, readText)
	} else {
		out, err = b.runCUDA(ctx, readText, c.store)
	}
	var failure *clangFailure
	switch {
	case errors.As(err, &failure):
		return nil, false
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	}
	have := ptxOps(string(out.ptx))
	for op := range want {
		if !have[op] {
			list = append(list, op.String())
		}
	}
	slices.Sort(list)
	return list, len(want) > 0
}

// missingFor lists the accesses of the suites that are not in the PTX, with the reason. All are of
// memory of one thread, or are no accesses of the source.
var missingFor = map[string]string{
	"examples/block_primitives.cu:14:13 load":       localReference,
	"examples/block_primitives.cu:38:13 load":       localReference,
	"examples/block_primitives.cu:8:55 store":       localReference,
	"examples/block_primitives.cu:29:53 store":      localReference,
	"examples/block_primitives_racy.cu:15:13 load":  localReference,
	"examples/block_primitives_racy.cu:39:13 load":  localReference,
	"examples/block_primitives_racy.cu:9:55 store":  localReference,
	"examples/block_primitives_racy.cu:30:53 store": localReference,
	"examples/programs/hopper_gemm.cu:38:3 store":   accumulators,
	"testdata/attack/wrong/bounds.cu:31:8 load":     sharedTable,
	"testdata/attack/wrong/memory.cu:96:8 load":     sharedTable,
	"testdata/cases/invoke_one.cu:13:27 load":       localReference,
	"testdata/cases/invoke_one.cu:13:29 load":       localReference,
	"testdata/cases/invoke_one.cu:18:27 load":       localReference,
	"testdata/cases/invoke_one.cu:26:27 load":       localReference,
	"testdata/cases/invoke_one.cu:30:49 load":       localReference,
	"testdata/cases/invoke_one.cu:37:27 load":       localReference,
	"testdata/cases/invoke_one.cu:38:27 load":       localReference,
	"testdata/cases/invoke_one.cu:43:45 load":       localReference,
	"testdata/cases/invoke_one.cu:51:68 load":       localReference,
	"testdata/cases/invoke_one.cu:59:29 load":       localReference,
	"testdata/cases/invoke_one.cu:59:36 load":       localReference,
	"testdata/cases/invoke_one.cu:8:49 load":        localReference,
	"testdata/explore/lookback.cu:32:14 store":      localReference,
	"testdata/explore/lookback.cu:47:18 store":      localReference,
	"examples/programs/hopper_gemm.cu:38:3 load":    accumulators,
	"testdata/verify/memory.cu:208:10 load":         sharedTable,
	"testdata/verify/memory.cu:217:10 load":         sharedTable,
}

// Reasons of missingFor.
const (
	localReference = "through a reference or pointer to a variable of this thread: a member, a capture, an argument"
	accumulators   = "an array of this thread, passed by reference: in registers (unroll.go)"
	sharedTable    = "the initializer of a local array, which the thread stores itself (sharedtable.go)"
)

// Each access of clang's unoptimized IR is in the PTX: of each source position, the kinds of access
// are compared. The IR is compared without counting, since inlining repeats accesses.
func TestComplete(t *testing.T) {
	compiler := compilers(t)[0]
	for _, name := range suites(t) {
		if !long.Keep(name, 24) && !strings.Contains(name, "block_primitives") {
			continue // a sample: all of them take half a minute
		}
		list, _ := missing(t, name, compiler) // some files of the suites do not compile
		for _, op := range list {
			if missingFor[strings.TrimPrefix(op, "../../")] == "" {
				t.Errorf("%s is not in the PTX", op)
			}
		}
	}
}

// Constructs that compilers use to remove accesses. (Accesses of functions in headers have no position
// of their own; these functions are written in volatile assembly or with __builtin_memcpy.)
var attacks = []struct{ name, src string }{
	{"unused value", `__global__ void k(int *p) { int x = p[1]; (void)x; int y; y = p[2]; y = p[3]; }`},
	{"discarded volatile", `__global__ void k(volatile int *p) { p[1]; (void)p[2]; }`},
	{"dead stores", `__global__ void k(int *p) { __shared__ int s[8]; s[1] = 1; s[1] = 2; p[0] = 1; p[0] = 2; }`},
	{"store of what was loaded", `__global__ void k(int *p) { p[0] = p[0]; int x = p[1]; p[1] = x; }`},
	{"load after store", `__global__ void k(int *p) { p[0] = 1; int x = p[0]; p[1] = x; }`},
	{"equal loads", `__global__ void k(int *p, int *q) { int x = p[0];
  int y = p[0];
  q[0] = x + y; }`},
	{"arithmetic that cancels", `__global__ void k(int *p, int *q) { q[0] = p[0] * 0;
  q[1] = p[1] - p[1];
  q[2] = p[2] & 0; }`},
	{"conditions without effect", `__global__ void k(int *p) { if (p[0] > 3) {}
  while (p[1] < 0 && p[2]) break;
  for (int i = p[3]; i < 0; i++) {}
  switch (p[4]) { default: break; } }`},
	{"operands of a comma and a conditional", `__global__ void k(int *p, int *q) { q[0] = (q[1] = p[0], 5);
  int x = p[2] ? 1 : 1; q[3] = x; }`},
	{"struct copies", `struct S { int a; double b[3]; char c; };
__global__ void k(S *p, S *q) { S x = p[0]; q[0] = p[1];
  q[1].a = x.a;
  S y; y = p[2];
  S z[2] = {p[3], p[4]}; q[3] = z[0]; }`},
	{"copy of an uninitialized struct", `struct S { int a, b; };
__global__ void k(S *p) { S fresh; p[threadIdx.x] = fresh; }`},
	{"store of an uninitialized value", `__global__ void k(int *p) { int x; p[0] = x; float4 v; ((float4 *)p)[1] = v; }`},
	{"union and bit fields", `union U { int i; float f; }; struct B { unsigned a : 3, b : 5; };
__global__ void k(U *u, B *b) { U x = u[0]; b[0].a = 1; unsigned y = b[1].b; u[1].i = y; }`},
	{"builtin copies", `__global__ void k(int *p) { int x; __builtin_memcpy(&x, p, 4);
  __builtin_memset(p, 0, 4); long long y;
  __builtin_memcpy(&y, p + 2, 8); }`},
	{"assume", `__global__ void k(int *p) { __builtin_assume(p[0] > 3);
  bool b = p[1] > 2; __builtin_assume(b); if (p[2] < 0) p[3] = 1; }`},
	{"unreachable", `__global__ void k(int *p) { p[0] = 1;
  if (threadIdx.x == 3) { p[1] = 2; __builtin_unreachable(); }
  p[2] = 3; }`},
	{"noreturn", `__device__ __attribute__((noreturn)) void stop(int *p) { p[0] = 1; asm("exit;"); __builtin_unreachable(); }
__global__ void k(int *p) { if (p[1]) stop(p); p[2] = 1; }`},
	{"min and max of two types beside templates", `namespace lib {
template <class T, class U> __host__ __device__ constexpr auto min(T const &t, U const &u) { return t < u ? t : u; }
template <class T, class U> __host__ __device__ constexpr auto max(T const &t, U const &u) { return t < u ? u : t; }
}
using namespace lib;
__global__ void k(int *p, unsigned n, long m, unsigned long v, long long l, unsigned long long u, float f, double d) {
  p[min(8, n)] = 1; p[max(m, v)] = 1; p[min(u, l)] = 1; p[(int)max(f, d)] = 1; }`},
	{"trap", `__global__ void k(int *p) { p[0] = 1; __trap(); }`},
	{"assume_aligned and nonnull", `__device__ __attribute__((nonnull)) int get(int *p) { return p ? *p : 0; }
__device__ __attribute__((assume_aligned(16), returns_nonnull)) int *at(int *p) { return p; }
__global__ void k(int *p) { get(p);
  int x = *at(p + 4);
  if (at(p)) p[1] = 1; }`},
	{"malloc and noalias results", `__attribute__((malloc, alloc_size(2))) __device__ int *mine(int *p, int n) { return p + n; }
__global__ void k(int *p) { int *q = mine(p, 4); *q = 1; q[1] = 2; }`},
	{"restrict and const", `__global__ void k(const int *__restrict__ p, int *__restrict__ q) { int x = p[0]; q[0] = 1;
  int y = p[0]; const int *r = q; int z = *r; }`},
	{"compiler atomics", `__global__ void k(int *p) { __atomic_load_n(p, __ATOMIC_RELAXED);
  __atomic_store_n(p, 1, __ATOMIC_RELAXED);
  __atomic_fetch_or(p, 0, __ATOMIC_RELAXED);
  __sync_fetch_and_add(p, 0); }`},
	{"strict aliasing", `__global__ void k(int *p, float *f) { p[0] = 1;
  f[0] = 2; int x = p[0]; f[1] = x; }`},
	{"lambda and reference", `__global__ void k(int *p) { auto f = [&](int i) { return p[i]; }; f(1);
  int &r = p[3]; r; r = r; int x = r; }`},
	{"virtual call", `struct A { int *p; __device__ virtual int get() { return p[1]; } };
__global__ void k(int *p) { A a; a.p = p; A *q = &a; q->get(); }`},
	{"const method", `struct V { int *p; __device__ int operator[](int i) const { return p[i]; } };
__global__ void k(V v) { v[1]; v[2]; }`},
	{"loop without effect", `__global__ void k(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; }`},
	{"infinite loop", `__global__ void k(int *p) { while (true) { if (p[0]) continue; } }`},
	{"recursion", `__device__ int f(int *p, int n) { return n == 0 ? p[0] : f(p + 1, n - 1); }
__global__ void k(int *p, int n) { f(p, n); }`},
	{"initializer of a static variable", `__device__ int table[4] = {1, 2, 3, 4};
__device__ const int fixed[4] = {1, 2, 3, 4};
__constant__ int c[4];
__global__ void k(int *p) { int x = table[1]; x = c[threadIdx.x]; p[0] = fixed[threadIdx.x]; }`},
	{"expect and likely", `__global__ void k(int *p) { if (__builtin_expect(p[0], 0)) p[1] = 1;
  if (p[2]) [[likely]] p[3] = 1; }`},
	{"vector types", `__global__ void k(float4 *v, float *f) { float4 a = v[0]; f[0] = a.x;
  v[1].y = 2; float2 b = *(float2 *)(f + 2); v[2] = make_float4(b.x, 0, 0, 0); }`},
	{"asm operands", `__global__ void k(int *p) { int x; asm("mov.u32 %0, %1;" : "=r"(x) : "r"(p[0]));
  asm("mov.u32 %0, 1;" : "=r"(p[1]));
  asm("add.u32 %0, %0, 1;" : "+r"(p[2])); }`},
	{"unused function result", `__device__ __noinline__ int f(int *p) { return p[0]; }
__device__ __attribute__((const)) int g(int *p) { return p[1]; }
[[nodiscard]] __device__ int h(int *p) { return p[2]; }
__global__ void k(int *p) { f(p); g(p); g(p); (void)h(p); }`},
	{"ternary of stores", `__global__ void k(int *p, bool b) { (b ? p[0] : p[1]) = 3; (b ? p[2] : p[3]); }`},
	{"exact same address twice", `__global__ void k(int *p) { p[0]++; p[0]--; p[1] ^= 0; p[2] += 0; p[3] *= 1; }`},
	{"shared table", `__global__ void k(int *p) { __shared__ int s[4]; int *q = s; q[threadIdx.x] = 1; __shared__ int unused[2]; unused[0] = 3; }`},
	{"half and bool", `#include <cuda_fp16.h>
__global__ void k(__half *h, bool *b) { __half x = h[0]; h[1] = x; b[0] = b[1]; bool c = b[2]; }`},
	{"aggregate parameter", `struct S { int a[20]; };
__device__ int f(S s) { return s.a[3]; }
__global__ void k(S *p, int *q) { q[0] = f(p[threadIdx.x]); }`},
	{"aggregate result", `struct S { int a[20]; };
__device__ S f(S *p) { return p[1]; }
__global__ void k(S *p) { f(p); f(p).a[2]; S s = f(p + 2); }`},
	{"exceptional promise", `__device__ int f(int *p) noexcept { return *p; }
__device__ int g(int *p) throw();
__device__ int g(int *p) throw() { return p[1]; }
__global__ void k(int *p) { f(p); g(p); }`},
}

func TestAttacks(t *testing.T) {
	compiler := compilers(t)[0]
	for _, c := range attacks {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 4)
			list, ok := missing(t, writeSource(t, "k.cu", c.src), compiler)
			if !ok {
				t.Fatal("does not compile, or has no access")
			}
			for _, op := range list {
				t.Errorf("%s is not in the PTX", op)
			}
		})
	}
}
