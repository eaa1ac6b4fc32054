// Two arrays in dynamic shared memory, side by side.
// Why: a is bytes 0 to 255, b bytes 256 to 511.
// expect: clean
// heddle: grid=1 block=64 shared=512
__global__ void k(int *out) {
    extern __shared__ int buf[];
    int *a = buf, *b = buf + 64;
    int t = threadIdx.x;
    a[t] = t;
    b[t] = -t;
    __syncthreads();
    out[t] = a[63 - t] + b[63 - t];
}
