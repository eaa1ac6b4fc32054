// Two warps hand values to each other through volatile shared memory, with no barrier in between.
// Why: both accesses are strong (PTX ISA 8.4.2) and unordered (8.9.5), and the load does not wait for the store.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = 3 * threadIdx.x; // want race-unordered-strong "intra-block"
    out[threadIdx.x] = s[63 - threadIdx.x]; // want race-unordered-strong "intra-block"
}
