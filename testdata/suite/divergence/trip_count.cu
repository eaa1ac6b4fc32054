// A loop with a barrier runs as often as the thread's number.
// Why: lanes leave the loop at different iterations, so they are not all at the barrier.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    for (int i = 0; i < threadIdx.x; i++)
        __syncthreads(); // want barrier-divergence
    out[threadIdx.x] = 1;
}
