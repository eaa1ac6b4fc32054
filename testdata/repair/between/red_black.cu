// Gauss-Seidel in two colors: the black half must see the red half.
//
// grid-sync: repaired; the place is between two statements that all threads reach.
// split: repaired; the two halves have no values in common but the index.
// double-buffer: refused "after the kernel wrote it"; the black half must read what the red one wrote.
#include <cstdio>

__global__ void red_black(float *u, const float *f, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    if (i < n - 1)
    {
        u[i] = 0.5f * (u[i - 1] + u[i + 1] + f[i]);
    }
    __syncthreads();
    if (i + 1 < n - 1)
    {
        u[i + 1] = 0.5f * (u[i] + u[i + 2] + f[i + 1]);
    }
}

int main()
{
    const int n = 1026;
    float h[n], f[n], want[n];
    for (int i = 0; i < n; i++)
    {
        h[i] = want[i] = (float)(i * 5 % 17);
        f[i] = (float)(i % 3);
    }
    for (int i = 1; i < n - 1; i += 2)
        want[i] = 0.5f * (want[i - 1] + want[i + 1] + f[i]);
    for (int i = 2; i < n - 1; i += 2)
        want[i] = 0.5f * (want[i - 1] + want[i + 1] + f[i]);
    float *u, *g;
    cudaMalloc(&u, sizeof(h));
    cudaMalloc(&g, sizeof(f));
    cudaMemcpy(u, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemcpy(g, f, sizeof(f), cudaMemcpyHostToDevice);
    red_black<<<4, 128>>>(u, g, n);
    cudaMemcpy(h, u, sizeof(h), cudaMemcpyDeviceToHost);
    cudaFree(u);
    cudaFree(g);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != want[i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
