// One thread writes without a barrier before the others read.
// Why: the guard limits the write to one thread, but does not order it.
// expect: bug
// heddle: grid=1 block=96
__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 42; // want race-shared
    out[threadIdx.x] = s; // want race-shared
}
