// Two blocks hand one word back and forth.
// Why: each handover is a release pattern that the other acquires.
// expect: clean
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int turn;
__global__ void k(int *out) {
    for (int i = 0; i < 4; i++) {
        while (turn != 2 * i + (int)blockIdx.x) {}
        __threadfence();
        data = data + 1;
        __threadfence();
        turn = turn + 1;
    }
}
