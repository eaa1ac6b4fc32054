// expect: uniform bug|unknown out-of-bounds; ahead bug|unknown out-of-bounds
// An index of -1, in all threads or in one, is an access out of bounds and no crash.
__global__ void uniform(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[-1];
}
__global__ void ahead(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[(int)threadIdx.x - 1];
}
