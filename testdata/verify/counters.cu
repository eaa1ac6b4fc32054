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
