// float4 stores side by side.
// Why: 16-byte ranges at multiples of 16 do not overlap.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(float4 *out) {
    __shared__ float4 s[64];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
