// Prefix sums of columns, in steps through the rows of a strip.
__global__ void columnScan(float *m, int width, int rows) {
    __shared__ float s[16][33];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx;
    float carry = 0;
    for (int y = 0; y < rows; y += 16) {
        s[ty][tx] = m[(y + ty) * width + x];
        __syncthreads();
        float sum = carry;
        for (int i = 0; i <= ty; i++)
            sum += s[i][tx];
        m[(y + ty) * width + x] = sum;
        for (int i = 0; i < 16; i++)
            carry += s[i][tx];
        __syncthreads();
    }
}

void scan(float *m) { columnScan<<<64, dim3(32, 16)>>>(m, 2048, 1024); }
