// A prefix sum whose second phase adds the totals of the blocks before.
//
// grid-sync: repaired; the loop over the totals comes behind the barrier.
// split: refused "used on both sides"; the scan of the block stays in shared memory over the cut.
// double-buffer: refused "after the kernel wrote it"; the totals are results of the kernel.
#include <cstdio>

__global__ void scan(const int *in, int *out, int *totals) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 127)
        totals[blockIdx.x] = s[t];
    int before = 0;
    for (int b = 0; b < blockIdx.x; b++)
        before += totals[b];
    out[i] = before + s[t];
}

int main() {
    const int n = 1024;
    static int h[n], got[n];
    for (int i = 0; i < n; i++)
        h[i] = i * 3 % 7;
    int *in, *out, *totals;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&totals, n / 128 * sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<n / 128, 128>>>(in, out, totals);
    cudaMemcpy(got, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    cudaFree(totals);
    int bad = 0, sum = 0;
    for (int i = 0; i < n; i++)
        bad += got[i] != (sum += h[i]);
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
