// The places of the values that a block keeps: flags, and a scan of them.
__global__ void compactBlock(const int *in, int *out, int *count) {
    __shared__ int place[256];
    int t = threadIdx.x, x = in[blockIdx.x * 256 + t], keep = x > 0;
    place[t] = keep;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int add = t >= d ? place[t - d] : 0;
        __syncthreads();
        place[t] += add;
        __syncthreads();
    }
    if (t == 255)
        count[blockIdx.x] = place[255];
    out[blockIdx.x * 256 + t] = keep ? place[t] - 1 : -1;
}

void compact(const int *in, int *out, int *count) { compactBlock<<<2048, 256>>>(in, out, count); }
