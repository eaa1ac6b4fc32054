// One step of Floyd-Warshall in place. Row and column k are read by all blocks.
//
// grid-sync: repaired; within the statement.
// split: repaired; the new length is saved.
// double-buffer: repaired; one write, behind all reads.
#include <cstdio>

__global__ void relax(int *d, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j < n)
        d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

int main()
{
    const int n = 16;
    static int h[n * n], want[n * n];
    for (int i = 0; i < n * n; i++)
        h[i] = want[i] = i % n == i / n ? 0 : (i * 29 % 101) + 1;
    int *d;
    cudaMalloc(&d, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    for (int k = 0; k < n; k++)
    {
        relax<<<dim3(2, n), 8>>>(d, n, k);
    }
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    cudaFree(d);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (want[i * n + k] + want[k * n + j] < want[i * n + j])
                    want[i * n + j] = want[i * n + k] + want[k * n + j];
    int bad = 0;
    for (int i = 0; i < n * n; i++)
        bad += h[i] != want[i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
