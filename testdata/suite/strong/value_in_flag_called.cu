// The same with a function that is not inlined, which looks at the word before the loop and in it.
// Why: as in value_in_flag.cu; what the calls return is what the loop waits for.
// expect: clean
// heddle: grid=1 block=64
__device__ __noinline__ int look(volatile int *p) {
    return *p; // warn race-unordered-strong "intra-block"
}
__global__ void k(int *out, int n) {
    __shared__ volatile int box;
    if (threadIdx.x == 0)
        box = 0;
    __syncthreads(); // redundant: all accesses are strong; without it the wait may never end, which a run cannot tell
    if (threadIdx.x == 32)
        box = n | 1; // warn race-unordered-strong "intra-block"
    if (threadIdx.x == 0) {
        int v;
        for (v = look(&box); v == 0; v = look(&box)) {}
        out[0] = v;
    }
}
