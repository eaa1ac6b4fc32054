// The same, but all indices are equal.
// Why: with these contents all threads write different values to the same place.
// expect: bug
// heddle: grid=1 block=64 where=zero
__global__ void k(const int *where, const int *in, int *out) {
    __shared__ int s[64];
    s[where[threadIdx.x]] = in[threadIdx.x]; // want race-shared "write-write"
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}
