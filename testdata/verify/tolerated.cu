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

// bug race-shared: odd and even lanes come to the store on two paths, which do not merge before it
// heddle: grid=1 block=32
__global__ void on_two_paths(int *g, int n) {
    __shared__ int s;
    int t = threadIdx.x;
    if (t & 1) {
        g[64 + t] = 1;
        if (n == 0)
            goto out;
    } else {
        g[96 + t] = 2;
        if (n == 0)
            goto out;
    }
    s = 5;
out:
    g[t] = t;
}

// bug race-shared: lanes below 16 wait for the others, which store and end before
// heddle: grid=1 block=32
__global__ void held_up(int *g) {
    __shared__ int s;
    int t = threadIdx.x;
    if (t < 16)
        __syncwarp();
    s = 5;
    g[t] = t;
}

// verified, benign: in each iteration the lanes store together, and the barrier separates iterations
// heddle: grid=1 block=32
__global__ void in_a_loop(int *g, int n) {
    __shared__ int s;
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        s = i;
        __syncthreads();
        g[i * 32 + t] = s;
        __syncthreads();
    }
}

// bug race-shared: lanes in different iterations store different values
// heddle: grid=1 block=32
__global__ void in_iterations(int *g) {
    __shared__ int s;
    int t = threadIdx.x;
    for (int i = 0; i < t; i++) {
        s = i;
        g[t] = i;
    }
}
