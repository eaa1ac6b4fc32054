// Indices that are computed from single bits, by division, or in few bits, each with its expected
// result and the reason. Every launch has 4 blocks of 64 threads.
#define N 64

// verified: reversing six bits is a permutation of 64 numbers
__global__ void bit_reversal(int *out) { out[blockIdx.x * N + (__brev(threadIdx.x) >> 26)] = threadIdx.x; }

// race: the highest of the reversed bits is bit 0, and a shift by 27 drops bit 5 of the index
__global__ void bit_reversal_racy(int *out) { out[blockIdx.x * N + (__brev(threadIdx.x) >> 27)] = threadIdx.x; }

// verified: the Gray code is a permutation
__global__ void gray_code(int *out) {
    int t = threadIdx.x;
    out[blockIdx.x * N + (t ^ (t >> 1))] = t;
}

// race: "and" in place of "xor": 0 and 1 give 0
__global__ void gray_code_racy(int *out) {
    int t = threadIdx.x;
    out[blockIdx.x * N + (t & (t >> 1))] = t;
}

// verified: the inverse of the Gray code of six bits
__global__ void gray_decode(int *out) {
    unsigned g = threadIdx.x;
    g ^= g >> 1;
    g ^= g >> 2;
    g ^= g >> 4;
    out[blockIdx.x * N + g] = g;
}

// verified: each row permutes its columns by "xor" with the row
__global__ void swizzle(int *out) {
    __shared__ int s[8][8];
    int row = threadIdx.x / 8, col = threadIdx.x % 8;
    s[row][col ^ row] = col;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[col][row ^ col];
}

// race: columns 0 and 1 of a row share an element
__global__ void swizzle_racy(int *out) {
    __shared__ int s[8][8];
    int row = threadIdx.x / 8, col = threadIdx.x % 8;
    s[row][(col ^ row) & 6] = col;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[col][row ^ col];
}

// verified: powers of two have different numbers of leading zeros
__global__ void leading_zeros(int *out) {
    unsigned t = threadIdx.x;
    if (t != 0 && (t & (t - 1)) == 0)
        out[blockIdx.x * 32 + __clz(t)] = t;
}

// race: 2 and 3 have as many leading zeros
__global__ void leading_zeros_racy(int *out) {
    if (threadIdx.x != 0)
        out[blockIdx.x * 32 + __clz(threadIdx.x)] = threadIdx.x;
}

// verified: powers of two have different lowest bits
__global__ void first_set(int *out) {
    unsigned t = threadIdx.x;
    if (t != 0 && (t & (t - 1)) == 0)
        out[blockIdx.x * 64 + __ffs(t)] = t;
}

// race: 1 and 3 have the same lowest bit
__global__ void first_set_racy(int *out) { out[blockIdx.x * 64 + __ffs(threadIdx.x)] = threadIdx.x; }

// verified: lanes whose bit is set count the bits below them, which differ
__global__ void rank_in_mask(int *out, unsigned mask) {
    unsigned t = threadIdx.x;
    if (t < 32 && (mask >> t & 1) != 0)
        out[blockIdx.x * 32 + __popc(mask & ((1u << t) - 1))] = t;
}

// race: with an empty mask every lane has rank 0
__global__ void rank_in_mask_racy(int *out, unsigned mask) {
    if (threadIdx.x < 32)
        out[blockIdx.x * 32 + __popc(mask & ((1u << threadIdx.x) - 1))] = threadIdx.x;
}

// verified: the bytes of the index change places
__global__ void byte_permute(int *out) { out[blockIdx.x << 20 | __byte_perm(threadIdx.x, 0, 0x4401)] = threadIdx.x; }

// race: the selected byte of a number below 64 is 0
__global__ void byte_permute_racy(int *out) { out[blockIdx.x << 20 | __byte_perm(threadIdx.x, 0, 0x4441)] = threadIdx.x; }

// verified: a rotation of 32 bits is a permutation, whatever the amount
__global__ void rotate(int *out, int by) {
    unsigned v = __funnelshift_l(threadIdx.x, threadIdx.x, by);
    out[(size_t)blockIdx.x << 32 | v] = 1;
}

// race: a shift by 6 or more loses all bits
__global__ void rotate_racy(int *out, int by) {
    unsigned v = __funnelshift_rc(threadIdx.x, 0, by);
    out[(size_t)blockIdx.x << 32 | v] = 1;
}

// verified: an odd multiplier permutes the numbers modulo a power of two
__global__ void odd_multiplier(int *out) { out[blockIdx.x * N + (threadIdx.x * 37 + 11) % N] = threadIdx.x; }

// race: 36 * 16 is a multiple of 64
__global__ void even_multiplier_racy(int *out) { out[blockIdx.x * N + (threadIdx.x * 36 + 11) % N] = threadIdx.x; }

// verified: bits of x and y take turns (Morton order)
__global__ void morton(int *out) {
    unsigned x = threadIdx.x & 7, y = threadIdx.x >> 3, m = 0;
    for (int i = 0; i < 3; i++)
        m |= (x >> i & 1) << 2 * i | (y >> i & 1) << (2 * i + 1);
    out[blockIdx.x * N + m] = 1;
}

// race: bit i of y is where bit i+1 of x goes
__global__ void morton_racy(int *out) {
    unsigned x = threadIdx.x & 7, y = threadIdx.x >> 3, m = 0;
    for (int i = 0; i < 3; i++)
        m |= (x >> i & 1) << 2 * i | (y >> i & 1) << (2 * i + 2);
    out[blockIdx.x * N + m] = 1;
}

// verified: quotient and remainder by 7 exchange their places
__global__ void two_digits(int *out) {
    unsigned t = threadIdx.x;
    if (t < 35)
        out[blockIdx.x * 35 + t % 7 * 5 + t / 7] = t;
}

// race: the digit t / 7 goes up to 4, and 4 + 4 * 0 = 0 + 4 * 1
__global__ void two_digits_racy(int *out) {
    unsigned t = threadIdx.x;
    if (t < 35)
        out[blockIdx.x * 35 + t % 7 * 4 + t / 7] = t;
}

// verified: an index is its quotient times a width plus its remainder
__global__ void divided(int *out, unsigned width) {
    unsigned i = blockIdx.x * N + threadIdx.x;
    if (width > 0 && width <= 1024)
        out[i / width * width + i % width] = 1;
}

// race: without the remainder
__global__ void divided_racy(int *out, unsigned width) {
    unsigned i = blockIdx.x * N + threadIdx.x;
    if (width > 0 && width <= 1024)
        out[i / width * width] = 1;
}

// verified: x is below the pitch
__global__ void pitched(int *out, unsigned pitch) {
    if (threadIdx.x < pitch && pitch <= 4096)
        out[blockIdx.x * pitch + threadIdx.x] = 1;
}

// race: x may reach into the next row
__global__ void pitched_racy(int *out, unsigned pitch) {
    if (pitch <= 4096)
        out[blockIdx.x * pitch + threadIdx.x] = blockIdx.x;
}

// verified: row t of a triangle begins behind the t rows above
__global__ void triangle(int *out) {
    int t = threadIdx.x;
    for (int j = 0; j <= t; j++)
        out[blockIdx.x * 2080 + t * (t + 1) / 2 + j] = j;
}

// race: each row has one element more
__global__ void triangle_racy(int *out) {
    int t = threadIdx.x;
    for (int j = 0; j <= t + 1; j++)
        out[blockIdx.x * 2080 + t * (t + 1) / 2 + j] = t;
}

// verified: the short counter ends below a bound of at most 32767 - 64, before it wraps
__global__ void short_counter(int *out, short n) {
    if (n <= 2000)
        for (short i = threadIdx.x; i < n; i += 64)
            out[blockIdx.x * 2000 + i] = i;
}

// race: the steps of 63 let thread 63 meet thread 0
__global__ void short_counter_racy(int *out, short n) {
    if (n <= 2000)
        for (short i = threadIdx.x; i < n; i += 63)
            out[blockIdx.x * 2000 + i] = threadIdx.x;
}

// verified: a short that counts down ends at 0 or below
__global__ void short_down(int *out) {
    for (short i = 1999 - threadIdx.x; i >= 0; i -= 64)
        out[blockIdx.x * 2000 + i] = i;
}

// verified: a byte that counts to at most 192 ends before it wraps
__global__ void byte_counter(int *out, unsigned char n) {
    if (n <= 192)
        for (unsigned char i = threadIdx.x; i < n; i += 64)
            out[blockIdx.x * 192 + i] = i;
}

// race: the steps of 63 let thread 63 meet thread 0
__global__ void byte_counter_racy(int *out, unsigned char n) {
    if (n <= 190)
        for (unsigned char i = threadIdx.x; i < n; i += 63)
            out[blockIdx.x * 192 + i] = threadIdx.x;
}
