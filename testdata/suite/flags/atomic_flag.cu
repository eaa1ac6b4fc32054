// The flag is set and read by atomics, with fences.
// Why: atom is a strong operation of gpu scope; with the fences it forms release and acquire patterns.
// expect: clean
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence();
        out[0] = data;
    }
}
