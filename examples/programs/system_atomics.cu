// Host and kernel count in the same managed memory at the same time, by atomic operations of system
// scope: no increment is lost.
#include <cstdio>

__global__ void count(unsigned *sum, unsigned long long *wide, unsigned *wrapped, int times) {
  for (int i = 0; i < times; i++) {
    atomicAdd_system(sum, 1);
    atomicAdd_system(wide, 1ull << 32);
    atomicInc_system(wrapped, 16);
  }
}

int main() {
  const unsigned threads = 16 * 128, times = 40, host = 200000;
  unsigned *counts;
  unsigned long long *wide;
  cudaMallocManaged(&counts, 2 * sizeof(unsigned));
  cudaMallocManaged(&wide, sizeof *wide);
  counts[0] = counts[1] = 0, *wide = 0;
  cudaDeviceSynchronize();
  count<<<16, 128>>>(counts, wide, counts + 1, times);
  for (unsigned i = 0; i < host; i++) {
    __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(wide, 1, __ATOMIC_RELAXED);
    unsigned old = __atomic_load_n(&counts[1], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&counts[1], &old, old >= 16 ? 0 : old + 1, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const unsigned all = threads * times;
  bool right = counts[0] == all + host && *wide == ((unsigned long long)all << 32 | host) &&
               counts[1] == (all + host) % 17;
  printf("%u and %u increments: %s\n", all, host, right ? "none is lost" : "wrong");
  return !right;
}
