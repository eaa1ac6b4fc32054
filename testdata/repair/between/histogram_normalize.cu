// A histogram, then the share of each value: the counts have to be complete.
//
// grid-sync: repaired; between counting and reading.
// split: repaired; the value is read again, since the input is const.
// double-buffer: refused "atomic or volatile"; the counts are results of the kernel's atomics.
#include <cstdio>

__global__ void shares(const int *in, int *bins, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i] & 15], 1);
    if (i < n)
        out[i] = (float)bins[in[i] & 15] / n;
}

int main() {
    const int n = 1000;
    static int h[n], count[16];
    static float got[n];
    for (int i = 0; i < n; i++)
        count[h[i] = i * i % 16]++;
    int *in, *bins;
    float *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&bins, 16 * sizeof(int));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, 16 * sizeof(int));
    shares<<<(n + 127) / 128, 128>>>(in, bins, out, n);
    cudaMemcpy(got, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(bins);
    cudaFree(out);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += got[i] != (float)count[h[i]] / n;
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
