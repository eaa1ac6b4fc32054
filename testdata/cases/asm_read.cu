// expect: k bug race-shared
// clang drops assembly that is not volatile and whose result is unused; the source reads what its neighbour writes.
__global__ void k() {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  int unused;
  asm("ld.shared.u32 %0, [%1];" : "=r"(unused) : "r"((unsigned)__cvta_generic_to_shared(s + (threadIdx.x ^ 1))));
}
