// Block 0 writes what block 1 reads.
// Why: a read and a write of one word by threads of different blocks, with no synchronization.
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__global__ void k(int *out) {
    if (blockIdx.x == 0)
        data = 1; // want race-global
    else
        out[0] = data; // want race-global
}
