// Breadth-first search without atomics, as in SHOC: plain reads, writes and flag.

#include <cuda_runtime.h>

const int NODES = 256;

// Fixed graph: the neighbors of node v are 2v+1 and 2v+2, modulo NODES.
// heddle: level=zero again=zero depth=0
__global__ void bfs(int *level, int *again, int depth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (level[v] != depth)
        return;
    for (int k = 1; k <= 2; k++) {
        int u = (2 * v + k) % NODES;
        if (level[u] >= 0) {
            level[u] = depth + k;
            *again = 1;
        }
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
