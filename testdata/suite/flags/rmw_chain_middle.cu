// The same, but the data is block 1's, which does not release.
// Why: block 1's atomicAdd continues block 0's release; it publishes nothing of block 1.
// expect: bug
// heddle: grid=3 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        __threadfence();
        atomicAdd(&flag, 1);
    } else if (blockIdx.x == 1) {
        while (*(volatile int *)&flag == 0) {}
        data = 42; // want race-global "data"
        atomicAdd(&flag, 1);
    } else {
        while (*(volatile int *)&flag != 2) {}
        __threadfence();
        out[0] = data; // want race-global "data"
    }
}
