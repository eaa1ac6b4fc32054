// heddle: grid=4 block=64
// sync: 6
__global__ void reduce5(int *out, const int *in, unsigned n)
{
    __shared__ int data[64];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * (blockDim.x * 2) + tid;
    data[tid] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
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
