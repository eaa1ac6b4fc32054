// heddle: grid=4 block=64
// sync: 1
__global__ void merge(unsigned *histogram, const unsigned *partial, int count)
{
    __shared__ unsigned data[64];
    unsigned sum = 0;
    for (int i = threadIdx.x; i < count; i += 64)
        sum += partial[blockIdx.x + i * gridDim.x];
    data[threadIdx.x] = sum;
    for (unsigned stride = 32; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride)
            data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        histogram[blockIdx.x] = data[0];
}
