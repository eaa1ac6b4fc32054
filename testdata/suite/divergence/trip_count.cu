// The number of iterations of a loop with a barrier is the thread's index.
// Why: lanes leave the loop at different iterations, so not all of them reach the barrier.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    for (int i = 0; i < threadIdx.x; i++)
        __syncthreads(); // want barrier-divergence
    out[threadIdx.x] = 1;
}
