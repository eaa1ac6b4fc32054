// Unknown data flows through the kernel without deciding anything.
// Why: unknown values may flow through data.
// expect: clean
// heddle: grid=1 block=64 in=unknown
__global__ void k(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t] * 3;
    __syncthreads();
    out[t] = s[63 - t];
}
