// Two warps execute different __syncthreads, each with all of its lanes.
// Why: barrier 0 is one resource for all instructions; warps may use different forms of it with the same number
// and count (PTX ISA 9.7.13.1), so the barrier orders the warps. CUDA does not define it: the condition of a barrier in conditional code must
// have one value for the block (CUDA C++ Programming Guide, "Synchronization Functions"). A warning.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 32) {
        __syncthreads(); // warn barrier-split
        out[t] = s[t + 32];
    } else {
        __syncthreads(); // warn barrier-split
        out[t] = s[t - 32];
    }
}
