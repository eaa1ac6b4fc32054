// Shortest paths within a tile on the diagonal.
__global__ void floydTile(int *dist, int n, int first) {
    __shared__ int d[16][16];
    int x = threadIdx.x, y = threadIdx.y, at = (first + y) * n + first + x;
    d[y][x] = dist[at];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int through = d[y][k] + d[k][x];
        __syncthreads();
        d[y][x] = min(d[y][x], through);
        __syncthreads();
    }
    dist[at] = d[y][x];
}

void paths(int *dist) { floydTile<<<1, dim3(16, 16)>>>(dist, 1024, 32); }
