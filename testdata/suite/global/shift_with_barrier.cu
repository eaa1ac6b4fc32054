// a[i] = a[i+1] with a barrier between the reads and the writes, in one block.
// Why: every read is before the barrier, every write after it.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *a) {
    int i = threadIdx.x;
    int v = a[i + 1];
    __syncthreads();
    a[i] = v;
}
