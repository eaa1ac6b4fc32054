// Breadth-first search, one launch for each level; an atomic sets the flag.

#include <cuda_runtime.h>

const int NODES = 256;

// Fixed graph: the neighbors of node v are 2v+1 and 2v+2, modulo NODES.
__global__ void bfs(int *level, int *again, int depth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicAdd(&level[v], 0) != depth)
        return;
    for (int k = 1; k <= 2; k++) {
        int u = (2 * v + k) % NODES;
        if (atomicCAS(&level[u], -1, depth + 1) == -1)
            atomicExch(again, 1);
    }
}

int main() {
    int *level, *again;
    cudaMalloc(&level, NODES * sizeof(int));
    cudaMalloc(&again, sizeof(int));
    // With zeroed buffers all nodes are on level 0, so every thread has work.
    bfs<<<4, 64>>>(level, again, 0);
    cudaDeviceSynchronize();
}
