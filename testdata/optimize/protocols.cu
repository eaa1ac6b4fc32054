// Protocols of threads that pass data to each other, or that look as if they did.
#include <cuda/atomic>
using device = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using block = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

// A queue of work: another kernel may fill it at the same time.
__global__ void work(unsigned *head, const unsigned *items, unsigned *out, unsigned n) {
    device h(*head);
    for (;;) {
        unsigned i = h.fetch_add(1, cuda::memory_order_acquire); // keep: the item is read behind it
        if (i >= n)
            break;
        out[i] = items[i];
    }
}

// A version that is odd while the data changes.
__global__ void version(unsigned *count, unsigned *data) {
    if (threadIdx.x == 0) {
        device v(count[blockIdx.x]);
        v.fetch_add(1, cuda::memory_order_acq_rel); // keep: before the store
        data[blockIdx.x] = blockIdx.x;
        v.fetch_add(1, cuda::memory_order_release); // keep: behind the store
    }
}

// Strong loads and stores that barriers order are as good as plain ones.
__global__ void sumOfBlock(unsigned *out, const unsigned *in) {
    __shared__ unsigned s;
    block sum(s);
    if (threadIdx.x == 0)
        sum.store(0, cuda::memory_order_relaxed);
    __syncthreads(); // keep: all warps add behind the reset
    sum.fetch_add(in[threadIdx.x]); // offer: relaxed: barriers order the sum before the loads
    __syncthreads(); // keep: all warps add before the loads
    out[blockIdx.x * 64 + threadIdx.x] = sum.load();
}

// One warp waits for another one.
__global__ void handOver(unsigned *out) {
    __shared__ unsigned s;
    block ready(s);
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads(); // keep: the flag is reset before it is raised
    if (threadIdx.x == 32) {
        out[2 * blockIdx.x] = 7;
        ready.fetch_add(1, cuda::memory_order_release); // keep: behind the store
    }
    if (threadIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[2 * blockIdx.x + 1] = out[2 * blockIdx.x];
    }
}

// Each of two blocks announces itself and looks for the other one.
__global__ void buffering(unsigned *x, unsigned *y, unsigned *out) {
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        atomicExch(x, 1); // keep: read by the other block
        __threadfence(); // keep: without it both may read 0
        out[0] = atomicAdd(y, 0); // keep: stored by the other block
    } else {
        atomicExch(y, 1); // keep: read by the other block
        __threadfence(); // keep: without it both may read 0
        out[1] = atomicAdd(x, 0); // keep: stored by the other block
    }
}

// The same within a block, by volatile accesses.
__global__ void bufferingInBlock(unsigned *out) {
    __shared__ volatile unsigned f[64];
    int t = threadIdx.x;
    f[t] = 0;
    __syncthreads(); // keep: f[t ^ 32] is of another warp
    f[t] = 1;
    __threadfence_block(); // keep: without it both may read 0
    out[blockIdx.x * 64 + t] = f[t ^ 32];
}

// A barrier of the grid made by hand.
__global__ void grid(unsigned *a, unsigned *b, volatile unsigned *count) {
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    __threadfence(); // keep: other blocks read a
    __syncthreads(); // keep: all threads store before thread 0 announces it
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)count, 1); // keep: counts all blocks
        while (*count < gridDim.x) {
        }
    }
    __syncthreads(); // keep: all threads wait for thread 0
    b[i] = a[gridDim.x * 64 - 1 - i];
}

// With the arguments of the launch, threads reach one of the barriers only.
__global__ void branches(unsigned *out, int n) {
    __shared__ unsigned s[128];
    int t = threadIdx.x;
    s[t] = t;
    if (n > 3)
        __syncthreads(); // offer: __syncwarp(): the neighbour's element
    else
        __syncthreads(); // offer: __syncwarp(): removing it would be right for n = 4 only
    out[t] = s[t ^ 1];
}

int main() {
    unsigned *a, *b, *c;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    work<<<4, 64>>>(a, b, c, 1000);
    version<<<4, 64>>>(a, b);
    sumOfBlock<<<4, 64>>>(a, b);
    handOver<<<4, 64>>>(a);
    buffering<<<2, 32>>>(a, b, c);
    bufferingInBlock<<<4, 64>>>(a);
    grid<<<4, 64>>>(a, b, c);
    branches<<<1, 128>>>(a, 4);
}
