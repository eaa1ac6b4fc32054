// Four threads store the four bytes of one word.
// Why: byte ranges do not overlap.
// expect: clean
// heddle: grid=1 block=4
__global__ void k(int *out) {
    __shared__ unsigned char s[4];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[3 - threadIdx.x];
}
