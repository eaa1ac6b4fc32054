// The last block resets the counter by a plain store, as the threadFenceReduction sample does.
// Why: the last atomicInc observes all earlier ones through the chain of atomics (PTX ISA 8.9.2), so they precede
// in causality order all that follows it (8.9.5, second rule), here also after a barrier.
// expect: clean
// heddle: grid=4 block=64
__device__ unsigned count, again;
__global__ void k() {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence(); // redundant: the atomics alone order the store, as this kernel shows
        last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
        atomicAdd(&again, 1);
        if (atomicAdd(&again, 1) == 2 * gridDim.x - 1)
            again = 0;
    }
    __syncthreads();
    if (last && threadIdx.x == 40)
        count = 0;
}
