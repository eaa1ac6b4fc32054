// The last step of a large scan: one thread fetches what precedes the block.
__global__ void addTotals(int *out, const int *totals) {
    __shared__ int before;
    if (threadIdx.x == 0)
        before = totals[blockIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] += before;
}

void add(int *out, const int *totals) { addTotals<<<4096, 256>>>(out, totals); }
