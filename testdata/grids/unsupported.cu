// What device code cannot do.

// part: the grids that the others launch
__global__ void fill(int *out) { out[threadIdx.x] = 1; }

// unsupported "CUDA 12 has removed it from device code": CUDA 12 rejects it ("CDP1 vs CDP2")
// heddle: grid=1 block=1
__global__ void waits(int *out) {
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    out[0] = out[1];
}
