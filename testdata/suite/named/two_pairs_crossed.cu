// The same, but a warp reads from the other pair.
// Why: the pairs' barriers do not order them with each other.
// expect: bug
// heddle: grid=1 block=128
__global__ void k(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, pair = t / 64;
    s[t] = t; // want race-shared
    asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    out[t] = s[127 - t]; // want race-shared
}
