// Ranks of the keys of a block by one bit: a scan of the zeros gives the places of both halves.
__global__ void radixRanks(const unsigned *keys, unsigned *ranks, unsigned bit) {
    __shared__ unsigned zeros[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, key = keys[i];
    unsigned zero = !(key >> bit & 1);
    zeros[t] = zero;
    __syncthreads();
    for (unsigned d = 1; d < 256; d *= 2) {
        unsigned add = t >= d ? zeros[t - d] : 0;
        __syncthreads();
        zeros[t] += add;
        __syncthreads();
    }
    unsigned before = zeros[t] - zero, all = zeros[255];
    unsigned rank = zero ? before : all + t - before;
    ranks[i] = blockIdx.x * 256 + rank;
}

void rank(const unsigned *keys, unsigned *ranks) { radixRanks<<<1024, 256>>>(keys, ranks, 3); }
