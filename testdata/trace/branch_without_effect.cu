// A branch and a loop that depend on the input, with global memory and arithmetic only.
// Why: neither decides which threads reach a barrier or a shared address (the paper's footnote 3).
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[64];
    float v = in[threadIdx.x];
    if (v > 0)
        out[threadIdx.x] = v;
    for (int i = 0; i < n; i++)
        v += in[i];
    s[threadIdx.x] = v;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
