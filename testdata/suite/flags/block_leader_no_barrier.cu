// The producers do not wait for each other before thread 0 sets the flag.
// Why: thread 0's release covers its own writes only.
// expect: bug
// heddle: grid=2 block=64
__device__ int data[64];
__device__ volatile int flag;
__global__ void k(int *out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t; // want race-global "data"
        if (t == 0) {
            __threadfence();
            flag = 1;
        }
    } else {
        if (t == 0) {
            while (flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        out[t] = data[63 - t]; // want race-global "data"
    }
}
