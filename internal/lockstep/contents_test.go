package lockstep_test

import (
	"testing"

	"heddle/internal/lockstep"
)

// contentsTraps are kernels whose loops change memory that invariants, addresses and conditions
// speak of. As in viewTraps, t is the thread's index in its block, and a[... + 64 * blockIdx.x] is
// an element of the block.
var contentsTraps = []textTrap{
	{"an invariant about its own element", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; __requires(n > 0); s[t] = 0; for (int i = 0; __invariant(s[t] == i), __invariant(i <= n), i < n; i++) s[t]++; __assert(s[t] == n); }`, ""},
	{"an index that a loop keeps in memory", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; __invariant(s[t] == t), i < n; i++) { a[s[t] + 64 * blockIdx.x] = i; s[t] = t; } }`, ""},
	{"two arrays in step", `__global__ void k(int n) { __shared__ int s[64], r[64]; int t = threadIdx.x; s[t] = n; r[t] = n; for (int i = 0; __invariant(s[t] == r[t]), i < n; i++) { s[t] += i; r[t] += i; } __assert(s[t] == r[t]); }`, ""},
	{"an element that the iteration before wrote", `__global__ void k(int n) { __shared__ int s[1024]; int t = threadIdx.x; s[t] = t; for (int i = 1; __invariant(s[t + 64 * (i - 1)] == t), __invariant(i <= 10), i < 10; i++) s[t + 64 * i] = s[t + 64 * (i - 1)]; __assert(s[t + 64 * 9] == t); }`, ""},
	{"a loop in a loop", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; __requires(n > 0); s[t] = 0; for (int i = 0; __invariant(s[t] == 0), i < n; i++) { for (int j = 0; __invariant(s[t] == j), __invariant(j <= n), j < n; j++) s[t] = j + 1; __assert(s[t] == n); s[t] = 0; } }`, ""},
	{"a write in some iterations", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; __invariant(s[t] == t || s[t] == t + 64), i < n; i++) if (i & 1) s[t] = t + 64; a[s[t] + 128 * blockIdx.x] = t; }`, ""},
	{"a write by some threads", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; __invariant(s[t] == 1 || t > 5 && s[t] == 2), i < n; i++) if (t > 5) s[t] = 2; __assert(t > 5 || s[t] == 1); }`, ""},
	{"a loop with a barrier in front of the writes", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 3; for (int i = 0; __invariant(s[t] == 3), i < n; i++) { __syncthreads(); s[t] = 3; } }`, ""},
	{"global memory", `__global__ void k(int *a, int n) { int *p = a + threadIdx.x + 64 * blockIdx.x; __requires(n >= 0); *p = 0; for (int i = 0; __invariant(*p == i), __invariant(i <= n), i < n; i++) ++*p; __assert(*p == n); }`, ""},
	{"a function-wide invariant about memory", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; i < n; i++) s[t] = 1; __assert(s[t] == 1); __function_wide_invariant(s[t] == 1); }`, ""},

	{"a function-wide invariant that the loop breaks", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; i < n; i++) s[t] = i; s[t] = 1; __function_wide_invariant(s[t] == 1); }`, "i is 0 in the first iteration"},
	{"a function-wide invariant that does not hold at the entry", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 2; for (int i = 0; i < n; i++) s[t] = 1; s[t] = 1; __function_wide_invariant(s[t] == 1); }`, "it is 2 at the entry of the loop"},
	{"a function-wide invariant about an element that the loop chooses", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; int j = t; s[t] = 1; for (int i = 0; i < n; i++) { s[t] = 1; j = i; } __function_wide_invariant(s[j] == 1); }`, "what j is in the loop nobody said"},
	{"one step too many", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; __requires(n > 0); s[t] = 0; for (int i = 0; __invariant(s[t] == i), __invariant(i <= n), i < n; i++) s[t]++; __assert(s[t] == n - 1); }`, "it is n"},
	{"an invariant that an iteration breaks", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; for (int i = 0; __invariant(s[t] == i), i < n; i++) s[t] += 2; }`, "2 after one iteration"},
	{"an invariant that does not hold at first", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; __invariant(s[t] == i), i < n; i++) s[t] = i + 1; }`, "1 at the entry"},
	{"the neighbour's element", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; for (int i = 0; __invariant(s[63 - t] == i), i < n; i++) s[t]++; }`, "another thread writes what it reads"},
	{"another thread writes behind a barrier", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) { a[s[t] + 64 * blockIdx.x] = t; __syncthreads(); s[63 - t] = 0; } }`, "in the second iteration all read 0, or their own 0"},
	{"another thread writes behind a barrier, and the invariant says otherwise", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; __invariant(s[t] == t), i < n; i++) { __syncthreads(); s[63 - t] = 0; __syncthreads(); } }`, "0 in the second iteration"},
	{"a byte of it", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 256; for (int i = 0; __invariant(s[t] == 256), i < n; i++) ((char *)s)[4 * t + 1] = 0; }`, "all is 0 then"},
	{"an atomic", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; __invariant(s[t] == 1), i < n; i++) { s[t] = 1; atomicAnd(&s[t], 0); } }`, "0"},
	{"a strong store", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[0] = 1; for (int i = 0; __invariant(s[0] == 1), i < n; i++) ((volatile int *)s)[0] = t; }`, "the store writes t"},
	{"a pointer to one of two arrays", `__global__ void k(int n) { __shared__ int s[64], r[64]; int t = threadIdx.x; s[t] = 1; int *p = n ? s : r; for (int i = 0; __invariant(s[t] == 1), i < n; i++) p[t] = 0; }`, "n = 1"},
	{"a pointer of which nothing is known", `__global__ void k(int **q, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; __invariant(s[t] == 1), i < n; i++) *q[t] = 0; }`, "it may lead to s"},
	{"a lane behind a barrier of the warp", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) { __syncwarp(); s[t ^ 1] = 0; __syncwarp(); } a[s[t] + 64 * blockIdx.x] = t; }`, "lanes have written each other's element"},
	{"a lane behind a barrier of the warp, and a write of its own", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[t] = t; __syncwarp(); s[t ^ 1] = 0; __syncwarp(); a[s[t] + 64 * blockIdx.x] = t; } }`, "lanes have written each other's element"},
	{"a copy that ends in the next iteration", `__global__ void k(int *a, const int *b, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) { a[s[t] + 64 * blockIdx.x] = t; asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n cp.async.wait_all;" :: "r"((unsigned)__cvta_generic_to_shared(&s[t])), "l"(b) : "memory"); } }`, "all read b[0]"},
	{"a value from before the loop", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) s[t] = 0; a[s[t] + 64 * blockIdx.x] = t; }`, "n = 1"},
	{"another iteration of the loop around", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; for (int i = 0; i < n; i++) { for (int j = 0; __invariant(s[t] == j), j < n; j++) s[t] = j + 1; } }`, "the inner loop is entered with n the second time"},
	{"what one thread alone has written", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; __invariant(s[t] == 1), i < n; i++) if (t == i) s[t] = 2; }`, "thread 0 has 2 after the first iteration"},
}

// guessTraps have candidates, which count for nothing if they are not shown.
var guessTraps = []textTrap{
	{"a guess that helps", `__global__ void k(int *a, const int *b, int n) { int j = 8; for (int i = 0; __candidate_invariant(j == 8 || j == 13), i < n; i++) { if (b[i] > 0) j = 21 - j; } __assert(j == 8 || j == 13); }`, ""},
	{"a guess about memory", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; for (int i = 0; __candidate_invariant(s[t] == i), i < n; i++) s[t]++; __assert(n < 1 || s[t] == n); }`, ""},
	{"a wrong guess beside one that helps", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 5; for (int i = 0; __candidate_invariant(s[t] == 6), __candidate_invariant(s[t] == 5), i < n; i++) s[t] = 5; __assert(s[t] == 5); }`, ""},
	{"a function-wide guess", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; i < n; i++) s[t] = 1; __assert(s[t] == 1); for (int i = 0; i < n; i++) s[t] = 2; __function_wide_candidate_invariant(s[t] == 1); }`, ""},
	{"a guess that does not hold at first", `__global__ void k(int *a, int n) { int j = n; for (int i = 0; __candidate_invariant(j == 8), i < n; i++) j = 8; __assert(j == 8); }`, "n = 0"},
	{"a guess that an iteration breaks", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; for (int i = 0; __candidate_invariant(s[t] == 0), i < n; i++) s[t] = i; __assert(s[t] == 0); }`, "n = 2"},
	{"guesses that justify each other", `__global__ void k(const int *b, int n) { int x = 1, y = 1; for (int i = 0; __candidate_invariant(x == y), __candidate_invariant(y == x), i < n; i++) { x = b[i]; y = b[i + 1]; } __assert(x == y); }`, "b[0] is not b[1]"},
	{"a guess that says false", `__global__ void k(int *a, int n) { for (int i = 0; __candidate_invariant(0), i < n; i++) a[0] = threadIdx.x; }`, "all write a[0]"},
	{"a guess about memory that another thread writes", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; __candidate_invariant(s[t] == t), i < n; i++) { __syncthreads(); s[63 - t] = 0; __syncthreads(); } a[s[t] + 64 * blockIdx.x] = t; }`, "all read 0"},
	{"a guess about the other thread", `__global__ void k(int *a, int n) { for (int i = 0; __candidate_invariant(__uniform_int(n + (int)threadIdx.x)), i < n; i++) {} a[threadIdx.x / 2] = threadIdx.x; }`, "two threads write one element"},
	{"a guess about accesses", `__global__ void k(int *a, int n) { for (int i = 0; __candidate_invariant(__no_write(a)), i < n; i++) a[0] = threadIdx.x; }`, "all write a[0]"},
	{"a function-wide guess that a loop breaks", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; i < n; i++) s[t] = 1 + i; __assert(s[t] == 1); __function_wide_candidate_invariant(s[t] == 1); }`, "n = 2"},
}

// snapshotTraps keep what an array held.
var snapshotTraps = []textTrap{
	{"what it held", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = n; __array_snapshot(g, s); s[t] = 5; __assert(g[t] == n); }`, ""},
	{"what it held, over barriers", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = n; __array_snapshot(g, s); __syncthreads(); s[63 - t] = 5; __syncthreads(); __assert(g[t] == n); }`, ""},
	{"from the middle of a table that nobody writes", `__global__ void k(const int *b) { __shared__ int g[64]; int t = threadIdx.x; __array_snapshot(g, b + 8); __assert(g[t] == b[t + 8]); }`, ""},
	{"what a loop adds", `__global__ void k(int *a, int n) { __shared__ int g[64]; a += 64 * blockIdx.x; int t = threadIdx.x; __requires(n >= 0); __array_snapshot(g, a); for (int i = 0; __invariant(a[t] == g[t] + i), __invariant(i <= n), i < n; i++) a[t]++; __assert(a[t] == g[t] + n); }`, ""},
	{"one on each of two ways", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = n; if (n > 3) { __array_snapshot(g, s); } else { s[t] = 7; __array_snapshot(g, s); } s[t] = 0; __assert(g[t] > 3); }`, ""},

	{"what it holds now", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = n; __array_snapshot(g, s); s[t] = 5; __assert(g[t] == 5); }`, "n = 0"},
	{"what another thread wrote", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = n; __array_snapshot(g, s); __assert(g[63 - t] == n); }`, "the thread has not seen the other's write"},
	{"what another thread's holds", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = t; __array_snapshot(g, s); __barrier_invariant_2(g[t] == t, t, 63 - t); __syncthreads(); __assert(g[63 - t] == 63 - t); }`, "that is in the snapshot of the other thread"},
	{"one on one of two ways", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = 1; if (n) { __array_snapshot(g, s); } __assert(g[t] == 1); }`, "n = 0"},
	{"one of an earlier iteration", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = 0; __array_snapshot(g, s); for (int i = 0; i < n; i++) { s[t] = 1; __array_snapshot(g, s); } __assert(g[t] == 0); }`, "n = 1"},
	{"the kernel finds nothing in it", `__global__ void k(int *a) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = t; __array_snapshot(g, s); a[g[t] + 64 * blockIdx.x] = t; }`, "g holds anything"},
	{"an array that the kernel writes", `__global__ void k(int n) { __shared__ int s[64], g[64]; int t = threadIdx.x; s[t] = n; __array_snapshot(g, s); g[t] = 5; __assert(g[t] == n); }`, "5"},
	{"of another place", `__global__ void k(const int *b) { __shared__ int g[64]; int t = threadIdx.x; __array_snapshot(g, b + 8); __assert(g[t] == b[t]); }`, "b[8] is not b[0]"},
}

// specTraps call functions of which only a specification is known.
var specTraps = []textTrap{
	{"each thread writes its own element", `__device__ void __spec_f(int *p, int i) { __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a) { __spec_f(a, threadIdx.x + 64 * blockIdx.x); }`, ""},
	{"what it leaves", `__device__ void __spec_f(int *p, int i) { __requires(__no_read(p)); __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __ensures(p[i] == __old_int(p[i] + 1)); __writes_to(p); } __global__ void k(int *a, int n) { int i = threadIdx.x + 64 * blockIdx.x; a[i] = n; __spec_f(a, i); __assert(a[i] == n + 1); }`, ""},
	{"reads alone", `__device__ void __spec_f(int *p) { __ensures(1); __reads_from(p); } __global__ void k(int *a) { __spec_f(a); }`, ""},
	{"a barrier between", `__device__ void __spec_f(int *p) { __ensures(1); __reads_from(p); } __global__ void k() { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); __spec_f(s); __syncthreads(); s[threadIdx.x] = 2; }`, ""},

	{"it may write any element", `__device__ void __spec_f(int *p) { __ensures(1); __writes_to(p); } __global__ void k(int *a) { __spec_f(a); }`, "two threads may write a[0]"},
	{"it may read any element", `__device__ void __spec_f(int *p) { __ensures(1); __reads_from(p); } __global__ void k(int *a) { int i = threadIdx.x + 64 * blockIdx.x; __spec_f(a); a[i] = 1; }`, "it may read what another thread writes"},
	{"it may read any element, without a promise", `__device__ void __spec_f(int *p) { __requires(__no_write(p)); __reads_from(p); } __global__ void k(int *a) { int i = threadIdx.x + 64 * blockIdx.x; __spec_f(a); a[i] = 1; }`, "it may read what another thread writes"},
	{"the first byte of its element alone is promised", `__device__ void __spec_f(int *p, int i) { __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a) { int i = threadIdx.x + 64 * blockIdx.x; __spec_f(a, i); ((char *)a)[4 * (i ^ 1) + 3] = 1; }`, "an element has four bytes"},
	{"a promise about the other kind of access", `__device__ void __spec_f(int *p, int i) { __ensures(__read_implies(p, __read_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a) { __spec_f(a, threadIdx.x + 64 * blockIdx.x); }`, "of writes nothing is promised"},
	{"a promise about another array", `__device__ void __spec_f(int *p, int *q, int i) { __ensures(__write_implies(q, __write_offset_bytes(q) == 4 * i)); __writes_to(p); } __global__ void k(int *a, int *b) { __spec_f(a, b, threadIdx.x + 64 * blockIdx.x); }`, "of writes to p nothing is promised"},
	{"what it required does not hold", `__device__ void __spec_f(int *p, int i) { __requires(i > 0); __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a) { __spec_f(a, threadIdx.x + 64 * blockIdx.x); }`, "thread 0 of block 0"},
	{"what it leaves is not what was there", `__device__ void __spec_f(int *p, int i) { __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a, int n) { int i = threadIdx.x + 64 * blockIdx.x; a[i] = n; __spec_f(a, i); __assert(a[i] == n); }`, "it may have written anything"},
	{"what was never written before", `__device__ void __spec_f(int *p, int i) { __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a, int n) { int i = threadIdx.x + 64 * blockIdx.x; int x = a[i]; __spec_f(a, i); __assert(a[i] == x); }`, "it may have written anything"},
	{"it writes in each iteration", `__device__ void __spec_f(int *p, int i) { __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); __writes_to(p); } __global__ void k(int *a, int n) { int i = threadIdx.x + 64 * blockIdx.x; a[i] = 1; for (int j = 0; __invariant(a[i] == 1), j < n; j++) __spec_f(a, i); }`, "it may have written anything"},
	{"a promise that cannot be kept", `__device__ void __spec_f(int *p, int i) { __ensures(p[i] == __old_int(p[i] + 1)); __reads_from(p); } __global__ void k(int *a) { int i = threadIdx.x + 64 * blockIdx.x; __spec_f(a, i); a[0] = i; }`, "vacuous: it writes nothing"},
	{"an ordinary function promises what it must keep", `__device__ void f(int *p, int i) { __ensures(__write_implies(p, __write_offset_bytes(p) == 4 * i)); p[i / 2] = 1; } __global__ void k(int *a) { f(a, threadIdx.x + 64 * blockIdx.x); }`, "it writes elsewhere"},
}

// vectorTraps have functions that return vectors.
var vectorTraps = []textTrap{
	{"the elements of a vector", `__device__ int4 f(int n) { __ensures(__return_val_int4().x == n); __ensures(__return_val_int4().w == n + 3); return make_int4(n, n + 1, n + 2, n + 3); } __global__ void k(int n) { int4 v = f(n); __assert(v.y == n + 1); }`, ""},
	{"a vector of two", `__device__ uint2 f(unsigned n) { __ensures(__return_val_uint2().y == n + 1); return make_uint2(n, n + 1); } __global__ void k(unsigned n) { uint2 v = f(n); __assert(v.x == n); }`, ""},
	{"another element", `__device__ int4 f(int n) { __ensures(__return_val_int4().y == n); return make_int4(n, n + 1, n + 2, n + 3); } __global__ void k(int n) { int4 v = f(n); __assert(v.x == n); }`, "y is n + 1"},
	{"on one of two ways", `__device__ int4 f(int n) { __ensures(__return_val_int4().x == n); if (n > 3) return make_int4(3, 3, 3, 3); return make_int4(n, n, n, n); } __global__ void k(int n) { int4 v = f(n); __assert(v.x <= 3); }`, "n = 4"},
	{"two calls", `__device__ int4 f(int n) { __ensures(__return_val_int4().x == n); return make_int4(n, n, n, n); } __global__ void k(int n) { int4 v = f(n), w = f(n + 1); __assert(v.x + 1 == w.x); __assert(v.x == w.x); }`, "the second is one more"},
}

func TestVectorResults(t *testing.T) { proveTexts(t, annotated, vectorTraps, lockstep.Options{}) }

func TestSpecifications(t *testing.T) { proveTexts(t, annotated, specTraps, lockstep.Options{}) }

func TestSnapshots(t *testing.T) { proveTexts(t, annotated, snapshotTraps, lockstep.Options{}) }

func TestGuesses(t *testing.T) { proveTexts(t, annotated, guessTraps, lockstep.Options{}) }

func TestLoopMemory(t *testing.T) { proveTexts(t, annotated, contentsTraps, lockstep.Options{}) }
