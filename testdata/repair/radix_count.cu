// Counts of the digits of a block, by one column of counters for each thread.
__global__ void radixCount(const unsigned *keys, unsigned *counts, unsigned shift) {
    __shared__ unsigned s[16][128];
    unsigned t = threadIdx.x;
    for (unsigned d = 0; d < 16; d++)
        s[d][t] = 0;
    for (unsigned k = 0; k < 8; k++)
        s[keys[(blockIdx.x * 8 + k) * 128 + t] >> shift & 15][t]++;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half)
            for (unsigned d = 0; d < 16; d++)
                s[d][t] += s[d][t + half];
        __syncthreads();
    }
    if (t < 16)
        counts[t * gridDim.x + blockIdx.x] = s[t][0];
}

void count(const unsigned *keys, unsigned *counts) { radixCount<<<1024, 128>>>(keys, counts, 4); }
