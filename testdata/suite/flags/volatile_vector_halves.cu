// A vector of 4-byte elements read as 8 bytes at once, all volatile.
// Why: the elements overlap the scalar only in part, so they are not morally strong (PTX ISA 8.2.4, 8.7).
// expect: bug
// heddle: grid=2 block=1
__device__ int4 v;
__device__ long long out;
__global__ void k() {
    if (blockIdx.x == 0)
        asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(&v), "r"(1) : "memory"); // want race-global "v"
    else
        asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(out) : "l"(&v) : "memory"); // want race-global "v"
}
