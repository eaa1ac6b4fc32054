// Without a launch the size of the block is unknown, and in a block of one warp any barrier might
// seem to be one of the warp.
__global__ void exchange(int *out, const int *in) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads(); // keep: the block size is unknown
    out[t] = s[t ^ 1];
}

// Threads that return early: not all reach the barrier, so that the kernel is wrong as it is.
// heddle: grid=1 block=64
__global__ void early(int *out, const int *in, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n)
        return;
    s[t] = in[t];
    __syncthreads(); // keep: not verified as it is
    out[t] = s[t ^ 1];
}

// A call in a macro has no place of its own, and one function may have several callers.
#define WAIT __syncthreads()
__device__ void swap(int *s, int other) {
    int v = s[other];
    __syncthreads(); // keep: far() needs it for other warps
    s[threadIdx.x] = v;
}
// heddle: grid=1 block=64
__global__ void near(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    WAIT;
    swap(s, threadIdx.x ^ 1);
    out[threadIdx.x] = s[threadIdx.x];
}
// heddle: grid=1 block=64
__global__ void far(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    WAIT;
    swap(s, 63 - threadIdx.x);
    out[threadIdx.x] = s[threadIdx.x];
}
