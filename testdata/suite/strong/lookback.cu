// Each block publishes a partial sum, then a flag, and waits for the block before it: a chained scan.
// Why: the sums are ordered by release and acquire patterns through the flags (PTX ISA 8.8), for which loops wait.
// expect: clean
// heddle: grid=4 block=32
__device__ volatile int state[4], prefix[4];
__global__ void k(int *out) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int before = 0;
        if (b > 0) {
            while (state[b - 1] == 0) {}
            __threadfence(); // redundant: all accesses are strong, so that their order is at most a warning
            before = prefix[b - 1];
        }
        prefix[b] = before + b;
        __threadfence(); // redundant: all accesses are strong, so that their order is at most a warning
        state[b] = 1;
        out[b] = before;
    }
}
