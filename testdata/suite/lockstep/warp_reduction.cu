// The last steps of a reduction without synchronization, as written before Volta.
// Why: each step's loads and stores are instructions that endi orders, and active lanes are the same.
// expect: clean
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = t;
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
    if (t == 0)
        out[0] = s[0];
}
