// The flag is an ordinary variable.
// Why: weak accesses of the flag race themselves, and never synchronize, fences or not.
// expect: bug
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        __threadfence();
        flag = 1; // want race-global "flag"
    } else {
        while (flag == 0) {} // want race-global "flag"
        __threadfence();
        out[0] = data; // want race-global "data"
    }
}
