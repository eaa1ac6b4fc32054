// Hash table with a spin lock for each bucket.

#include <cuda_runtime.h>

const int BUCKETS = 8, SLOTS = 64;

struct Table {
    int lock[BUCKETS];
    int used[BUCKETS];
    int key[BUCKETS][SLOTS];
};

__device__ Table table;

__device__ void acquire(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
}

__device__ void release(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}

// heddle: keys=small:1000
__global__ void insert(const int *keys) {
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x] & 0x7fffffff;
    int b = key % BUCKETS;
    acquire(&table.lock[b]);
    int n = table.used[b];
    if (n < SLOTS) {
        table.key[b][n] = key;
        table.used[b] = n + 1;
    }
    release(&table.lock[b]);
}

int main() {
    int *keys;
    cudaMalloc(&keys, 128 * sizeof(int));
    insert<<<4, 32>>>(keys);
    cudaDeviceSynchronize();
}
