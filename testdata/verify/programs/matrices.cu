// Products and transposes with tiles of 8 by 8.
#define B 8
#define W 32

// verified: the product of two square matrices, one tile at a time
// heddle: grid=4,4 block=8,8
__global__ void product(const float *a, const float *b, float *c) {
    __shared__ float as[B][B], bs[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float sum = 0;
    for (int m = 0; m < W / B; m++) {
        as[ty][tx] = a[row * W + m * B + tx];
        bs[ty][tx] = b[(m * B + ty) * W + col];
        __syncthreads();
        for (int k = 0; k < B; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * W + col] = sum;
}

// race: the second barrier is missing: the next tile is loaded while this one is read
// heddle: grid=4,4 block=8,8
__global__ void product_missing_second(const float *a, const float *b, float *c) {
    __shared__ float as[B][B], bs[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float sum = 0;
    for (int m = 0; m < W / B; m++) {
        as[ty][tx] = a[row * W + m * B + tx];
        bs[ty][tx] = b[(m * B + ty) * W + col];
        __syncthreads();
        for (int k = 0; k < B; k++)
            sum += as[ty][k] * bs[k][tx];
    }
    c[row * W + col] = sum;
}

// race: the first barrier is missing
// heddle: grid=4,4 block=8,8
__global__ void product_missing_first(const float *a, const float *b, float *c) {
    __shared__ float as[B][B], bs[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float sum = 0;
    for (int m = 0; m < W / B; m++) {
        as[ty][tx] = a[row * W + m * B + tx];
        bs[ty][tx] = b[(m * B + ty) * W + col];
        for (int k = 0; k < B; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * W + col] = sum;
}

// race: the row of the result does not depend on the block
// heddle: grid=4,4 block=8,8
__global__ void product_wrong_row(const float *a, const float *b, float *c) {
    __shared__ float as[B][B], bs[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float sum = 0;
    for (int m = 0; m < W / B; m++) {
        as[ty][tx] = a[row * W + m * B + tx];
        bs[ty][tx] = b[(m * B + ty) * W + col];
        __syncthreads();
        for (int k = 0; k < B; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[ty * W + col] = sum;
}

// verified: the number of tiles is an argument
// heddle: grid=4,4 block=8,8
__global__ void product_any_depth(const float *a, const float *b, float *c, int tiles) {
    __shared__ float as[B][B], bs[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float sum = 0;
    for (int m = 0; m < tiles; m++) {
        as[ty][tx] = a[(row * tiles + m) * B + tx];
        bs[ty][tx] = b[(m * B + ty) * W + col];
        __syncthreads();
        for (int k = 0; k < B; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * W + col] = sum;
}

// divergence: the number of tiles is read for each row
// heddle: grid=4,4 block=8,8
__global__ void product_ragged(const float *a, const float *b, float *c, const int *length) {
    __shared__ float bs[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float sum = 0;
    for (int m = 0; m < (length[row] & 7); m++) {
        bs[ty][tx] = b[(m * B + ty) * W + col];
        __syncthreads();
        for (int k = 0; k < B; k++)
            sum += a[row * W + k] * bs[k][tx];
        __syncthreads();
    }
    c[row * W + col] = sum;
}

// verified: without tiles: each thread computes one element
// heddle: grid=4,4 block=8,8
__global__ void product_naive(const float *a, const float *b, float *c) {
    int row = blockIdx.y * B + threadIdx.y, col = blockIdx.x * B + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < W; k++)
        sum += a[row * W + k] * b[k * W + col];
    c[row * W + col] = sum;
}

// race: the sum is kept in the result, at an index without the column of the block
// heddle: grid=4,4 block=8,8
__global__ void product_naive_in_memory(const float *a, const float *b, float *c) {
    int row = blockIdx.y * B + threadIdx.y, col = blockIdx.x * B + threadIdx.x;
    for (int k = 0; k < W; k++)
        c[row * W + threadIdx.x] += a[row * W + k] * b[k * W + col];
}

// verified: each thread multiplies its row of a matrix by a vector that is staged in parts
// heddle: grid=4 block=64
__global__ void times_vector(const float *a, const float *x, float *y, int parts) {
    __shared__ float xs[64];
    int t = threadIdx.x, row = blockIdx.x * 64 + t;
    float sum = 0;
    for (int p = 0; p < parts; p++) {
        xs[t] = x[p * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++)
            sum += a[(p * 64 + k) * 256 + row] * xs[k];
        __syncthreads();
    }
    y[row] = sum;
}

// race: the part is staged again while others are in the inner loop
// heddle: grid=4 block=64
__global__ void times_vector_missing_barrier(const float *a, const float *x, float *y, int parts) {
    __shared__ float xs[64];
    int t = threadIdx.x, row = blockIdx.x * 64 + t;
    float sum = 0;
    for (int p = 0; p < parts; p++) {
        __syncthreads();
        xs[t] = x[p * 64 + t];
        for (int k = 0; k < 64; k++)
            sum += a[(p * 64 + k) * 256 + row] * xs[k];
    }
    y[row] = sum;
}

// verified: transposed through a tile with a padding column
// heddle: grid=4,4 block=8,8
__global__ void transpose(const int *in, int *out) {
    __shared__ int tile[B][B + 1];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * W + x];
    __syncthreads();
    x = blockIdx.y * B + threadIdx.x;
    y = blockIdx.x * B + threadIdx.y;
    out[y * W + x] = tile[threadIdx.x][threadIdx.y];
}

// race: no barrier
// heddle: grid=4,4 block=8,8
__global__ void transpose_missing_barrier(const int *in, int *out) {
    __shared__ int tile[B][B + 1];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * W + x];
    x = blockIdx.y * B + threadIdx.x;
    y = blockIdx.x * B + threadIdx.y;
    out[y * W + x] = tile[threadIdx.x][threadIdx.y];
}

// race: the coordinates of the block are not exchanged in one of the two indices
// heddle: grid=4,4 block=8,8
__global__ void transpose_wrong_block(const int *in, int *out) {
    __shared__ int tile[B][B + 1];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * W + x];
    __syncthreads();
    x = blockIdx.x * B + threadIdx.x;
    y = blockIdx.x * B + threadIdx.y;
    out[y * W + x] = tile[threadIdx.x][threadIdx.y] + blockIdx.y;
}

// verified: in place, by the threads above the diagonal, in one block
// heddle: grid=1 block=8,8
__global__ void transpose_in_place(int *m) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x > y) {
        int v = m[y * B + x];
        m[y * B + x] = m[x * B + y];
        m[x * B + y] = v;
    }
}

// race: both threads of a pair exchange
// heddle: grid=1 block=8,8
__global__ void transpose_in_place_twice(int *m) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x != y) {
        int v = m[y * B + x];
        m[y * B + x] = m[x * B + y];
        m[x * B + y] = v;
    }
}

// verified: four rows for each thread
// heddle: grid=4,4 block=8,2
__global__ void transpose_coarse(const int *in, int *out) {
    __shared__ int tile[B][B + 1];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    for (int j = 0; j < B; j += 2)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * W + x];
    __syncthreads();
    x = blockIdx.y * B + threadIdx.x;
    y = blockIdx.x * B + threadIdx.y;
    for (int j = 0; j < B; j += 2)
        out[(y + j) * W + x] = tile[threadIdx.x][threadIdx.y + j];
}

// race: the stride over rows is one, so two rows of threads write the same elements
// heddle: grid=4,4 block=8,2
__global__ void transpose_coarse_wrong_stride(const int *in, int *out) {
    __shared__ int tile[B + 1][B + 1];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    for (int j = 0; j < B; j += 1)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * W + x];
    __syncthreads();
    out[y * W + x] = tile[threadIdx.x][threadIdx.y];
}

// verified: the lower triangle is solved row by row
// heddle: grid=1 block=32
__global__ void forward_substitution(const float *l, float *x) {
    __shared__ float s[W];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 0; k < W; k++) {
        if (t == k)
            s[t] /= l[k * W + k];
        __syncthreads();
        if (t > k)
            s[t] -= l[t * W + k] * s[k];
    }
    x[t] = s[t];
}

// race: the rows below do not wait for the pivot
// heddle: grid=1 block=32
__global__ void forward_substitution_no_wait(const float *l, float *x) {
    __shared__ float s[W];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 0; k < W; k++) {
        if (t == k)
            s[t] /= l[k * W + k];
        if (t > k)
            s[t] -= l[t * W + k] * s[k];
        __syncthreads();
    }
    x[t] = s[t];
}
