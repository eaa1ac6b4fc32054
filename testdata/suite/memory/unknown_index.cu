// An unknown value is an address.
// Why: the run stops and names the input that it depends on, neither clean nor a bug.
// expect: unsupported
// heddle: grid=1 block=64 in=unknown
__global__ void k(const int *in, int *out) {
    __shared__ int s[64];
    s[in[threadIdx.x] & 63] = 1;
    out[threadIdx.x] = s[threadIdx.x];
}
