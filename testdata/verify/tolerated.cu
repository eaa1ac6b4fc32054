// Writes of equal values, which --benign warp tolerates between lanes of one warp by one
// instruction. A verdict that needs it says so. Each kernel has its expected verdict with the
// reason, and its launch.

// verified, benign: all lanes of the one warp store 7 into one word
// heddle: grid=4 block=32
__global__ void one_word(int *out) {
    __shared__ int a;
    a = 7;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

// bug race-shared: two warps store it, and between warps nothing is tolerated
// heddle: grid=4 block=64
__global__ void two_warps(int *out) {
    __shared__ int a;
    a = 7;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
