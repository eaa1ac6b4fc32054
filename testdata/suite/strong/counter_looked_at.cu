// A counter that atomics increment is looked at by a volatile load first, to save an atomic.
// Why: an atomic read-modify-write is right wherever the load falls (PTX ISA 8.10.3), and the load is an early guess that the atomic repeats.
// expect: clean
// heddle: grid=2 block=64
__device__ int taken;
__global__ void k(int *out) {
    if (*(volatile int *)&taken < 8) {
        int i = atomicAdd(&taken, 1);
        if (i < 8)
            out[i] = threadIdx.x;
    }
}
