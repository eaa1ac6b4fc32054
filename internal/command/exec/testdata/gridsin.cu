// The kernel that gridsof.cu launches.

__global__ void counted(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;
}
