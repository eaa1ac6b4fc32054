// expect: every_32_bytes bug; every_48_bytes verified; philox clean|bug|unknown; skips bug; tables bug; poisson bug
// A curandState has 48 bytes, and curand_init writes them all; one of Philox has 64, of which curand() writes some behind
// the first 32. States that are closer together overlap.
#include <curand_kernel.h>
// heddle: grid=1 block=64
__global__ void every_32_bytes(char *states) {
  curand_init(1, threadIdx.x, 0, (curandState *)(states + 32 * threadIdx.x));
}
// heddle: grid=1 block=64
__global__ void every_48_bytes(curandState *states) { curand_init(1, threadIdx.x, 0, states + threadIdx.x); }
// heddle: grid=1 block=64
__global__ void philox(char *states, unsigned *out) {
  out[threadIdx.x] = curand((curandStatePhilox4_32_10_t *)(states + 32 * threadIdx.x));
}
// Both functions change the words from which numbers are made.
// heddle: grid=1 block=64
__global__ void skips(curandState *s) {
  if (threadIdx.x == 0)
    skipahead(3, s);
  if (threadIdx.x == 32)
    skipahead_sequence(3, s);
}
// A number of MTGP32 depends on the tables behind k.
// heddle: grid=1 block=64
__global__ void tables(curandStateMtgp32 *s, void *p, unsigned *r) {
  if (threadIdx.x == 0)
    s->k = p;
  r[threadIdx.x] = curand(s);
}
// For a large mean curand_poisson takes a normal number, of which the state keeps a second one.
// heddle: grid=1 block=64
__global__ void poisson(curandState *s, unsigned *r) {
  if (threadIdx.x == 0)
    r[0] = curand_poisson(s, 100000.0);
  if (threadIdx.x == 32)
    s->boxmuller_flag = 0;
}
