// heddle: grid=4 block=64
// sync: 1
__global__ void reduce1(int *out, const int *in, unsigned n)
{
    __shared__ int data[64];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    data[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned at = 2 * s * tid;
        if (at < blockDim.x)
            data[at] += data[at + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = data[0];
}
