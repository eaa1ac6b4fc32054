// Planes of a volume go through shared memory one after the other.
#define R 2
__global__ void stencilPlane(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[16 + 2 * R][32 + 2 * R];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + R, ty = threadIdx.y + R;
    for (int z = 0; z < nz; z++) {
        const float *p = in + z * nx * ny;
        __syncthreads();
        if (threadIdx.y < R) {
            plane[threadIdx.y][tx] = y >= R ? p[(y - R) * nx + x] : 0;
            plane[threadIdx.y + 16 + R][tx] = y + 16 < ny ? p[(y + 16) * nx + x] : 0;
        }
        if (threadIdx.x < R) {
            plane[ty][threadIdx.x] = x >= R ? p[y * nx + x - R] : 0;
            plane[ty][threadIdx.x + 32 + R] = x + 32 < nx ? p[y * nx + x + 32] : 0;
        }
        plane[ty][tx] = p[y * nx + x];
        __syncthreads();
        float sum = plane[ty][tx];
        for (int d = 1; d <= R; d++)
            sum += plane[ty][tx - d] + plane[ty][tx + d] + plane[ty - d][tx] + plane[ty + d][tx];
        out[(z * ny + y) * nx + x] = sum;
    }
}

void stencil(const float *in, float *out) {
    stencilPlane<<<dim3(12, 24), dim3(32, 16)>>>(in, out, 384, 384, 96);
}
