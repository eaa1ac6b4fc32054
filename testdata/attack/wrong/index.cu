// expect: not verified
// Indices that look injective and are not: two threads meet at one element, without a barrier between them.

// t ^ t/2 is injective (a Gray code), t ^ t/2 & 31 is not: & binds tighter than ^, and 0 and 63 both... 32 loses its bit.
__global__ void gray(int *a) { int t = threadIdx.x; a[(t ^ t / 2) & 31] = t; }
// t and ~t have equal magnitude: |2t+1-64| meets for t and 63-t.
__global__ void mirror(int *a) { a[abs(2 * (int)threadIdx.x - 63)] = threadIdx.x; }
// 7 bits reversed are injective on 128 threads, 5 of them are not on 64.
__global__ void reversed(int *a) { a[__brev(threadIdx.x) >> 27] = threadIdx.x; }
// A multiplier that is even loses the top bit modulo 64.
__global__ void even(int *a) { a[threadIdx.x * 6 % 64] = threadIdx.x; }
// An odd multiplier is a permutation modulo 64, but not modulo 63.
__global__ void odd(int *a) { a[threadIdx.x * 5 % 63] = threadIdx.x; }
// t(t+1)/2 is a permutation modulo 64, t*t is not.
__global__ void square(int *a) { unsigned t = threadIdx.x; a[t * t % 64] = t; }
// 2^26 blocks of 64: the 32-bit index wraps, and block 0 meets block 2^26.
// heddle: grid=67108865 block=64
__global__ void wrap32(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }
// A 16-bit index: block 0 and block 1024 of 64 threads.
// heddle: grid=1025 block=64
__global__ void narrow(int *a) { a[(unsigned short)(blockIdx.x * 64 + threadIdx.x)] = blockIdx.x; }
// A signed byte: 128 threads are -128..127, but |i| meets.
// heddle: grid=1 block=256
__global__ void byte_index(int *a) { signed char i = threadIdx.x; a[i < 0 ? -i : i] = threadIdx.x; }
// Division rounds toward zero: -1/2 and 0/2 and 1/2 are all 0.
__global__ void to_zero(int *a) { int i = (int)threadIdx.x - 32; a[i / 3] = i; }
// The remainder of a negative number is negative; its absolute value meets that of the positive.
__global__ void negative(int *a) { int i = (int)threadIdx.x - 32; a[abs(i % 32)] = i; }
// An arithmetic shift keeps the sign: -1 >> 6 is -1 for all of -64..-1.
__global__ void sign_shift(int *a) { int i = -1 - (int)threadIdx.x; a[(i >> 6) + 64] = i; }
// A column-major index with the wrong extent: (x, y) -> x*3+y on a 8 x 8 block.
// heddle: grid=1 block=8,8
__global__ void pitch(int *a) { a[threadIdx.x * 3 + threadIdx.y] = threadIdx.x; }
// A swizzle that xors with a value of 4 bits of the row: two rows of 4 share a word.
// heddle: grid=1 block=16,8
__global__ void swizzle(int *a) { a[(threadIdx.y / 2 * 16 + threadIdx.x) ^ threadIdx.y] = 1 + threadIdx.y; }
// Interleaved bits (Morton), with the third bit of y forgotten.
// heddle: grid=1 block=8,8
__global__ void morton(int *a) {
  unsigned x = threadIdx.x, y = threadIdx.y, i = 0;
  for (int b = 0; b < 3; b++) i |= (x >> b & 1) << 2 * b | (y >> b & 1 & (b < 2)) << (2 * b + 1);
  a[i] = y;
}
// A rotation by 5 of 5 of the 6 bits.
__global__ void rotated(int *a) { unsigned t = threadIdx.x; a[(t << 2 | t >> 3) & 31] = t; }
// A funnel shift of (t, t) by 28 keeps 6 bits; the mask keeps 5.
__global__ void funnel(int *a) { unsigned t = threadIdx.x; a[__funnelshift_l(t, t, 28) >> 27] = t; }
// popc: 1 and 2 have one bit each.
__global__ void bits(int *a) { a[__popc(threadIdx.x)] = threadIdx.x; }
// The position of the highest bit: 2 and 3.
__global__ void highest(int *a) { a[__clz(threadIdx.x | 1)] = threadIdx.x; }
// Two elements a thread, with a stride of one: t writes t and t+1.
__global__ void pair(int *a) { int t = threadIdx.x; a[t] = t; a[t + 1] = -t; }
// An index of long is right, one that passed through int is not: blocks 0 and 2^20 are 2^32 apart.
// heddle: grid=1048577 block=64
__global__ void through_int(char *a) { long i = (int)(blockIdx.x << 12) + (long)threadIdx.x; a[i] = blockIdx.x; }
// A product of the grid that wraps: (x + 65536*y) * 65536.
// heddle: grid=2,2 block=1
__global__ void product(int *a) { a[(blockIdx.x + 65536u * blockIdx.y) * 65536u] = blockIdx.y; }
// min saturates: all threads from 40 on write element 40.
__global__ void clamped(int *a) { a[min(threadIdx.x, 40)] = threadIdx.x; }
// A select that maps 63 to 0.
__global__ void around(int *a) { unsigned t = threadIdx.x; a[t == 63 ? 0 : t] = t; }
// A float holds 24 bits: 2^24 and 2^24+1 round to one number.
__global__ void rounded(int *a) { float f = 16777216.f + threadIdx.x; a[(int)f - 16777216] = threadIdx.x; }
// High half of a product: 64 threads fall into 32 words.
__global__ void high(int *a) { a[__umulhi(threadIdx.x, 0x80000000u)] = threadIdx.x; }
// 24-bit products drop what is above: t << 20 has only 4 bits left.
__global__ void mul24(int *a) { a[(unsigned)__umul24(threadIdx.x << 20, 1) >> 20] = threadIdx.x; }
// A table of permutations that the host fills, with no promise that it is one.
__global__ void table(int *a, const int *perm) { a[perm[threadIdx.x]] = threadIdx.x; }
