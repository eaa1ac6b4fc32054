// A kernel that launches one of another file (nvcc -rdc=true).

#include <cstdio>

__global__ void counted(int *p, int n);

__global__ void launches(int *p) { counted<<<2, 32>>>(p, 40); }

int main() {
    int *p, wrong = 0;
    cudaMallocManaged(&p, 64 * sizeof *p);
    launches<<<1, 1>>>(p);
    cudaError_t error = cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) wrong += p[i] != (i < 40 ? i : 0);
    printf("%d wrong, %s\n", wrong, cudaGetErrorString(error));
    return wrong;
}
