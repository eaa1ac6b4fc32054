// Loops over arrays, rearrangements, buffers and histograms.
#define N 64

// verified: y = a x + y over an array of any length
// heddle: grid=4 block=64
__global__ void saxpy(float a, const float *x, float *y, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

// race: the stride does not include the number of blocks
// heddle: grid=4 block=64
__global__ void saxpy_wrong_stride(float a, const float *x, float *y, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        y[i] = a * x[i] + y[i];
}

// race: the index does not include the block
// heddle: grid=4 block=64
__global__ void saxpy_wrong_start(float a, const float *x, float *y, unsigned n) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

// verified: eight consecutive elements for each thread
// heddle: grid=4 block=64
__global__ void runs(int *out) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int i = first; i < first + 8; i++)
        out[i] = i;
}

// race: the last element of a thread is the first of the next
// heddle: grid=4 block=64
__global__ void runs_inclusive(int *out) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int i = first; i <= first + 8; i++)
        out[i] = first;
}

// unknown: an address is compared with one below an array, which is 2^64 - 4 for an array at address 0
// heddle: grid=4 block=64
__global__ void runs_backwards(int *out) {
    int *first = out + (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int *p = first + 7; p >= first; p--)
        *p = 1;
}

// race: one step too far down
// heddle: grid=4 block=64
__global__ void runs_backwards_too_far(int *out) {
    int *first = out + (blockIdx.x * blockDim.x + threadIdx.x) * 8 + 1;
    for (int i = 7; i >= -1; i--)
        first[i] = threadIdx.x;
}

// verified: columns of a matrix with a stride that doubles
// heddle: grid=4 block=64
__global__ void doubling(int *out) {
    int t = threadIdx.x;
    for (int d = 1; d <= 64; d *= 2)
        out[(blockIdx.x * 65 + d) * N + t] = d;
}

// race: rows overlap at some doubled strides
// heddle: grid=4 block=64
__global__ void doubling_overlap(int *out) {
    int t = threadIdx.x;
    for (int d = 1; d <= 64; d *= 2)
        out[blockIdx.x * 8192 + d * 32 + t] = t;
}

// verified: the triangle below the diagonal, one row for each thread
// heddle: grid=1 block=64
__global__ void triangle(int *out) {
    int t = threadIdx.x;
    for (int j = 0; j <= t; j++)
        out[t * N + j] = j;
}

// race: rows of twice the thread's index overlap other rows
// heddle: grid=1 block=64
__global__ void triangle_too_wide(int *out) {
    int t = threadIdx.x;
    for (int j = 0; j <= 2 * t; j++)
        out[t * N + j] = t;
}

// verified: even and odd elements alternate
// heddle: grid=4 block=64
__global__ void red_black(int *data, int rounds) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[2 * t] = data[blockIdx.x * 2 * N + 2 * t];
    s[2 * t + 1] = data[blockIdx.x * 2 * N + 2 * t + 1];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        s[2 * t] += s[2 * t + 1];
        __syncthreads();
        s[2 * t + 1] += s[(2 * t + 2) % (2 * N)];
        __syncthreads();
    }
    data[blockIdx.x * 2 * N + 2 * t] = s[2 * t];
    data[blockIdx.x * 2 * N + 2 * t + 1] = s[2 * t + 1];
}

// race: even and odd elements are updated in the same interval
// heddle: grid=4 block=64
__global__ void red_black_missing_barrier(int *data, int rounds) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[2 * t] = data[blockIdx.x * 2 * N + 2 * t];
    s[2 * t + 1] = data[blockIdx.x * 2 * N + 2 * t + 1];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        s[2 * t] += s[2 * t + 1];
        s[2 * t + 1] += s[(2 * t + 2) % (2 * N)];
        __syncthreads();
    }
    data[blockIdx.x * 2 * N + 2 * t] = s[2 * t];
}

// verified: reversed through shared memory
// heddle: grid=4 block=64
__global__ void reverse(const int *in, int *out) {
    __shared__ int s[N];
    s[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[(gridDim.x - 1 - blockIdx.x) * N + threadIdx.x] = s[N - 1 - threadIdx.x];
}

// race: reversed in place, by all threads
// heddle: grid=4 block=64
__global__ void reverse_in_place(int *data) {
    int t = threadIdx.x, *p = data + blockIdx.x * N;
    int v = p[N - 1 - t];
    p[t] = v;
}

// verified: reversed in place: all threads read, then all write
// heddle: grid=4 block=64
__global__ void reverse_in_place_barrier(int *data) {
    int t = threadIdx.x, *p = data + blockIdx.x * N;
    int v = p[N - 1 - t];
    __syncthreads();
    p[t] = v;
}

// verified: from an array of pairs to a pair of arrays
// heddle: grid=4 block=64
__global__ void split(const int2 *in, int *x, int *y) {
    int i = blockIdx.x * N + threadIdx.x;
    int2 v = in[i];
    x[i] = v.x;
    y[i] = v.y;
}

// race: into one array whose halves overlap by one block
// heddle: grid=4 block=64
__global__ void split_overlap(const int2 *in, int *xy) {
    int i = blockIdx.x * N + threadIdx.x;
    int2 v = in[i];
    xy[i] = v.x;
    xy[3 * N + i] = v.y;
}

// verified: a butterfly: partners at a distance that doubles, with two buffers
// heddle: grid=4 block=64
__global__ void butterfly(const float *in, float *out) {
    __shared__ float s[2][N];
    int t = threadIdx.x, cur = 0;
    s[0][t] = in[blockIdx.x * N + t];
    for (int d = 1; d < N; d <<= 1) {
        __syncthreads();
        float a = s[cur][t], b = s[cur][t ^ d];
        s[cur ^ 1][t] = t & d ? b - a : a + b;
        cur ^= 1;
    }
    out[blockIdx.x * N + t] = s[cur][t];
}

// race: written while the partner still reads
// heddle: grid=4 block=64
__global__ void butterfly_one_buffer(const float *in, float *out) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    for (int d = 1; d < N; d <<= 1) {
        __syncthreads();
        float a = s[t], b = s[t ^ d];
        s[t] = t & d ? b - a : a + b;
    }
    out[blockIdx.x * N + t] = s[t];
}

// verified: tiles use two buffers: the next one is loaded while the current one is used
// heddle: grid=4 block=64
__global__ void pipeline(const int *in, int *out, int tiles) {
    __shared__ int s[2][N];
    int t = threadIdx.x, sum = 0;
    s[0][t] = in[t];
    for (int i = 0; i < tiles; i++) {
        __syncthreads();
        s[(i + 1) & 1][t] = in[(i + 1) * N + t];
        sum += s[i & 1][N - 1 - t];
    }
    out[blockIdx.x * N + t] = sum;
}

// race: the loaded tile is the one in use
// heddle: grid=4 block=64
__global__ void pipeline_same_buffer(const int *in, int *out, int tiles) {
    __shared__ int s[2][N];
    int t = threadIdx.x, sum = 0;
    s[0][t] = in[t];
    for (int i = 0; i < tiles; i++) {
        __syncthreads();
        s[i & 1][t] = in[(i + 1) * N + t];
        sum += s[i & 1][N - 1 - t];
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: three buffers, in turn
// heddle: grid=4 block=64
__global__ void three_buffers(const int *in, int *out, int tiles) {
    __shared__ int s[3 * N];
    int t = threadIdx.x, sum = 0, load = 0, use = 2 * N;
    for (int i = 0; i < tiles; i++) {
        s[load + t] = in[i * N + t];
        __syncthreads();
        use = load;
        sum += s[use + (t + 1) % N];
        load = load == 2 * N ? 0 : load + N;
    }
    out[blockIdx.x * N + t] = sum;
}

// race: the third buffer is the first
// heddle: grid=4 block=64
__global__ void three_buffers_are_one(const int *in, int *out, int tiles) {
    __shared__ int s[3 * N];
    int t = threadIdx.x, sum = 0, load = 0;
    for (int i = 0; i < tiles; i++) {
        s[load + t] = in[i * N + t];
        __syncthreads();
        sum += s[load + (t + 1) % N];
        load = load == 0 ? 0 : load + N;
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: two pointers to shared memory, exchanged in each step
// heddle: grid=4 block=64
__global__ void swapped_pointers(const int *in, int *out, int steps) {
    __shared__ int a[N], b[N];
    int t = threadIdx.x, *from = a, *to = b;
    a[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        to[t] = from[(t + 1) % N];
        __syncthreads();
        int *p = from;
        from = to;
        to = p;
    }
    out[blockIdx.x * N + t] = from[t];
}

// race: only one of them is
// heddle: grid=4 block=64
__global__ void swapped_pointers_one(const int *in, int *out, int steps) {
    __shared__ int a[N], b[N];
    int t = threadIdx.x, *from = a, *to = b;
    a[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        to[t] = from[(t + 1) % N];
        __syncthreads();
        from = to;
    }
    out[blockIdx.x * N + t] = from[t];
}

// verified: half of the block writes and the other half reads, with a barrier in between
// heddle: grid=4 block=64
__global__ void halves(const int *in, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    if (t >= 32)
        out[blockIdx.x * 32 + t - 32] = s[63 - t];
}

// race: one more thread reads than there are written slots
// heddle: grid=4 block=64
__global__ void halves_off_by_one(const int *in, int *out) {
    __shared__ int s[33];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = in[blockIdx.x * 32 + t];
    if (t >= 31)
        out[blockIdx.x * 64 + t - 31] = s[63 - t];
}

// divergence: even and odd threads wait at different barriers
// heddle: grid=4 block=64
__global__ void halves_two_barriers(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    if (t % 2 == 0) {
        s[t] = in[blockIdx.x * N + t];
        __syncthreads();
    } else {
        __syncthreads();
        out[blockIdx.x * N + t] = s[t - 1];
    }
}

// verified: a histogram in shared memory, then added to the global one
// heddle: grid=4 block=64
__global__ void histogram(const unsigned char *in, unsigned *out) {
    __shared__ unsigned h[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += N)
        h[i] = 0;
    __syncthreads();
    for (int i = 0; i < 16; i++)
        atomicAdd(&h[in[(blockIdx.x * 16 + i) * N + t]], 1);
    __syncthreads();
    for (int i = t; i < 256; i += N)
        atomicAdd(&out[i], h[i]);
}

// race: counting starts before the entire histogram is cleared
// heddle: grid=4 block=64
__global__ void histogram_missing_barrier(const unsigned char *in, unsigned *out) {
    __shared__ unsigned h[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += N)
        h[i] = 0;
    for (int i = 0; i < 16; i++)
        atomicAdd(&h[in[(blockIdx.x * 16 + i) * N + t]], 1);
    __syncthreads();
    for (int i = t; i < 256; i += N)
        atomicAdd(&out[i], h[i]);
}

// race: counted without atomics
// heddle: grid=4 block=64
__global__ void histogram_plain(const unsigned char *in, unsigned *out) {
    __shared__ unsigned h[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += N)
        h[i] = 0;
    __syncthreads();
    for (int i = 0; i < 16; i++)
        h[in[(blockIdx.x * 16 + i) * N + t]]++;
    __syncthreads();
    for (int i = t; i < 256; i += N)
        atomicAdd(&out[i], h[i]);
}

// race: the blocks store instead of adding
// heddle: grid=4 block=64
__global__ void histogram_store(const unsigned char *in, unsigned *out) {
    __shared__ unsigned h[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += N)
        h[i] = 0;
    __syncthreads();
    atomicAdd(&h[in[blockIdx.x * N + t]], 1);
    __syncthreads();
    for (int i = t; i < 256; i += N)
        out[i] = h[i];
}

// verified: each thread has its own counters, a column of the table, without atomics
// heddle: grid=4 block=64
__global__ void histogram_columns(const unsigned char *in, int *out) {
    __shared__ int h[16 * N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 16; i++)
        h[i * N + t] = 0;
    for (int i = 0; i < 32; i++)
        h[(in[(blockIdx.x * 32 + i) * N + t] & 15) * N + t]++;
    __syncthreads();
    if (t < 16) {
        for (int i = 0; i < N; i++)
            sum += h[t * N + i];
        out[blockIdx.x * 16 + t] = sum;
    }
}

// race: the bin is not bounded, but a row has half as many places as the block has threads
// heddle: grid=4 block=64
__global__ void histogram_columns_short(const unsigned char *in, int *out) {
    __shared__ int h[17 * N];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++)
        h[i * (N / 2) + t] = 0;
    __syncthreads();
    for (int i = 0; i < 32; i++)
        h[(in[(blockIdx.x * 32 + i) * N + t] & 15) * (N / 2) + t]++;
    __syncthreads();
    out[blockIdx.x * N + t] = h[t];
}
