// 128-bit exchanges, compare-and-swaps and loads of one place by all blocks.
// Why: a .b128 access is one operation of 16 bytes, so that they overlap completely (PTX ISA 8.7).
// expect: clean
// heddle: grid=3 block=1
__device__ __align__(16) unsigned long long place[2];
__global__ void k(unsigned long long *out) {
    unsigned long long a = blockIdx.x, b;
    if (blockIdx.x == 0)
        asm volatile("{ .reg .b128 x, y; mov.b128 x, {%2, %2}; atom.global.exch.b128 y, [%3], x; mov.b128 {%0, %1}, y; }"
                     : "=l"(a), "=l"(b) : "l"(a), "l"(place) : "memory");
    else if (blockIdx.x == 1)
        asm volatile("{ .reg .b128 x, y; mov.b128 x, {%2, %2}; atom.global.cas.b128 y, [%3], x, x; mov.b128 {%0, %1}, y; }"
                     : "=l"(a), "=l"(b) : "l"(a), "l"(place) : "memory");
    else
        asm volatile("{ .reg .b128 y; ld.relaxed.gpu.global.b128 y, [%2]; mov.b128 {%0, %1}, y; }" : "=l"(a), "=l"(b) : "l"(place) : "memory");
    out[blockIdx.x] = a + b;
}
