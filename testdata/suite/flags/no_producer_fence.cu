// The producer does not fence.
// Why: a relaxed write alone is not a release pattern.
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence();
        out[0] = data; // want race-global "data"
    }
}
