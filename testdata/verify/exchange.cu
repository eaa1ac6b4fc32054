// Lanes that exchange data through volatile memory. That is no data race (PTX ISA 8.7), but nothing
// orders the accesses, so the value that is read is open: since sm_70 lanes do not run in lock step
// (CUDA C++ Programming Guide, "Independent Thread Scheduling"). Each kernel has its expected
// verdict with the reason, and its launch.
#define N 64

// bug race-unordered-strong: the last steps of the reduction lack barriers of the warp
// heddle: grid=2 block=64
__global__ void tail(int *out, const int *in) {
    __shared__ volatile int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        for (int d = 16; d > 0; d /= 2)
            if (t < d)
                s[t] += s[t + d];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: a barrier of the block after each step orders everything
// heddle: grid=2 block=64
__global__ void ordered(int *out, const int *in) {
    __shared__ volatile int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified, apart: a flag in global memory may belong to a protocol; the line names it
// heddle: grid=2 block=64
__global__ void flag(volatile int *done, int *out) {
    out[blockIdx.x * N + threadIdx.x] = done[1 - blockIdx.x];
    if (threadIdx.x == 0)
        done[blockIdx.x] = 1;
}
