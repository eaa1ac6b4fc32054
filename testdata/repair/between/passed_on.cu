// The buffer comes from a caller, and the launch takes an expression and a value of another type.
//
// grid-sync: repaired; what is no variable of the parameter's type is copied to one.
// split: repaired; nothing has to be known of the buffer.
// double-buffer: refused "does not allocate it"; the size of the buffer is not in the function.
#include <cstdio>

__global__ void smooth(int *a, unsigned n, int weight) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = 0;
    if (i > 0 && i + 1 < n)
        v = (a[i - 1] + weight * a[i] + a[i + 1]) / (weight + 2);
    if (i > 0 && i + 1 < n)
        a[i] = v;
}

static void step(int *a, int n) { smooth<<<(n + 63) / 64, 64>>>(a, n, n % 5 + 1); }

int main() {
    const int n = 300;
    static int h[n], want[n];
    for (int i = 0; i < n; i++)
        h[i] = want[i] = i * 31 % 100;
    for (int i = 1; i < n - 1; i++)
        want[i] = (h[i - 1] + h[i] + h[i + 1]) / 3;
    int *a;
    cudaMalloc(&a, n * sizeof(int));
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    step(a, n);
    cudaMemcpy(h, a, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(a);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != want[i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
