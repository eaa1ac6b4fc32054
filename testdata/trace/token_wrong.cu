// Early answers that do not stand for the wait.
// Why: in front of each kernel.
// expect: unsupported

typedef unsigned int u32;
typedef unsigned long long u64;
const int stages = 2, rounds = 7;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void init(u64 *b, u32 n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ void arrive(u64 *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
static __device__ bool ask(u64 *b, u32 parity) {
  u32 r;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
               "selp.b32 %0, 1, 0, p; }"
               : "=r"(r) : "r"(at(b)), "r"(parity) : "memory");
  return r;
}
static __device__ bool ask_relaxed(u64 *b, u32 parity) {
  u32 r;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], %2; "
               "selp.b32 %0, 1, 0, p; }"
               : "=r"(r) : "r"(at(b)), "r"(parity) : "memory");
  return r;
}
static __device__ void wait(u64 *b, u32 parity) { while (!ask(b, parity)) {} }
struct ring {
  float buf[stages][32];
  u64 full[stages], empty[stages];
};
// begin makes the barriers, and the first thread fills the stages in turn. It returns true to the
// threads that read.
static __device__ bool begin(ring &r, const float *in) {
  if (threadIdx.x == 0)
    for (int i = 0; i < stages; i++) init(&r.full[i], 1), init(&r.empty[i], 32);
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < rounds; k++) {
      int s = k % stages;
      wait(&r.empty[s], k / stages & 1 ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&r.full[s]))
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[%0], [%1], 128, [%2];"
                   ::"r"(at(r.buf[s])), "l"(in + 32 * k), "r"(at(&r.full[s])) : "memory");
    }
  return threadIdx.x >= 32;
}
static __device__ float use(ring &r, int s) {
  float x = r.buf[s][threadIdx.x - 32];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  arrive(&r.empty[s]);
  return x;
}

// The wait is left out if the stage was not full.
// heddle: grid=1 block=64
__global__ void inverted(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (k == 0 || token) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    token = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
  }
  out[threadIdx.x] = sum;
}

// The answer is for the stage at hand, which is full, and not for the next one.
// heddle: grid=1 block=64
__global__ void other_stage(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    token = ask(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
  }
  out[threadIdx.x] = sum;
}

// The answer is for the round before the next one: two tokens change places.
// heddle: grid=1 block=64
__global__ void one_round_old(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false, later = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    token = later;
    if (k + 1 < rounds) later = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
    sum += use(r, k % stages);
  }
  out[threadIdx.x] = sum;
}

// The wait is also left out if an input says so.
// heddle: grid=1 block=64
__global__ void or_input(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!(token | x == 3)) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds) token = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
  }
  out[threadIdx.x] = sum;
}

// The wait is left out if either of two answers is True, one of them for another stage.
// heddle: grid=1 block=64
__global__ void one_of_two(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false, other = false;
  for (int k = 0; k < rounds; k++) {
    if (!(token | other)) wait(&r.full[k % stages], k / stages & 1);
    other = ask(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds) token = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
  }
  out[threadIdx.x] = sum;
}

// The answer orders nothing, since the test is relaxed (PTX ISA 9.7.13.15.16).
// heddle: grid=1 block=64
__global__ void relaxed(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds) token = ask_relaxed(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
  }
  out[threadIdx.x] = sum;
}

// What else depends on the answer: with True the stage is not released.
// heddle: grid=1 block=64
__global__ void more_than_the_wait(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) {
      wait(&r.full[k % stages], k / stages & 1);
      sum += use(r, k % stages);
    }
    if (k + 1 < rounds) token = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
  }
  out[threadIdx.x] = sum;
}

// A lane leaves the wait out because of the answer of another lane, which orders its memory alone.
// heddle: grid=1 block=64
__global__ void any_lane(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds)
      token = __any_sync(-1u, ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1));
  }
  out[threadIdx.x] = sum;
}

// A lane leaves the wait out unless all answers are False.
// heddle: grid=1 block=64
__global__ void not_all(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds)
      token = !__all_sync(-1u, !ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1));
  }
  out[threadIdx.x] = sum;
}
