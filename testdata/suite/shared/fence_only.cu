// __threadfence_block instead of a barrier.
// Why: a fence without a flag synchronizes nothing (PTX ISA 8.8).
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // want race-shared
    __threadfence_block();
    out[t] = s[63 - t]; // want race-shared
}
