// Threads store and load past the end of the block's shared memory.
// Why: the kernel has 128 bytes of shared memory; element 32 is byte 128. The run goes on after the store.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[32];
    s[threadIdx.x] = 1; // want out-of-bounds "s\\[32\\], but s has 32 elements"
    out[threadIdx.x] = s[threadIdx.x]; // want out-of-bounds "s\\[32\\], but s has 32 elements"
}
