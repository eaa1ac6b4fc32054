// Loops whose state has no closed form, or no obvious one. Launches and markers as in barriers.cu.
#define N 64

// verified: partners are t and t^j, and only one of them acts; each j has its own barrier interval
__global__ void bitonic(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            int x = t ^ j;
            if (x > t) {
                int a = s[t], b = s[x];
                if ((a > b) == ((t & k) == 0)) {
                    s[t] = b;
                    s[x] = a;
                }
            }
            __syncthreads();
        }
    data[blockIdx.x * N + t] = s[t];
}

// race: without the condition both partners act
__global__ void bitonic_racy(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            int x = t ^ j;
            if (s[t] > s[x])
                s[t] = s[x];
            __syncthreads();
        }
    data[blockIdx.x * N + t] = s[t];
}

// race: the barrier is outside the inner loop
__global__ void bitonic_outer_barrier_racy(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            int x = t ^ j;
            if (x > t && s[t] > s[x])
                s[t] = s[x];
        }
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[t];
}

// verified: up and down a tree with 2N leaves, with a stride that doubles and then halves
__global__ void blelloch(int *data) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[2 * t] = data[blockIdx.x * 2 * N + 2 * t];
    s[2 * t + 1] = data[blockIdx.x * 2 * N + 2 * t + 1];
    int offset = 1;
    for (int d = N; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        s[2 * N - 1] = 0;
    for (int d = 1; d < 2 * N; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, x = s[a];
            s[a] = s[b];
            s[b] += x;
        }
    }
    __syncthreads();
    data[blockIdx.x * 2 * N + 2 * t] = s[2 * t];
    data[blockIdx.x * 2 * N + 2 * t + 1] = s[2 * t + 1];
}

// race: each thread reads the node to its left, which its neighbor writes
__global__ void blelloch_racy(int *data) {
    __shared__ int s[8 * N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    int offset = 1;
    for (int d = N; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * 2 * t - (t > 0)];
        offset *= 2;
    }
    __syncthreads();
    data[blockIdx.x * N + t] = s[t];
}

// verified: the second loop halves a signed number by division
__global__ void brent_kung(int *data) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 2 * N + t];
    s[t + N] = data[blockIdx.x * 2 * N + t + N];
    for (int stride = 1; stride <= N; stride *= 2) {
        __syncthreads();
        int i = (t + 1) * stride * 2 - 1;
        if (i < 2 * N)
            s[i] += s[i - stride];
    }
    for (int stride = N / 2; stride > 0; stride /= 2) {
        __syncthreads();
        int i = (t + 1) * stride * 2 - 1;
        if (i + stride < 2 * N)
            s[i + stride] += s[i];
    }
    __syncthreads();
    data[blockIdx.x * 2 * N + t] = s[t];
    data[blockIdx.x * 2 * N + t + N] = s[t + N];
}

// verified: the condition depends on the thread, but paths merge before the barrier; d is at most N
__global__ void interleaved(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int i = 2 * d * t;
        if (i < N)
            s[i] += s[i + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: at most one element in each iteration, so each thread stays in its row
__global__ void row_fill(const int *in, int *out, int n) {
    int t = threadIdx.x, p = 0;
    for (int i = 0; i < 16; i++)
        if (in[i * N + t] > n) {
            out[(blockIdx.x * N + t) * 16 + p] = i;
            p++;
        }
}

// race: two elements in each iteration fill the row of the next thread
__global__ void row_fill_racy(const int *in, int *out, int n) {
    int t = threadIdx.x, p = 0;
    for (int i = 0; i < 16; i++)
        if (in[i * N + t] > n) {
            out[(blockIdx.x * N + t) * 16 + p] = i;
            p += 2;
        }
}

// verified: a thread stays in its own column, whichever iterations it skips
__global__ void column_fill(const int *in, int *out, int n) {
    int p = blockIdx.x * N + threadIdx.x;
    for (int i = 0; i < n; i++)
        if (in[i * N + threadIdx.x] > n) {
            out[p] = i;
            p += 4 * N;
        }
}

// race: the stride is half of the grid
__global__ void column_fill_racy(const int *in, int *out, int n) {
    int p = blockIdx.x * N + threadIdx.x;
    for (int i = 0; i < n; i++)
        if (in[i * N + threadIdx.x] > n) {
            out[p] = i;
            p += 2 * N;
        }
}

// verified: two halves of a buffer are read and written alternately
__global__ void swapped_index(int *data) {
    __shared__ int s[2][N];
    int t = threadIdx.x, in = 0, out = 1;
    s[0][t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d <<= 1) {
        s[out][t] = s[in][t] + (t >= d ? s[in][t - d] : 0);
        __syncthreads();
        int x = in;
        in = out;
        out = x;
    }
    data[blockIdx.x * N + t] = s[in][t];
}

// verified: two buffers by pointer
__global__ void swapped_pointers(int *data, int n) {
    __shared__ int s0[N], s1[N];
    int *p = s0, *q = s1, t = threadIdx.x;
    s0[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        q[t] = p[(t + 1) % N];
        __syncthreads();
        int *x = p;
        p = q;
        q = x;
    }
    data[blockIdx.x * N + t] = p[t];
}

// race: p becomes q but q does not change, so both are the same buffer from the second iteration on
__global__ void swapped_pointers_racy(int *data, int n) {
    __shared__ int s0[N], s1[N];
    int *p = s0, *q = s1, t = threadIdx.x;
    s0[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        q[t] = p[(t + 1) % N];
        __syncthreads();
        p = q;
    }
    data[blockIdx.x * N + t] = p[t];
}

// verified: with three buffers, one barrier in each iteration is enough
__global__ void rotated(int *data, int n) {
    __shared__ int s[3][N];
    int t = threadIdx.x, a = 0, b = 1, c = 2;
    s[0][t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        s[b][t] = s[a][(t + 1) % N];
        __syncthreads();
        int x = a;
        a = b;
        b = c;
        c = x;
    }
    data[blockIdx.x * N + t] = s[a][t];
}

// verified: a parity that flips by subtraction
__global__ void flipped(int *data, int n) {
    __shared__ int s[2 * N];
    int t = threadIdx.x, cur = 0;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        s[(1 - cur) * N + t] = s[cur * N + (t + 1) % N];
        cur = 1 - cur;
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[cur * N + t];
}

// race: a thread reads the half that is being written
__global__ void flipped_racy(int *data, int n) {
    __shared__ int s[2 * N];
    int t = threadIdx.x, cur = 0;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        cur = 1 - cur;
        s[cur * N + t] = s[cur * N + (t + 1) % N];
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[cur * N + t];
}

// verified: state that changes under a condition on itself: a thread that stops never starts again
__global__ void haar(const float *in, float *out) {
    __shared__ float s[2 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    int at = 2 * t, distance = 1, active = N / 2;
    for (int i = 1; i <= 6; i++) {
        if (t < active) {
            s[at] += s[at + distance];
            active >>= 1;
            at <<= 1;
            distance <<= 1;
        }
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: the distance grows for all threads, the place only for active ones
__global__ void haar_racy(const float *in, float *out) {
    __shared__ float s[4 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    int at = 2 * t, distance = 1, active = N / 2;
    for (int i = 1; i <= 6; i++) {
        if (t < active) {
            s[at] += s[at + distance];
            active >>= 1;
            distance <<= 1;
        }
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: a reduction in each iteration; the inner loop has barriers, the outer one counts
__global__ void nested_reduction(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        s[t] = in[i * N + t];
        __syncthreads();
        for (int d = N / 2; d > 0; d >>= 1) {
            if (t < d)
                s[t] += s[t + d];
            __syncthreads();
        }
        if (t == 0 && i < 4096)
            out[blockIdx.x * 4096 + i] = s[0];
        __syncthreads();
    }
}

// race: thread 0 reads the sum while another thread starts the next row
__global__ void nested_reduction_racy(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        s[N - 1 - t] = in[i * N + t];
        __syncthreads();
        for (int d = N / 2; d > 0; d >>= 1) {
            if (t < d)
                s[t] += s[t + d];
            __syncthreads();
        }
        if (t == 0 && i < 4096)
            out[blockIdx.x * 4096 + i] = s[0];
    }
}

// verified: all threads advance by the same step, which is data, from different places
__global__ void common_steps(const int *steps, int *out) {
    int t = threadIdx.x;
    for (int i = t; i < 4096;) {
        out[blockIdx.x * 4096 + i] = 1;
        i += 64 * (1 + (steps[0] & 3));
    }
}

// verified: a loop that carries no value is left with n <= 64 or m > 3, so that no thread writes
__global__ void left_for_a_reason(int *out, int n, int m) {
    while (n > 64) {
        asm volatile("// nothing");
        if (m > 3)
            break;
    }
    if (n == 65 && m == 3)
        out[0] = threadIdx.x;
}

// race: with n = 65 and m = 4 the loop is left by its break
__global__ void left_for_another_reason(int *out, int n, int m) {
    while (n > 64) {
        asm volatile("// nothing");
        if (m > 3)
            break;
    }
    if (n == 65 && m == 4)
        out[0] = threadIdx.x;
}
