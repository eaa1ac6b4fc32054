// Both paths of an input-dependent branch write the same private place of the thread.
// Why: the accesses are the same on both paths, and the barrier comes after them.
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    float v = in[threadIdx.x];
    if (v > 0)
        s[threadIdx.x] = v * v;
    else
        s[threadIdx.x] = 1 - v;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
