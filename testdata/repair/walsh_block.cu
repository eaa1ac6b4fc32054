// The Walsh transform of 1024 values by steps of radix two.
__global__ void walshBlock(float *out, const float *in) {
    __shared__ float s[1024];
    int t = threadIdx.x, base = blockIdx.x * 1024;
    s[t] = in[base + t];
    s[t + 512] = in[base + t + 512];
    for (int stride = 512; stride > 0; stride >>= 1) {
        __syncthreads();
        int low = t & (stride - 1), at = ((t - low) << 1) + low;
        float a = s[at], b = s[at + stride];
        s[at] = a + b;
        s[at + stride] = a - b;
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 512] = s[t + 512];
}

void walsh(float *out, const float *in) { walshBlock<<<4096, 512>>>(out, in); }
