// Partial products in steps of the grid, then a tree.
__global__ void dotProduct(const float *a, const float *b, float *c, int n) {
    __shared__ float s[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i)
            s[threadIdx.x] += s[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0)
        c[blockIdx.x] = s[0];
}

void dot(const float *a, const float *b, float *c) { dotProduct<<<128, 256>>>(a, b, c, 1 << 20); }
