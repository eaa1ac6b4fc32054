// A scratch array is reused without a barrier between the two uses.
// Why: reads of the first use and writes of the second are in one barrier interval.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int a = s[63 - t]; // want race-shared
    s[t] = a * 2; // want race-shared
    __syncthreads();
    out[t] = s[63 - t];
}
