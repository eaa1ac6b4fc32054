// atomicAdd_block on one word for each block.
// Why: all threads that access a word are in the scope.
// expect: clean
// heddle: grid=2 block=64
__device__ int counter[2];
__global__ void k() { atomicAdd_block(&counter[blockIdx.x], 1); }
