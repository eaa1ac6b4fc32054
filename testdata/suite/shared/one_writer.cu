// One thread writes without a barrier before the others read.
// Why: the guard makes the write single, not ordered.
// expect: bug
// heddle: grid=1 block=96
__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 42; // want race-shared
    out[threadIdx.x] = s; // want race-shared
}
