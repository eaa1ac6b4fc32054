// One-dimensional stencil with a halo in shared memory.
const int R = 3, B = 256;

__global__ void stencil(const float *in, float *out) {
    __shared__ float s[B + 2 * R];
    int g = blockIdx.x * B + threadIdx.x + R, l = threadIdx.x + R;
    s[l] = in[g];
    if (threadIdx.x < R) {
        s[l - R] = in[g - R];
        s[l + B] = in[g + B];
    }
    __syncthreads();
    float sum = 0;
    for (int d = -R; d <= R; d++)
        sum += s[l + d];
    out[g] = sum;
}
