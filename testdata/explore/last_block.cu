// The block that finishes last adds up what all blocks have left.
// Why: its counter observes the others' through the chain of atomics (PTX ISA 8.9.2); a fence
// before the counter releases what a block has left, and one behind it acquires it (8.8).
// explore: right 2 2 verified
// explore: no_fence 2 2 bug reads part\[
// explore: no_release 2 2 bug reads part\[

__device__ unsigned count;
__device__ int part[64], total;

__device__ void leave(bool release, bool acquire) {
    __shared__ bool last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (release) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
        if (acquire) __threadfence();
    }
    __syncthreads();
    if (!last || threadIdx.x != 0) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x * blockDim.x; i++)
        sum += part[i];
    total = sum;
}

__global__ void right() { leave(true, true); }
__global__ void no_fence() { leave(false, false); }
__global__ void no_release() { leave(false, true); }
