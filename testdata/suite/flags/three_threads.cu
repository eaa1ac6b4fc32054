// Block 0 sends a message to block 1, which forwards it to block 2.
// Why: causality order is transitive (PTX ISA 8.9.5).
// expect: clean
// heddle: grid=3 block=1
__device__ int data;
__device__ volatile int flag1, flag2;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag1 = 1;
    } else if (blockIdx.x == 1) {
        while (flag1 == 0) {}
        __threadfence();
        flag2 = 1;
    } else {
        while (flag2 == 0) {}
        __threadfence();
        out[0] = data;
    }
}
