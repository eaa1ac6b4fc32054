// expect: k bug race-global
// One block is right, two blocks write the same elements: each launch counts.
__global__ void k(int *out) { out[threadIdx.x] = blockIdx.x; }
int main() {
  int *p;
  cudaMalloc(&p, 4096);
  k<<<1, 64>>>(p);
  k<<<2, 64>>>(p);
}
