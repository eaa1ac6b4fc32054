// A release of gpu scope, then one of block scope, then a relaxed store on the same flag.
// Why: the relaxed store ends two release patterns (PTX ISA 8.8, second form). The one that covers the store to
// data starts with the release of block scope, which does not reach the other block.
// expect: bug
// heddle: grid=2 block=1
__device__ int x, flag, data;
__global__ void k() {
    if (blockIdx.x == 0) {
        asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(&flag) : "memory");
        data = 7; // want race-global "data"
        asm volatile("st.release.cta.global.u32 [%0], 2;" :: "l"(&flag) : "memory"); // want race-global "flag"
        asm volatile("st.relaxed.gpu.global.u32 [%0], 3;" :: "l"(&flag) : "memory");
    } else {
        int v;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory"); // want race-global "flag"
        } while (v != 3);
        x = data; // want race-global "data"
    }
}
