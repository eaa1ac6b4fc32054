// heddle: grid=4 block=64
// sync: 6
__global__ void reduce6(int *out, const int *in, unsigned n)
{
    __shared__ int data[64];
    unsigned tid = threadIdx.x;
    int sum = 0;
    for (unsigned i = blockIdx.x * 128 + tid; i < n; i += 128 * gridDim.x) {
        sum += in[i];
        if (i + 64 < n)
            sum += in[i + 64];
    }
    data[tid] = sum;
    __syncthreads();
    if (tid < 32)
        data[tid] += data[tid + 32];
    __syncthreads();
    if (tid < 16)
        data[tid] += data[tid + 16];
    __syncthreads();
    if (tid < 8)
        data[tid] += data[tid + 8];
    __syncthreads();
    if (tid < 4)
        data[tid] += data[tid + 4];
    __syncthreads();
    if (tid < 2)
        data[tid] += data[tid + 2];
    __syncthreads();
    if (tid < 1)
        data[tid] += data[tid + 1];
    __syncthreads();
    if (tid == 0)
        out[blockIdx.x] = data[0];
}
