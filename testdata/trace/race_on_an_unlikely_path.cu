// The same with a value that no generated input has.
// Why: some input takes the path (in[t] == 123), but no run showed it: neither verified nor bug.
// expect: unknown
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    if (in[threadIdx.x] == 123)
        out[threadIdx.x] = s[63 - threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory");
}
