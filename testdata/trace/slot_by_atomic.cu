// Threads reserve slots of a shared array with atomicAdd.
// Why: the slot depends on the order of the threads, so one trace cannot represent all of them.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int next, slot[64];
    if (threadIdx.x == 0)
        next = 0;
    __syncthreads();
    slot[atomicAdd(&next, 1)] = threadIdx.x; // unsupported "order in which threads come"
    __syncthreads();
    out[threadIdx.x] = slot[threadIdx.x];
}
