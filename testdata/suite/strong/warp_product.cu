// The product of 64 values by one warp, through volatile shared memory, as code for devices before sm_70 did it.
// Why: st.volatile and ld.volatile of two lanes are no data race (PTX ISA 8.7, 8.4.2), but no __syncwarp orders them (9.7.13.2), and lanes
// do not run in lock step since sm_70 (CUDA C++ Programming Guide, "Independent Thread Scheduling"): a lane may multiply by an old value.
// expect: bug
// heddle: grid=1 block=32
__device__ void step(volatile float *v, int t, int distance) {
    v[t] *= v[t + distance]; // want race-unordered-strong "read-write intra-warp"
}
__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 32] = in[t + 32];
    __syncthreads();
    step(s, t, 32); // reads what the same lane has written, or what precedes the barrier
    step(s, t, 16);
    step(s, t, 8);
    step(s, t, 4);
    step(s, t, 2);
    step(s, t, 1);
    if (t == 0)
        *out = s[0];
}
