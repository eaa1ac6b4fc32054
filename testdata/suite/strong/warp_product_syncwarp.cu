// The product of 64 values by one warp, with __syncwarp between the steps and between the load and the store of a step.
// Why: bar.warp.sync orders the accesses of the lanes of its mask (PTX ISA 9.7.13.2).
// expect: clean
// heddle: grid=1 block=32
__device__ void step(volatile float *v, int t, int distance) {
    float other = v[t + distance];
    __syncwarp();
    v[t] *= other;
    __syncwarp();
}
__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 32] = in[t + 32];
    __syncthreads(); // redundant: all elements that a lane reads in the first step are its own
    step(s, t, 32);
    step(s, t, 16);
    step(s, t, 8);
    step(s, t, 4);
    step(s, t, 2);
    step(s, t, 1);
    if (t == 0)
        *out = s[0];
}
