// A step of merge sort: each key finds its rank in the other half by a binary search.
__global__ void mergeRanks(unsigned *keys) {
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = keys[base + t];
    s[t + 256] = keys[base + t + 256];
    for (unsigned half = 1; half < 512; half *= 2) {
        unsigned pos = t & (half - 1), at = 2 * (t - pos);
        __syncthreads();
        unsigned a = s[at + pos], b = s[at + half + pos], ra = 0, rb = 0;
        for (unsigned d = half; d > 0; d >>= 1) {
            unsigned x = min(ra + d, half), y = min(rb + d, half);
            if (s[at + half + x - 1] < a)
                ra = x;
            if (s[at + y - 1] <= b)
                rb = y;
        }
        __syncthreads();
        s[at + pos + ra] = a;
        s[at + pos + rb] = b;
    }
    __syncthreads();
    keys[base + t] = s[t];
    keys[base + t + 256] = s[t + 256];
}

void sort(unsigned *keys) { mergeRanks<<<512, 256>>>(keys); }
