// expect: large clean|verified
// The host asks for 64 KiB of dynamic shared memory, more than a kernel has without asking.
__global__ void large(float *out) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) s[i] = i;
  __syncthreads();
  out[256 * blockIdx.x + threadIdx.x] = s[4 * threadIdx.x];
}
int main() {
  float *out;
  int bytes = 16384 * sizeof(float);
  cudaMalloc(&out, 4096);
  cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  large<<<4, 256, bytes>>>(out);
}
