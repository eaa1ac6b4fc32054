// Small pieces of real kernels.
#define N 64

// verified: all bodies against all bodies, one tile at a time
// heddle: grid=4 block=64
__global__ void bodies(const float4 *pos, float4 *acc, int tiles) {
    __shared__ float4 s[N];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    float4 me = pos[i], a = make_float4(0, 0, 0, 0);
    for (int k = 0; k < tiles; k++) {
        s[t] = pos[k * N + t];
        __syncthreads();
        for (int j = 0; j < N; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
            float w = s[j].w / (dx * dx + dy * dy + dz * dz + 0.01f);
            a.x += dx * w;
            a.y += dy * w;
            a.z += dz * w;
        }
        __syncthreads();
    }
    acc[i] = a;
}

// race: the tile is overwritten while slower threads read it
// heddle: grid=4 block=64
__global__ void bodies_missing_barrier(const float4 *pos, float4 *acc, int tiles) {
    __shared__ float4 s[N];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    float4 me = pos[i], a = make_float4(0, 0, 0, 0);
    for (int k = 0; k < tiles; k++) {
        s[t] = pos[k * N + t];
        __syncthreads();
        for (int j = 0; j < N; j++)
            a.x += s[j].x - me.x;
    }
    acc[i] = a;
}

// verified: one thread decides for the block
// heddle: grid=4 block=64
__global__ void leader(const int *work, int *out) {
    __shared__ int job;
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) {
        if (t == 0)
            job = work[blockIdx.x * 8 + i];
        __syncthreads();
        int j = job;
        __syncthreads();
        if (j < 0)
            break;
        out[blockIdx.x * N + t] += j;
    }
}

// race: the next job is published while others read the current one
// heddle: grid=4 block=64
__global__ void leader_one_barrier(const int *work, int *out) {
    __shared__ int job;
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) {
        if (t == 0)
            job = work[blockIdx.x * 8 + i];
        __syncthreads();
        out[blockIdx.x * N + t] += job;
    }
}

// divergence: the leader leaves, but the block does not
// heddle: grid=4 block=64
__global__ void leader_leaves(const int *work, int *out) {
    __shared__ int job;
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) {
        if (t == 0) {
            job = work[blockIdx.x * 8 + i];
            if (job >= 0)
                return;
        }
        __syncthreads();
        out[blockIdx.x * N + t] += i;
    }
}

// verified: the barrier counts the threads that have an element
// heddle: grid=4 block=64
__global__ void count_with_barrier(const int *in, int *out) {
    int n = __syncthreads_count(in[blockIdx.x * N + threadIdx.x] > 0);
    if (n > 32)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = n;
}

// divergence: the branch tests the thread's own value instead of the count
// heddle: grid=4 block=64
__global__ void count_with_barrier_private(const int *in, int *out) {
    int mine = in[blockIdx.x * N + threadIdx.x] > 0, n = __syncthreads_count(mine);
    if (mine)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = n;
}

// verified: a table that all threads fill and use
// heddle: grid=4 block=64
__global__ void lookup(const unsigned char *in, int *out) {
    __shared__ int table[256];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++)
        table[i * N + t] = (i * N + t) * 3;
    __syncthreads();
    out[blockIdx.x * N + t] = table[in[blockIdx.x * N + t]];
}

// race: the table is used before it is complete
// heddle: grid=4 block=64
__global__ void lookup_early(const unsigned char *in, int *out) {
    __shared__ int table[256];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++)
        table[i * N + t] = (i * N + t) * 3;
    out[blockIdx.x * N + t] = table[in[blockIdx.x * N + t]];
}

// verified: bit reversal of the indices is a permutation
// heddle: grid=4 block=64
__global__ void bit_reversal(const float *in, float *out) {
    unsigned t = threadIdx.x, r = 0;
    r |= (t & 1) << 5 | (t & 2) << 3 | (t & 4) << 1;
    r |= (t & 8) >> 1 | (t & 16) >> 3 | (t & 32) >> 5;
    out[blockIdx.x * N + r] = in[blockIdx.x * N + t];
}

// race: one of the bits is used twice
// heddle: grid=4 block=64
__global__ void bit_reversal_wrong_bit(const float *in, float *out) {
    unsigned t = threadIdx.x, r = 0;
    r |= (t & 1) << 5 | (t & 2) << 3 | (t & 4) << 1;
    r |= (t & 8) >> 1 | (t & 16) >> 3 | (t & 16) >> 4;
    out[blockIdx.x * N + r] = in[blockIdx.x * N + t] + t;
}

// verified: an image with conditions for both edges and a constant pitch
// heddle: grid=4,4 block=8,8
__global__ void invert(unsigned char *image, unsigned width, unsigned height) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * 4096 + x] = 255 - image[y * 4096 + x];
}

// race: the pitch is an argument and can be smaller than a row
// heddle: grid=4,4 block=8,8
__global__ void invert_pitch(unsigned char *image, unsigned width, unsigned height, unsigned pitch) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * pitch + x] = 255 - image[y * pitch + x];
}

// verified: four words at a time
// heddle: grid=4 block=64
__global__ void copy_vectors(const int4 *in, int4 *out) {
    for (int i = 0; i < 4; i++) {
        int at = (i * gridDim.x + blockIdx.x) * N + threadIdx.x;
        int4 v = in[at];
        v.w += v.x;
        out[at] = v;
    }
}

// race: the vectors have the addresses of words
// heddle: grid=4 block=64
__global__ void copy_vectors_by_words(const int4 *in, int *out) {
    int at = blockIdx.x * N + threadIdx.x;
    int4 v = in[at];
    for (int i = 0; i < 4; i++)
        out[at + i] = v.x + at;
}

// verified: a ring of slots that advances by one in each step
// heddle: grid=4 block=64
__global__ void ring(const int *in, int *out, int steps) {
    __shared__ int s[4][N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++)
        s[i][t] = in[i * N + t];
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        int slot = i & 3;
        sum += s[slot][(t + 1) % N];
        __syncthreads();
        s[slot][t] = in[(i + 4) * N + t];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: one barrier is enough if a slot is reused only four steps later
// heddle: grid=4 block=64
__global__ void ring_one_barrier(const int *in, int *out, int steps) {
    __shared__ int s[4][N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < steps; i++) {
        s[i & 3][t] = in[i * N + t];
        __syncthreads();
        sum += s[i & 3][(t + 1) % N];
    }
    out[blockIdx.x * N + t] = sum;
}

// race: a ring of one slot
// heddle: grid=4 block=64
__global__ void ring_of_one(const int *in, int *out, int steps) {
    __shared__ int s[4][N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < steps; i++) {
        s[i & 4 ? 1 : 0][t] = in[i * N + t];
        __syncthreads();
        sum += s[i & 4 ? 1 : 0][(t + 1) % N];
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: dynamic shared memory in two parts
// heddle: grid=4 block=64 shared=1024
__global__ void two_parts(const int *in, int *out) {
    extern __shared__ int mem[];
    int *keys = mem, *values = mem + N, t = threadIdx.x;
    keys[t] = in[blockIdx.x * N + t];
    values[t] = t;
    __syncthreads();
    out[blockIdx.x * N + t] = keys[N - 1 - t] + values[t ^ 1];
}

// race: the parts overlap by half
// heddle: grid=4 block=64 shared=1024
__global__ void two_parts_overlap(const int *in, int *out) {
    extern __shared__ int mem[];
    int *keys = mem, *values = mem + N / 2, t = threadIdx.x;
    keys[t] = in[blockIdx.x * N + t];
    values[t] = t;
    __syncthreads();
    out[blockIdx.x * N + t] = keys[N - 1 - t] + values[t];
}

// verified: nested loops with barriers in the inner one and between; both counts are arguments
// heddle: grid=4 block=64
__global__ void sweeps(int *data, int sweeps, int steps) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    for (int i = 0; i < sweeps; i++) {
        __syncthreads();
        for (int j = 1; j <= steps; j++) {
            int v = s[(t + j) % N];
            __syncthreads();
            s[t] += v;
            __syncthreads();
        }
        if (t == 0)
            s[0] = 0;
    }
    data[blockIdx.x * N + t] = s[t];
}

// race: the store of thread 0 conflicts with the first read of the next sweep
// heddle: grid=4 block=64
__global__ void sweeps_missing_barrier(int *data, int sweeps, int steps) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < sweeps; i++) {
        for (int j = 1; j <= steps; j++) {
            int v = s[(t + j) % N];
            __syncthreads();
            s[t] += v;
            __syncthreads();
        }
        if (t == 0)
            s[0] = 0;
    }
    data[blockIdx.x * N + t] = s[t];
}

// divergence: each thread reads its own number of steps
// heddle: grid=4 block=64
__global__ void sweeps_private(int *data, const int *steps) {
    __shared__ int s[N];
    int t = threadIdx.x, n = steps[t] & 3;
    s[t] = data[blockIdx.x * N + t];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < n; j++)
            __syncthreads();
        s[t]++;
    }
    data[blockIdx.x * N + t] = s[t];
}

// verified: a random number generator in each thread, with a loop that the thread ends itself
// heddle: grid=4 block=64
__global__ void rejection(unsigned seed, float *out) {
    __shared__ unsigned s[N];
    unsigned t = threadIdx.x, x = seed ^ (blockIdx.x * N + t);
    do {
        x = x * 1664525u + 1013904223u;
    } while ((x >> 28) > 10);
    s[t] = x;
    __syncthreads();
    out[blockIdx.x * N + t] = s[t] * 0.5f + s[(t + 7) % N];
}

// verified: tridiagonal systems by cyclic reduction, forward: distances double, fewer threads are active
// heddle: grid=4 block=64
__global__ void cyclic_reduction(const float *a, float *out) {
    __shared__ float d[2 * N];
    int t = threadIdx.x;
    d[t] = a[blockIdx.x * 2 * N + t];
    d[t + N] = a[blockIdx.x * 2 * N + N + t];
    __syncthreads();
    for (int h = 1; h < 2 * N; h *= 2) {
        int i = 2 * h * (t + 1) - 1;
        if (i < 2 * N)
            d[i] -= 0.5f * d[i - h];
        __syncthreads();
    }
    out[blockIdx.x * 2 * N + t] = d[t];
    out[blockIdx.x * 2 * N + N + t] = d[t + N];
}

// race: the distance is doubled after the barrier of the previous step, but the index uses half of it
// heddle: grid=4 block=64
__global__ void cyclic_reduction_wrong_index(const float *a, float *out) {
    __shared__ float d[2 * N];
    int t = threadIdx.x;
    d[t] = a[blockIdx.x * 2 * N + t];
    d[t + N] = a[blockIdx.x * 2 * N + N + t];
    __syncthreads();
    for (int h = 1; h < 2 * N; h *= 2) {
        int i = h * (t + 1);
        if (i < 2 * N)
            d[i] -= 0.5f * d[i - h];
        __syncthreads();
    }
    out[blockIdx.x * 2 * N + t] = d[t];
}
