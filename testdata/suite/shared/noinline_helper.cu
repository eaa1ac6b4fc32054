// The same race in a function that is not inlined.
// Why: as inlined_helper.
// expect: bug
// heddle: grid=1 block=64
__device__ __noinline__ void put(int *p, int i, int v) {
    p[i] = v; // want race-shared
}
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    put(s, t, 1);
    put(s, 63 - t, 2);
    __syncthreads();
    out[t] = s[t];
}
