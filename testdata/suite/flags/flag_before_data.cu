// The producer sets the flag before the data.
// Why: only what precedes the release pattern is published.
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        __threadfence();
        flag = 1;
        data = 42; // want race-global "data"
    } else {
        while (flag == 0) {}
        __threadfence();
        out[0] = data; // want race-global "data"
    }
}
