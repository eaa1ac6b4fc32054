// Kernels that launch kernels: a recursive quicksort, whose halves are sorted by grids of their own,
// and a sum over levels of grids, each level of which begins when those below it have ended. With
// the argument "racy" the sum is read without waiting for that.

#include <cstdio>
#include <cstring>

__global__ void insertion_sort(int *a, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && a[j] < a[j - 1]; j--) {
            int t = a[j];
            a[j] = a[j - 1];
            a[j - 1] = t;
        }
}

__global__ void quicksort(int *a, int n, int depth) {
    if (n <= 8 || depth == 16) {
        insertion_sort<<<1, 1>>>(a, n);
        return;
    }
    int pivot = a[n / 2], l = 0, r = n - 1;
    while (l <= r) {
        while (a[l] < pivot) l++;
        while (a[r] > pivot) r--;
        if (l <= r) {
            int t = a[l];
            a[l++] = a[r];
            a[r--] = t;
        }
    }
    quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(a, r + 1, depth + 1);
    quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(a + l, n - l, depth + 1);
}

// Adds the first words of the parts, which hold their sums.
__global__ void add_parts(long long *data, int parts, int size) {
    for (int i = 1; i < parts; i++) data[0] += data[i * size];
}

__global__ void sum(long long *data, int n, bool racy) {
    int size = n / 4, part = threadIdx.x;
    if (n >= 4) sum<<<1, 4, 0, cudaStreamFireAndForget>>>(data + part * size, size, racy);
    if (part != 0 || n < 4) return;
    if (racy)
        for (int i = 1; i < 4; i++) data[0] += data[i * size];
    else
        add_parts<<<1, 1, 0, cudaStreamTailLaunch>>>(data, 4, size);
}

__device__ int launch_errors;

__global__ void too_large(int *out) {
    insertion_sort<<<1, 4096>>>(out, 1);
    if (cudaGetLastError() == cudaErrorInvalidConfiguration) launch_errors++;
}

__global__ void increment(int *p) { ++*p; }

__global__ void increment_below(int *p) { increment<<<1, 1>>>(p); }

__global__ void copy(int *to, const int *from) { *to = *from; }

__global__ void fill(int *p, int n) {
    if (threadIdx.x < n) p[threadIdx.x] = 1;
}

__global__ void fill_below(int *p, int n) { fill<<<1, 64>>>(p, n); }

// Launches that repeat nothing: what they read and write is below.
int repeats() {
    int *p, h;
    cudaMalloc(&p, sizeof *p);
    cudaMemset(p, 0, sizeof *p);
    for (int i = 0; i < 10; i++) increment_below<<<1, 1>>>(p);
    cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    return h != 10;
}

// A grid below a launch writes what a launch in another stream reads.
int streams() {
    int *p;
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMalloc(&p, 2 * sizeof *p);
    increment_below<<<1, 1, 0, a>>>(p);
    copy<<<1, 1, 0, b>>>(p + 1, p);
    return cudaDeviceSynchronize();
}

// A grid below a launch writes 33 elements of 32: the launch fails.
int outside() {
    int *p;
    cudaMalloc(&p, 32 * sizeof *p);
    fill_below<<<1, 1>>>(p, 33);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "repeats")) return repeats();
    if (argc > 1 && !strcmp(argv[1], "streams")) return streams();
    if (argc > 1 && !strcmp(argv[1], "outside")) return outside();
    bool racy = argc > 1 && !strcmp(argv[1], "racy");
    const int n = 256;
    int *a;
    long long *data;
    cudaMallocManaged(&a, n * sizeof *a);
    cudaMallocManaged(&data, n * sizeof *data);
    for (int i = 0; i < n; i++) a[i] = i * 167 % 251, data[i] = i;
    quicksort<<<1, 1>>>(a, n, 0);
    sum<<<1, 4>>>(data, n, racy);
    too_large<<<1, 1>>>(a);
    cudaError_t error = cudaDeviceSynchronize();
    int wrong = 0, errors = 0;
    for (int i = 1; i < n; i++) wrong += a[i - 1] > a[i];
    cudaMemcpyFromSymbol(&errors, launch_errors, sizeof errors);
    printf("%d wrong, sum %lld, %d error, %s\n", wrong, data[0], errors, cudaGetErrorString(error));
    return wrong || data[0] != n * (n - 1) / 2;
}
