// Offsets of blocks: each block counts, then all read the counts of the blocks before. Threads
// beyond the end return first.
//
// grid-sync: repaired; the early return becomes a condition, so that all threads reach the barrier.
// split: repaired; the return is repeated in both kernels.
// double-buffer: refused "after the kernel wrote it"; the counts are results of the kernel.
#include <cstdio>

__global__ void offsets(const int *in, int *counts, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = i; k < i + blockDim.x && k < n; k++)
            sum += in[k];
        counts[blockIdx.x] = sum;
    }
    int before = 0;
    for (int b = 0; b < blockIdx.x; b++)
        before += counts[b];
    out[i] = before;
}

int main() {
    const int n = 500;
    static int h[n], got[n];
    for (int i = 0; i < n; i++)
        h[i] = i % 5;
    int *in, *counts, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&counts, 8 * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    offsets<<<8, 64>>>(in, counts, out, n);
    cudaMemcpy(got, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(counts);
    cudaFree(out);
    int bad = 0, sum = 0, before = 0;
    for (int i = 0; i < n; i++) {
        if (i % 64 == 0)
            before = sum;
        sum += h[i];
        bad += got[i] != before;
    }
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
