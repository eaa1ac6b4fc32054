package lockstep_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep"
	"heddle/internal/lower"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// textTrap is a kernel of CUDA, wrong if why says so.
type textTrap struct{ name, text, why string }

// annotationTraps are kernels with annotations. Why says what is wrong, by the meaning of the
// annotation in docs/support.md; it is empty for a kernel that must be verified. Unsupported counts
// as not verified.
var annotationTraps = []textTrap{
	// Assumptions.
	{"an assumption behind an access", `__global__ void k(int *a, int n) { a[n] = threadIdx.x; __assume(n < 0 && n > 0); }`,
		"the race is there before anything is assumed"},
	{"an assumption in front of an access", `__global__ void k(int *a, int n) { __assume(n == 64); a[threadIdx.x % n + blockIdx.x * 64] = threadIdx.x; }`, ""},
	{"an assumption on one path", `__global__ void k(int *a, int n) { if (threadIdx.x < 3) __assume(n == 0); a[n * threadIdx.x + blockIdx.x * 64 * n] = threadIdx.x; }`,
		"where n is 0, threads from 3 on have assumed nothing and meet in a[0]"},
	{"a requirement on one path", `__global__ void k(int *a, int n) { if (threadIdx.x < 3) __requires(n == 1); a[threadIdx.x * (n == 1) + blockIdx.x * 64] = threadIdx.x; }`,
		"where n is 0, threads from 3 on have promised nothing and meet in one element"},
	{"a requirement behind a return", `__global__ void k(int *a, int n) { if (threadIdx.x > 60) return; __requires(n == 1); a[threadIdx.x + blockIdx.x * 64] = n; }`, ""},
	{"an assumption that cannot hold", `__global__ void k(int *a, int n) { __assume(n < 3 && n > 5); a[0] = threadIdx.x; }`, "vacuous: nothing is checked behind it"},
	{"two requirements that contradict", `__global__ void k(int *a, int n) { __requires(n == 3); __requires(n == 5); a[0] = threadIdx.x; }`, "vacuous"},
	{"an assumption that one thread alone can keep", `__global__ void k(int *a, int n) { __requires(n == threadIdx.x); a[0] = threadIdx.x; }`, "vacuous for every pair of a block"},
	{"a requirement that excludes a thread", `__global__ void k(int *a, int n) { __requires(threadIdx.x != 5); a[threadIdx.x + 64 * blockIdx.x] = n; }`, "thread 5 is there in every launch"},
	{"an assumption behind a condition that excludes a block", `__global__ void k(int *a, int n) { if (blockIdx.x > 0) __assume(blockIdx.x == 2); a[threadIdx.x + 64 * blockIdx.x] = n; }`, "block 1 of two"},
	{"a requirement that each thread keeps", `__global__ void k(int *a, int n) { __requires(threadIdx.x != 64); __requires(threadIdx.x < blockDim.x); a[threadIdx.x + 64 * blockIdx.x] = n; }`, ""},
	{"an assumption where no thread comes that does not keep it", `__global__ void k(int *a, int n) { if (threadIdx.x < 5) __assume(threadIdx.x != 5); a[threadIdx.x + 64 * blockIdx.x] = n; }`, ""},
	{"a requirement that excludes a thread for some inputs", `__global__ void k(int *a, int n) { __requires(threadIdx.x != n); a[threadIdx.x + 64 * blockIdx.x] = n; }`, ""},
	{"an assumption that one block alone can keep", `__global__ void k(int *a, int n) { __assume(n == blockIdx.x); a[threadIdx.x] = blockIdx.x; }`, "vacuous for every pair of blocks"},
	{"an assumption of one thread", `__global__ void k(int *a, int n) { if (threadIdx.x == 3 && blockIdx.x == 1) { __assume(n == threadIdx.x); a[0] = 1; } }`, ""},
	{"a requirement that fixes a parameter", `__global__ void k(int *a, int n) { __requires(n == blockDim.x); a[blockIdx.x * n + threadIdx.x] = 1; }`, ""},
	{"a requirement that leaves a parameter open", `__global__ void k(int *a, int n) { __requires(n <= blockDim.x); a[blockIdx.x * n + threadIdx.x] = blockIdx.x; }`,
		"n = 1 makes blocks meet"},
	{"a requirement on one path only", `__global__ void k(int *a, int n) { if (threadIdx.x == 70) __requires(n == 64); a[blockIdx.x * n + threadIdx.x] = blockIdx.x; }`,
		"no thread of a block of 64 has the index 70"},
	{"an assumption does not make divergence go away", `__global__ void k(int *a, int n) { if (threadIdx.x < n) __syncthreads(); __assume(n == 64); }`, "the barrier comes before"},
	{"assumption and barrier", `__global__ void k(int *a, int n) { __assume(n == 64); if (threadIdx.x < n) __syncthreads(); }`, ""},
	{"an assumption of those that wait", `__global__ void k(int n) { if ((int)threadIdx.x < n) { __assume(n >= 64); __syncthreads(); } }`, ""},
	{"an assumption in one iteration", `__global__ void k(int *a, int n) { for (int i = 0; i < 10; i++) { if (i == 3) __assume(n == 64); } a[blockIdx.x * 64 + threadIdx.x % n] = threadIdx.x; }`,
		"sound either way, since iteration 3 is passed: but what an iteration assumed is not known behind the loop"},

	// Assertions.
	{"an assertion that holds", `__global__ void k(int n) { __assume(n > 3); __assert(n > 2); }`, ""},
	{"an assertion that can fail", `__global__ void k(int n) { __assert(n > 2); }`, "n = 0"},
	{"an assertion of one thread", `__global__ void k(int n) { __assert(threadIdx.x != 63); }`, "thread 63"},
	{"an assertion on a path that is not taken", `__global__ void k(int n) { if (threadIdx.x > 63) __assert(0); }`, ""},
	{"an assertion is known from there on, not before", `__global__ void k(int *a, int n) { __assert(n == 0); __assert(n != 0); }`, "one of the two fails"},
	{"C's assert", `__global__ void k(int n) { assert(n != 7); }`, "n = 7"},
	{"C's assert that holds", `__global__ void k(int n) { assert(threadIdx.x < 64); }`, ""},
	{"memory that somebody wrote", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); __assert(s[threadIdx.x ^ 1] == 0); }`, "it is 1"},
	{"what a condition reads is no access", `__global__ void k(int *a) { a[threadIdx.x + 64 * blockIdx.x] = 1; __assert(__implies(a[0] == 3, threadIdx.x < 64)); }`, ""},
	{"what the kernel reads besides is one", `__global__ void k(int *a) { a[threadIdx.x + 64 * blockIdx.x] = 1; __assert(1); a[threadIdx.x + 64 * blockIdx.x + 128] = a[0]; }`, "a[0] is written and read"},

	{"a store within an annotation", `__global__ void k(int *a) { __heddle_ghost(); a[0] = threadIdx.x; __heddle_assert(1, 0); }`, "conditions read; what writes is an access"},
	{"an annotation without an end", `__global__ void k(int *a) { __heddle_ghost(); __syncthreads(); a[threadIdx.x + 64 * blockIdx.x] = a[threadIdx.x + 1]; }`, "behind the barrier nothing belongs to it"},

	{"a function of its arguments", `__device__ int __uninterpreted_function_f(int); __global__ void k(int n) { __assume(__uninterpreted_function_f(3) == n); __assert(__uninterpreted_function_f(3) == n); }`, ""},
	{"a function of other arguments", `__device__ int __uninterpreted_function_f(int); __global__ void k(int n) { __assume(__uninterpreted_function_f(3) == n); __assert(__uninterpreted_function_f(4) == n); }`, "nothing says that it is constant"},

	{"lanes that a reduction names", `__global__ void k(unsigned n) { if ((threadIdx.x & 31) < 16) { unsigned m = __reduce_or_sync(0xffff, n); __assume(m >> (threadIdx.x & 31) & 1); __syncwarp(m); } __syncthreads(); }`, "n may name lanes 16 to 31, which wait at the barrier"},

	// Invariants are checked.
	{"an invariant that holds", `__global__ void k(int n) { for (int i = 0; __invariant(i % 4 == 0), i < 100; i += 4) {} }`, ""},
	{"an invariant that is not preserved", `__global__ void k(int n) { for (int i = 0; __invariant(i < 96), i < 100; i += 4) {} }`, "i = 96 at the last test"},
	{"an invariant that does not hold at first", `__global__ void k(int n) { for (int i = n; __invariant(i == 5), i < 5; i = 5) {} }`, "n = 0"},
	{"an invariant that would justify itself", `__global__ void k(int *a, const int *b, int n) { int i = 0, j = 0; while (__invariant(j == 64 * i), i < n) { i++; j = b[i]; a[j + threadIdx.x + 1000000 * blockIdx.x] = threadIdx.x; } }`,
		"what b holds decides"},
	{"an invariant that helps", `__global__ void k(int *a, const int *b, int n) { int j = 1; for (int i = 0; __invariant(j == 1 || j == 2), i < n; i++) { j = b[i] > 0 ? 2 : 1; } a[(threadIdx.x + blockIdx.x * 64) * j] = threadIdx.x; __assert(j <= 2); }`,
		""},
	{"two invariants that lean on each other", `__global__ void k(int n) { int x = 1, y = 1; for (int i = 0; __invariant(x == y), __invariant(y == 1), i < n; i++) { x = y; y = x; } }`, ""},
	{"two invariants that both fail", `__global__ void k(const int *b, int n) { int x = 1, y = 1; for (int i = 0; __invariant(x == y), __invariant(y == x), i < n; i++) { x = b[i]; y = b[i + 1]; } }`, "b[0] != b[1]"},
	{"an invariant elsewhere", `__global__ void k(int *a) { for (int i = 0; i < 10; i++) { a[threadIdx.x + 64 * (i + 10 * blockIdx.x)] = 1; __invariant(i >= 0); } }`, "it does not stand at the head of a loop"},
	{"an invariant that chooses", `__global__ void k(int *a, int n) { __shared__ int s[128]; int t = threadIdx.x; int j = n ? t : t + 64; for (int i = 0; __invariant(__ite(n, __write_implies(s, __write_offset_bytes(s) == 4 * t), __write_implies(s, __write_offset_bytes(s) == 4 * (t + 64)))), i < 9; i++) s[j] = i; }`, ""},
	{"an invariant that chooses wrongly", `__global__ void k(int *a, int n) { __shared__ int s[128]; int t = threadIdx.x; int j = n ? t : t + 64; for (int i = 0; __invariant(__ite(n, __write_implies(s, __write_offset_bytes(s) == 4 * (t + 64)), __write_implies(s, __write_offset_bytes(s) == 4 * t))), i < 9; i++) s[j] = i; }`, "the other way round"},
	{"an invariant on some ways only", `__global__ void k(int *a, int n) { for (int i = 0; i < 9; i++) { if (n) { __invariant(i < 9); } a[threadIdx.x + 64 * (i + 9 * blockIdx.x)] = 1; } }`, "it does not stand at the head of a loop"},
	{"an invariant where the loop may be left first", `__global__ void k(int *a, int n) { int i = 0; while (1) { if (i >= n) break; __invariant(i < n); a[threadIdx.x + 64 * blockIdx.x] = i; i++; if (i == 7) continue; } }`, "the test of the loop comes before"},
	{"an invariant behind a store", `__global__ void k(int *a, int n) { int i = 0; do { a[threadIdx.x + 64 * blockIdx.x] = i; __invariant(i >= 0); i++; } while (i < 9); }`, "it does not stand at the head of a loop"},
	{"an invariant behind another annotation and a store", `__global__ void k(int *a, int n) { int i = 0; do { __assert(i >= 0); a[threadIdx.x + 64 * blockIdx.x] = i; __invariant(i >= 0); i++; } while (i < 9); }`, "the store comes before"},
	{"an invariant behind a call by pointer", `typedef int (*fn)(int); __device__ int one(int x) { return x + 1; } __device__ int two(int x) { return x + 2; }
__global__ void k(int *a, int n) { fn f = n ? one : two; int i = 0; do { i = f(i); __invariant(n == n); a[threadIdx.x + 64 * blockIdx.x] = i; } while (i < 9); }`, ""},
	{"those that came to the loop", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x, x = t >= 32 ? s[63 - t] : 0; if (t < 32) { for (int i = 0; __global_invariant(__implies(__dominator_enabled() & __read(s), __read_offset_bytes(s) == 4 * t)), i < t; i++) x += s[t]; } a[t + 64 * blockIdx.x] = x; }`, ""},
	{"those that did not come to the loop either", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x, x = t >= 32 ? s[63 - t] : 0; if (t < 32) { for (int i = 0; __global_invariant(__implies(__read(s), __read_offset_bytes(s) == 4 * t)), i < t; i++) x += s[t]; } a[t + 64 * blockIdx.x] = x; }`, "threads from 32 on read s[63 - t]"},
	{"those that came to the loop and left it", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x, x = 0; if (t < 32) { if (t < 2) x = s[63 - t]; for (int i = 0; __global_invariant(__implies(__dominator_enabled() & __read(s), __read_offset_bytes(s) == 4 * t)), i < t; i++) x += s[t]; } a[t + 64 * blockIdx.x] = x; }`, "thread 1 has read s[62]"},
	{"those that left are there no more", `__global__ void k(int *a, int n) { int t = threadIdx.x; for (int i = 0; i < t; i++) { __global_assert(__enabled()); } }`, "thread 0 is not there when thread 1 is"},
	{"where all come or none", `__global__ void k(int *a, int n) { for (int i = 0; i < n; i++) { __global_assert(__enabled()); } }`, ""},
	{"where some block comes", `__global__ void k(int *a, int n) { if (blockIdx.x == 1) { __global_assert(__enabled()); } }`, ""},
	{"a global annotation about accesses and an iteration", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { if (t < 5) __global_assert(__implies(__write(s), i > 0)); s[t] = i; } }`, "what i is for the other threads, nothing says"},
	{"an offset outside of an annotation", `__global__ void k(int *a) { a[threadIdx.x + 64 * blockIdx.x] = __read_offset_bytes(a); }`, ""},
	{"an index from an offset outside of an annotation", `__global__ void k(int *a) { a[__read_offset_bytes(a) / 4] = 1; }`, "it may be any offset"},
	{"it writes where its ticket says", `__global__ void k(unsigned *c, char *b) { unsigned i = atomicAdd(c, 1u); b[i] = 1; __assert(__write_implies(b, __atomic_has_taken_value(c, 0, __write_offset_bytes(b)))); }`, ""},
	{"it writes where its tickets say", `__global__ void k(unsigned *c, char *b, int n) { for (int j = 0; __invariant(__write_implies(b, __atomic_has_taken_value(c, 0, __write_offset_bytes(b)))), j < n; j++) { unsigned i = atomicAdd(c, 1u); b[i] = 1; } }`, ""},
	{"it writes beside its ticket", `__global__ void k(unsigned *c, char *b) { unsigned i = atomicAdd(c, 1u); b[i + 1] = 1; __assert(__write_implies(b, __atomic_has_taken_value(c, 0, __write_offset_bytes(b)))); }`, "the ticket is i"},
	{"the ticket of another counter", `__global__ void k(unsigned *c, char *b) { unsigned i = atomicAdd(c + 1, 1u); b[i] = 1; __assert(__write_implies(b, __atomic_has_taken_value(c, 0, __write_offset_bytes(b)))); }`, "c[0] gave none"},
	{"the ticket of an element", `__global__ void k(unsigned *c, char *b) { unsigned i = atomicAdd(c + 1, 1u); b[i] = 1; __assert(__write_implies(b, __atomic_has_taken_value(c, 1, __write_offset_bytes(b)))); }`, ""},
	{"a ticket that comes later", `__global__ void k(unsigned *c, char *b, int *d) { __assert(__atomic_has_taken_value(c, 0, 5)); __assume(atomicAdd(c, 1u) == 5); }`, "none has been taken"},
	{"a ticket that some threads take", `__global__ void k(unsigned *c, char *b) { unsigned i = 0; if (threadIdx.x & 1) i = atomicAdd(c, 1u); b[i] = 1; __assert(__write_implies(b, __atomic_has_taken_value(c, 0, __write_offset_bytes(b)))); }`, "threads with even numbers have none"},
	{"no ticket", `__global__ void k(unsigned *c) { __assert(!__atomic_has_taken_value(c, 0, 7)); atomicAdd(c, 1u); }`, "true, but not proved: of what was not taken nothing is known"},
	{"the ticket of another iteration", `__global__ void k(unsigned *c, char *b, int n) { for (int j = 0; __invariant(__write_implies(b, __atomic_has_taken_value(c, 0, __write_offset_bytes(b)))), j < n; j++) { unsigned i = atomicAdd(c, 1u); b[i + j] = 1; } }`, "i + 1 in the second iteration"},
	{"a guess that is wrong", `__global__ void k(int *a, int n) { int i = 0; for (; __candidate_invariant(n == 64), i < n; i++) {} a[blockIdx.x * 64 + threadIdx.x % n] = threadIdx.x; }`,
		"a candidate that does not hold must not help"},

	// Two threads.
	{"uniform", `__global__ void k(int n) { for (int i = 0; __invariant(__uniform_bool(__enabled())), __invariant(__uniform_int(i)), i < n; i++) {} }`, ""},
	{"not uniform", `__global__ void k(int n) { for (int i = threadIdx.x; __invariant(__uniform_int(i)), i < n; i++) {} }`, "threads begin differently"},
	{"distinct", `__global__ void k(int n) { int x = threadIdx.x + 64 * blockIdx.x; __assert(__distinct_int(x)); }`, ""},
	{"distinct in a block only", `__global__ void k(int n) { int x = threadIdx.x; __assert(__distinct_int(x)); }`, "threads of two blocks have the same index"},
	{"distinct in a block", `__global__ void k(int n) { int x = threadIdx.x; __assert(__implies(__same_group, __distinct_int(x))); }`, ""},
	{"the other is not here", `__global__ void k(int n) { if (threadIdx.x == 0) __assert(__uniform_bool(__enabled())); }`, "the other thread of the block does not come here"},
	{"what the other has where it is not", `__global__ void k(int n) { int x = 3; if (threadIdx.x == 0) { x = n; __assert(__other_int(x) == n); } }`, "the other does not come here: nothing is known of its x"},
	{"all of two", `__global__ void k(int n) { __assert(__all(threadIdx.x < 64)); }`, ""},
	{"not all", `__global__ void k(int n) { __assert(__all(threadIdx.x < 63)); }`, "thread 63"},
	{"at most one", `__global__ void k(int n) { __assert(__implies(__same_group, __exclusive(threadIdx.x == n))); }`, ""},
	{"more than one", `__global__ void k(int n) { __assert(__implies(__same_group, __exclusive(threadIdx.x >= n))); }`, "two threads from n on"},

	// Accesses since the last barrier.
	{"nothing written", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); __assert(__no_write(s)); }`, ""},
	{"something written", `__global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; __assert(__no_write(s)); }`, "it was, since the last barrier"},
	{"written through any pointer", `__global__ void k(int *a, int **p) { if (threadIdx.x == 0 && blockIdx.x == 0) { *p[0] = 1; __assert(__no_write(a)); } }`, "p[0] may point to a"},
	{"written through any pointer to shared memory", `__global__ void k(int *a, unsigned p) { if (threadIdx.x == 0) { asm volatile("st.shared.u32 [%0], 1;" :: "r"(p) : "memory"); __assert(__no_write(a)); } }`, ""},
	{"written by some", `__global__ void k(int *a) { __shared__ int s[64]; if (threadIdx.x == 5) s[threadIdx.x] = 1; __assert(__no_write(s)); }`, "thread 5 has written"},
	{"written later", `__global__ void k(int *a) { __shared__ int s[64]; __assert(__no_write(s)); s[threadIdx.x] = 1; }`, ""},
	{"written in an earlier iteration", `__global__ void k(int n) { __shared__ int s[64]; for (int i = 0; i < n; i++) { __assert(__no_write(s)); s[threadIdx.x] = 1; } }`, "from the second iteration on"},
	{"written in the iterations before the one that returns", `__global__ void k(int *a, int n) { __shared__ int s[64]; for (int i = 0; i < n; i++) { if (a[i] == 5) { if (a[threadIdx.x] == n) { __assert(__no_write(s)); return; } continue; } s[threadIdx.x] = i; } }`,
		"if a[0] is 0 and a[1] is 5: the first iteration writes s. The loop is in the text behind the block that returns"},
	{"not written in the iterations before the one that returns", `__global__ void k(int *a, int n) { __shared__ int s[64]; for (int i = 0; i < n; i++) { if (a[i] == 5) { if (a[threadIdx.x] == n) { __assert(__no_write(s)); s[threadIdx.x] = i; return; } continue; } } }`, ""},
	{"written before the barrier of an iteration", `__global__ void k(int n) { __shared__ int s[64]; for (int i = 0; i < 9; i++) { __assert(__no_write(s)); s[threadIdx.x] = 1; __syncthreads(); } }`, ""},
	{"where it was written", `__global__ void k(int *a, int n) { for (int i = 0; __invariant(__write_implies(a, __write_offset_bytes(a) / 4 % 64 == threadIdx.x)), i < 16; i++) a[64 * (i + 16 * blockIdx.x) + threadIdx.x] = i; }`, ""},
	{"not where it was written", `__global__ void k(int *a, int n) { for (int i = 0; __invariant(__write_implies(a, __write_offset_bytes(a) / 4 % 64 == threadIdx.x)), i < 16; i++) a[65 * (i + 16 * blockIdx.x) + threadIdx.x] = threadIdx.x + 65 * i; }`, "65*i is no multiple of 64"},
	{"one access of several", `__global__ void k(int *a) { a[threadIdx.x + 256 * blockIdx.x] = 1; a[threadIdx.x + 256 * blockIdx.x + 64] = 2; __assert(__write_implies(a, __write_offset_bytes(a) / 4 == threadIdx.x + 256 * blockIdx.x)); }`, "the second store is elsewhere"},
	{"global: those who are not there count", `__global__ void k(int *a) { __shared__ int s[64]; if (threadIdx.x == 5) s[threadIdx.x] = 1; else __global_assert(__no_write(s)); }`, "thread 5 has written, and the assertion is for all"},
	{"not global: those who are there count", `__global__ void k(int *a) { __shared__ int s[64]; if (threadIdx.x == 5) s[threadIdx.x] = 1; else __assert(__no_write(s)); }`, ""},
	{"function-wide", `__global__ void k(int *a) { for (int i = 0; i < 9; i++) a[threadIdx.x + 64 * blockIdx.x] = i; __function_wide_invariant(__write_implies(a, __write_offset_bytes(a) / 4 % 64 == threadIdx.x)); }`, ""},
	{"function-wide candidate about a value of the loop", `__global__ void k(int *a) { int x = threadIdx.x; for (int i = 0; i < 9; i++) { a[threadIdx.x + 64 * blockIdx.x] = x; x += a[threadIdx.x + 64 * blockIdx.x]; __function_wide_candidate_invariant(x >= 0); } }`, ""},
	{"function-wide, and not so", `__global__ void k(int *a) { for (int i = 0; i < 9; i++) a[threadIdx.x + 128 * blockIdx.x + i / 9 + 1] = threadIdx.x; __function_wide_invariant(__write_implies(a, __write_offset_bytes(a) / 4 % 64 == threadIdx.x)); }`, "an element further"},

	// Functions.
	{"precondition of a function", `__device__ int f(int x) { __requires(x > 0); return x; } __global__ void k(int n) { f(n); }`, "n = 0: what a function requires is checked, not assumed"},
	{"precondition that the caller gives", `__device__ int f(int x) { __requires(x > 0); return x; } __global__ void k(int n) { if (n > 0) f(n); }`, ""},
	{"postcondition", `__device__ int f(int x) { __ensures(__return_val_int() == x + 1); return x + 1; } __global__ void k(int *a, int n) { a[f(threadIdx.x) + 64 * blockIdx.x] = 1; }`, ""},
	{"postcondition of 64 bits", `__device__ __noinline__ long long f(long long x) { __ensures(__return_val_longlong() == x + 1); return x + 1; } __global__ void k(int *a, int n) { a[f(threadIdx.x) + 64 * blockIdx.x] = 1; }`, ""},
	{"postcondition of a vector", `__device__ __noinline__ int2 f(int x) { __ensures(__return_val_int2().y == x + 1); return make_int2(0, x + 1); } __global__ void k(int *a, int n) { a[f(threadIdx.x).y + 64 * blockIdx.x] = 1; }`, ""},
	{"postcondition of a vector that does not hold", `__device__ __noinline__ int2 f(int x) { __ensures(__return_val_int2().y == x); return make_int2(x, x + 1); } __global__ void k(int *a, int n) { a[f(threadIdx.x).y + 64 * blockIdx.x] = 1; }`, "y is one more"},
	{"postcondition of 64 bits that does not hold", `__device__ __noinline__ long long f(long long x) { __ensures(__return_val_longlong() == x); return x + 1; } __global__ void k(int *a, int n) { a[f(threadIdx.x) + 64 * blockIdx.x] = 1; }`, "it returns one more"},
	{"postcondition that does not hold", `__device__ int f(int x) { __ensures(__return_val_int() > x); return x + (x < 100); } __global__ void k(int *a, int n) { a[f(n) * 0 + threadIdx.x + 64 * blockIdx.x] = 1; }`, "f(100) = 100"},
	{"postcondition on one of two returns", `__device__ int f(int x) { __ensures(__return_val_int() >= 0); if (x < 0) return x; return 0; } __global__ void k(int n) { f(n); }`, "f(-1) = -1"},
	{"an argument that the function changes", `__device__ int f(int x) { __ensures(__return_val_int() == __old_int(x)); x++; return x; } __global__ void k(int n) { f(n); }`, "it returns one more"},
	{"a postcondition about memory", `__device__ void f(int *a) { __ensures(a[threadIdx.x] == 0); a[threadIdx.x] = 1; } __global__ void k(int *a) { a += 64 * blockIdx.x; a[threadIdx.x] = 0; f(a); }`, "it holds at the beginning, not at the end"},
	{"a function without a body", `__device__ int f(int *a); __global__ void k(int *a) { f(a); }`, "who knows what it does"},
	{"a function without a body that does not return", `extern "C" __device__ __attribute__((noreturn)) void g(int *a); __global__ void k(int *a) { g(a); }`, "who knows what it does before"},
	{"a function of its arguments alone", `DECLARE_UF_UNARY(f, int, int); __global__ void k(int *a, int n) { __assert(f(n) == f(n + 0)); }`, ""},
	{"a function that need not be injective", `DECLARE_UF_UNARY(h, int, int); __global__ void k(int *a, int n) { a[h(threadIdx.x + 64 * blockIdx.x)] = threadIdx.x; }`, "f may be 0 everywhere"},
	{"a function pointer", `typedef int (*fn)(int); __device__ int one(int x) { return x; } __device__ int two(int x) { return x + 64; }
__global__ void k(int *a, int n) { fn f = n ? one : two; a[f(threadIdx.x) + 128 * blockIdx.x] = threadIdx.x; }`, ""},
	{"one of two functions is wrong", `typedef int (*fn)(int); __device__ int one(int x) { return x; } __device__ int two(int x) { return x / 2; }
__global__ void k(int *a, int n) { fn f = n ? one : two; a[f(threadIdx.x) + 128 * blockIdx.x] = threadIdx.x; }`, "two() is not injective"},
	{"a function pointer from outside", `typedef int (*fn)(int); __device__ int one(int x) { return x; } __global__ void k(int *a, fn f, fn *out) { if (a[9999] == 3) *out = one; a[f(threadIdx.x) + 64 * blockIdx.x] = threadIdx.x; }`, "it may be any function"},
	{"a function pointer from outside that is told", `typedef int (*fn)(int); __device__ int one(int x) { return x; } __global__ void k(int *a, fn f) { __requires(f == one); a[f(threadIdx.x) + 64 * blockIdx.x] = threadIdx.x; }`, ""},
	{"recursion", `__device__ __attribute__((noinline)) int f(int x) { return x ? f(x - 1) + 1 : 0; } __global__ void k(int *a) { a[f(threadIdx.x) + 64 * blockIdx.x] = 1; }`, "unsupported"},
	{"a struct that is passed, read at a computed place", `struct eight { int a[8]; }; __device__ __noinline__ int f(eight s, int i) { return s.a[i]; }
__global__ void k(int n) { eight s; for (int i = 0; i < 8; i++) s.a[i] = threadIdx.x & 1; if (f(s, n & 7)) __syncthreads(); }`, "each thread has a struct of its own: divergence"},
	{"a struct of the kernel, read at a computed place", `struct eight { int a[8]; }; __global__ void k(eight s, int n) { if (s.a[n & 7]) __syncthreads(); }`, ""},
	{"shared memory that a function declares exists once", `__device__ __attribute__((noinline)) void f(int v) { __shared__ int s[2]; s[0] = v; } __global__ void k(int n) { f(threadIdx.x); f(n); }`, "all threads write s[0]"},
	{"a barrier in a function that some call", `__device__ __attribute__((noinline)) void f() { __syncthreads(); } __global__ void k(int n) { if (threadIdx.x < n) f(); }`, "divergence"},
	{"a barrier in a function that all call", `__device__ __attribute__((noinline)) void f() { __syncthreads(); } __global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; f(); a[threadIdx.x + 64 * blockIdx.x] = s[63 - threadIdx.x]; }`, ""},
	{"one barrier called at two places", `__device__ __attribute__((noinline)) void f() { __syncthreads(); } __global__ void k(int *a) { if (threadIdx.x < 32) f(); else f(); }`,
		"in this kernel the threads of a block wait at different calls, which heddle takes for divergence"},

	// Threads that have left a loop keep the values with which they left.
	{"what threads that left have", `__global__ void k(int *a) { unsigned x = 0;
while (__global_invariant(__implies(!__enabled(), x == threadIdx.x)), __invariant(x <= threadIdx.x), x < threadIdx.x)
  x = x + 1; }`, ""},
	{"a stride, for threads that left too", `__global__ void k(float *p, int w) { __requires(w == 512);
unsigned tid = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
for (unsigned i = tid; __global_invariant(i % step == tid), i < w; i += step)
  p[i] = 1; }`, ""},
	{"two variables of threads that left", `__global__ void k(int *a) { unsigned x = threadIdx.x & 7, y = 0;
while (__global_invariant(__implies(!__enabled(), y == 10 - (threadIdx.x & 7))), __invariant(x == y + (threadIdx.x & 7)),
  __invariant(x <= 10), x < 10) { x++; y++; } }`, ""},
	{"threads that left have another number", `__global__ void k(int *a) { unsigned x = threadIdx.x & 7, y = 0;
while (__global_invariant(__implies(!__enabled(), y == 9 - (threadIdx.x & 7))), x < 10) { x++; y++; } }`, "y is 10 - (x & 7)"},
	{"threads that left have a number that rises", `__global__ void k(int *a) { unsigned x = 0;
while (__global_invariant(__implies(!__enabled(), x < threadIdx.x)), x < threadIdx.x)
  x = x + 1; }`, "they leave when x is the index"},
	{"x rises between the invariant and the exit", `__global__ void k(int *a) { unsigned x = 0;
for (;;) {
  __global_invariant(__implies(!__enabled(), x == threadIdx.x));
  x++;
  if (x > threadIdx.x) break;
} }`, "x is one more than the index"},
	{"x rises between the invariant and an exit by a constant", `__global__ void k(int *a) { unsigned x = threadIdx.x & 7;
for (;;) {
  __global_invariant(__implies(!__enabled(), x == 10));
  x++;
  if (x > 10) break;
  a[(blockIdx.x * blockDim.x + threadIdx.x) * 16 + x] = 1;
} }`, "x is 11"},
	{"the condition of the loop changes x", `__global__ void k(int *a) { int x = 0;
while (__global_invariant(__implies(!__enabled(), x == threadIdx.x)), x++ < threadIdx.x)
  a[(blockIdx.x * blockDim.x + threadIdx.x) * 1024 + x] = x; }`, "x is one more; LLVM adds behind the branch"},
	{"the condition of the loop changes another variable", `__global__ void k(int *a) { unsigned x = threadIdx.x & 7, y = 0;
while (__global_invariant(__implies(!__enabled(), y == 10 - (threadIdx.x & 7))), __invariant(x == y + (threadIdx.x & 7)),
  __invariant(x <= 10), y++, x < 10) x++; }`, "y is one more"},
	{"a mask behind a change by the condition", `__global__ void k(int *a) { unsigned x = 0;
while (__global_invariant(__implies(!__enabled(), x == threadIdx.x)), x++ < threadIdx.x)
  x = x & 127; }`, "x is one more"},
	{"threads that leave elsewhere", `__global__ void k(int *a, int n) { int x = 0;
while (__global_invariant(__implies(!__enabled(), x <= threadIdx.x)), x < threadIdx.x) {
  x = x + 1;
  if (a[x] == n) break;
  x = x + 1;
} }`, "x may be one more"},
	{"threads that do not enter the loop", `__global__ void k(int *a, int n) { int x = 0; if (threadIdx.x > n) return;
while (__global_invariant(__implies(!__enabled(), x == threadIdx.x)), x < threadIdx.x)
  x = x + 1; }`, "x is 0 where a thread has returned"},
	{"a variable in memory that the condition changes", `__global__ void k(int *a, int n) { int x[2] = {0, 0};
while (__global_invariant(__implies(!__enabled(), x[n & 1] == threadIdx.x)), x[n & 1]++ < threadIdx.x)
  a[(blockIdx.x * blockDim.x + threadIdx.x) * 1024 + x[0]] = 1; }`, "it is one more"},

	// What has no meaning in proofs must not pass.
	{"a copy of an array", `__global__ void k(int *a) { __shared__ int s[64], g[64]; __array_snapshot(g, s); __assert(g[0] == 1); }`, "nothing was ever written"},
}

// externTraps are kernels that call functions without a body, for lockstep.Options.PureExtern.
var externTraps = []textTrap{
	{"what it returns may be anything", `__device__ int f(int); __global__ void k(int *a) { a[f(threadIdx.x)] = threadIdx.x; }`, "f may be 0 everywhere"},
	{"it may return something else the next time", `__device__ int f(int); __global__ void k(int *a) { if (f(0) != f(0)) a[0] = threadIdx.x; }`, "nothing makes it a function of its arguments"},
	{"what it returns differs between threads", `__device__ int f(int); __global__ void k(int *a) { int n = f(0); for (int i = 0; i < n; i++) __syncthreads(); }`, "divergence"},
	{"a variable of the thread's own by its address", `__device__ void f(int *); __global__ void k(int *a) { int x = threadIdx.x + 64 * blockIdx.x; f(&x); a[x] = threadIdx.x; }`,
		"memory of the thread's own it may change"},
	{"it does not hide a race", `__device__ void f(int *); __global__ void k(int *a) { a[0] = threadIdx.x; f(a); }`, "all threads write a[0] before the call"},
	{"it does not order anything", `__device__ void f(); __global__ void k(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; f(); a[threadIdx.x + 64 * blockIdx.x] = s[63 - threadIdx.x]; }`, "it is no barrier"},
	{"it does not end the thread", `__device__ void f(); __global__ void k(int *a) { if (threadIdx.x > 0) f(); a[0] = threadIdx.x; }`, "it returns"},
	{"it does no harm", `__device__ int f(int *, int); __global__ void k(int *a, int n) { int i = threadIdx.x + 64 * blockIdx.x; a[i] = f(a, n); if (f(a + i, 0)) a[i] = 1; __syncthreads(); a[i]++; }`, ""},
	{"in a loop", `__device__ void f(int); __global__ void k(int *a, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) { f(i); a[threadIdx.x + 64 * blockIdx.x] = i; } }`, ""},
	{"without an end", `extern "C" __device__ __attribute__((noreturn)) void g(int *a); __global__ void k(int *a) { g(a); }`, "whether it ends the thread or the grid is not known"},
}

// annotated makes one file of all kernels, each in a namespace of its own, and returns them by
// number.
func compiled(t *testing.T, head string, traps []textTrap) map[string]*ir.Func {
	t.Helper()
	text := head
	for i, tr := range traps {
		text += fmt.Sprintf("namespace trap%d {\n%s\n}\n", i, tr.text)
	}
	path := filepath.Join(t.TempDir(), "k.cu")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	module, _ := kernels.File(t, path, lower.Options{})
	out := map[string]*ir.Func{}
	for _, k := range module.Funcs {
		if k.Kernel {
			name, _, _ := strings.Cut(k.Demangled, "::")
			out[name] = k
		}
	}
	return out
}

// TestAnnotations: what is wrong is not verified, what is right is.
func TestAnnotations(t *testing.T) { proveTexts(t, annotated, annotationTraps, lockstep.Options{}) }

// TestExtern: the same with functions without a body, taken to be pure.
func TestExtern(t *testing.T) {
	proveTexts(t, annotated, externTraps, lockstep.Options{PureExtern: true})
}

// TestProposed: a candidate of the user's is proposed for its loop. One about the other thread of a
// pair, or about accesses, is ignored: what is proposed must be about one thread's values.
func TestProposed(t *testing.T) {
	for _, tt := range []struct {
		candidate string
		proposed  bool
	}{
		{"i >= 0", true},
		{"__uniform_int(i)", false},
		{"__no_write(s)", false},
	} {
		text := fmt.Sprintf(`__global__ void k(int n) { __shared__ int s[64];
for (int i = 0; __candidate_invariant(%s), i < n; i++) s[threadIdx.x] = i; }`, tt.candidate)
		f := compiled(t, annotated, []textTrap{{text: text}})["trap0"]
		th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: event.Geometry{
			Grid:    event.Dim3{X: 1, Y: 1, Z: 1},
			Block:   event.Dim3{X: 64, Y: 1, Z: 1},
			Cluster: event.Dim3{X: 1, Y: 1, Z: 1},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(th.Loops[0].Guesses); (n > 0) != tt.proposed {
			t.Errorf("%s: %d candidates", tt.candidate, n)
		}
	}
}

// annotated is the head of a file with annotations.
const annotated = "#include \"heddle.h\"\n#include <assert.h>\n"

// proveTexts proves those of the kernels that are right, and no other.
func proveTexts(t *testing.T, head string, traps []textTrap, opt lockstep.Options) {
	t.Helper()
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	opt.Geometry = event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
	all := compiled(t, head, traps)
	for i, tr := range traps {
		t.Run(strings.ReplaceAll(tr.name, " ", "_"), func(t *testing.T) {
			th, err := lockstep.Build(t.Context(), all[fmt.Sprintf("trap%d", i)], opt)
			if err != nil {
				if tr.why == "" {
					t.Error(err)
				}
				t.Log(err)
				return
			}
			r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
			if want := tr.why == ""; r.Verified() != want {
				t.Errorf("verified: %v. %s", r.Verified(), tr.why)
			}
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
		})
	}
}
