// An array reversed in place through shared memory: each block overwrites what another one reads.
//
// grid-sync: repaired; the tile stays in shared memory over the barrier.
// split: refused "used on both sides"; the tile would be lost.
// double-buffer: repaired; the block reads its tile before any write.
#include <cstdio>

__global__ void reverse(int *a, int n) {
    __shared__ int tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = a[i];
    __syncthreads();
    a[n - 1 - i] = tile[t];
}

int main() {
    const int n = 1024;
    static int h[n];
    for (int i = 0; i < n; i++)
        h[i] = i;
    int *a;
    cudaMalloc(&a, n * sizeof(int));
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<n / 128, 128>>>(a, n);
    cudaMemcpy(h, a, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(a);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != n - 1 - i;
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
