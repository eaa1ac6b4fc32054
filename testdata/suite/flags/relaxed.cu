// st.relaxed and ld.relaxed without fences.
// Why: relaxed operations are strong, so the flag does not race, but they form no pattern, so the data does.
// expect: bug
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(&flag) : "memory");
    } else {
        int v;
        do
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
        while (v == 0);
        out[0] = data; // want race-global "data"
    }
}
