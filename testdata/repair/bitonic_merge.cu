// The part of a bitonic merge whose strides fit a block.
__device__ inline void order(unsigned &a, unsigned &b, bool up) {
    if ((a > b) == up) {
        unsigned was = a;
        a = b;
        b = was;
    }
}

__global__ void bitonicMerge(unsigned *keys, unsigned size) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    s[t] = keys[base + t];
    s[t + 512] = keys[base + t + 512];
    bool up = ((blockIdx.x * 512 + t) & size / 2) == 0;
    for (unsigned stride = 512; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned at = 2 * t - (t & (stride - 1));
        order(s[at], s[at + stride], up);
    }
    __syncthreads();
    keys[base + t] = s[t];
    keys[base + t + 512] = s[t + 512];
}

void merge(unsigned *keys) { bitonicMerge<<<1024, 512>>>(keys, 1 << 20); }
