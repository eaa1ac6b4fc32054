// Prefix sums and algorithms that use them.
#define N 64

// verified: Hillis and Steele, in place, with a barrier between reading and writing
// heddle: grid=4 block=64
__global__ void hillis_steele(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = 0;
        if (t >= d)
            v = s[t - d];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[t];
}

// race: the first barrier of the loop is missing
// heddle: grid=4 block=64
__global__ void hillis_steele_missing_first(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = 0;
        if (t >= d)
            v = s[t - d];
        s[t] += v;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[t];
}

// race: the second barrier of the loop is missing
// heddle: grid=4 block=64
__global__ void hillis_steele_missing_second(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = 0;
        if (t >= d)
            v = s[t - d];
        __syncthreads();
        s[t] += v;
    }
    out[blockIdx.x * N + t] = s[t];
}

// divergence: the loop runs while the thread has a left neighbor (lock-step paper, figure 1b)
// heddle: grid=4 block=64
__global__ void hillis_steele_private_loop(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d <= t; d *= 2) {
        int v = s[t - d];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[t];
}

// verified: Hillis and Steele with two buffers and one barrier in each step
// heddle: grid=4 block=64
__global__ void hillis_steele_two_buffers(const int *in, int *out) {
    __shared__ int s[2][N];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = s[from][t];
        if (t >= d)
            v += s[from][t - d];
        s[1 - from][t] = v;
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[from][t];
}

// race: the buffers are not swapped, so both are the same
// heddle: grid=4 block=64
__global__ void hillis_steele_no_swap(const int *in, int *out) {
    __shared__ int s[2][N];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = s[from][t];
        if (t >= d)
            v += s[from][t - d];
        s[from][t] = v;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[from][t];
}

// verified: Blelloch: up, clear the last element, down; two elements for each thread
// heddle: grid=4 block=64
__global__ void blelloch(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x, d = 1;
    s[2 * t] = in[blockIdx.x * 2 * N + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * 2 * N + 2 * t + 1];
    for (int k = N; k > 0; k >>= 1) {
        __syncthreads();
        if (t < k) {
            int a = d * (2 * t + 1) - 1, b = d * (2 * t + 2) - 1;
            s[b] += s[a];
        }
        d *= 2;
    }
    if (t == 0)
        s[2 * N - 1] = 0;
    for (int k = 1; k < 2 * N; k *= 2) {
        d >>= 1;
        __syncthreads();
        if (t < k) {
            int a = d * (2 * t + 1) - 1, b = d * (2 * t + 2) - 1;
            int v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    out[blockIdx.x * 2 * N + 2 * t] = s[2 * t];
    out[blockIdx.x * 2 * N + 2 * t + 1] = s[2 * t + 1];
}

// race: no barrier in the up-sweep
// heddle: grid=4 block=64
__global__ void blelloch_missing_up(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x, d = 1;
    s[2 * t] = in[blockIdx.x * 2 * N + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * 2 * N + 2 * t + 1];
    __syncthreads();
    for (int k = N; k > 0; k >>= 1) {
        if (t < k) {
            int a = d * (2 * t + 1) - 1, b = d * (2 * t + 2) - 1;
            s[b] += s[a];
        }
        d *= 2;
    }
    __syncthreads();
    out[blockIdx.x * 2 * N + 2 * t] = s[2 * t];
    out[blockIdx.x * 2 * N + 2 * t + 1] = s[2 * t + 1];
}

// race: no barrier before the results are stored
// heddle: grid=4 block=64
__global__ void blelloch_missing_last(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x, d = 1;
    s[2 * t] = in[blockIdx.x * 2 * N + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * 2 * N + 2 * t + 1];
    for (int k = N; k > 0; k >>= 1) {
        __syncthreads();
        if (t < k) {
            int a = d * (2 * t + 1) - 1, b = d * (2 * t + 2) - 1;
            s[b] += s[a];
        }
        d *= 2;
    }
    out[blockIdx.x * 2 * N + t] = s[t];
    out[blockIdx.x * 2 * N + N + t] = s[N + t];
}

// verified: Brent and Kung: up with a doubling distance, then down
// heddle: grid=4 block=64
__global__ void brent_kung(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 2 * N + t];
    s[t + N] = in[blockIdx.x * 2 * N + t + N];
    for (unsigned d = 1; d <= N; d *= 2) {
        __syncthreads();
        unsigned i = (t + 1) * 2 * d - 1;
        if (i < 2 * N)
            s[i] += s[i - d];
    }
    for (unsigned d = N / 2; d > 0; d /= 2) {
        __syncthreads();
        unsigned i = (t + 1) * 2 * d - 1;
        if (i + d < 2 * N)
            s[i + d] += s[i];
    }
    __syncthreads();
    out[blockIdx.x * 2 * N + t] = s[t];
    out[blockIdx.x * 2 * N + t + N] = s[t + N];
}

// race: no barrier in the down-sweep
// heddle: grid=4 block=64
__global__ void brent_kung_missing_down(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 2 * N + t];
    s[t + N] = in[blockIdx.x * 2 * N + t + N];
    for (unsigned d = 1; d <= N; d *= 2) {
        __syncthreads();
        unsigned i = (t + 1) * 2 * d - 1;
        if (i < 2 * N)
            s[i] += s[i - d];
    }
    __syncthreads();
    for (unsigned d = N / 2; d > 0; d /= 2) {
        unsigned i = (t + 1) * 2 * d - 1;
        if (i + d < 2 * N)
            s[i + d] += s[i];
    }
    __syncthreads();
    out[blockIdx.x * 2 * N + t] = s[t];
    out[blockIdx.x * 2 * N + t + N] = s[t + N];
}

// race: the index of the up-sweep is off by one, so threads read elements that others add to
// heddle: grid=4 block=64
__global__ void brent_kung_wrong_index(const int *in, int *out) {
    __shared__ int s[4 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    for (unsigned d = 1; d <= N; d *= 2) {
        __syncthreads();
        unsigned i = (t + 1) * d;
        if (i < 2 * N)
            s[i] += s[i - d];
    }
    __syncthreads();
    out[blockIdx.x * N + t] = s[t];
}

// verified: one thread computes the running sum of the others' values
// heddle: grid=4 block=64
__global__ void serial_scan(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t == 0)
        for (int i = 1; i < N; i++)
            s[i] += s[i - 1];
    __syncthreads();
    out[blockIdx.x * N + t] = s[t];
}

// race: the other threads do not wait for that thread
// heddle: grid=4 block=64
__global__ void serial_scan_no_wait(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t == 0)
        for (int i = 1; i < N; i++)
            s[i] += s[i - 1];
    out[blockIdx.x * N + t] = s[t];
}

// divergence: that thread waits in its branch, the others wait in theirs
// heddle: grid=4 block=64
__global__ void serial_scan_two_barriers(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < N; i++)
            s[i] += s[i - 1];
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[t];
}

// unknown: the places are distinct because the sums increase for each kept element
// heddle: grid=4 block=64
__global__ void compact_by_scan(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, v = in[blockIdx.x * N + t], keep = v > 0;
    s[t] = keep;
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    if (keep)
        out[blockIdx.x * N + s[t] - 1] = v;
}

// race: an inclusive sum without the flag of the thread: threads that are not kept write too
// heddle: grid=4 block=64
__global__ void compact_by_scan_all_write(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, v = in[blockIdx.x * N + t], keep = v > 0;
    s[t] = keep;
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[blockIdx.x * N + s[t]] = v;
}

// unknown: the prover does not know that atomicAdd returns a different place to each thread
// heddle: grid=4 block=64
__global__ void compact_by_atomic(const int *in, int *out) {
    __shared__ int count;
    int t = threadIdx.x, v = in[blockIdx.x * N + t];
    if (t == 0)
        count = 0;
    __syncthreads();
    if (v > 0)
        out[blockIdx.x * N + atomicAdd(&count, 1)] = v;
}

// race: the counter is cleared without a barrier before its use
// heddle: grid=4 block=64
__global__ void compact_by_atomic_late_clear(const int *in, int *out) {
    __shared__ int count;
    int t = threadIdx.x, v = in[blockIdx.x * N + t];
    if (t == 0)
        count = 0;
    if (v > 0)
        atomicAdd(&count, 1);
    __syncthreads();
    out[blockIdx.x * N + t] = count;
}

// verified: flags are stored at the threads' own places; only the count of the block is shared
// heddle: grid=4 block=64
__global__ void compact_count(const int *in, int *counts) {
    __shared__ int total;
    int t = threadIdx.x;
    if (t == 0)
        total = 0;
    __syncthreads();
    if (in[blockIdx.x * N + t] > 0)
        atomicAdd(&total, 1);
    __syncthreads();
    if (t == 0)
        counts[blockIdx.x] = total;
}

// race: the count is read before all threads have added
// heddle: grid=4 block=64
__global__ void compact_count_early(const int *in, int *counts) {
    __shared__ int total;
    int t = threadIdx.x;
    if (t == 0)
        total = 0;
    __syncthreads();
    if (in[blockIdx.x * N + t] > 0)
        atomicAdd(&total, 1);
    if (t == 0)
        counts[blockIdx.x] = total;
}
