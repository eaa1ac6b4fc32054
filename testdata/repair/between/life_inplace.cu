// The game of life in place, on a torus, with a grid of two dimensions.
//
// grid-sync: repaired; between counting and writing.
// split: repaired; the count is saved.
// double-buffer: repaired; a cell is written after all reads.
#include <cstdio>

__global__ void life(int *cells, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0, old = 0;
    if (x < w && y < h) {
        old = cells[y * w + x];
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                alive += cells[(y + dy + h) % h * w + (x + dx + w) % w];
        alive -= old;
    }
    if (x < w && y < h)
        cells[y * w + x] = alive == 3 || (alive == 2 && old);
}

int main() {
    const int w = 64, h = 32;
    static int grid[w * h], want[w * h];
    for (int i = 0; i < w * h; i++)
        grid[i] = i * 7 % 5 == 0 || i % 3 == 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int alive = -grid[y * w + x];
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    alive += grid[(y + dy + h) % h * w + (x + dx + w) % w];
            want[y * w + x] = alive == 3 || (alive == 2 && grid[y * w + x]);
        }
    int *d;
    cudaMalloc(&d, w * h * sizeof(int));
    cudaMemcpy(d, grid, w * h * sizeof(int), cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    dim3 blocks(w / 16, h / 16);
    life<<<blocks, block>>>(d, w, h);
    cudaMemcpy(grid, d, w * h * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d);
    int bad = 0;
    for (int i = 0; i < w * h; i++)
        bad += grid[i] != want[i];
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
