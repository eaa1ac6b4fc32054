// A persistent matrix product by roles: one thread fills a ring of four stages by bulk copies for
// the tiles of its block, a warpgroup multiplies them by wgmma, and stores each tile by stmatrix
// and a bulk copy, between barriers of its own. Without a line that is marked as needed, it is wrong.
// Why: each stage is filled behind the release of its last use and read behind the phase of its
// copies (PTX ISA 9.7.13.15), by operations that end before the release (9.7.15.7.3). The parities
// go on from tile to tile; 9 rounds are no multiple of two rings. The tile in shared memory is
// copied behind a proxy fence and a barrier (8.9.5), and overwritten behind the reads of the copy
// (9.7.9.27.2.2).
// expect: verified

typedef unsigned int u32;
typedef unsigned long long u64;
const int stages = 4, a_bytes = 64 * 128, b_bytes = 8 * 128;

struct alignas(1024) stage { char a[a_bytes], b[b_bytes]; };
struct memory {
  stage ring[stages];
  alignas(128) char tile[64 * 16];
  u64 full[stages], empty[stages];
};

static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void wait(u64 *b, u32 parity) {
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; "
               "@!p bra L; }" ::"r"(at(b)), "r"(parity) : "memory");
}
static __device__ void copy(char *to, const char *from, u32 bytes, u64 *b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];"
               ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
// The descriptor of rows of 128 bytes in the swizzle of 128 bytes (PTX ISA 9.7.15.5.1.2.2).
static __device__ u64 rows(const char *p) {
  return (u64)1 << 62 | (u64)(1024 >> 4) << 32 | (u64)1 << 16 | (at(p) & 0x3ffff) >> 4;
}
static __device__ void multiply(float (&d)[4], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, "
               "1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
static __device__ u32 halves(float x, float y) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(x), "f"(y));
  return r;
}
static __device__ void together() { asm volatile("bar.sync 1, 128;" ::: "memory"); }

// heddle: grid=2 block=160 k=9 tiles=5
__global__ void gemm(const char *a, const char *b, char *d, int k, int tiles) {
  __shared__ memory m;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&m.full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(at(&m.empty[i])) : "memory");
    }
  }
  __syncthreads();
  int s = 0, parity = 0;
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        for (int i = 0; i < k; i++) {
          wait(&m.empty[s], parity ^ 1);  // needed
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                       ::"r"(at(&m.full[s])), "n"(a_bytes + b_bytes) : "memory");
          copy(m.ring[s].a, a + (tile * k + i) * a_bytes, a_bytes, &m.full[s]);
          copy(m.ring[s].b, b + i * b_bytes, b_bytes, &m.full[s]);
          if (++s == stages) s = 0, parity ^= 1;
        }
    return;
  }
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float sum[4] = {};
    for (int i = 0; i < k; i++) {
      wait(&m.full[s], parity);                                      // needed
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");        // needed
      for (int c = 0; c < 4; c++)
        multiply(sum, rows(m.ring[s].a) + 2 * c, rows(m.ring[s].b) + 2 * c);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");  // needed
      if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&m.empty[s])) : "memory");
      if (++s == stages) s = 0, parity ^= 1;
    }
    if (threadIdx.x == 0)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // needed
    together();                                                       // needed
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};"
                 ::"r"(at(m.tile + threadIdx.x / 32 * 256 + threadIdx.x % 16 * 16)),
                 "r"(halves(sum[0], sum[1])), "r"(halves(sum[2], sum[3])) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");      // needed
    together();                                                       // needed
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;"
                   ::"l"(d + tile * 1024), "r"(at(m.tile)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
