// The consumer does not fence.
// Why: a relaxed read alone is not an acquire pattern; the control dependence orders nothing in the ISA's model.
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {}
        out[0] = data; // want race-global "data"
    }
}
