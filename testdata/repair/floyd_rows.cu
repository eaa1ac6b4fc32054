// Shortest paths of a tile beside the diagonal.
__global__ void floydRows(int *dist, int n, int first) {
    __shared__ int pivot[16][16], own[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int at = (first + y) * n + (blockIdx.x + 3) * 16 + x;
    pivot[y][x] = dist[(first + y) * n + first + x];
    own[y][x] = dist[at];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int through = pivot[y][k] + own[k][x];
        __syncthreads();
        if (through < own[y][x])
            own[y][x] = through;
        __syncthreads();
    }
    dist[at] = own[y][x];
}

void paths(int *dist) { floydRows<<<60, dim3(16, 16)>>>(dist, 1024, 32); }
