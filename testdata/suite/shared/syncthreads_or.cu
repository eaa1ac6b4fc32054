// __syncthreads_or is a barrier too.
// Why: bar.red synchronizes like bar.sync (PTX ISA 8.9.4).
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    int any = __syncthreads_or(t == 5);
    out[t] = any + s[63 - t];
}
