// The same on hardware with independent scheduling.
// Why: lanes are not ordered: the idiom broke with Volta. Each read of another lane's element races with the last
// write to it: below element 32 that of the addition, above it the second initialisation.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = t; // want race-shared
    s[t] += s[t + 32]; // want race-shared
    s[t] += s[t + 16]; // want race-shared
    if (t == 0)
        out[0] = s[0];
}
