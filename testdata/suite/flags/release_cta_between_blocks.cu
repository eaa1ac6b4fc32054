// st.release.cta between blocks.
// Why: the store's scope does not include the reader: the flag's accesses are not morally strong, so they race,
// and synchronize nothing.
// expect: bug
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(&flag) : "memory"); // want race-global "flag"
    } else {
        int v;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory"); // want race-global "flag"
        while (v == 0);
        out[0] = data; // want race-global "data"
    }
}
