// heddle: grid=4 block=256
// sync: 1
__global__ void merge(unsigned *histogram, const unsigned *partial, int count)
{
    __shared__ unsigned data[256];
    unsigned sum = 0;
    for (int i = threadIdx.x; i < count; i += 256)
        sum += partial[blockIdx.x + i * gridDim.x];
    data[threadIdx.x] = sum;
    for (unsigned stride = 128; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride)
            data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        histogram[blockIdx.x] = data[0];
}
