// Two warps write the same value to the same place.
// Why: --benign all tolerates writes of equal values; equality was observed and not proved, so this is not a proof.
// expect: clean
// options: --benign all
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s;
    s = in[0];
    __syncthreads();
    out[threadIdx.x] = s;
}
