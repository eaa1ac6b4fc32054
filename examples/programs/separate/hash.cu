#include "hash.h"

__constant__ unsigned rounds = 3;
__device__ unsigned long long calls;

static __device__ unsigned mix(unsigned x) { return (x ^ x >> 15) * 0x2c1b3c6du; }

__device__ unsigned hash(unsigned x) {
  atomicAdd(&calls, 1ull);
  for (unsigned i = 0; i < rounds; i++) x = mix(x + i);
  return x;
}

void set_rounds(unsigned n) { cudaMemcpyToSymbol(rounds, &n, sizeof n); }
