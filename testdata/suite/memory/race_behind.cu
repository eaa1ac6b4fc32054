// Threads initialize a table that is too small for them, and race on another array behind that.
// Why: PTX leaves the stores beyond the table undefined; the race between neighbours does not depend
// on them, and a run that ended at the first of them would not reach it.
// expect: bug
// heddle: grid=1 block=64 table=zero:128
__global__ void k(int *table, int *out) {
    __shared__ int s[65];
    int t = threadIdx.x;
    table[t] = t; // want out-of-bounds "table has 32 elements of 4 bytes"
    s[t] = t;
    __syncthreads();
    int v = s[t + 1]; // want race-shared "shared s"
    s[t] = v + 1; // want race-shared
    out[t] = v;
}
