// Atomics of block scope by two blocks, the first one ordered before one thread of the second block but not
// before the other.
// Why: the scopes of blocks 0 and 1 do not include each other, so the pair is not morally strong (PTX ISA 8.5,
// 8.7), even if another thread of block 1 has acquired the release. The detector must remember both accesses.
// expect: bug
// heddle: grid=2 block=64
__device__ int x, flag;
__global__ void k() {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        atomicAdd_block(&x, 1); // want race-global "x"
        __threadfence();
        atomicExch(&flag, 1);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence();
        atomicAdd_block(&x, 2);
        __threadfence();
        atomicExch(&flag, 2);
    }
    if (blockIdx.x == 1 && threadIdx.x == 32) {
        while (*(volatile int*)&flag != 2) {}
        atomicAdd_block(&x, 4); // want race-global "x"
    }
}
