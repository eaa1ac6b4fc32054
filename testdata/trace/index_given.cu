// An argument holds a permutation that decides shared addresses; its contents are specified.
// Why: the contents are known, and the kernel does not write the array.
// expect: verified
// heddle: grid=1 block=64 where=iota
__global__ void k(const int *where, const int *in, int *out) {
    __shared__ int s[64];
    s[where[threadIdx.x] ^ 3] = in[threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}
