// Every thread writes its own word.
// Why: no two accesses overlap.
// expect: clean
// heddle: grid=4 block=64
__global__ void k(int *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}
