// Stencils with halos, and convolutions.
#define N 64
#define B 8
#define W 32

// verified: a tile with a halo cell on either side
// heddle: grid=4 block=64
__global__ void three_point(const float *in, float *out) {
    __shared__ float s[N + 2];
    int t = threadIdx.x, i = blockIdx.x * N + t + 1;
    s[t + 1] = in[i];
    if (t == 0)
        s[0] = in[i - 1];
    if (t == N - 1)
        s[N + 1] = in[i + 1];
    __syncthreads();
    out[i] = s[t] + s[t + 1] + s[t + 2];
}

// race: the halo is stored at the last cell of the tile
// heddle: grid=4 block=64
__global__ void three_point_wrong_halo(const float *in, float *out) {
    __shared__ float s[N + 2];
    int t = threadIdx.x, i = blockIdx.x * N + t + 1;
    s[t + 1] = in[i];
    if (t == 0)
        s[N] = in[i - 1];
    __syncthreads();
    out[i] = s[t] + s[t + 1];
}

// race: no barrier between filling the tile and reading it
// heddle: grid=4 block=64
__global__ void three_point_missing_barrier(const float *in, float *out) {
    __shared__ float s[N + 2];
    int t = threadIdx.x, i = blockIdx.x * N + t + 1;
    s[t + 1] = in[i];
    if (t == 0)
        s[0] = in[i - 1];
    if (t == N - 1)
        s[N + 1] = in[i + 1];
    out[i] = s[t] + s[t + 1] + s[t + 2];
}

// race: without a second array, blocks read elements that other blocks write
// heddle: grid=4 block=64
__global__ void three_point_in_place(float *data) {
    __shared__ float s[N + 2];
    int t = threadIdx.x, i = blockIdx.x * N + t + 1;
    s[t + 1] = data[i];
    if (t == 0)
        s[0] = data[i - 1];
    if (t == N - 1)
        s[N + 1] = data[i + 1];
    __syncthreads();
    data[i] = s[t] + s[t + 1] + s[t + 2];
}

// verified: a halo of the radius, filled by the first threads
// heddle: grid=4 block=64
__global__ void radius_three(const int *in, int *out) {
    __shared__ int s[N + 6];
    int t = threadIdx.x, i = blockIdx.x * N + t + 3, sum = 0;
    s[t + 3] = in[i];
    if (t < 3) {
        s[t] = in[i - 3];
        s[t + 3 + N] = in[i + N];
    }
    __syncthreads();
    for (int k = -3; k <= 3; k++)
        sum += s[t + 3 + k];
    out[i] = sum;
}

// race: one thread too many fills the halo, and its left cell belongs to the tile
// heddle: grid=4 block=64
__global__ void radius_three_off_by_one(const int *in, int *out) {
    __shared__ int s[N + 7];
    int t = threadIdx.x, i = blockIdx.x * N + t + 3, sum = 0;
    s[t + 3] = in[i];
    if (t <= 3) {
        s[t] = in[i - 3];
        s[t + 3 + N] = in[i + N];
    }
    __syncthreads();
    for (int k = -3; k <= 3; k++)
        sum += s[t + 3 + k];
    out[i] = sum;
}

// verified: several steps on a tile, from one buffer to the other
// heddle: grid=4 block=64
__global__ void heat(const float *in, float *out, int steps) {
    __shared__ float s[2][N];
    int t = threadIdx.x, cur = 0;
    s[0][t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        float v = s[cur][t];
        if (t > 0 && t < N - 1)
            v += 0.25f * (s[cur][t - 1] - 2 * v + s[cur][t + 1]);
        s[cur ^ 1][t] = v;
        __syncthreads();
        cur ^= 1;
    }
    out[blockIdx.x * N + t] = s[cur][t];
}

// race: one buffer
// heddle: grid=4 block=64
__global__ void heat_one_buffer(const float *in, float *out, int steps) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        float v = s[t];
        if (t > 0 && t < N - 1)
            v += 0.25f * (s[t - 1] - 2 * v + s[t + 1]);
        s[t] = v;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[t];
}

// divergence: the border cells skip the barrier of the step
// heddle: grid=4 block=64
__global__ void heat_border_continue(const float *in, float *out, int steps) {
    __shared__ float s[2][N];
    int t = threadIdx.x, cur = 0;
    s[0][t] = in[blockIdx.x * N + t];
    s[1][t] = s[0][t];
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        int from = cur;
        cur ^= 1;
        if (t == 0 || t == N - 1)
            continue;
        s[cur][t] = 0.5f * (s[from][t - 1] + s[from][t + 1]);
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[cur][t];
}

// verified: five points in two dimensions; the threads at the border load the halo
// heddle: grid=4,4 block=8,8
__global__ void five_point(const float *in, float *out) {
    __shared__ float s[B + 2][B + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, at = y * (W + 2) + x;
    s[ty][tx] = in[at];
    if (tx == 1)
        s[ty][0] = in[at - 1];
    if (tx == B)
        s[ty][B + 1] = in[at + 1];
    if (ty == 1)
        s[0][tx] = in[at - (W + 2)];
    if (ty == B)
        s[B + 1][tx] = in[at + (W + 2)];
    __syncthreads();
    out[at] = s[ty][tx] + s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx - 1] + s[ty][tx + 1];
}

// race: the row of the tile is too short: its halo is the first cell of the next row
// heddle: grid=4,4 block=8,8
__global__ void five_point_short_row(const float *in, float *out) {
    __shared__ float s[(B + 2) * (B + 2)];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, at = y * (W + 2) + x;
    s[ty * (B + 1) + tx] = in[at];
    if (tx == 1)
        s[ty * (B + 1)] = in[at - 1];
    if (tx == B)
        s[ty * (B + 1) + B + 1] = in[at + 1];
    __syncthreads();
    out[at] = s[ty * (B + 1) + tx];
}

// race: the border is loaded after the barrier
// heddle: grid=4,4 block=8,8
__global__ void five_point_late_halo(const float *in, float *out) {
    __shared__ float s[B + 2][B + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, at = y * (W + 2) + x;
    s[ty][tx] = in[at];
    __syncthreads();
    if (ty == 1)
        s[0][tx] = in[at - (W + 2)];
    if (ty == B)
        s[B + 1][tx] = in[at + (W + 2)];
    out[at] = s[ty][tx] + s[ty - 1][tx + 1] + s[ty + 1][tx - 1];
}

// verified: a window of three rows in registers moves down a column, with the row in shared memory
// heddle: grid=4 block=64
__global__ void walk_down(const float *in, float *out, int rows) {
    __shared__ float row[N];
    int t = threadIdx.x, x = blockIdx.x * N + t;
    float above = 0, here = in[x];
    for (int y = 0; y < rows; y++) {
        float below = in[(y + 1) * 256 + x];
        __syncthreads();
        row[t] = here;
        __syncthreads();
        float side = row[t > 0 ? t - 1 : t] + row[t < N - 1 ? t + 1 : t];
        out[x] += above + below + side;
        above = here;
        here = below;
    }
}

// race: the row is overwritten while others read it
// heddle: grid=4 block=64
__global__ void walk_down_missing_barrier(const float *in, float *out, int rows) {
    __shared__ float row[N];
    int t = threadIdx.x, x = blockIdx.x * N + t;
    float above = 0, here = in[x];
    for (int y = 0; y < rows; y++) {
        float below = in[(y + 1) * 256 + x];
        row[t] = here;
        __syncthreads();
        float side = row[t > 0 ? t - 1 : t] + row[t < N - 1 ? t + 1 : t];
        out[x] += above + below + side;
        above = here;
        here = below;
    }
}

// verified: a convolution with the filter in shared memory, loaded by the first threads
// heddle: grid=4 block=64
__global__ void convolution(const float *in, const float *filter, float *out) {
    __shared__ float f[9], s[N + 8];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    float sum = 0;
    if (t < 9)
        f[t] = filter[t];
    for (int k = t; k < N + 8; k += N)
        s[k] = in[blockIdx.x * N + k];
    __syncthreads();
    for (int k = 0; k < 9; k++)
        sum += f[k] * s[t + k];
    out[i] = sum;
}

// race: the loop that fills the tile has a stride of half of the block
// heddle: grid=4 block=64
__global__ void convolution_wrong_stride(const float *in, const float *filter, float *out) {
    __shared__ float s[N + 8];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    float sum = 0;
    for (int k = t; k < N + 8; k += N / 2)
        s[k] = in[blockIdx.x * N + k];
    __syncthreads();
    for (int k = 0; k < 9; k++)
        sum += filter[k] * s[t + k];
    out[i] = sum;
}

// race: the filter is used before it is loaded
// heddle: grid=4 block=64
__global__ void convolution_early_filter(const float *in, const float *filter, float *out) {
    __shared__ float f[9];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    float sum = 0;
    if (t < 9)
        f[t] = filter[t];
    for (int k = 0; k < 9; k++)
        sum += f[k] * in[i + k];
    out[i] = sum;
}

// verified: rows and then columns of a tile, through a second tile
// heddle: grid=4,4 block=8,8
__global__ void separable(const int *in, int *out) {
    __shared__ int a[B][B], b[B][B];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * B + y) * W + blockIdx.x * B + x;
    a[y][x] = in[at];
    __syncthreads();
    b[y][x] = a[y][x] + a[y][(x + 1) % B];
    __syncthreads();
    out[at] = b[y][x] + b[(y + 1) % B][x];
}

// race: the second pass needs its own barrier
// heddle: grid=4,4 block=8,8
__global__ void separable_missing_barrier(const int *in, int *out) {
    __shared__ int a[B][B], b[B][B];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * B + y) * W + blockIdx.x * B + x;
    a[y][x] = in[at];
    __syncthreads();
    b[y][x] = a[y][x] + a[y][(x + 1) % B];
    out[at] = b[y][x] + b[(y + 1) % B][x];
}
