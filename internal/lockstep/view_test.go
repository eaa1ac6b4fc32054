package lockstep_test

import (
	"testing"

	"heddle/internal/lockstep"
)

// viewTraps are kernels whose threads read what they wrote themselves. In all of them t is the
// thread's index in its block, and a[... + 64 * blockIdx.x] is an element of the block.
var viewTraps = []textTrap{
	{"its own write", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; a[s[t] + 64 * blockIdx.x] = t; }`, ""},
	{"its own write beside another", `__global__ void k(int *a, int n) { __shared__ int s[128], r[64]; int t = threadIdx.x; s[t] = t; s[t + 64] = n; r[t] = 7; a[s[t] + 64 * blockIdx.x] = t; }`, ""},
	{"one of two", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; if (n > 3) s[t] = 63 - t; a[s[t] + 64 * blockIdx.x] = t; }`, ""},
	{"a loop that writes elsewhere", `__global__ void k(int *a, int n) { __shared__ int s[64], r[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) r[t] = i; a[s[t] + 64 * blockIdx.x] = t; }`, ""},
	{"what it did not write is as it was", `__global__ void k(int *a, int n) { __shared__ int s[128]; int t = threadIdx.x; s[t] = n; __syncthreads(); int x = s[5]; s[t + 64] = 1; __assert(s[5] == x); }`, ""},

	{"others write behind a barrier", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __syncthreads(); s[63 - t] = 7; __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, "all read 7"},
	{"others write behind a barrier that some paths have", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; if (n) { __syncthreads(); s[63 - t] = 7; __syncthreads(); } a[s[t] + 64 * blockIdx.x] = t; }`, "if n is not 0, all read 7"},
	{"a write that may be at the same place", `__global__ void k(int *a, int n) { __shared__ int s[128]; int t = threadIdx.x; s[2 * t] = t; s[2 * t + (n & 1)] = 0; a[s[2 * t] + 64 * blockIdx.x] = t; }`, "with n = 0 all read 0"},
	{"the earlier of two writes", `__global__ void k(int *a, int n) { __shared__ int s[128]; int t = threadIdx.x; s[2 * t + (n & 1)] = 0; s[2 * t] = t; a[s[2 * t + (n & 1)] + 64 * blockIdx.x] = t; }`, "with n = 1 all read 0"},
	{"the earlier of two writes, overwritten", `__global__ void k(int *a, int n) { __shared__ int s[128]; int t = threadIdx.x; s[2 * t + (n & 1)] = t; s[2 * t] = t; a[s[2 * t + (n & 1)] + 64 * blockIdx.x] = t; }`, ""},
	{"a byte of it", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; ((char *)s)[4 * t] = 0; a[s[t] + 64 * blockIdx.x] = t; }`, "all read 0"},
	{"a part is read", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; a[((char *)s)[4 * t + 1] + 64 * blockIdx.x] = t; }`, "the second byte is 0"},
	{"a loop that writes", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) s[t] = 0; a[s[t] + 64 * blockIdx.x] = t; }`, "n = 1"},
	{"a loop that writes behind the read", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) { a[s[t] + 64 * blockIdx.x] = t; s[t] = 0; } }`, "in the second iteration all read 0"},
	{"a loop with a barrier", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) { a[s[t] + 64 * blockIdx.x] = t; __syncthreads(); s[63 - t] = 0; __syncthreads(); } }`, "in the second iteration all read 0"},
	{"some threads write again", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; if (t == n) s[t] = t; a[s[t] + 64 * blockIdx.x] = t; }`, "all others read 0"},
	{"some threads do not write", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; __syncthreads(); if (t != n) s[t] = t; a[s[t] + 64 * blockIdx.x] = t; }`, "n = 5: thread 5 reads 0, as thread 0 does"},
	{"a lane behind a barrier of the warp", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __syncwarp(); s[t ^ 1] = 0; __syncwarp(); a[s[t] + 64 * blockIdx.x] = t; }`, "lanes have written each other's element"},
	{"an atomic", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; atomicAnd(&s[t], 0); a[s[t] + 64 * blockIdx.x] = t; }`, "all read 0"},
	{"strong stores do not race", `__global__ void k(int *a) { __shared__ volatile int s[64]; int t = threadIdx.x; s[0] = t; a[s[0] + 64 * blockIdx.x] = t; }`, "all may read what the last one wrote"},
	{"a weak read in a condition behind a strong store", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; ((volatile int *)s)[0] = t; __assert(s[0] == t); }`, "another thread may have written since"},
	{"a pointer to one of two arrays", `__global__ void k(int *a, int n) { __shared__ int s[64], r[64]; int t = threadIdx.x; s[t] = t; int *p = n ? s : r; p[t] = 0; a[s[t] + 64 * blockIdx.x] = t; }`, "n = 1: all read 0"},
	{"a copy that is waited for", `__global__ void k(int *a, const int *b) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n cp.async.wait_all;" :: "r"((unsigned)__cvta_generic_to_shared(&s[t])), "l"(b) : "memory"); a[s[t] + 64 * blockIdx.x] = t; }`, "all read b[0]"},

	// Conditions for another moment.
	{"a postcondition about what it writes", `__device__ void f(int *a, int v) { __ensures(a[threadIdx.x] == v); a[threadIdx.x] = v; } __global__ void k(int *a, int n) { a += 64 * blockIdx.x; a[threadIdx.x] = 0; f(a, n); __assert(a[threadIdx.x] == n); }`, ""},
	{"a postcondition about what it no longer holds", `__device__ void f(int *a, int v) { __ensures(a[threadIdx.x] == v); a[threadIdx.x] = v; a[threadIdx.x] = 3; } __global__ void k(int *a, int n) { a += 64 * blockIdx.x; a[threadIdx.x] = n; f(a, n); }`, "3 is not n"},
	{"a postcondition about old contents", `__device__ void f(int *a) { __ensures(a[threadIdx.x] == __old_int(a[threadIdx.x]) + 1); a[threadIdx.x]++; } __global__ void k(int *a, int n) { f(a + 64 * blockIdx.x); }`, ""},
	{"a postcondition about old contents that changed otherwise", `__device__ void f(int *a) { __ensures(a[threadIdx.x] == __old_int(a[threadIdx.x])); a[threadIdx.x]++; } __global__ void k(int *a, int n) { f(a + 64 * blockIdx.x); }`, "one more"},
	{"a postcondition about an element that another names", `__device__ void f(int *a, const int *b, int n) { __ensures(b[a[threadIdx.x]] == b[0]); a[threadIdx.x] = n; } __global__ void k(int *a, const int *b, int n) { a += 64 * blockIdx.x; a[threadIdx.x] = 0; f(a, b, n); }`, "b[n] is not b[0]"},
	{"a postcondition about what another thread sees", `__device__ void f(int *a, int x) { __ensures(__uniform_int(a[threadIdx.x])); a[threadIdx.x] = x; } __global__ void k(int *a, int n) { int t = threadIdx.x; a += 64 * blockIdx.x; a[t] = n; f(a, t); }`, "t differs"},
	{"a global assertion about its own write", `__global__ void k(int *a) { __shared__ int s[64]; if (threadIdx.x == 0) { s[0] = 1; __global_assert(s[0] == 1); } }`, "the other threads have not written"},
	{"a function-wide invariant that holds where it stands", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; for (int i = 0; i < n; i++) s[t] = i + 2; s[t] = 1; __function_wide_invariant(s[t] == 1); }`, "not in the loop"},
}

// factTraps use barrier invariants.
var factTraps = []textTrap{
	{"what each thread wrote", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, t); __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, ""},
	{"what another thread wrote", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_2(s[t] == t, t, 63 - t); __syncthreads(); a[s[63 - t] + 64 * blockIdx.x] = t; }`, ""},
	{"an element that another names", `__global__ void k(int *a) { __shared__ int s[64], r[64]; int t = threadIdx.x; s[t] = 63 - t; __barrier_invariant_2(s[t] == 63 - t, t, 63 - t); __syncthreads(); r[s[t]] = t; __barrier_invariant_1(r[63 - t] == t, t); __syncthreads(); a[r[63 - t] + 64 * blockIdx.x] = t; }`, ""},
	{"in a loop", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[t] = i; __barrier_invariant_2(s[t] == i, t, 63 - t); __syncthreads(); __assert(s[63 - t] == i); __syncthreads(); } }`, ""},
	{"what a uniform condition says", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = n; if (n > 5) { __barrier_invariant_1(s[t] > 5, 63 - t); __syncthreads(); __assert(s[63 - t] > 5); } }`, ""},
	{"what a table said", `__global__ void k(const int *b) { __shared__ int s[64]; int t = threadIdx.x; s[t] = b[t]; __barrier_invariant_1(s[t] == b[t], 63 - t); __syncthreads(); __assert(s[63 - t] == b[63 - t]); }`, ""},

	// About pairs of threads.
	{"pairs", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 2 * t + 1;
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads();
if (blockIdx.x == 0) a[s[t]] = t; }`, ""},
	{"pairs with an order", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 2 * t;
__barrier_invariant_binary_1(__implies(t < __other_int(t), s[t] < s[__other_int(t)]), t, __other_int(t)); __syncthreads();
s[t] ^= 1 << 31; __assert(__implies(__same_group & (t < __other_int(t)), (unsigned)s[t] < (unsigned)s[__other_int(t)])); }`, ""},
	{"pairs, again and again", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
for (int i = 0; __invariant(__implies(__same_group, s[t] != s[__other_int(t)])), i < 1000; i++) {
  __barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads(); s[t]++; }
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, ""},
	{"pairs, of which one collides", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
for (int i = 0; __invariant(__implies(__same_group, s[t] != s[__other_int(t)])), i < 1000; i++) {
  __barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads(); s[t] += t == 3; } }`,
		"3 + 1 is what thread 4 has"},
	{"pairs that are equal", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t / 2;
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads(); }`, "threads 0 and 1"},
	{"pairs of two blocks", `__global__ void k(int *a) { int t = threadIdx.x, g = t + 64 * blockIdx.x; a[g] = t;
__barrier_invariant_binary_1(a[g] != a[__other_int(g)], t, __other_int(t)); __syncthreads();
__assert(a[g] != a[__other_int(g)]); }`, "thread 0 of either block has 0: the invariant is about one block"},
	{"pairs of one block, of two", `__global__ void k(int *a) { int t = threadIdx.x, g = t + 64 * blockIdx.x; a[g] = t;
__barrier_invariant_binary_1(a[g] != a[__other_int(g)], t, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, a[g] != a[__other_int(g)])); }`, ""},
	{"pairs, used of threads that it does not name", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 2 * t + 1;
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], 0, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, "it is a fact about thread 0 alone"},
	{"pairs, used of neighbours", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t % 3;
__barrier_invariant_binary_1(__implies(__other_int(t) == t + 1, s[t] != s[__other_int(t)]), t, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, "threads 0 and 3"},
	{"pairs, and a store behind", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); s[t] = 0; __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, "all are 0"},
	{"pairs, and a store of another thread", `__global__ void k(int *a) { __shared__ int s[65]; int t = threadIdx.x; s[t] = t; __syncthreads(); if (t == 3) s[4] = 3;
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, "thread 3 writes what thread 4 reads"},
	{"pairs, and the neighbour's store", `__global__ void k(int *a) { __shared__ int s[65]; int t = threadIdx.x; s[t + 1] = t;
__barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads(); }`, "s[t] is what thread t - 1 writes"},
	{"pairs on one of two paths", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = n ? t : 0;
if (n) __barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, "all are 0 where n is"},
	{"pairs of some threads", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t < 32 ? t : 0;
if (t < 32) __barrier_invariant_binary_1(s[t] != s[__other_int(t)], t, __other_int(t)); __syncthreads();
__assert(__implies(__same_group, s[t] != s[__other_int(t)])); }`, "threads 32 and 33"},
	{"the other's place, written by the thread", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; if (t == 0) for (int i = 0; i < 64; i++) s[i] = i;
__assert(s[__other_int(t)] == __other_int(t)); }`, "thread 5 need not find what thread 0 writes"},
	{"the other's place, in front of a barrier", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __assert(__implies(__same_group, s[__other_int(t)] == __other_int(t))); }`, ""},
	{"the place of a thread of another block", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t + blockIdx.x; __assert(s[__other_int(t)] == __other_int(t) + blockIdx.x); }`,
		"what s has for a thread of another block is not what that thread wrote into its own s"},
	{"the other's neighbour", `__global__ void k(int *a) { __shared__ int s[65]; int t = threadIdx.x; s[t] = t; __assert(__implies(__same_group, s[__other_int(t) + 1] == __other_int(t) + 1)); }`,
		"another thread than the other writes it, and s[64] nobody"},

	{"it does not hold", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; __barrier_invariant_1(s[t] == t, t); __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, "all wrote 0"},
	{"it does not hold of others", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, t); __syncthreads(); __assert(s[63 - t] == t); }`, "thread 63 - t wrote 63 - t"},
	{"another iteration", `__global__ void k(int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[t] = i; __barrier_invariant_2(s[t] == i, t, 63 - t); __syncthreads(); __assert(s[63 - t] == i + 1); __syncthreads(); } }`, "i is not i + 1"},
	{"another thread writes what it reads", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_2(s[t] == t, t, 0); __syncthreads(); if (t == 1) s[0] = 1; __barrier_invariant_1(t == 1 || s[0] == 0, t); __syncthreads(); if (t >= 2 && s[0] == 1) a[0] = t; }`,
		"s[0] is 1, though threads from 2 on saw 0 when they came to the barrier"},
	{"a thread that is not there", `__global__ void k(int *a) { __shared__ int s[128]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, 64); __syncthreads(); if (s[64] != 64) a[0] = t; }`, "there is no thread 64"},
	{"a thread before the first", `__global__ void k(int *a) { __shared__ int s[128]; int t = threadIdx.x; s[64 + t] = t; __barrier_invariant_1(s[64 + t] == t, -1); __syncthreads(); if (s[63] != -1) a[0] = t; }`, "there is no thread -1"},
	{"some threads come to it", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t < 32 ? t : 0; if (t < 32) __barrier_invariant_1(s[t] == t, 63 - t); __syncthreads(); a[s[63 - t] + 64 * blockIdx.x] = t; }`, "threads from 32 on wrote 0"},
	{"a value of each thread's own", `__global__ void k(int *a, volatile int *b) { __shared__ int s[64]; int t = threadIdx.x; int x = b[0]; s[t] = x; __barrier_invariant_2(s[t] == x, t, 63 - t); __syncthreads(); if (s[63 - t] != x) a[0] = t; }`, "b[0] may change between their reads"},
	{"a store behind it", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, t); s[t] = 0; __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, "all wrote 0 in the end"},
	{"a store behind it by some", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, 63 - t); if (t >= 32) s[t] = 0; __syncthreads(); a[s[63 - t] + 64 * blockIdx.x] = t; }`, "threads from 32 on wrote 0 in the end"},
	{"behind the next barrier", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, t); __syncthreads(); s[t] = 0; __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, "all wrote 0"},
	{"on one of two ways", `__global__ void k(int *a, int n) { __shared__ int s[64]; int t = threadIdx.x; if (n) { s[t] = t; __barrier_invariant_1(s[t] == t, t); } else s[t] = 0; __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, "n = 0: all wrote 0"},
	{"what another block writes", `__global__ void k(int *a) { int t = threadIdx.x, b = blockIdx.x; __assume(a[64 * (1 - b) + t] == 0); a[64 * b + t] = 1; __barrier_invariant_1(a[64 * (1 - b) + t] == 0, t); __syncthreads(); __assert(a[64 * (1 - b) + t] == 0); }`,
		"the other block may have written 1"},
	{"an assertion about what another thread writes", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, 0); __syncthreads(); if (t == 1) s[0] = 1; else __assert(s[0] == 0); }`,
		"thread 1 may have been faster"},
	{"an invariant that is not used, about what another thread writes", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_1(s[t] == t, 0); __syncthreads(); s[t] = t + 1; __barrier_invariant_1(t == 0 || s[0] == 0, t); __syncthreads(); }`,
		"thread 0 writes 1"},
	{"an atomic of another thread", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __barrier_invariant_2(s[t] == t, t, 0); __syncthreads(); if (t == 1) atomicAdd(&s[0], 1); __barrier_invariant_1(t == 1 || s[0] == 0, t); __syncthreads(); if (t >= 2 && s[0] == 1) a[0] = t; }`,
		"s[0] is 1"},
}

func TestBarrierFacts(t *testing.T) { proveTexts(t, annotated, factTraps, lockstep.Options{}) }

func TestOwnWrites(t *testing.T) { proveTexts(t, annotated, viewTraps, lockstep.Options{}) }

// togetherTraps are about lanes in lock step with their warp, of which one may write, without a
// race, where another one has just written.
var togetherTraps = []textTrap{
	{"a neighbour writes after the thread", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; s[t ^ 1] = 0; a[s[t] + 64 * blockIdx.x] = t; }`, "all read 0"},
	{"a neighbour writes before the thread", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t ^ 1] = 0; s[t] = t; a[t + 64 * blockIdx.x] = s[t]; }`, ""},
	{"a barrier invariant between them", `__global__ void k(int *a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; s[t ^ 1] = 0; __barrier_invariant_1(s[t] == t, t); __syncthreads(); a[s[t] + 64 * blockIdx.x] = t; }`, "all read 0"},
	{"a postcondition about its own write", `__device__ void f(int *s, int t) { __ensures(s[t] == t); s[t] = t; s[t ^ 1] = 0; } __global__ void k(int *a) { __shared__ int s[64]; f(s, threadIdx.x); }`, "s[t] is 0"},
}

func TestOwnWritesInLockstep(t *testing.T) {
	proveTexts(t, annotated, togetherTraps, lockstep.Options{Lockstep: true})
}
