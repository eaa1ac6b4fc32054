// A step of the power of a matrix: its square, in place.
//
// grid-sync: repaired; between the product and the write.
// split: repaired; the product is saved.
// double-buffer: repaired; the one write comes last.
#include <cstdio>

__global__ void square(unsigned *a, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j >= n)
        return;
    unsigned sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[i * n + k] * a[k * n + j];
    a[i * n + j] = sum;
}

int main() {
    const int n = 40;
    static unsigned h[n * n], got[n * n];
    for (int i = 0; i < n * n; i++)
        h[i] = i % 7;
    unsigned *a;
    cudaMalloc(&a, sizeof(h));
    cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice);
    dim3 grid((n + 31) / 32, n);
    square<<<grid, 32>>>(a, n);
    cudaMemcpy(got, a, sizeof(h), cudaMemcpyDeviceToHost);
    cudaFree(a);
    int bad = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            unsigned sum = 0;
            for (int k = 0; k < n; k++)
                sum += h[i * n + k] * h[k * n + j];
            bad += got[i * n + j] != sum;
        }
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
