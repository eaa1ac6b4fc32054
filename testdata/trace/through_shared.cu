// A permutation is exchanged through shared memory and decides an address.
// Why: the values are known, and the barrier orders the exchange.
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const int *in, int *out) {
    __shared__ int where[64], s[64];
    where[threadIdx.x] = 63 - threadIdx.x;
    __syncthreads();
    s[where[threadIdx.x]] = in[threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}
