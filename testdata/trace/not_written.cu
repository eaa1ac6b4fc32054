// A branch around a barrier reads shared memory that was never written.
// Why: its initial contents are undefined.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(void) {
    __shared__ int flag[64];
    if (flag[threadIdx.x] == 0) // unsupported "memory that has not been written"
        asm volatile("bar.sync 1, 64;" ::: "memory");
}
