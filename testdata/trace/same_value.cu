// Two warps write the same value to the same place.
// Why: nothing orders the writes, so they are a race, though a benign one.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s;
    s = in[0]; // want race-shared "^benign write-write"
    __syncthreads();
    out[threadIdx.x] = s;
}
