// As index_given, but the kernel writes the array through another argument, which is said to be an alias.
// Why: what the array held at the start is not what is read after the store.
// expect: unsupported
// heddle: grid=1 block=64 index=iota:256 out=alias:index
__global__ void k(const int *index, int *out, int n) {
    __shared__ int s[64];
    out[threadIdx.x] = n;
    __syncthreads();
    s[index[threadIdx.x] & 63] = 1; // unsupported "value loaded from argument 0 .index."
}
