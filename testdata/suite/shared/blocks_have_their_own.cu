// All blocks use the same offsets of shared memory.
// Why: every block has its own shared memory (PTX ISA 5.1.6).
// expect: clean
// heddle: grid=8 block=32
__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = blockIdx.x;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = s;
}
