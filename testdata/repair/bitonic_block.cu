// Sorts 1024 keys of a block by compare and swap.
__global__ void bitonicBlock(unsigned *keys, unsigned up) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, base = blockIdx.x * 1024;
    s[t] = keys[base + t];
    s[t + 512] = keys[base + t + 512];
    for (unsigned size = 2; size < 1024; size <<= 1) {
        unsigned dir = (t & size / 2) != 0;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned at = 2 * t - (t & (stride - 1));
            unsigned a = s[at], b = s[at + stride];
            if ((a > b) == dir) {
                s[at] = b;
                s[at + stride] = a;
            }
        }
    }
    for (unsigned stride = 512; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned at = 2 * t - (t & (stride - 1));
        unsigned a = s[at], b = s[at + stride];
        if ((a > b) == up) {
            s[at] = b;
            s[at + stride] = a;
        }
    }
    __syncthreads();
    keys[base + t] = s[t];
    keys[base + t + 512] = s[t + 512];
}

void sort(unsigned *keys) { bitonicBlock<<<1024, 512>>>(keys, 1); }
