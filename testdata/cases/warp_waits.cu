// expect: sometimes bug|unknown; always bug warp-sync-hang
// Lanes that a mask names wait at the barrier of the block, which waits for the lanes that wait for them: for n = 5,
// and for every launch.
__global__ void sometimes(int n) {
  if (n != 5 || threadIdx.x) __syncwarp();
  __syncthreads();
}
__global__ void always(int *out) {
  int v = 0;
  if (threadIdx.x < 16) v = __shfl_sync(~0u, 3, 0);
  __syncthreads();
  out[threadIdx.x] = v;
}
