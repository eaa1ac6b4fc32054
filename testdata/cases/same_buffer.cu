// expect: shift bug race-global; copy bug race-global
// The host passes one buffer twice, or at an offset: each thread reads what its neighbour writes.
__global__ void shift(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x + 1]; }
__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }
int main() {
  int *buf;
  cudaMalloc(&buf, 4096);
  shift<<<1, 64>>>(buf, buf);
  copy<<<1, 64>>>(buf, buf + 1);
}
