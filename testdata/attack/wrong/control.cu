// expect: not verified
// Control flow that brings threads, or a thread and its barrier, to places where they should not meet.

// A switch that falls through: 1 writes the word of 2.
__global__ void fall_through(int *a) {
  switch (threadIdx.x % 4) {
  case 0: a[threadIdx.x] = 0; break;
  case 1: a[threadIdx.x + 1] = 1;
  case 2: a[threadIdx.x] = 2; break;
  default: a[threadIdx.x] = 3;
  }
}
// The default case has no barrier.
__global__ void no_default(int *a, int n) {
  switch (threadIdx.x * n & 3) {
  case 0: case 1: case 2: __syncthreads(); break;
  default: a[threadIdx.x] = 1;
  }
}
// An early return before the barrier: PTX's exited threads do not arrive (the guide demands all).
__global__ void early(int *a, int n) {
  if (threadIdx.x >= n) return;
  a[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x ^ 1] += 1;
}
// A return in a loop of one thread.
__global__ void loop_return(int *a, int n) {
  for (int i = 0; i < n; i++) {
    if (a[i] == (int)threadIdx.x) return;
    __syncthreads();
  }
}
// A barrier in a loop of t rounds.
__global__ void rounds(int *a) {
  for (unsigned i = 0; i < threadIdx.x / 32 + 1; i++) __syncthreads();
  a[threadIdx.x] = 0;
}
// Short circuit: the second operand has a barrier.
__device__ bool barrier_true() { __syncthreads(); return true; }
__global__ void circuit(int *a) { if (threadIdx.x < 32 || barrier_true()) a[threadIdx.x] = 1; }
// A conditional operator with the barrier on one side.
__global__ void ternary(int *a) { a[threadIdx.x] = threadIdx.x & 32 ? barrier_true() : 0; }
// A function pointer chosen by the thread: one target writes the neighbour's word.
__device__ void own(int *a) { a[threadIdx.x] = 1; }
__device__ void other(int *a) { a[threadIdx.x ^ 1] = 2; }
__global__ void pointer(int *a, int n) {
  void (*f)(int *) = threadIdx.x < n ? own : other;
  f(a);
}
// A virtual call: one override has a barrier.
struct Base { __device__ virtual void go(int *a) { a[threadIdx.x] = 0; } };
struct Waits : Base { __device__ void go(int *a) override { __syncthreads(); a[threadIdx.x] = 1; } };
__global__ void virtual_barrier(int *a) {
  Base plain; Waits waits;
  Base *b = threadIdx.x < 32 ? &plain : &waits;
  b->go(a);
}
// Recursion down to the thread's index, with a store at each depth.
__device__ void down(int *a, int d) { a[d] = threadIdx.x; if (d > 0) down(a, d - 1); }
__global__ void recursive(int *a) { down(a, threadIdx.x); }
// A goto into the other arm.
__global__ void jump(int *a) {
  int t = threadIdx.x;
  if (t < 32) { if (a[64] == t) goto in; a[t] = 1; return; } else { in: a[t | 32] = 2; }
}
// The barrier is in a loop whose break depends on loaded data, that differs between threads.
__global__ void data_break(int *a) {
  for (int i = 0; i < 8; i++) {
    if (a[threadIdx.x + i] == 0) break;
    __syncthreads();
  }
}
// Barriers of both arms of a condition on the thread, and one more in one arm.
__global__ void two_and_one(int *a) {
  if (threadIdx.x < 32) { __syncthreads(); __syncthreads(); } else __syncthreads();
  a[threadIdx.x] = 1;
}
// A destructor with a barrier runs at the early return, too; the thread that skips the scope has none.
struct Guard { __device__ ~Guard() { __syncthreads(); } };
__global__ void destructor(int *a) {
  if (threadIdx.x < 48) { Guard g; a[threadIdx.x] = 1; }
}
// A lambda writes through a captured reference to shared memory.
__global__ void lambda(int *a) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  auto add = [&](int v) { sum += v; };
  add(a[threadIdx.x]);
  __syncthreads();
  a[threadIdx.x] = sum;
}
// A template decides at compile time: 32 lanes need no barrier only in one warp, and not even there.
template <int N> __device__ void step(int *s) {
  s[threadIdx.x] += s[(threadIdx.x + N) & 63];
  if (N > 32) __syncthreads();
}
__global__ void templated(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  step<64>(s); step<32>(s);
  a[threadIdx.x] = s[threadIdx.x];
}
// The comma operator: the barrier comes before the store, not behind it.
__global__ void comma(int *a) {
  __shared__ int s[64];
  (__syncthreads(), s[threadIdx.x] = a[threadIdx.x]);
  a[threadIdx.x] = s[63 - threadIdx.x];
}
// A trap in one arm does not make the other arm's accesses safe.
__global__ void trapped(int *a, int n) {
  if (n < 0) __trap();
  a[threadIdx.x & n] = threadIdx.x;
}
// An exception of the condition: block 0 returns, the others read what it should have written.
__global__ void block_zero(int *a) {
  if (blockIdx.x == 0) { a[threadIdx.x] = 1; return; }
  a[blockIdx.x * 64 + threadIdx.x] = a[threadIdx.x];
}
// A loop with two exits, of which one jumps past the barrier behind it.
__global__ void two_exits(int *a, int n) {
  int i = 0;
  while (true) {
    if (i >= n) { __syncthreads(); break; }
    if (a[i++] < (int)threadIdx.x) goto end;
  }
end:
  a[64 + threadIdx.x] = i;
}
// A switch in a loop (a state machine): state 1 has the barrier, and threads enter it at different times.
__global__ void machine(int *a) {
  int state = threadIdx.x & 1;
  for (int k = 0; k < 3; k++)
    switch (state) {
    case 0: a[threadIdx.x] = k; state = 1; break;
    case 1: __syncthreads(); state = 2; break;
    default: a[threadIdx.x] = -k;
    }
}
