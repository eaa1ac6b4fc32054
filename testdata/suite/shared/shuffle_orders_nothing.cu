// A shuffle is between the write and the neighbour's read.
// Why: shfl.sync orders no memory (PTX ISA 8.9.4 does not list it).
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t; // want race-shared
    int v = __shfl_sync(0xffffffffu, t, 0);
    out[t] = v + s[31 - t]; // want race-shared
}
