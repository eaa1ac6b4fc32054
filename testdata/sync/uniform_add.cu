// heddle: grid=4 block=64
// sync: 1
__global__ void uniform_add(int *data, const int *sums)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = sums[blockIdx.x];
    __syncthreads();
    data[blockIdx.x * 64 + threadIdx.x] += sum;
}
