// fence.acq_rel with relaxed accesses.
// Why: third form of both patterns (PTX ISA 8.8).
// expect: clean
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(&flag) : "memory");
    } else {
        int v;
        do
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
        while (v == 0);
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        out[0] = data;
    }
}
