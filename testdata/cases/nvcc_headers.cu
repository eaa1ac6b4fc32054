// expect: limits verified; infinite verified; stored verified
// nvcc's runtime header includes limits.h and math.h, and allows the word register in C++17.
__global__ void limits(int *a) { a[64 * blockIdx.x + threadIdx.x] = INT_MAX; }
__global__ void infinite(float *a) { a[64 * blockIdx.x + threadIdx.x] = INFINITY; }
__global__ void stored(float *a) {
  register float x = a[64 * blockIdx.x + threadIdx.x];
  a[64 * blockIdx.x + threadIdx.x] = x + 1;
}
void host(int *a, float *b) {
  limits<<<4, 64>>>(a);
  infinite<<<4, 64>>>(b);
  stored<<<4, 64>>>(b);
}
