// Readers ask early whether a stage is full, and wait only if it was not (a token of CUTLASS).
// Why: if the answer is True, the phase is complete, and the wait would pass; what it orders is
// ordered earlier. So either answer leads to the same phases (docs/theory/phases.md).
// expect: verified

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

// The token is for the stage of the next round, and asked at the end of a round.
// heddle: grid=1 block=64
__global__ void next_round(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = ask(&r.full[0], 0);
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds) token = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
  }
  out[threadIdx.x] = sum;
}

// The next stage is asked for before the stage at hand is read and released.
// heddle: grid=1 block=64
__global__ void before_the_read(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    if (k + 1 < rounds) token = ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1);
    sum += use(r, k % stages);
  }
  out[threadIdx.x] = sum;
}

// The lanes of the warp leave the wait out only if each of them was told that the stage is full.
// heddle: grid=1 block=64
__global__ void all_lanes(const float *in, float *out, int x) {
  __shared__ alignas(128) ring r;
  if (!begin(r, in)) return;
  float sum = 0;
  bool token = false;
  for (int k = 0; k < rounds; k++) {
    if (!token) wait(&r.full[k % stages], k / stages & 1);
    sum += use(r, k % stages);
    if (k + 1 < rounds)
      token = __all_sync(-1u, ask(&r.full[(k + 1) % stages], (k + 1) / stages & 1));
  }
  out[threadIdx.x] = sum;
}
