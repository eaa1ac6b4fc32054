// A read on an input-dependent path, taken for positive inputs, happens too early.
// Why: nothing orders it with the write of the other warp.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1; // want race-shared
    if (in[threadIdx.x] > 0)
        out[threadIdx.x] = s[63 - threadIdx.x]; // want race-shared
    asm volatile("bar.sync 1, 64;" ::: "memory");
}
