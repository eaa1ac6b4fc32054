// heddle: grid=2 block=128
// sync: 2
__global__ void scan_sums0(int *data, int *partial)
{
    __shared__ int sums[4];
    int id = blockIdx.x * 128 + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int value = data[id];
    for (int i = 1; i < 32; i *= 2) {
        int n = __shfl_up_sync(0xffffffff, value, i);
        if (lane >= i)
            value += n;
    }
    if (lane == 31)
        sums[warp] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < 4; i++) {
            s += sums[i];
            sums[i] = s;
        }
    }
    __syncthreads();
    if (warp > 0)
        value += sums[warp - 1];
    data[id] = value;
}
