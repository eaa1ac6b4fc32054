// A 128-bit exchange against a strong load of two 64-bit elements.
// Why: a vector is a set of operations on its elements (PTX ISA 8.2.4), which do not overlap 16 bytes completely.
// expect: bug
// heddle: grid=2 block=1
__device__ __align__(16) unsigned long long place[2];
__global__ void k(unsigned long long *out) {
    unsigned long long a = blockIdx.x, b;
    if (blockIdx.x == 0)
        asm volatile("{ .reg .b128 x, y; mov.b128 x, {%2, %2}; atom.global.exch.b128 y, [%3], x; mov.b128 {%0, %1}, y; }" // want race-global "place"
                     : "=l"(a), "=l"(b) : "l"(a), "l"(place) : "memory");
    else
        asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(place) : "memory"); // want race-global "place"
    out[blockIdx.x] = a + b;
}
