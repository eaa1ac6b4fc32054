// Threads raise a flag that others look at to stop early, with no barrier in between.
// Why: a thread that misses the flag does more work than needed, which may be meant: a warning.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(const int *in, int *out) {
    __shared__ volatile int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads(); // redundant: all accesses are strong, so that their order is at most a warning
    if (found == 0) // warn race-unordered-strong "read-write"
        if (in[threadIdx.x] == 0)
            found = 1; // warn race-unordered-strong "read-write"
    __syncthreads(); // redundant: all accesses are strong, so that their order is at most a warning
    out[threadIdx.x] = found;
}
