// Block 1 forwards the message by a relaxed store instead of an atomic.
// Why: observation order runs through atomic read-modify-writes only (8.9.2): block 2 reads block 1's store, and
// block 1 has no release pattern.
// expect: bug
// options: --seeds 4
// heddle: grid=3 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        __threadfence();
        flag = 1;
    } else if (blockIdx.x == 1) {
        while (flag == 0) {}
        flag = 2;
    } else {
        while (flag != 2) {}
        __threadfence();
        out[0] = data; // want race-global "data"
    }
}
