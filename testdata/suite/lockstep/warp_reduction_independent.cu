// The same on hardware with independent scheduling.
// Why: lanes are not ordered: the idiom broke with Volta.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // want race-shared
    s[t + 32] = t;
    s[t] += s[t + 32];
    s[t] += s[t + 16]; // want race-shared
    if (t == 0)
        out[0] = s[0];
}
