// A thread waits until a word holds a value, and uses the value itself.
// Why: the loop repeats the load until the value is there, and the value is whole. No pattern orders anything else, which heddle cannot tell
// from one that was forgotten: a warning.
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
        do {
            v = box; // warn race-unordered-strong "intra-block"
        } while (v == 0);
        out[0] = v;
    }
}
