// Breadth-first search that reads, writes and flags without atomics, as SHOC's (Barracuda §6.3).
// expect: bug

#include <cuda_runtime.h>

const int NODES = 256;

// A graph of fixed shape: node v has the neighbours 2v+1 and 2v+2 modulo NODES.
// heddle: level=zero again=zero depth=0
__global__ void bfs(int *level, int *again, int depth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (level[v] != depth) // want race-global "level"
        return;
    for (int k = 1; k <= 2; k++) {
        int u = (2 * v + k) % NODES;
        if (level[u] >= 0) { // want race-global "level"
            level[u] = depth + k; // want race-global "level"
            *again = 1; // want race-global "again"
        }
    }
}

int main() {
    int *level, *again;
    cudaMalloc(&level, NODES * sizeof(int));
    cudaMalloc(&again, sizeof(int));
    // heddle starts with all nodes on level 0, so that every thread works.
    bfs<<<4, 64>>>(level, again, 0);
    cudaDeviceSynchronize();
}
