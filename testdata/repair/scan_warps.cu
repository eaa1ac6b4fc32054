// A scan by shuffles in each warp, and over the totals of the warps.
__global__ void scanWarps(const int *in, int *out, int *totals) {
    __shared__ int ofWarp[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * blockDim.x + t;
    int sum = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int low = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d)
            sum += low;
    }
    if (lane == 31)
        ofWarp[warp] = sum;
    __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; w++)
        before += ofWarp[w];
    out[i] = sum + before;
    if (t == blockDim.x - 1)
        totals[blockIdx.x] = sum + before;
}

void scan(const int *in, int *out, int *totals) { scanWarps<<<4096, 256>>>(in, out, totals); }
