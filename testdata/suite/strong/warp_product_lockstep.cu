// A step of a product by lanes in lock step, through volatile shared memory.
// Why: in the lock-step model the lanes of an instruction finish it before the next one (Barracuda, section 3.3.1, endi).
// expect: clean
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(const float *in, float *out) {
    __shared__ volatile float v[48];
    int t = threadIdx.x;
    v[t] = in[t];
    if (t < 16)
        v[t + 32] = 1;
    v[t] *= v[t + 16];
    v[t] *= v[t + 8];
    out[t] = v[t];
}
