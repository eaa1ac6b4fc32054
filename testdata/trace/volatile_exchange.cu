// Lanes exchange values through volatile shared memory without a barrier, as was usual before sm_70.
// Why: for the paper a pair of accesses that nothing orders is a race (Definition 8), volatile or not.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = threadIdx.x; // want race-shared
    out[threadIdx.x] = s[threadIdx.x ^ 1]; // want race-shared
}
