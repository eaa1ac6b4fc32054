// Places that the leader of a block takes for its threads: thread 0 adds their number to a counter,
// stores what the addition has returned in shared memory, and all use it behind a barrier. Each
// kernel has its expected verdict with the reason, and its launch; "unknown" marks kernels that the
// rule does not cover, or whose race a replay does not show. Counters are 0 at the start.
__device__ unsigned taken, others;

// verified, inputs: a place for each thread of the block
// heddle: grid=4 block=64
__global__ void once(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, 64);
    __syncthreads();
    out[base + threadIdx.x] = 1;
}

// verified, inputs: the number of threads is that of the launch
// heddle: grid=4 block=64
__global__ void block_size(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, blockDim.x);
    __syncthreads();
    out[base + threadIdx.x] = 1;
}

// verified, inputs: a number that all threads know, of which each thread below it has a place
// heddle: grid=4 block=64
__global__ void number_of_all(int *out, unsigned k) {
    __shared__ unsigned base;
    if (k > 64)
        return;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, k);
    __syncthreads();
    if (threadIdx.x < k)
        out[base + threadIdx.x] = 1;
}

// verified, inputs: a number of each block, which all its threads read
// heddle: grid=4 block=64
__global__ void number_of_block(const unsigned *numbers, int *out) {
    __shared__ unsigned base;
    unsigned k = numbers[blockIdx.x] & 1023;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, k);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < k; i += blockDim.x)
        out[base + i] = 1;
}

// unknown: a number of 2^31 or more counts down, and two of them wrap around
// heddle: grid=4 block=64
__global__ void any_number(int *out, unsigned k) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, k);
    __syncthreads();
    if (threadIdx.x < k)
        out[base + threadIdx.x] = 1;
}

// verified, inputs: the number is the sum of a scan, of which the last thread has stored the end
// heddle: grid=4 block=64
__global__ void number_of_scan(const unsigned *in, int *out) {
    __shared__ unsigned sums[64], base;
    sums[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x] & 1;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        unsigned x = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += x;
        __syncthreads();
    }
    unsigned n = sums[63] & 63;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, n);
    __syncthreads();
    if (threadIdx.x < n)
        out[base + threadIdx.x] = 1;
}

// verified, around: blocks take tiles from a queue, with barriers before and behind the number
// heddle: grid=4 block=64
__global__ void tiles(int *out, unsigned n) {
    __shared__ unsigned tile;
    for (;;) {
        if (threadIdx.x == 0)
            tile = atomicAdd(&taken, 1);
        __syncthreads();
        unsigned t = tile;
        __syncthreads();
        if (t >= n || t >= 1 << 20)
            break;
        out[t * 64 + threadIdx.x] += 1;
    }
}

// verified, around: 64 items at a time, from a queue of n
// heddle: grid=4 block=64
__global__ void chunks(int *out, unsigned n) {
    __shared__ unsigned first;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0)
            first = atomicAdd(&taken, 64);
        __syncthreads();
        if (first >= n)
            break;
        unsigned i = first + threadIdx.x;
        if (i < n)
            out[i] = 1;
    }
}

// verified, inputs: two counters, two arrays
// heddle: grid=4 block=64
__global__ void two_queues(int *a, int *b) {
    __shared__ unsigned first, second;
    if (threadIdx.x == 0) {
        first = atomicAdd(&taken, 64);
        second = atomicAdd(&others, 32);
    }
    __syncthreads();
    a[first + threadIdx.x] = 1;
    if (threadIdx.x < 32)
        b[second + threadIdx.x] = 2;
}

// bug race-shared: nothing orders the number with those who read it
// heddle: grid=4 block=64
__global__ void no_barrier(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, 64);
    out[base + threadIdx.x] = 1;
}

// bug race-shared: the leader takes the next tile while others still read the number of this one
// heddle: grid=4 block=64
__global__ void one_barrier(int *out, unsigned n) {
    __shared__ unsigned tile;
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x == 0)
            tile = atomicAdd(&taken, 1);
        __syncthreads();
        out[tile * 64 + threadIdx.x] += 1;
    }
}

// bug race-global: 64 threads use 32 places
// heddle: grid=4 block=64
__global__ void too_few(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, 32);
    __syncthreads();
    out[base + threadIdx.x] = 1;
}

// bug race-global: the threads up to k use k places
// heddle: grid=4 block=64
__global__ void up_to_number(int *out, unsigned k) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, k);
    __syncthreads();
    if (threadIdx.x <= k)
        out[base + threadIdx.x] = 1;
}

// bug race-global: the number of a thread is not that of its leader
// heddle: grid=4 block=64
__global__ void number_of_thread(const unsigned *in, int *out) {
    __shared__ unsigned base;
    unsigned k = in[threadIdx.x] & 63;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, k);
    __syncthreads();
    if (threadIdx.x < k + 1)
        out[base + threadIdx.x] = 1;
}

// bug race-global: two tiles share half of their elements
// heddle: grid=4 block=64
__global__ void half_tiles(int *out, unsigned n) {
    __shared__ unsigned tile;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            tile = atomicAdd(&taken, 1);
        __syncthreads();
        if (tile >= n || tile >= 1 << 20)
            break;
        out[tile * 32 + threadIdx.x] = 1;
    }
}

// bug race-global: the leader sets the counter back before its block exits
// heddle: grid=4 block=64
__global__ void resets(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, 64);
    __syncthreads();
    out[base + threadIdx.x] = 1;
    if (threadIdx.x == 0)
        atomicExch(&taken, 0);
}

// bug race-global: places are given back, and taken by another block
// heddle: grid=4 block=64
__global__ void gives_back(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&taken, 64);
    __syncthreads();
    out[base + threadIdx.x] = 1;
    if (threadIdx.x == 1)
        atomicSub(&taken, 64);
}

// bug race-global: block 0 takes from the other counter
// heddle: grid=4 block=64
__global__ void other_counter(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(blockIdx.x == 0 ? &others : &taken, 64);
    __syncthreads();
    out[base + threadIdx.x] = 1;
}

// bug race-global: the number is read before the barrier behind which it is told, so that it is
// that of the round before, and what lies in shared memory at first is the same in all blocks
// heddle: grid=4 block=64
__global__ void round_before(int *out, unsigned n) {
    __shared__ unsigned first;
    if (threadIdx.x == 0)
        first = 0;
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        unsigned f = first;
        __syncthreads();
        if (threadIdx.x == 0)
            first = atomicAdd(&taken, 64);
        __syncthreads();
        out[f + threadIdx.x] = 1;
    }
}

// bug race-global: only even blocks take places, the others use what their leader has not told
// heddle: grid=4 block=64
__global__ void some_blocks(int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0) {
        unsigned b = 0;
        if (blockIdx.x % 2 == 0)
            b = atomicAdd(&taken, 64);
        base = b;
    }
    __syncthreads();
    out[base + threadIdx.x] = 1;
}

// bug race-global: each leader has a counter of its block
// heddle: grid=4 block=64
__global__ void counter_of_block(unsigned *counters, int *out) {
    __shared__ unsigned base;
    if (threadIdx.x == 0)
        base = atomicAdd(&counters[blockIdx.x], 64);
    __syncthreads();
    out[base + threadIdx.x] = 1;
}
