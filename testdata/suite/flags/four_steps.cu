// Two blocks of two warps hand a word on in a fixed order, by a counter that each step raises.
// Why: each step acquires with fences what the last one released (PTX ISA 8.7, 8.8); the word is only
// written by atomics whose scope reaches the next writer.
// expect: clean
// options: --seeds 20
// heddle: grid=2 block=64
__device__ unsigned step;
__global__ void k(unsigned *word) {
    if (threadIdx.x % 32 != 0)
        return;
    unsigned turn = blockIdx.x * 2 + threadIdx.x / 32;
    while (atomicAdd(&step, 0) != turn) {}
    __threadfence();
    word[0] = turn;
    __threadfence();
    atomicAdd(&step, 1);
}
