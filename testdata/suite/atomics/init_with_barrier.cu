// The same with the barrier.
// Why: every plain access has a barrier between itself and the atomics.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    atomicAdd(&n, 1);
    __syncthreads();
    out[threadIdx.x] = n;
}
