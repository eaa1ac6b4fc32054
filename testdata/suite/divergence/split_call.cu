// Both branches call a function that has the barrier.
// Why: these are two barriers for CUDA, whether or not the calls are inlined.
// expect: clean
// heddle: grid=1 block=64
__device__ void publish(int *a, int v) {
    a[threadIdx.x] = v;
    __syncthreads(); // redundant: nobody reads what another thread writes // warn barrier-split
}
__global__ void k(int *a) {
    if (threadIdx.x >= 32)
        publish(a, 1);
    else
        publish(a, 2);
}
