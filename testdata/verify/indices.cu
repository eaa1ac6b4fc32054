// Small kernels for the static engine about addresses, each with its expected result and the
// reason. Every launch has 4 blocks of 64 threads.
#define N 64

// verified: one element for each thread
__global__ void map(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

// race: neighbors in different blocks share an element
__global__ void overlapping_blocks(int *out) { out[blockIdx.x * (blockDim.x - 1) + threadIdx.x] = blockIdx.x; }

// race: every thread writes its index to the same place
__global__ void one_place(int *out) { out[0] = threadIdx.x; }

// verified: a grid-stride loop with a fixed number of iterations
__global__ void grid_stride(int *out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096; i += gridDim.x * blockDim.x)
        out[i] = i;
}

// race: the stride is too small, so two threads reach the same element
__global__ void grid_stride_racy(int *out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096; i += blockDim.x)
        out[i] = i + blockIdx.x;
}

// verified: a pointer that is incremented
__global__ void walking_pointer(int *out, int n) {
    int *p = out + (blockIdx.x * N + threadIdx.x) * 16;
    for (int i = 0; i < 16; i++)
        *p++ = i;
}

// race: the pointer moves into the part of the next thread
__global__ void walking_pointer_racy(int *out) {
    int *p = out + (blockIdx.x * N + threadIdx.x) * 16;
    for (int i = 0; i < 17; i++)
        *p++ = threadIdx.x;
}

// verified: two halves of a double buffer, swapped by index
__global__ void double_buffer_index(int *out) {
    __shared__ int s[2][N];
    int t = threadIdx.x, cur = 0;
    s[0][t] = t;
    __syncthreads();
    for (int i = 0; i < 10; i++) {
        s[1 - cur][t] = s[cur][(t + 1) % N];
        cur = 1 - cur;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[cur][t];
}

// verified: swapped by xor
__global__ void double_buffer_xor(int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x, cur = 0;
    s[t] = t;
    __syncthreads();
    for (int i = 0; i < 10; i++) {
        s[(cur ^ N) + t] = s[cur + (t + 1) % N];
        cur ^= N;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[cur + t];
}

// race: reads the buffer that the other threads write
__global__ void double_buffer_racy(int *out) {
    __shared__ int s[2][N];
    int t = threadIdx.x, cur = 0;
    s[0][t] = t;
    __syncthreads();
    for (int i = 0; i < 10; i++) {
        s[1 - cur][t] = s[1 - cur][(t + 1) % N];
        cur = 1 - cur;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[cur][t];
}

// verified: one of two arrays, with a separate element for each thread
__global__ void chosen_array(int *a, int *b, int c) {
    int i = blockIdx.x * N + threadIdx.x;
    int *p = c ? a : b;
    p[i] = i;
}

// race: two threads can choose the same array and the same element
__global__ void chosen_array_racy(int *a, int *b) {
    int *p = threadIdx.x & 1 ? a : b;
    p[threadIdx.x / 4] = threadIdx.x;
}

// race: 16 bytes of one thread overlap 4 bytes of another
__global__ void vector_against_scalar(int *out) {
    __shared__ int4 s[N];
    int t = threadIdx.x;
    s[t] = make_int4(t, t, t, t);
    out[blockIdx.x * N + t] = ((int *)s)[t];
}

// verified: the vector covers exactly the scalars that the same thread reads
__global__ void own_vector(int *out) {
    __shared__ int4 s[N];
    int t = threadIdx.x;
    s[t] = make_int4(t, t, t, t);
    out[blockIdx.x * N + t] = ((int *)s)[4 * t + 3];
}

// race: a byte of a word that another thread writes
__global__ void byte_against_word(int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    out[blockIdx.x * N + t] = ((char *)s)[t];
}

// verified: all conflicting accesses are atomic
__global__ void atomics(int *out, const int *in) { atomicAdd(&out[in[threadIdx.x] & 7], 1); }

// race: an atomic conflicts with a plain read
__global__ void atomic_against_read(int *out, const int *in) {
    atomicAdd(&out[in[threadIdx.x] & 7], 1);
    if (threadIdx.x == 5)
        out[N + blockIdx.x] = out[3];
}

// race: nothing states that the array holds a permutation
__global__ void scatter(int *out, const int *index) { out[index[blockIdx.x * N + threadIdx.x]] = threadIdx.x; }

// verified: only one thread of each block writes the array
__global__ void one_writer(int *out) {
    if (threadIdx.x == 3)
        out[blockIdx.x] = 1;
}

// race: one thread of each block writes the same place
__global__ void one_writer_racy(int *out) {
    if (threadIdx.x == 3)
        out[0] = blockIdx.x;
}

// verified: a tile with a padded row, transposed
__global__ void padded_tile(const int *in, int *out) {
    __shared__ int s[8][9];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    s[y][x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[x][y];
}

// race: the rows of the tile overlap
__global__ void narrow_tile(const int *in, int *out) {
    __shared__ int s[64];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    s[y * 7 + x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[x * 7 + y];
}

__constant__ unsigned shift[N];

// verified: an index from constant memory is a number, and not a second array
__global__ void index_from_constant(int *out, const int *in) {
    unsigned i = blockIdx.x * N + threadIdx.x;
    out[i] = in[i + shift[threadIdx.x % 8]];
}

// race: two threads write where constant memory says
__global__ void index_from_constant_racy(int *out) { out[shift[threadIdx.x % 8]] = threadIdx.x; }

// verified: rows of 10 elements, with a distance of 12
__global__ void rows_of_ten(int *out) {
    unsigned i = blockIdx.x * N + threadIdx.x;
    out[i / 10 * 12 + i % 10] = 1;
}

// race: the same rows with a distance of 9: place 9 is the last of row 0 and the first of row 1
__global__ void rows_of_ten_close(int *out) {
    unsigned i = blockIdx.x * N + threadIdx.x;
    out[i / 10 * 9 + i % 10] = i;
}

// verified: a signed index of 64 bits, and a divisor whose factor needs a further addition
__global__ void rows_of_seven(int *out, long n) {
    long i = blockIdx.x * (long)N + threadIdx.x;
    if (i < n)
        out[i / 7 * 8 + i % 7] = 1;
}

// race: of the rows of 7, only six elements are apart
__global__ void rows_of_seven_close(int *out, long n) {
    size_t i = blockIdx.x * (size_t)N + threadIdx.x;
    if (i < n)
        out[i / 7 * 6 + i % 7] = i;
}

// verified: three digits, of which the lower two are exchanged
__global__ void three_digits(int *out, int n) {
    int i = blockIdx.x * N + threadIdx.x;
    if (i >= n)
        return;
    int x = i % 5, y = i / 5 % 6, z = i / 30;
    out[(z * 5 + x) * 6 + y] = 1;
}

// race: the digits of a remainder by 5 that is taken for one by 6
__global__ void three_digits_mixed(int *out, int n) {
    int i = blockIdx.x * N + threadIdx.x;
    if (i >= n)
        return;
    int x = i % 5, y = i / 5 % 6, z = i / 30;
    out[(z * 5 + x) * 5 + y] = i;
}

// race: negative numbers are rounded toward zero, so two threads have quotient 0
__global__ void toward_zero(int *out) {
    int i = (int)threadIdx.x - 5;
    out[blockIdx.x * N + 8 + i / 3 * 8 + (i + 300) % 3] = i;
}
