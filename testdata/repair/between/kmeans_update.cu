// The update of k-means: sums and counts by atomics, then the mean of each cluster.
//
// grid-sync: repaired; between the sums and the means.
// split: repaired; nothing but the index is needed on both sides.
// double-buffer: refused "atomic or volatile"; sums and counts are results of the kernel.
#include <cstdio>

__global__ void update(const int *x, const int *label, int *sums, int *counts, int *means, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&sums[label[i]], x[i]);
        atomicAdd(&counts[label[i]], 1);
    }
    if (i < k)
        means[i] = sums[i] / max(counts[i], 1);
}

int main() {
    const int n = 900, k = 8;
    static int h[n], l[n];
    int sum[k] = {}, count[k] = {}, got[k];
    for (int i = 0; i < n; i++) {
        h[i] = i * 13 % 97;
        l[i] = i * i % k;
        sum[l[i]] += h[i];
        count[l[i]]++;
    }
    int *x, *label, *sums, *counts, *means;
    cudaMalloc(&x, sizeof(h));
    cudaMalloc(&label, sizeof(l));
    cudaMalloc(&sums, sizeof(sum));
    cudaMalloc(&counts, sizeof(count));
    cudaMalloc(&means, sizeof(got));
    cudaMemcpy(x, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemcpy(label, l, sizeof(l), cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, sizeof(sum));
    cudaMemset(counts, 0, sizeof(count));
    update<<<(n + 127) / 128, 128>>>(x, label, sums, counts, means, n, k);
    cudaMemcpy(got, means, sizeof(got), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(label);
    cudaFree(sums);
    cudaFree(counts);
    cudaFree(means);
    int bad = 0;
    for (int i = 0; i < k; i++)
        bad += got[i] != sum[i] / (count[i] > 1 ? count[i] : 1);
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
