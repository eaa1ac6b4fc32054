// Two warps and a buffer of two stages. A lane of the first warp fills a stage by a bulk copy, or
// by a copy of a tensor; the second warp reads it by ordinary loads. NVIDIA's racecheck reports a
// hazard of the bulk copies in such a loop, although there is none (a note of flash-attention's).
// Why: the reader waits for the phase that the copy completes (PTX ISA 9.7.9.25.4.1). Its reads are
// before a proxy fence of each lane, the warp's barrier, and the arrival for which the copy over
// them waits (8.9.5).
// expect: verified

typedef unsigned int u32;
typedef unsigned long long u64;
struct alignas(64) map { char opaque[128]; };
const int stages = 2, rounds = 4, words = 128;

static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void wait(u64 *b, u32 parity) {
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; "
               "@!p bra L; }" ::"r"(at(b)), "r"(parity) : "memory");
}
static __device__ void arrive(u64 *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
struct alignas(128) buffer {
  float stage[stages][words];
  u64 full[stages], empty[stages];
};
static __device__ void init(buffer &b) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&b.full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&b.empty[i])) : "memory");
    }
  }
  __syncthreads();
}
static __device__ void expect(buffer &b, int k) {
  wait(&b.empty[k % stages], k / stages & 1 ^ 1);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               ::"r"(at(&b.full[k % stages])), "n"(4 * words) : "memory");
}
static __device__ void fill(buffer &b, int k, const float *in) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];"
               ::"r"(at(b.stage[k % stages])), "l"(in + words * k), "n"(4 * words),
               "r"(at(&b.full[k % stages])) : "memory");
}
static __device__ void fill(buffer &b, int k, const map *in) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2}], [%3];"
               ::"r"(at(b.stage[k % stages])), "l"(in), "r"(words * k),
               "r"(at(&b.full[k % stages])) : "memory");
}
template <class T> static __device__ void fill_all(buffer &b, const T *in) {
  if (threadIdx.x == 0)
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
      expect(b, k);
      fill(b, k, in);
    }
}
static __device__ void release(buffer &b, int k) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 32) arrive(&b.empty[k % stages]);
}
static __device__ void read(buffer &b, int k, float *out) {
  for (int i = threadIdx.x - 32; i < words; i += 32) out[words * k + i] = b.stage[k % stages][i];
}
static __device__ void read_all(buffer &b, float *out) {
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    wait(&b.full[k % stages], k / stages & 1);
    read(b, k, out);
    release(b, k);
  }
}

// heddle: grid=1 block=64
__global__ void bulk(const float *in, float *out) {
  __shared__ buffer b;
  init(b);
  if (threadIdx.x < 32) fill_all(b, in);
  else read_all(b, out);
}

// heddle: grid=1 block=64
__global__ void tensor(const __grid_constant__ map in, float *out) {
  __shared__ buffer b;
  init(b);
  if (threadIdx.x < 32) fill_all(b, &in);
  else read_all(b, out);
}
