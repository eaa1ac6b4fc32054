// The consumer accesses the flag only by red, and nothing else starts it.
// Why: the read of a reduction forms no acquire pattern (PTX ISA 8.8).
// expect: bug
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        __threadfence();
        atomicAdd(&flag, 1);
    } else {
        asm volatile("red.global.add.u32 [%0], 1;" ::"l"(&flag) : "memory");
        __threadfence();
        out[0] = data; // want race-global "data"
    }
}
