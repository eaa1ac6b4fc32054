// A grid-stride loop in place: threads take several elements, and not equally many.
//
// grid-sync: refused "shift"; threads leave the loop at different times.
// split: refused "loop"; the loop is not the same for all threads.
// double-buffer: refused "after the kernel wrote it"; in the next iteration the thread itself has written.
#include <cstdio>

__global__ void shift(int *a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x)
        a[i] = a[i + 1];
}

int main() {
    const int n = 1000;
    int *a;
    cudaMalloc(&a, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    shift<<<2, 128>>>(a, n);
    cudaDeviceSynchronize();
    cudaFree(a);
    printf("done\n");
    return 0;
}
