// A loop that ends when nothing changes: its trips depend on what the kernel computes.
//
// grid-sync: refused "spread"; whether a block goes on depends on what it reads, so one may wait forever.
// split: refused "is"; the host does not know how often to launch.
// double-buffer: refused "after the kernel wrote it"; each step needs the result of the one before.
#include <cstdio>

__global__ void spread(int *a, int *more, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (*more) {
        int v = i > 0 && i < n - 1 ? max(a[i - 1], a[i + 1]) : 0;
        __syncthreads();
        *more = 0;
        __syncthreads();
        if (i < n && v > a[i]) {
            a[i] = v;
            *more = 1;
        }
        __syncthreads();
    }
}

int main() {
    const int n = 256;
    int *a, *more;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&more, sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    cudaMemset(more, 1, sizeof(int));
    spread<<<4, 64>>>(a, more, n);
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
