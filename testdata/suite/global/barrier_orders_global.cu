// One thread writes global memory, the block passes __syncthreads, all threads read it.
// Why: bar.sync orders accesses to all spaces among the threads of the block (PTX ISA 9.7.13.1).
// expect: clean
// heddle: grid=1 block=128
__device__ int data;
__global__ void k(int *out) {
    if (threadIdx.x == 0)
        data = 7;
    __syncthreads();
    out[threadIdx.x] = data;
}
