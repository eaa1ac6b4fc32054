// Two warps write one value to one place.
// Why: nothing orders them, so that it is a race, if a benign one.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s;
    s = in[0]; // want race-shared "^benign write-write"
    __syncthreads();
    out[threadIdx.x] = s;
}
