// Fences that order nothing that anybody depends on, and fences that do, or may.

// Barriers order all of shared memory.
__global__ void reverse(int *out, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __threadfence_block(); // offer: nothing: the barrier orders the block
    __syncthreads();
    out[t] = s[255 - t];
}

// A fence of the device does no more in the block, and no block conflicts with another one.
__global__ void device(int *out, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    __threadfence(); // offer: nothing: blocks access different elements, barriers order the block
    __syncthreads();
    out[i] = s[255 - t];
}

// A histogram: only sums whose results are not used.
__global__ void histogram(unsigned *bins, const unsigned char *in, int n) {
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        atomicAdd(&s[in[i]], 1);
    __threadfence(); // offer: nothing: the sums are in shared memory, which the barrier orders
    __syncthreads();
    atomicAdd(&bins[t], s[t]);
}

// In front of the end of the kernel nothing follows that could be ordered.
__global__ void last(float *out, const float *in) {
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = 2 * in[i];
    __threadfence_system(); // offer: nothing: the end of the kernel orders everything
}

// Volatile accesses of one block: a fence of the block is wide enough.
__global__ void within(volatile int *v, int *out) {
    int t = threadIdx.x;
    volatile int *mine = v + blockIdx.x * 64;
    mine[t] = t;
    __threadfence(); // keep: code outside the kernel may read what is volatile, or write it
    out[blockIdx.x * 64 + t] = mine[63 - t];
}

// In a launch of one block the next block is the block itself.
__global__ void nextBlock(volatile int *v, int *out) {
    int t = threadIdx.x;
    v[blockIdx.x * 64 + t] = t;
    __threadfence(); // keep: in larger grids another block reads what is stored before it
    out[blockIdx.x * 64 + t] = v[(blockIdx.x + 1) % gridDim.x * 64 + 63 - t];
}

// The last block adds up what the others wrote: the fence is what makes it right.
__device__ unsigned finished;
__global__ void lastBlock(int *out, int *parts, const int *in) {
    __shared__ bool isLast;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
        __threadfence(); // keep: the last block reads what is stored before it
        isLast = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++)
            sum += ((volatile int *)parts)[b];
        out[0] = sum;
    }
}

// The same, as launched by a test with one block: proved for any grid, or not at all.
__global__ void oneBlock(int *out, int *parts, const int *in) {
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
        __threadfence(); // keep: the last block reads what is stored before it
        if (atomicAdd(&finished, 1) == gridDim.x - 1) {
            int sum = 0;
            for (int b = 0; b < gridDim.x; b++)
                sum += parts[b];
            out[0] = sum;
        }
    }
}

// A look-back: each block waits for the sum of the block before it.
__global__ void lookBack(int *sum, volatile int *ready, const int *in) {
    if (threadIdx.x == 0) {
        int b = blockIdx.x, before = 0;
        if (b > 0) {
            while (ready[b - 1] == 0) {
            }
            __threadfence(); // keep: the flag is read before the sum
            before = sum[b - 1];
        }
        sum[b] = before + in[b];
        __threadfence(); // keep: the sum is stored before the flag
        ready[b] = 1;
    }
}

// Two threads and two flags, all accesses strong: without the fence both may read 0.
__global__ void dekker(volatile int *flag, int *out) {
    if (threadIdx.x == 0) {
        flag[blockIdx.x] = 1;
        __threadfence(); // keep: the store is ordered before the read of the other flag
        out[blockIdx.x] = flag[1 - blockIdx.x];
    }
}

// A flag for code outside the kernel, by an atomic operation.
__global__ void producer(int *data, int *done, const int *in) {
    int i = blockIdx.x * 256 + threadIdx.x;
    data[i] = in[i];
    __threadfence(); // keep: another kernel may wait for done before it reads data
    atomicAdd(done, 1);
}

// The same by a plain store of a constant: a data race for whoever reads it, but common.
__global__ void plainFlag(int *data, int *flag, const int *in) {
    if (threadIdx.x == 0) {
        data[blockIdx.x] = in[blockIdx.x];
        __threadfence(); // keep: another kernel may wait for the flag
        flag[blockIdx.x] = 1;
    }
}

// A kernel that waits for code outside of it.
__global__ void consumer(int *out, const int *data, volatile int *flag) {
    if (threadIdx.x == 0) {
        while (flag[blockIdx.x] == 0) {
        }
        __threadfence(); // keep: orders the read of the flag before that of the data
        out[blockIdx.x] = data[blockIdx.x];
    }
}

int main() {
    int *a, *b, *c;
    float *f, *g;
    unsigned *h;
    unsigned char *text;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    cudaMalloc(&f, 1 << 20);
    cudaMalloc(&g, 1 << 20);
    cudaMalloc(&h, 1024);
    cudaMalloc(&text, 1 << 20);
    reverse<<<1, 256>>>(a, b);
    device<<<16, 256>>>(a, b);
    histogram<<<16, 256>>>(h, text, 1 << 20);
    last<<<16, 256>>>(f, g);
    within<<<16, 64>>>(a, b);
    nextBlock<<<1, 64>>>(a, b);
    lastBlock<<<16, 64>>>(a, b, c);
    oneBlock<<<1, 64>>>(a, b, c);
    lookBack<<<16, 64>>>(a, b, c);
    dekker<<<2, 32>>>(a, b);
    producer<<<16, 256>>>(a, b, c);
    plainFlag<<<16, 64>>>(a, b, c);
    consumer<<<16, 64>>>(a, b, c);
}
