// As index_given, but the kernel writes the array through another argument, declared as an alias.
// Why: after the store, a load does not return the original contents.
// expect: unsupported
// heddle: grid=1 block=64 index=iota:256 out=alias:index
__global__ void k(const int *index, int *out, int n) {
    __shared__ int s[64];
    out[threadIdx.x] = n;
    __syncthreads();
    s[index[threadIdx.x] & 63] = 1; // unsupported "value loaded from argument 0 .index."
}
