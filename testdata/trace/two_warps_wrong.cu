// The two warps of two_warps.cu, with mistakes. NVIDIA's racecheck sees no writer of a copy of a
// tensor, so that it reports nothing here.
// Why: nothing orders a read of a stage that does not wait for its phase with the copy into it, nor
// one behind the release of the stage with the next copy (PTX ISA 8.9.1.1, 9.7.9.25.4.1).
// expect: bug

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
      fill(b, k, in);  // want race-async-copy
    }
}
static __device__ void release(buffer &b, int k) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 32) arrive(&b.empty[k % stages]);
}
static __device__ void read(buffer &b, int k, float *out) {
  for (int i = threadIdx.x - 32; i < words; i += 32)
    out[words * k + i] = b.stage[k % stages][i];  // want race-async-copy
}

// The reader does not wait for the phase of the copy.
static __device__ void read_early(buffer &b, float *out) {
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    read(b, k, out);
    wait(&b.full[k % stages], k / stages & 1);
    release(b, k);
  }
}

// The reader says that the stage is empty, and reads it then.
static __device__ void read_late(buffer &b, float *out) {
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    wait(&b.full[k % stages], k / stages & 1);
    release(b, k);
    read(b, k, out);
  }
}

// heddle: grid=1 block=64
__global__ void bulk_early(const float *in, float *out) {
  __shared__ buffer b;
  init(b);
  if (threadIdx.x < 32) fill_all(b, in);
  else read_early(b, out);
}

// heddle: grid=1 block=64
__global__ void bulk_late(const float *in, float *out) {
  __shared__ buffer b;
  init(b);
  if (threadIdx.x < 32) fill_all(b, in);
  else read_late(b, out);
}

// heddle: grid=1 block=64
__global__ void tensor_early(const __grid_constant__ map in, float *out) {
  __shared__ buffer b;
  init(b);
  if (threadIdx.x < 32) fill_all(b, &in);
  else read_early(b, out);
}

// heddle: grid=1 block=64
__global__ void tensor_late(const __grid_constant__ map in, float *out) {
  __shared__ buffer b;
  init(b);
  if (threadIdx.x < 32) fill_all(b, &in);
  else read_late(b, out);
}
