// All of shared memory is volatile, and barriers separate the steps, as in much old code.
// Why: barriers order strong accesses like all others (PTX ISA 8.9.4).
// expect: clean
// heddle: grid=2 block=64
__global__ void k(int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = s[0];
}
