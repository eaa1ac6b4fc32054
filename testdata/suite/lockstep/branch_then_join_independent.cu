// The same under independent scheduling.
// Why: reconvergence is not synchronization (PTX ISA 3.2).
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 1; // want race-shared
    out[threadIdx.x] = s; // want race-shared
}
