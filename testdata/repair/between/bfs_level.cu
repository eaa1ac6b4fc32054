// One level of a search in a graph that writes to neighbors: several blocks may update one of them.
//
// grid-sync: refused "race"; two threads update one element in the same phase, whatever is between phases.
// split: refused "race"; as for grid-sync.
// double-buffer: refused "after the kernel wrote it"; a later iteration reads what an earlier one wrote.
#include <cstdio>

__global__ void level(int *dist, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = 0; e < 3; e++) {
        int w = (v / 2 + 7 * e) % n;
        dist[w] = min(dist[w], dist[v] + 1);
    }
}

int main() {
    const int n = 512;
    int *d;
    cudaMalloc(&d, n * sizeof(int));
    cudaMemset(d, 1, n * sizeof(int));
    level<<<n / 64, 64>>>(d, n);
    cudaDeviceSynchronize();
    cudaFree(d);
    printf("done\n");
    return 0;
}
