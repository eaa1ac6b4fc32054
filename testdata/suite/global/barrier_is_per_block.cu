// Block 0 writes, all blocks pass __syncthreads, block 1 reads.
// Why: bar.sync synchronizes threads of one CTA only (PTX ISA 9.7.13.1).
// expect: bug
// heddle: grid=2 block=32
__device__ int data;
__global__ void k(int *out) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        data = 1; // want race-global "inter-block"
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 0)
        out[0] = data; // want race-global "inter-block"
}
