// A thread looks at a word once before a loop waits for a value in it.
// Why: as in value_in_flag.cu: the loop waits until the value is there, and the first look may find it or not. A warning.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out, int n) {
    __shared__ volatile int box;
    if (threadIdx.x == 0)
        box = 0;
    __syncthreads(); // redundant: all accesses are strong; without it the wait may never end, which a run cannot tell
    if (threadIdx.x == 32)
        box = n | 1; // warn race-unordered-strong "intra-block"
    if (threadIdx.x == 0) {
        int v;
        for (v = box; v == 0; v = box) {} // warn race-unordered-strong "intra-block"
        out[0] = v;
    }
}
