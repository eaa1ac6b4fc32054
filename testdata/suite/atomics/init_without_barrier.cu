// A shared counter is set by one thread and counted by all, with no barrier after the initialisation.
// Why: the plain store and the atomics of other threads are unordered.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0; // want race-shared "n"
    atomicAdd(&n, 1); // want race-shared "n"
    __syncthreads();
    out[threadIdx.x] = n;
}
