// Block 0 passes data to the threads of other blocks by a flag.
// Why: the strong store of the flag releases the data, and the load acquires it, by fences next to
// them (PTX ISA 8.8). Without either, a reader may see the flag and not the data.
// explore: right 2 2 verified
// explore: no_release 2 2 bug reads data\[0\] = 0 \(initial value\)
// explore: no_acquire 2 2 bug reads data\[0\] = 0 \(initial value\)

__device__ int flag, data[2];

__device__ void pass(bool release, bool acquire, int *out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 42;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (release) __threadfence();
            *(volatile int *)&flag = 1;
        }
    } else {
        while (*(volatile int *)&flag == 0) {
        }
        if (acquire) __threadfence();
        out[threadIdx.x] = data[0] + data[1];
    }
}

__global__ void right(int *out) { pass(true, true, out); }
__global__ void no_release(int *out) { pass(false, true, out); }
__global__ void no_acquire(int *out) { pass(true, false, out); }
