// An inclusive scan in place: all read before any writes.
__global__ void scanInPlace(const int *in, int *out, int *totals) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        int add = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    out[i] = s[t];
    if (t == 255)
        totals[blockIdx.x] = s[255];
}

void scan(const int *in, int *out, int *totals) { scanInPlace<<<4096, 256>>>(in, out, totals); }
