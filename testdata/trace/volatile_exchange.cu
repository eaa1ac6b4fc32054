// Lanes exchange values through volatile shared memory without a barrier, as was common before sm_70.
// Why: by Definition 8 of the paper, two unordered accesses are a race, volatile or not.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = threadIdx.x; // want race-unordered-strong
    out[threadIdx.x] = s[threadIdx.x ^ 1]; // want race-unordered-strong
}
