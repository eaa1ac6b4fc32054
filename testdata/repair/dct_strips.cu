// Each thread transforms a row of a 8 x 8 block in place, then a column.
__device__ void transform8(float *v, int step) {
    float even[4], odd[4];
    for (int i = 0; i < 4; i++) {
        even[i] = v[i * step] + v[(7 - i) * step];
        odd[i] = v[i * step] - v[(7 - i) * step];
    }
    for (int i = 0; i < 4; i++) {
        v[2 * i * step] = even[i] + even[(i + 1) & 3];
        v[(2 * i + 1) * step] = odd[i] - odd[(i + 1) & 3];
    }
}

__global__ void dctStrips(float *data, int pitch) {
    __shared__ float s[8 * 33];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++)
        s[i * 33 + t] = data[(blockIdx.y * 8 + i) * pitch + blockIdx.x * 32 + t];
    __syncthreads();
    transform8(&s[(t & 7) * 33 + (t & ~7)], 1);
    __syncthreads();
    transform8(&s[t], 33);
    for (int i = 0; i < 8; i++)
        data[(blockIdx.y * 8 + i) * pitch + blockIdx.x * 32 + t] = s[i * 33 + t];
}

void transform(float *data) { dctStrips<<<dim3(32, 128), 32>>>(data, 1024); }
