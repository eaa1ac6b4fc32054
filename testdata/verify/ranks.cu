// Ranks from additions of any size: each thread gets the places [r, r+k) where r is what an
// addition of k returns. Each kernel has its expected verdict with the reason, and its launch;
// "unknown" marks kernels that the rule does not cover, or whose race a replay does not show.
// Counters are 0 at the start.
#include <cuda/atomic>

__device__ unsigned taken, turns[16];

// verified, inputs: 128 threads add 3 and write 3 elements
// heddle: grid=4 block=32
__global__ void three_each(int *out) {
    unsigned at = atomicAdd(&taken, 3);
    for (int i = 0; i < 3; i++)
        out[at + i] = threadIdx.x;
}

// verified, inputs: from 0 to 7 elements of each thread
// heddle: grid=4 block=32
__global__ void up_to_seven(const unsigned *in, int *out) {
    unsigned k = in[blockIdx.x * blockDim.x + threadIdx.x] & 7;
    unsigned at = atomicAdd(&taken, k);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// verified, inputs: the size depends on the thread
// heddle: grid=4 block=32
__global__ void by_thread(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicAdd(&taken, k);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// verified, inputs: the first and the last element only
// heddle: grid=4 block=32
__global__ void both_ends(int *out) {
    unsigned k = 1 + threadIdx.x;
    unsigned at = atomicAdd(&taken, k);
    out[at] = 1;
    out[at + k - 1] = 2;
}

// verified, around: nothing bounds the size; that all together do not wrap is an assumption
// heddle: grid=4 block=32
__global__ void size_in_memory(const int *in, int *out) {
    int k = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (k <= 0)
        return;
    unsigned at = atomicAdd(&taken, (unsigned)k);
    for (int i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// verified, around: a size for all threads
// heddle: grid=4 block=32
__global__ void size_of_all(int *out, int n) {
    if (n < 1)
        return;
    int at = atomicAdd((int *)&taken, n);
    for (int i = 0; i < n; i++)
        out[at + i] = threadIdx.x;
}

// verified, inputs: two additions of different sizes
// heddle: grid=4 block=32
__global__ void two_sizes(int *out) {
    if (threadIdx.x & 1) {
        unsigned at = atomicAdd(&taken, threadIdx.x);
        for (unsigned i = 0; i < threadIdx.x; i++)
            out[at + i] = 1;
    } else {
        out[atomicAdd(&taken, 1)] = 2;
    }
}

// verified, inputs: a counter of 64 bits
// heddle: grid=4 block=32
__global__ void wide(unsigned long long *count, int *out, const unsigned char *in) {
    unsigned k = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned long long at = atomicAdd(count, (unsigned long long)k);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// verified, around: a queue of n items, each for one thread
// heddle: grid=4 block=32
__global__ void queue(int *out, unsigned n) {
    unsigned i;
    while ((i = atomicAdd(&taken, 1)) < n)
        out[i] = threadIdx.x;
}

// verified, around: a queue of chunks of four items
// heddle: grid=4 block=32
__global__ void queue_of_chunks(int *out, unsigned n) {
    for (unsigned i; (i = atomicAdd(&taken, 4)) < n;)
        for (unsigned j = i; j < i + 4; j++)
            out[j] += 1;
}

// verified, around: each round adds as much as the thread has
// heddle: grid=4 block=32
__global__ void rounds(const unsigned *in, int *out, int n) {
    for (int j = 0; j < n; j++) {
        unsigned k = in[j] & 3;
        unsigned at = atomicAdd(&taken, k);
        for (unsigned i = 0; i < k; i++)
            out[at + i] = threadIdx.x;
    }
}

// verified, inputs: one counter for each bin
// heddle: grid=4 block=32
__global__ void bins(const unsigned *in, int (*out)[1024]) {
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x], b = x & 15, k = (x >> 4) & 3;
    unsigned at = atomicAdd(&turns[b], k);
    for (unsigned i = 0; i < k; i++)
        if (at + i < 1024)
            out[b][at + i] = threadIdx.x;
}

// verified, inputs: in shared memory, of one block
// heddle: grid=4 block=64
__global__ void in_shared(int *out, const unsigned *in) {
    __shared__ unsigned n;
    __shared__ int list[256];
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    unsigned k = in[threadIdx.x] & 3;
    unsigned at = atomicAdd(&n, k);
    for (unsigned i = 0; i < k; i++)
        list[at + i] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = list[threadIdx.x];
}

// bug race-global: one element more than was added
// heddle: grid=4 block=32
__global__ void one_too_many(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicAdd(&taken, k);
    for (unsigned i = 0; i <= k; i++)
        out[at + i] = threadIdx.x;
}

// bug race-global: adds one, writes k
// heddle: grid=4 block=32
__global__ void adds_one(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicAdd(&taken, 1);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// bug race-global: one element before the first
// heddle: grid=4 block=32
__global__ void one_before(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicAdd(&taken, k);
    out[at + 63] = 1;
    out[at + 62] = 2;
}

// bug race-global: some threads add nothing, and write an element all the same
// heddle: grid=4 block=32
__global__ void adds_nothing(int *out) {
    unsigned k = threadIdx.x % 5;
    unsigned at = atomicAdd(&taken, k);
    out[at] = threadIdx.x;
}

// bug race-global: the sizes have both signs, so that the counter goes up and down
// heddle: grid=4 block=32
__global__ void both_signs(int *out) {
    int k = threadIdx.x & 1 ? 1 : -1;
    int at = atomicAdd((int *)&taken, k);
    out[at + 128] = threadIdx.x;
}

// bug race-global: half of the threads subtract
// heddle: grid=4 block=32
__global__ void gives_back(int *out) {
    int at = atomicAdd((int *)&taken, 2);
    if (threadIdx.x & 1)
        atomicSub((int *)&taken, 2);
    out[at] = threadIdx.x;
}

// bug race-global: additions of 2^27 and more wrap around after 32
// heddle: grid=4 block=32
__global__ void wraps(char *out) {
    unsigned k = (1u << 27) + (threadIdx.x & 3) * (1u << 27);
    out[atomicAdd(&taken, k) >> 27] = threadIdx.x;
}

// bug race-global: the maximum is no sum
// heddle: grid=4 block=32
__global__ void maximum(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicMax(&taken, k);
    out[at] = threadIdx.x;
}

// unknown: a thread sets the counter back; for that it must get 7, which it does in no run
// heddle: grid=4 block=32
__global__ void resets(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicAdd(&taken, k);
    if (at == 7)
        atomicExch(&taken, 0);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// bug race-global: each block has its counter, and all write one array
// heddle: grid=4 block=32
__global__ void counter_of_block(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = atomicAdd(&turns[blockIdx.x], k);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// bug race-global: a load and a store instead of an addition
// heddle: grid=4 block=32
__global__ void not_atomic(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = *(volatile unsigned *)&taken;
    *(volatile unsigned *)&taken = at + k;
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// bug race-global: additions of block scope in two blocks are not atomic (PTX ISA 8.7)
// heddle: grid=4 block=1
__global__ void scope_of_block(int *out) {
    unsigned k = 1 + threadIdx.x % 5;
    unsigned at = cuda::atomic_ref<unsigned, cuda::thread_scope_block>(taken).fetch_add(
        k, cuda::memory_order_relaxed);
    for (unsigned i = 0; i < k; i++)
        out[at + i] = threadIdx.x;
}

// bug race-global: a queue whose items are read by the thread that takes the next one
// heddle: grid=4 block=32
__global__ void queue_of_neighbours(int *out, unsigned n) {
    unsigned i;
    while ((i = atomicAdd(&taken, 1)) < n)
        out[i] = out[i + 1];
}

// bug race-global: chunks of four items, of which each thread takes five
// heddle: grid=4 block=32
__global__ void chunks_overlap(int *out, unsigned n) {
    for (unsigned i; (i = atomicAdd(&taken, 4)) < n;)
        for (unsigned j = i; j < i + 5; j++)
            out[j] += 1;
}
