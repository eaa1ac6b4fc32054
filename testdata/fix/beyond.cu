// Kernels that need more than a barrier between two statements. The comment above each kernel has the expected result
// of heddle fix and the reason; NAME_ref is the intended version of NAME.
#define N 64

// repaired: the load and the store of one statement race between neighbors
// heddle: grid=1 block=64
__global__ void shift_left(int *a) {
    int t = threadIdx.x;
    if (t < N - 1)
        a[t] = a[t + 1];
}

// heddle: grid=1 block=64
__global__ void shift_left_ref(int *a) {
    int t = threadIdx.x, v = 0;
    if (t < N - 1)
        v = a[t + 1];
    __syncthreads();
    if (t < N - 1)
        a[t] = v;
}

// repaired: threads without work leave while the others wait for them
// heddle: grid=1 block=64 n=50
__global__ void early_return(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t >= n)
        return;
    __syncthreads();
    int v = s[N - 1 - t];
    __syncthreads();
    s[t] = v * 2;
    __syncthreads();
    out[t] = s[(t + 1) % n] + v;
}

// heddle: grid=1 block=64 n=50
__global__ void early_return_ref(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, v = 0;
    s[t] = in[t];
    __syncthreads();
    if (t < n)
        v = s[N - 1 - t];
    __syncthreads();
    if (t < n)
        s[t] = v * 2;
    __syncthreads();
    if (t < n)
        out[t] = s[(t + 1) % n] + v;
}

// repaired: only some threads call the function with the barrier
__device__ int swap_halves(int *s, int t, int v) {
    s[t] = v;
    __syncthreads();
    return s[t ^ 1];
}

// heddle: grid=1 block=64 n=40
__global__ void divergent_call(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, v = in[t];
    s[t] = 0;
    if (t < n)
        v += swap_halves(s, t, v);
    out[t] = v;
}

// heddle: grid=1 block=64 n=40
__global__ void divergent_call_ref(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, v = in[t];
    s[t] = t < n ? v : 0;
    __syncthreads();
    if (t < n)
        v += s[t ^ 1];
    out[t] = v;
}

// repaired: each branch writes what the other reads, and the program does not define their order
// heddle: grid=1 block=64
__global__ void two_branches(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = in[t];
        out[t] = s[t + 32];
    } else {
        s[t] = -in[t];
        out[t] = s[t - 32];
    }
}

// repaired: a break ends the loop for some threads before others
// heddle: grid=1 block=64 n=6
__global__ void loop_with_break(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    s[t] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (k > t % 5)
            break;
        s[t] = in[k * N + t];
        __syncthreads();
        sum += s[(t + 5) % N];
        __syncthreads();
    }
    out[t] = sum;
}

// heddle: grid=1 block=64 n=6
__global__ void loop_with_break_ref(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    s[t] = 0;
    for (int k = 0; k < n; k++) {
        bool p = k <= t % 5;
        __syncthreads();
        if (p)
            s[t] = in[k * N + t];
        __syncthreads();
        if (p)
            sum += s[(t + 5) % N];
    }
    out[t] = sum;
}

// repaired: two nested loops whose trip counts differ between threads, with a barrier in the inner one
// heddle: grid=1 block=64 n=3
__global__ void nested_loops(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    s[t] = t;
    __syncthreads();
    for (int i = 0; i < n - t % 2; i++)
        for (int j = 0; j < 1 + t % 3; j++) {
            s[t] = in[i * 4 + j] + t;
            __syncthreads();
            sum += s[t ^ 6];
            __syncthreads();
        }
    out[t] = sum;
}

// repaired: a lane reads what its neighbor wrote; a warp barrier is enough
// heddle: grid=1 block=32
__global__ void warp_exchange(const int *in, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = s[t ^ 1];
}

// heddle: grid=1 block=32
__global__ void warp_exchange_ref(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x ^ 1];
}

// repaired: the writer of the flag does not order the data before it, and neither does the reader
// heddle: grid=2 block=1
__global__ void flag_without_fence(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        data[0] = 42;
        atomicExch(flag, 1);
    } else {
        if (atomicAdd(flag, 0) == 1)
            out[0] = data[0];
    }
}

// repaired: the fences have block scope only
// heddle: grid=2 block=1
__global__ void narrow_fence(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        if (atomicAdd(flag, 0) == 1) {
            __threadfence_block();
            out[0] = data[0];
        }
    }
}

// repaired: a lock that excludes other threads but does not order the data
// heddle: grid=4 block=1
__global__ void lock_without_fence(int *lock, int *sum) {
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    sum[0] += blockIdx.x + 1;
    atomicExch(lock, 0);
}

// repaired: the last block sums the others' results, without a fence before the counter and one after it
// heddle: grid=4 block=64
__global__ void fence_reduction(const int *in, int *part, unsigned *count, int *out) {
    __shared__ bool last;
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < N; i++)
            sum += s[i];
        part[blockIdx.x] = sum;
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++)
            sum += part[i];
        out[0] = sum;
    }
}

// not repaired: different blocks: each block reads what its neighbor writes, without a flag to wait for
// heddle: grid=4 block=64
__global__ void across_blocks(int *a) {
    int i = blockIdx.x * N + threadIdx.x;
    a[i] = i;
    a[i + 1024] = a[(i + N) % (4 * N)];
}

// not repaired: at the same instruction: the bins are counted without atomic operations
// atomic: the sums are of integers
// heddle: grid=1 block=64 in=small:40
__global__ void histogram(const unsigned *in, unsigned *bins) {
    __shared__ unsigned h[16];
    int t = threadIdx.x;
    if (t < 16)
        h[t] = 0;
    __syncthreads();
    h[in[t] % 16] += 1;
    __syncthreads();
    if (t < 16)
        bins[t] = h[t];
}

// heddle: grid=1 block=64 in=small:40
__global__ void histogram_ref(const unsigned *in, unsigned *bins) {
    int t = threadIdx.x;
    if (t < 16) {
        unsigned n = 0;
        for (int i = 0; i < N; i++)
            n += in[i] % 16 == t;
        bins[t] = n;
    }
}

// unchanged: a barrier under a condition that is uniform for the block
// heddle: grid=2 block=64 n=1
__global__ void right_condition(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    if (n > blockIdx.x) {
        __syncthreads();
        out[blockIdx.x * N + t] = s[N - 1 - t];
    }
}

// repaired: the race needs an input that takes the branch, which zeros do not show
// heddle: grid=1 block=64
__global__ void hidden_by_inputs(const int *index, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = t;
    int k = index[t];
    if (k > 0 && k < 4)
        out[t] = s[(t + 1) % N] + k;
}

// repaired: the lock is acquired by an atomic and released by a plain store, without fences
// heddle: grid=4 block=1
__global__ void lock_plain_release(int *lock, int *sum) {
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    sum[0] += blockIdx.x + 1;
    *lock = 0;
}

__device__ __noinline__ int neighbour(const int *s, int t) {
    return s[(t + 1) % N];
}

// repaired: the race is between a store and a load in a called function
// heddle: grid=1 block=64
__global__ void called_load(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = neighbour(s, t);
}

// heddle: grid=1 block=64
__global__ void called_load_ref(const int *in, int *out) {
    out[threadIdx.x] = in[(threadIdx.x + 1) % N];
}

// not repaired: the flag is set before the data: a release orders earlier accesses, so no fence repairs it
// heddle: grid=2 block=1
__global__ void flag_too_early(volatile int *flag, int *data, int *out) {
    if (blockIdx.x == 0) {
        __threadfence();
        *flag = 1;
        *data = 42;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[0] = *data;
    }
}
