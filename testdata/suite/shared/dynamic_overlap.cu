// Two arrays in dynamic shared memory, the second one at too small an offset.
// Why: b starts at byte 128 of the buffer, but a is 64 words long.
// expect: bug
// heddle: grid=1 block=64 shared=512
__global__ void k(int *out) {
    extern __shared__ int buf[];
    int *a = buf, *b = buf + 32;
    int t = threadIdx.x;
    a[t] = t; // want race-shared
    b[t] = -t; // want race-shared
    __syncthreads();
    out[t] = a[t] + b[t];
}
