// Slots from counters that may wrap around. A verdict names the assumption that they do not, unless
// the sum of all additions is known. Each kernel has its expected verdict with the reason, and its
// launch.
#include <cooperative_groups.h>

// verified, around: nothing bounds n, and 2^32 additions return a slot again
// heddle: grid=4 block=64
__global__ void many(unsigned *next, char *out, int n) {
    for (int i = 0; i < n; i++)
        out[atomicAdd(next, 1u)] = threadIdx.x;
}

// verified, inputs: 256 threads add 1
// heddle: grid=4 block=64
__global__ void once(unsigned *next, char *out) {
    out[atomicAdd(next, 1u)] = threadIdx.x;
}

// verified, inputs: 4 threads add 100 * 2^20
// heddle: grid=4 block=64
__global__ void one_of_each_block(unsigned *next, char *out) {
    if (threadIdx.x == 0)
        for (int i = 0; i < 100; i++)
            out[atomicAdd(next, 1u << 20)] = blockIdx.x;
}

// bug race-global: 256 threads add 2^28, so that every 16th gets the same slot
// heddle: grid=4 block=64
__global__ void wraps(unsigned *next, char *out) {
    out[atomicAdd(next, 1u << 28)] = threadIdx.x;
}

// verified, inputs: slots of two rounds are different, also if both are used in the second one
// heddle: grid=4 block=64
__global__ void rounds(unsigned *next, char *out) {
    unsigned first = atomicAdd(next, 1u);
    cooperative_groups::this_grid().sync();
    unsigned second = atomicAdd(next, 1u);
    out[first] = 1;
    out[second] = 2;
}

// bug race-global: block 1 sets the counter back at any time, also between two warps of block 0; a
// volatile store does not race with an addition
// heddle: grid=2 block=64
__global__ void set_back_by_another_block(unsigned *next, char *out) {
    if (blockIdx.x == 0)
        out[atomicAdd(next, 1u)] = threadIdx.x;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 0)
        *(volatile unsigned *)next = 0;
}

// verified, inputs: the only block sets the counter back behind a barrier
// heddle: grid=1 block=64
__global__ void set_back_by_the_only_block(unsigned *next, char *out) {
    out[atomicAdd(next, 1u)] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile unsigned *)next = 0;
}

// verified, inputs: no other block stores to the shared memory of this one
// heddle: grid=2 block=64
__global__ void set_back_in_shared(char *out) {
    __shared__ unsigned next;
    if (threadIdx.x == 0)
        *(volatile unsigned *)&next = 0;
    __syncthreads();
    out[128 * blockIdx.x + atomicAdd(&next, 1u) % 128] = threadIdx.x;
}
