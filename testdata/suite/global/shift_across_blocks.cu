// The same as shift_with_barrier, in two blocks.
// Why: the last thread of block 0 reads the word that the first thread of block 1 writes, and no barrier spans blocks.
// expect: bug
// heddle: grid=2 block=64
__global__ void k(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = a[i + 1]; // want race-global "inter-block"
    __syncthreads();
    a[i] = v; // want race-global "inter-block"
}
