// heddle: grid=2x2 block=64
// sync: 1
__global__ void sobol(unsigned vectors, unsigned dimensions, const unsigned *directions, float *out)
{
    __shared__ unsigned v[32];
    directions += 32 * blockIdx.y;
    if (threadIdx.x < 32)
        v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();
    unsigned i0 = threadIdx.x + blockIdx.x * 64;
    unsigned g = i0 ^ (i0 >> 1);
    unsigned x = 0;
    for (unsigned k = 0; k < 32; k++) {
        unsigned mask = -(g & 1);
        x ^= mask & v[k];
        g >>= 1;
    }
    out[blockIdx.y * 128 + i0] = (float)x * 2.3283064e-10f;
}
