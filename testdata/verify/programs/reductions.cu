// Reductions in their common forms.
#define N 64

// verified: sequential addressing with a stride that is halved
// heddle: grid=4 block=64
__global__ void sum_sequential(const float *in, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: without the barrier in the loop
// heddle: grid=4 block=64
__global__ void sum_sequential_missing_barrier(const float *in, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
    }
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: without the barrier before the loop
// heddle: grid=4 block=64
__global__ void sum_sequential_no_first_barrier(const float *in, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// divergence: the barrier is inside the conditional
// heddle: grid=4 block=64
__global__ void sum_sequential_barrier_inside(const float *in, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) {
            s[t] += s[t + d];
            __syncthreads();
        }
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: interleaved addressing: active threads are multiples of the stride
// heddle: grid=4 block=64
__global__ void sum_interleaved(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: multiples of d instead of 2d: a thread adds to an element that its neighbor reads
// heddle: grid=4 block=64
__global__ void sum_interleaved_wrong_stride(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % d == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: the same with a computed index, so the first threads are active
// heddle: grid=4 block=64
__global__ void sum_strided_index(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned i = 2 * d * t;
        if (i < blockDim.x)
            s[i] += s[i + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: the index lacks the factor of two
// heddle: grid=4 block=64
__global__ void sum_strided_index_wrong(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned i = d * t;
        if (i < blockDim.x)
            s[i] += s[i + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: each thread first sums a strided part of the input
// heddle: grid=4 block=64
__global__ void sum_grid_stride(const int *in, int *out, unsigned n) {
    __shared__ int s[N];
    int t = threadIdx.x, v = 0;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    s[t] = v;
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: every thread of the block stores its own result
// heddle: grid=4 block=64
__global__ void sum_grid_stride_no_guard(const int *in, int *out, unsigned n) {
    __shared__ int s[N];
    int t = threadIdx.x, v = 0;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    s[t] = v;
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    out[blockIdx.x] = s[t];
}

// verified: a maximum and its index: two arrays in parallel
// heddle: grid=4 block=64
__global__ void argmax(const int *in, int *value, int *where) {
    __shared__ int best[N], at[N];
    int t = threadIdx.x;
    best[t] = in[blockIdx.x * N + t];
    at[t] = t;
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t < d && best[t + d] > best[t]) {
            best[t] = best[t + d];
            at[t] = at[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        value[blockIdx.x] = best[0];
        where[blockIdx.x] = at[0];
    }
}

// race: the condition on the index is missing, so the upper half moves values too
// heddle: grid=4 block=64
__global__ void argmax_no_guard(const int *in, int *value) {
    __shared__ int best[2 * N];
    int t = threadIdx.x;
    best[t] = in[blockIdx.x * N + t];
    best[t + N] = 0;
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (best[t + d] > best[t])
            best[t] = best[t + d];
        __syncthreads();
    }
    if (t == 0)
        value[blockIdx.x] = best[0];
}

// verified: dot product of two rows
// heddle: grid=4 block=64
__global__ void dot(const float *a, const float *b, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    s[t] = a[i] * b[i];
    for (int d = N / 2; d >= 1; d = d / 2) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: a thread reads the sum that another one computed
// heddle: grid=4 block=64
__global__ void dot_wrong_reader(const float *a, const float *b, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    s[t] = a[i] * b[i];
    for (int d = N / 2; d >= 1; d = d / 2) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == N - 1)
        out[blockIdx.x] = s[0];
}

// verified: two levels: four groups of 16 threads, then four partial sums
// heddle: grid=4 block=64
__global__ void sum_two_levels(const int *in, int *out) {
    __shared__ int s[N], partial[4];
    int t = threadIdx.x, lane = t % 16, group = t / 16;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 8; d > 0; d >>= 1) {
        if (lane < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (lane == 0)
        partial[group] = s[t];
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}

// race: the partial sums are read before the other groups have stored them
// heddle: grid=4 block=64
__global__ void sum_two_levels_missing_barrier(const int *in, int *out) {
    __shared__ int s[N], partial[4];
    int t = threadIdx.x, lane = t % 16, group = t / 16;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 8; d > 0; d >>= 1) {
        if (lane < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (lane == 0)
        partial[group] = s[t];
    if (t == 0)
        out[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}

// race: all groups store to the first partial sum
// heddle: grid=4 block=64
__global__ void sum_two_levels_one_slot(const int *in, int *out) {
    __shared__ int s[N], partial[4];
    int t = threadIdx.x, lane = t % 16;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 8; d > 0; d >>= 1) {
        if (lane < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (lane == 0)
        partial[lane] = s[t];
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = partial[0];
}

// verified: one atomic of each block adds to the total
// heddle: grid=4 block=64
__global__ void sum_atomic(const int *in, int *total) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(total, s[0]);
}

// race: the blocks add without an atomic
// heddle: grid=4 block=64
__global__ void sum_atomic_plain(const int *in, int *total) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        *total += s[0];
}

// verified: rows of a tile, each summed by its own threads, with barriers in nested loops
// heddle: grid=4 block=64
__global__ void row_sums(const int *in, int *out, int tiles) {
    __shared__ int s[8][8];
    int x = threadIdx.x % 8, y = threadIdx.x / 8, v = 0;
    for (int k = 0; k < tiles; k++) {
        s[y][x] = in[(k * gridDim.x + blockIdx.x) * N + threadIdx.x];
        __syncthreads();
        for (int d = 4; d > 0; d >>= 1) {
            if (x < d)
                s[y][x] += s[y][x + d];
            __syncthreads();
        }
        v += s[y][0];
        __syncthreads();
    }
    if (x == 0)
        out[blockIdx.x * 8 + y] = v;
}

// race: the next tile is loaded while others still read the sum of this one
// heddle: grid=4 block=64
__global__ void row_sums_missing_barrier(const int *in, int *out, int tiles) {
    __shared__ int s[8][8];
    int x = threadIdx.x % 8, y = threadIdx.x / 8, v = 0;
    for (int k = 0; k < tiles; k++) {
        s[y][x] = in[(k * gridDim.x + blockIdx.x) * N + threadIdx.x];
        __syncthreads();
        for (int d = 4; d > 0; d >>= 1) {
            if (x < d)
                s[y][x] += s[y][x + d];
            __syncthreads();
        }
        v += s[y][0];
    }
    if (x == 0)
        out[blockIdx.x * 8 + y] = v;
}
