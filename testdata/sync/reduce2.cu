// heddle: grid=4 block=64
// sync: 1
__global__ void reduce2(int *out, const int *in, unsigned n)
{
    __shared__ int data[64];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    data[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            data[tid] += data[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = data[0];
}
