// All threads read the same word, and each writes its own word.
// Why: reads do not conflict with reads (PTX ISA 8.7.1 requires a write).
// expect: clean
// heddle: grid=2 block=64
__global__ void k(const int *in, int *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[0];
}
