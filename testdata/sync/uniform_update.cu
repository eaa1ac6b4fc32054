// heddle: grid=4 block=64
// sync: 1
__global__ void uniform_update(uint4 *data, const unsigned *sums)
{
    __shared__ unsigned sum;
    unsigned at = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0)
        sum = sums[blockIdx.x];
    uint4 d = data[at];
    __syncthreads();
    d.x += sum;
    d.y += sum;
    d.z += sum;
    d.w += sum;
    data[at] = d;
}
