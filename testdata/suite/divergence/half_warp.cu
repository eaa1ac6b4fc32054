// Half of a warp executes __syncthreads.
// Why: bar.sync is aligned: all threads of the warp must execute it (PTX ISA 9.7.13.1); the others exit.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    if (threadIdx.x < 16)
        __syncthreads(); // want barrier-divergence
    out[threadIdx.x] = 1;
}
