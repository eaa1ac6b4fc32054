// A neighbour's element is read after a barrier.
// Why: bar.sync synchronizes with bar.sync of the same barrier (PTX ISA 8.9.4).
// expect: clean
// heddle: grid=2 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[(t + 1) % 64];
}
