// A filter whose taps and samples are in shared memory.
__global__ void firFilter(const float *in, const float *taps, float *out) {
    __shared__ float h[64], x[256 + 63];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t < 64)
        h[t] = taps[t];
    x[t] = in[i];
    if (t < 63)
        x[t + 256] = in[i + 256];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += h[k] * x[t + k];
    out[i] = sum;
}

void filter(const float *in, const float *taps, float *out) { firFilter<<<4096, 256>>>(in, taps, out); }
