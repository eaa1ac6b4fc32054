// Each block takes one of two branches with a barrier.
// Why: the condition has one value for each block (CUDA C++ Programming Guide, "Synchronization Functions").
// expect: clean
// heddle: grid=2 block=64
__global__ void k(int *a) {
    if (blockIdx.x == 0) {
        a[threadIdx.x] = 1;
        __syncthreads(); // redundant: nobody reads what another thread writes
    } else {
        a[threadIdx.x + 64] = 2;
        __syncthreads(); // redundant: nobody reads what another thread writes
    }
}
