// Jacobi iterations with a barrier of all blocks, whose size follows the launch.
// Why: every hop of the barrier has an order: block barrier, release, arrival, wait, acquire, block
// barrier. Without one of them a thread may read what its neighbour wrote one step earlier, or
// before the kernel (PTX ISA 8.8, 9.7.13.1).
// explore: right 2 1 verified
// explore: right 2 2 verified
// explore: no_release 2 2 bug reads (a|b)\[\d\] = 0 \(initial value\)
// explore: no_acquire 2 2 bug reads (a|b)\[\d\] = 0 \(initial value\)
// explore: no_sync_before 2 2 bug reads (a|b)\[\d\] = 0 \(initial value\)
// explore: no_sync_after 2 2 bug reads (a|b)\[\d\] = 0 \(initial value\)

__device__ unsigned arrived;
__device__ int a[64], b[64];

enum { RELEASE = 1, ACQUIRE = 2, BEFORE = 4, AFTER = 8, ALL = 15 };

__device__ void grid_sync(unsigned goal, int parts) {
    if (parts & BEFORE) __syncthreads();
    if (threadIdx.x == 0) {
        if (parts & RELEASE) __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned *)&arrived < goal) {
        }
        if (parts & ACQUIRE) __threadfence();
    }
    if (parts & AFTER) __syncthreads();
}

__device__ void jacobi(int parts) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    int *from = a, *to = b;
    for (unsigned step = 1; step <= 2; step++) {
        to[i] = from[(i + n - 1) % n] + from[(i + 1) % n] + 1;
        grid_sync(step * gridDim.x, parts);
        int *swap = from;
        from = to;
        to = swap;
    }
}

__global__ void right() { jacobi(ALL); }
__global__ void no_release() { jacobi(ALL - RELEASE); }
__global__ void no_acquire() { jacobi(ALL - ACQUIRE); }
__global__ void no_sync_before() { jacobi(ALL - BEFORE); }
__global__ void no_sync_after() { jacobi(ALL - AFTER); }
