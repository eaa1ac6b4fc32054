// st.release.gpu and ld.acquire.gpu.
// Why: PTX ISA 8.8, first form of both patterns.
// expect: clean
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(&flag) : "memory");
    } else {
        int v;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
        while (v == 0);
        out[0] = data;
    }
}
