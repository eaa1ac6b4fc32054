// Each of two pairs of warps uses its own barrier.
// Why: barriers of different ids are independent; each pair exchanges values only within the pair.
// expect: clean
// heddle: grid=1 block=128
__global__ void k(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, pair = t / 64;
    s[t] = t;
    asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    out[t] = s[pair * 64 + 63 - (t & 63)];
}
