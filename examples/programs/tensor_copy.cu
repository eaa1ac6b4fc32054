// Tiles of a matrix are loaded, changed and stored by copies of tensors (TMA), which read what a tile
// is from tensor maps. The matrix is no multiple of the tile: what is loaded from outside of it is 0,
// and what would be stored there is dropped. The load swizzles the tile, so that a warp may read a
// column of it without bank conflicts. With the argument "racy" the proxy fence in front of the store
// is missing.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda.h>

const int tile = 32; // rows and columns, 128 bytes each row

__device__ uint32_t shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void add_column_number(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                                  bool fence) {
  alignas(1024) __shared__ int in[tile][tile];
  alignas(128) __shared__ int out[tile][tile];
  __shared__ uint64_t full;
  int x = blockIdx.x * tile, y = blockIdx.y * tile, t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)), "r"((int)sizeof in)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared(in)), "l"(&from), "r"(x), "r"(y), "r"(shared(&full)) : "memory");
  }
  int done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared(&full)) : "memory");
  // The swizzle of 128 bytes puts piece c (4 numbers) of row r at c ^ (r % 8).
  for (int r = 0; r < tile; r++) out[r][t] = in[r][(t / 4 ^ r % 8) * 4 + t % 4] + x + t;
  if (fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&to), "r"(x), "r"(y), "r"(shared(out)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

static CUtensorMap map_of(int *p, int width, int height, int pitch, CUtensorMapSwizzle swizzle) {
  CUtensorMap m;
  cuuint64_t size[2] = {(cuuint64_t)width, (cuuint64_t)height}, stride[1] = {(cuuint64_t)pitch * sizeof(int)};
  cuuint32_t box[2] = {tile, tile}, step[2] = {1, 1};
  CUresult r = cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, size, stride, box, step,
                                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) printf("cuTensorMapEncodeTiled: %d\n", r);
  return m;
}

int main(int argc, char **argv) {
  const int width = 100, height = 70, pitch = 104;
  std::vector<int> host(pitch * height), result(pitch * height, -1);
  for (int i = 0; i < pitch * height; i++) host[i] = i;
  int *from, *to;
  cudaMalloc(&from, host.size() * sizeof(int));
  cudaMalloc(&to, host.size() * sizeof(int));
  cudaMemcpy(from, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(to, result.data(), result.size() * sizeof(int), cudaMemcpyHostToDevice);
  CUtensorMap a = map_of(from, width, height, pitch, CU_TENSOR_MAP_SWIZZLE_128B);
  CUtensorMap b = map_of(to, width, height, pitch, CU_TENSOR_MAP_SWIZZLE_NONE);
  bool racy = argc > 1 && !strcmp(argv[1], "racy");
  add_column_number<<<dim3((width + tile - 1) / tile, (height + tile - 1) / tile), tile>>>(a, b, !racy);
  cudaError_t e = cudaMemcpy(result.data(), to, result.size() * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < pitch; x++) wrong += result[y * pitch + x] != (x < width ? y * pitch + x + x : -1);
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(e));
  return wrong != 0;
}
