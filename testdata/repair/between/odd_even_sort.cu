// Odd-even transposition sort of the whole array in one kernel.
//
// grid-sync: repaired; one barrier for each phase.
// split: repaired; the host counts the phases.
// double-buffer: refused "after the kernel wrote it"; each phase needs the result of the one before.
#include <cstdio>

__global__ void sort(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int phase = 0; phase < n; phase++) {
        int k = 2 * i + (phase & 1);
        if (k + 1 < n && a[k] > a[k + 1]) {
            int swap = a[k];
            a[k] = a[k + 1];
            a[k + 1] = swap;
        }
        __syncthreads();
    }
}

int main() {
    const int n = 16;
    static int h[n];
    for (int i = 0; i < n; i++)
        h[i] = i * 7 % n;
    int *a;
    cudaMalloc(&a, n * sizeof(int));
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    sort<<<2, 4>>>(a, n);
    cudaMemcpy(h, a, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(a);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != i;
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
