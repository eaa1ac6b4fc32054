// Lanes of a warp in lock step, in loops: what the active lanes do by one instruction precedes what
// they do by the next, and lanes that diverge at a branch wait for each other where its paths merge
// (Eizenberg et al., "Barracuda", PLDI 2017, section 3.3.1). All kernels are for --warp lockstep.
// Each has its expected verdict with the reason, and its launch.
#include <cuda_pipeline.h>

// verified: in each iteration all lanes of a warp have written before one of them reads, and have
// read before one of them writes again
// heddle: grid=2 block=64
__global__ void exchange(int *g, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, x = g[blockIdx.x * 64 + t];
    for (int i = 0; i < n; i++) {
        s[t] = x;
        x += s[t ^ 1];
    }
    g[blockIdx.x * 64 + t] = x;
}

// bug race-shared: thread t + 32 is a lane of the other warp, which may be in any iteration
// heddle: grid=2 block=64
__global__ void exchange_far(int *g, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, x = g[blockIdx.x * 64 + t];
    for (int i = 0; i < n; i++) {
        s[t] = x;
        x += s[t ^ 32];
    }
    g[blockIdx.x * 64 + t] = x;
}

// bug race-global: blocks are not in lock step with each other, and all use the same words
// heddle: grid=2 block=32
__global__ void exchange_global(int *g, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++)
        g[t] += g[t ^ 1];
}

// verified: a step reads what lanes of the same warp have added to in the step before
// heddle: grid=1 block=64
__global__ void tree(int *g) {
    __shared__ int s[64];
    int t = threadIdx.x, l = t % 32;
    s[t] = g[t];
    for (int d = 16; d > 0; d /= 2)
        if (l < d)
            s[t] += s[t + d];
    if (l == 0)
        g[t] = s[t];
}

// bug race-shared: the first step reads what the second warp writes, which nothing orders
// heddle: grid=1 block=64
__global__ void tree_wide(int *g) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = g[t];
    for (int d = 32; d > 0; d /= 2)
        if (t < d)
            s[t] += s[t + d];
    if (t == 0)
        g[0] = s[0];
}

// verified: from step 16 on, both the threads that read and those that wrote are in the first warp
// heddle: grid=2 block=256
__global__ void block_tree(int *g, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int d = 128; d > 0; d /= 2) {
        if (d >= 32)
            __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        g[blockIdx.x] = s[0];
}

// bug race-shared: step 32 reads what the second warp wrote in step 64, without a barrier between
// heddle: grid=2 block=256
__global__ void block_tree_early(int *g, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int d = 128; d > 0; d /= 2) {
        if (d > 32)
            __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        g[blockIdx.x] = s[0];
}

// verified: the step of one element reads what thread 1, of the same warp, writes in the next row
// heddle: grid=16 block=128
__global__ void rows(int *out, const int *in, int n) {
    __shared__ int s[512];
    for (int row = blockIdx.x; row < n; row += gridDim.x) {
        for (int i = threadIdx.x; i < 512; i += blockDim.x)
            s[i] = in[row * 512 + i];
        for (int d = 256; d > 0; d >>= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < d; i += blockDim.x)
                s[i] += s[d + i];
        }
        if (threadIdx.x == 0)
            out[row] = s[0];
    }
}

// bug race-shared: thread 32 reads the sum that thread 0 replaces in the next row, or has not added yet
// heddle: grid=16 block=128
__global__ void rows_far(int *out, const int *in, int n) {
    __shared__ int s[512];
    for (int row = blockIdx.x; row < n; row += gridDim.x) {
        for (int i = threadIdx.x; i < 512; i += blockDim.x)
            s[i] = in[row * 512 + i];
        for (int d = 256; d > 0; d >>= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < d; i += blockDim.x)
                s[i] += s[d + i];
        }
        if (threadIdx.x == 32)
            out[row] = s[0];
    }
}

// verified: the lanes of the branch read by one instruction and write by the next
// heddle: grid=1 block=96
__global__ void scan(int *g) {
    __shared__ int s[96];
    int t = threadIdx.x, l = t % 32;
    s[t] = g[t];
    for (int d = 1; d < 32; d *= 2)
        if (l >= d)
            s[t] += s[t - d];
    g[t] = s[t];
}

// verified: where lanes have left the loop, in different iterations, they wait for each other
// heddle: grid=1 block=32
__global__ void behind(int *g) {
    __shared__ int s[32];
    int t = threadIdx.x;
    for (int i = 0; i <= t; i++)
        s[t] = i * g[i];
    g[32 + t] = s[31 - t];
}

// bug race-branch-order: the order of the two paths of the branch is not defined
// heddle: grid=1 block=32
__global__ void paths(int *g, int n) {
    __shared__ int s[32];
    int t = threadIdx.x, x = 0;
    for (int i = 0; i < n; i++) {
        if (t < 16)
            s[t] = i;
        else
            x += s[t - 16];
    }
    g[t] = x;
}

// verified: where the paths of the first branch merge, all lanes wait; so they do in the next iteration
// heddle: grid=1 block=32
__global__ void merged(int *g, int n) {
    __shared__ int s[32];
    int t = threadIdx.x, x = 0;
    for (int i = 0; i < n; i++) {
        if (t < 16)
            s[t] = i;
        g[32 + t] = x;
        if (t >= 8 && t < 24)
            x += s[t - 8];
    }
    g[t] = x;
}

// verified: whole warps take the branch around the loop
// heddle: grid=1 block=96
__global__ void whole_warps(int *g, int n) {
    __shared__ int s[96];
    int t = threadIdx.x, x = 0;
    if (t >= 32)
        for (int i = 0; i < n; i++) {
            s[t] = x + i;
            x += s[t ^ 3];
        }
    g[t] = x;
}

// verified: the lanes of half a warp begin each iteration together
// heddle: grid=1 block=32
__global__ void half_a_warp(int *g, int n) {
    __shared__ int s[32];
    int t = threadIdx.x, x = 0;
    if (t < 16)
        for (int i = 0; i < n; i++) {
            s[t] = x + i;
            x += s[t ^ 1];
        }
    g[t] = x;
}

// bug race-shared: the lanes that leave at once read while those of the next warp still add
// heddle: grid=1 block=64
__global__ void behind_far(int *g) {
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int i = 0; i <= t; i++)
        s[t] = i * g[i];
    g[64 + t] = s[63 - t];
}

// verified: lanes that begin an iteration begin it together, and those that have left have done
// everything in an iteration before
// heddle: grid=1 block=64
__global__ void own_pace(int *g) {
    __shared__ int s[64];
    int t = threadIdx.x, x = 0;
    for (int i = 0; i <= g[t]; i++) {
        s[t] = x + i;
        x += s[t ^ 1];
    }
    g[64 + t] = x;
}

// bug race-async-copy: lanes merge behind the branch, but the copy of the other lane may be pending
// heddle: grid=1 block=32
__global__ void copied(int *g, const int *in) {
    __shared__ int s[32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    if (t & 1)
        g[64 + t] = 1;
    g[t] = s[t ^ 1];
    __pipeline_wait_prior(0);
}

// bug race-async-copy: the pending copy of the other lane reads what this one overwrites
// heddle: grid=1 block=32
__global__ void copied_from(int *in, int n) {
    __shared__ int s[32];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        __pipeline_memcpy_async(&s[t], &in[t], 4);
        __pipeline_commit();
        if (t & 1)
            in[64 + t] = 1;
        in[t ^ 1] = i;
        __pipeline_wait_prior(0);
    }
}

// bug race-branch-order: odd lanes wait at the barrier of the next iteration for even ones, which wait
// for them behind the branch; those go on alone, and nothing joins the lanes behind the loop
// heddle: grid=1 block=32
__global__ void held_up(int *g, int n) {
    __shared__ int s[32];
    int t = threadIdx.x, i = 0;
    for (;;) {
        __syncthreads();
        if ((t & 1) && i < n) {
            i++;
            continue;
        }
        g[64 + t] = i;
        if (i++ >= n)
            break;
    }
    s[t] = t;
    g[t] = s[t ^ 1];
}

// bug race-branch-order: equal values, but odd and even lanes come to the store on two paths, and so
// execute it one after the other
// heddle: grid=1 block=32
__global__ void equal_on_paths(int *g, int n, int m) {
    __shared__ int s[32];
    int t = threadIdx.x;
    for (int i = 0; i < m; i++) {
        if (t & 1) {
            g[64 + t] = 1;
            if (n == 0)
                goto out;
        } else {
            g[96 + t] = 2;
            if (n == 0)
                goto out;
        }
        s[0] = i;
    out:
        g[t] = t;
    }
}
