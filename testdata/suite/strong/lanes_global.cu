// Lanes of a warp hand values to their neighbours through volatile global memory.
// Why: as in shared memory, nothing orders the two lanes (PTX ISA 9.7.13.2), and no code waits for the value.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(volatile int *buf, int *out) {
    buf[threadIdx.x] = 3 * threadIdx.x; // want race-unordered-strong "intra-warp"
    out[threadIdx.x] = buf[threadIdx.x ^ 1]; // want race-unordered-strong "intra-warp"
}
