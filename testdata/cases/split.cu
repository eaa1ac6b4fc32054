// expect: k clean|verified, warning barrier-split
// Warps meet at two barriers of the source. CUDA demands one condition for the whole block; PTX matches them by number.
__global__ void k(int *a) {
  if (threadIdx.x > 31) {
    a[threadIdx.x]++;
    __syncthreads();
  } else {
    a[threadIdx.x]--;
    __syncthreads();
  }
}
void host(int *a) { k<<<1, 64>>>(a); }
