// Heat for several steps in one kernel, with block barriers where the grid would have to wait.
//
// grid-sync: repaired; the loop counts an argument, so all threads pass its barriers equally often.
// split: repaired; the host can execute the loop.
// double-buffer: refused "after the kernel wrote it"; each step needs the result of the one before.
#include <cstdio>

__global__ void heat(float *a, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        float v = 0.0f;
        if (i > 0 && i < n - 1)
            v = 0.25f * (a[i - 1] + 2.0f * a[i] + a[i + 1]);
        __syncthreads();
        if (i > 0 && i < n - 1)
            a[i] = v;
        __syncthreads();
    }
}

int main() {
    const int n = 1024, steps = 5;
    float h[n], w[2][n];
    for (int i = 0; i < n; i++)
        h[i] = w[0][i] = w[1][i] = (float)(i * 7 % 13);
    for (int s = 0; s < steps; s++)
        for (int i = 1; i < n - 1; i++)
            w[~s & 1][i] = 0.25f * (w[s & 1][i - 1] + 2.0f * w[s & 1][i] + w[s & 1][i + 1]);
    float *d;
    cudaMalloc(&d, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    heat<<<n / 256, 256>>>(d, n, steps);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    cudaFree(d);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != w[steps & 1][i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
