// Operations of a warp: whether each lane that a mask names executes the operation. The rule is
// that of the CUDA C++ Programming Guide ("Warp Shuffle Functions", "Warp Vote Functions",
// "__syncwarp"): all lanes of the mask that have not exited must execute the same operation with
// the same mask. Each kernel has its expected verdict with the reason, and its launch.
#define FULL 0xffffffffu

// verified: every lane of every warp executes the shuffles
// heddle: grid=2 block=96
__global__ void tree(int *g) {
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(FULL, v, d);
    g[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// verified: the last warp has 8 lanes; lanes that do not exist are not waited for
// heddle: grid=1 block=40
__global__ void short_warp(int *g) {
    g[threadIdx.x] = __shfl_xor_sync(FULL, (int)threadIdx.x, 1);
}

// verified: whole warps take a branch, so all lanes of a warp that executes the vote do
// heddle: grid=1 block=128
__global__ void whole_warps(int *g) {
    if (threadIdx.x >= 64)
        g[threadIdx.x] = __any_sync(FULL, threadIdx.x == 70);
}

// bug warp-sync-hang: 16 lanes are named that wait at the barrier of the block
// heddle: grid=1 block=64
__global__ void half_a_warp(int *g) {
    int v = 0;
    if (threadIdx.x < 16)
        v = __shfl_sync(FULL, 7, 0);
    __syncthreads();
    g[threadIdx.x] = v;
}

// verified: the mask names the 16 lanes that take the branch
// heddle: grid=1 block=64
__global__ void half_a_warp_named(int *g) {
    int v = 0;
    if ((threadIdx.x & 31) < 16)
        v = __shfl_sync(0xffff, 7, 0);
    __syncthreads();
    g[threadIdx.x] = v;
}

// bug warp-sync-hang: for one value of n, lane 0 waits at the barrier of the block instead
// heddle: grid=1 block=64
__global__ void one_value(int n) {
    if (n != 9 || threadIdx.x != 0)
        __syncwarp();
    __syncthreads();
}

// verified: lanes that return early have exited; the guide excepts them
// heddle: grid=1 block=64
__global__ void early_return(int *g, int n) {
    if (threadIdx.x >= n)
        return;
    g[threadIdx.x] = __shfl_down_sync(FULL, (int)threadIdx.x, 1);
}

// bug warp-sync-hang: lanes 8 to 31 skip the first shuffle and wait at the second, which others
// cannot reach
// heddle: grid=1 block=32
__global__ void skip_one(int *g) {
    int v = 1;
    if (threadIdx.x < 8)
        v = __shfl_xor_sync(FULL, v, 1);
    v = __popc(__ballot_sync(FULL, v));
    g[threadIdx.x] = v;
}

// verified: the mask is the set of the lanes whose predicate holds, and just these follow it
// heddle: grid=1 block=64
__global__ void voted(int *g, const int *in) {
    bool p = in[threadIdx.x] > 3;
    unsigned m = __ballot_sync(FULL, p);
    if (p)
        g[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, __ffs(m) - 1);
}

// bug warp-sync-hang: the lanes of the vote are those with p, the shuffle is executed by the others
// heddle: grid=1 block=64
__global__ void voted_wrong(int *g, const int *in) {
    bool p = in[threadIdx.x] > 3;
    unsigned m = __ballot_sync(FULL, p) | 1u << (threadIdx.x & 31);
    if (!p)
        g[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, 0);
    __syncthreads();
}

// verified: the lanes that execute __activemask together all execute the shuffle behind it
// heddle: grid=1 block=64
__global__ void active(int *g, const int *in) {
    for (int i = 0; i < in[threadIdx.x]; i++)
        if (in[64 + i] > 2) {
            unsigned m = __activemask();
            g[threadIdx.x] += __shfl_sync(m, i, __ffs(m) - 1);
        }
}

// verified: lanes with one value have one mask, and all of them execute the second operation
// heddle: grid=1 block=64
__global__ void matched(int *g, const int *in) {
    unsigned m = __match_any_sync(FULL, in[threadIdx.x]);
    g[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, __ffs(m) - 1);
}

// verified: all lanes of a warp have the same row, so they leave the loop together
// heddle: grid=2 block=128
__global__ void row_of_a_warp(int *g, const int *in, int rows) {
    int lane = threadIdx.x % 32, step = gridDim.x * blockDim.x / 32;
    for (int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32; r < rows; r += step) {
        int v = in[r * 32 + lane];
        for (int d = 16; d > 0; d >>= 1)
            v += __shfl_down_sync(FULL, v, d);
        if (lane == 0)
            g[r] = v;
    }
}

// bug warp-sync-hang: lanes leave the loop in different iterations, and the barrier behind it keeps
// them from exiting
// heddle: grid=1 block=32
__global__ void own_trip_count(int *g) {
    int v = 0;
    for (int i = threadIdx.x; i < 40; i += 32)
        v += __shfl_sync(FULL, i, 0);
    __syncthreads();
    g[threadIdx.x] = v;
}

// verified: the votes of all lanes agree, so all lanes leave the loop together
// heddle: grid=1 block=64
__global__ void until_none(int *g, const int *in) {
    int v = in[threadIdx.x];
    while (__any_sync(FULL, v > 0))
        v--;
    g[threadIdx.x] = v;
}

// bug bad-barrier: lanes 16 to 31 execute a shuffle whose mask does not name them
// heddle: grid=1 block=32
__global__ void not_named(int *g) {
    g[threadIdx.x] = __shfl_sync(0xffff, 1, 0);
}

// bug warp-sync-hang: lane 0 waits for lane 16 with one mask, and lane 16 for lane 1 with another
// heddle: grid=1 block=32
__global__ void two_masks(int *g) {
    unsigned m = threadIdx.x < 16 ? FULL : 0xfffffffe;
    g[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, 3);
}

// bug warp-sync-hang: for n = 8, lanes with different masks wait for each other, and none exits
// heddle: grid=1 block=64
__global__ void two_masks_by_argument(int n) {
    if (n == 8)
        __syncwarp((threadIdx.x & 31) < n ? 0xffff : FULL);
}

// verified: each half of a warp names itself
// heddle: grid=1 block=64
__global__ void two_halves(int *g) {
    unsigned m = (threadIdx.x & 16) == 0 ? 0xffff : 0xffff0000;
    g[threadIdx.x] = __shfl_xor_sync(m, (int)threadIdx.x, 3);
}

// unknown: lanes 0 to 15 name lanes that execute the shuffle with another mask. These exit, so that
// nothing hangs, but the guide leaves the result undefined
// heddle: grid=1 block=32
__global__ void two_masks_one_way(int *g) {
    unsigned m = threadIdx.x < 16 ? FULL : 0xffff0000;
    g[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, 20);
}

// verified: lanes that return behind an operation of all lanes have exited
// heddle: grid=1 block=64
__global__ void early_return_behind_a_vote(int *g, int n) {
    bool p = __any_sync(FULL, threadIdx.x == n);
    if (threadIdx.x >= n)
        return;
    g[threadIdx.x] = p + __shfl_down_sync(FULL, (int)threadIdx.x, 1);
}

// bug warp-sync-hang: the mask names the lanes that executed activemask, but the even ones of them
// wait at the barrier of the block
// heddle: grid=1 block=32
__global__ void active_before_a_branch(int *g) {
    unsigned m = __activemask();
    if (threadIdx.x & 1)
        g[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, 1);
    __syncthreads();
}

// bug warp-sync-hang: lane 0 has left the loop with the first ballot and names lane 16, which has
// left it with the second one and names itself only
// heddle: grid=1 block=32
__global__ void ballots_of_two_rounds(int *out) {
    unsigned lane = threadIdx.x, u, i = 0;
    do {
        u = __ballot_sync(i == 0 ? 0xffffffffu : 0xffff0000u, i == 0);
        i++;
    } while (lane >= 16 && i < 2);
    if (lane == 0 || lane == 16)
        __syncwarp(u & 1 ? 0x10001 : 1u << lane);
    __syncthreads();
    out[lane] = u;
}
