// A histogram in shared memory: clear, barrier, atomics, barrier, merge by atomics.
// Why: plain and atomic phases are separated by barriers.
// expect: clean
// heddle: grid=4 block=64 in=random
__global__ void k(const unsigned *in, unsigned *hist) {
    __shared__ unsigned h[16];
    int t = threadIdx.x;
    if (t < 16)
        h[t] = 0;
    __syncthreads();
    atomicAdd(&h[in[blockIdx.x * 64 + t] & 15], 1u);
    __syncthreads();
    if (t < 16)
        atomicAdd(&hist[t], h[t]);
}
