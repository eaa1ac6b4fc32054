// The number of rounds is (K + 63) / 64, and parities are computed from the number of the round.
// Why: K decides the number of rounds and nothing else, and any number of rounds is right: after
// two of them the objects are as before, apart from the phase (docs/theory/periods.md,
// "Quotients").
// expect: verified
// heddle: grid=1 block=64

typedef unsigned int u32;
typedef unsigned long long u64;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void init(u64 *b, u32 n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ void arrive(u64 *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
static __device__ void wait(u64 *b, u32 parity) {
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra W; }" ::"r"(at(b)), "r"(parity) : "memory");
}

__global__ void k(const float *in, float *out, int K) {
  __shared__ float tile[2][64];
  __shared__ u64 full[2], empty[2];
  int t = threadIdx.x;
  for (int s = 0; t == 0 && s < 2; s++) {
    init(&full[s], 1);
    init(&empty[s], 32);
  }
  __syncthreads();
  int rounds = (K + 63) / 64;
  if (t == 32) {
    for (int i = 0; i < rounds; i++) {
      wait(&empty[i & 1], (i >> 1 & 1) ^ 1);
      for (int j = 0; j < 64; j++)
        tile[i & 1][j] = in[i * 64 + j];
      arrive(&full[i & 1]);
    }
  } else if (t < 32) {
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
      wait(&full[i & 1], i >> 1 & 1);
      sum += tile[i & 1][t] + tile[i & 1][t + 32];
      arrive(&empty[i & 1]);
    }
    out[t] = sum;
  }
}
