// The same, but the last thread reads slot 0 without synchronization.
// Why: atomicAdd is relaxed, so the writer of slot 0 is not ordered before the reader.
// expect: bug
// heddle: grid=2 block=64
__device__ int n;
__global__ void k(int *buf, int *out) {
    int slot = atomicAdd(&n, 1);
    buf[slot] = threadIdx.x; // want race-global "buf"
    if (slot == 127)
        out[0] = buf[0]; // want race-global "buf"
}
