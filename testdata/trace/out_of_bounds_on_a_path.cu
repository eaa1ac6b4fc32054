// An access that is out of bounds for some numbers of threads, on a path that they do not take.
// Why: a trace follows both paths of a branch on an input that has no effect on synchronization. With
// n <= 32, which is what the path says, no thread is beyond s[31]; so there is no bug, and no proof.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[32];
    if (n <= 32)
        if (threadIdx.x < n)
            s[threadIdx.x] = in[threadIdx.x]; // unsupported "if some input takes this path"
    __syncthreads();
    out[threadIdx.x] = s[0];
}
