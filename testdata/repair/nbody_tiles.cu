// Forces of all bodies: tiles of positions go through shared memory.
__global__ void nbodyTiles(const float4 *pos, float4 *force, int tiles) {
    __shared__ float4 tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 me = pos[i];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < tiles; k++) {
        tile[threadIdx.x] = pos[k * 256 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float4 p = tile[j];
            float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
            float s = p.w / (dx * dx + dy * dy + dz * dz + 0.01f);
            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
        }
        __syncthreads();
    }
    force[i] = make_float4(fx, fy, fz, 0);
}

void step(const float4 *pos, float4 *force) { nbodyTiles<<<64, 256>>>(pos, force, 64); }
