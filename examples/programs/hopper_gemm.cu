// C = A B for Hopper, as its libraries do it: a producer thread loads tiles of A and B by copies of
// tensors (TMA) into a ring of stages, and the four warps of a consumer warpgroup multiply them by
// wgmma. Two mbarriers for each stage say that it is full, and that it is empty again. A has m rows
// of k numbers, B has n columns of k numbers; both are half precision, C is float. With the argument
// "racy" the consumers release a stage before the products that read it are complete.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_fp16.h>

const int tile = 64, stages = 2; // 64 x 64 numbers of C; 64 numbers of k, a swizzle of 128 bytes, a stage

__device__ uint32_t address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void wait(uint64_t *bar, int parity) {
  int done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(address(bar)), "r"(parity) : "memory");
}
__device__ void arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(bar)) : "memory");
}
__device__ void load(void *to, const CUtensorMap *map, int x, int y, uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               ::"r"(address(to)), "l"(map), "r"(x), "r"(y), "r"(address(bar)) : "memory");
}
// A matrix descriptor (PTX ISA 9.7.15.5.1.2.2): rows of 128 bytes with the swizzle of 128 bytes, groups of
// 8 rows 1,024 bytes apart.
__device__ uint64_t descriptor(const void *p) {
  return (uint64_t)(address(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
__device__ void multiply(float (&c)[32], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
               "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),
                 "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),
                 "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                 "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
               : "l"(a), "l"(b));
}

__global__ void gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k,
                     bool racy) {
  alignas(1024) __shared__ __half as[stages][tile][tile];
  alignas(1024) __shared__ __half bs[stages][tile][tile];
  __shared__ uint64_t full[stages], empty[stages];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rounds = (k + tile - 1) / tile;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(address(&empty[s])) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warp == 4) { // the producer
    for (int i = 0; lane == 0 && i < rounds; i++) {
      int s = i % stages;
      if (i >= stages) wait(&empty[s], i / stages - 1 & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&full[s])),
                   "r"((int)(sizeof as[s] + sizeof bs[s])) : "memory");
      load(as[s], &a, i * tile, blockIdx.y * tile, &full[s]);
      load(bs[s], &b, i * tile, blockIdx.x * tile, &full[s]);
    }
    return;
  }
  float sum[32] = {};
  for (int i = 0; i < rounds; i++) {
    int s = i % stages;
    wait(&full[s], i / stages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int q = 0; q < tile; q += 16) multiply(sum, descriptor(&as[s][0][0]) + q / 8, descriptor(&bs[s][0][0]) + q / 8);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (racy) arrive(&empty[s]);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (!racy) arrive(&empty[s]);
  }
  // Registers of the result: PTX ISA 9.7.15.5.1.1, figure of matrix D.
  int row = blockIdx.y * tile + 16 * warp + lane / 4, column = blockIdx.x * tile + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 32; i++) c[(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = sum[i];
}

static CUtensorMap map_of(__half *p, int rows, int k) {
  CUtensorMap m;
  cuuint64_t size[2] = {(cuuint64_t)k, (cuuint64_t)rows}, stride[1] = {(cuuint64_t)k * sizeof(__half)};
  cuuint32_t box[2] = {tile, tile}, step[2] = {1, 1};
  CUresult r = cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, size, stride, box, step,
                                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) printf("cuTensorMapEncodeTiled: %d\n", r);
  return m;
}

int main(int argc, char **argv) {
  const int m = 128, n = 128, k = 360; // the last stage is partly outside of A and B: zeros
  std::vector<__half> a(m * k), b(n * k);
  for (int i = 0; i < m * k; i++) a[i] = __float2half((i * 7 % 11 - 5) / 4.0f);
  for (int i = 0; i < n * k; i++) b[i] = __float2half((i * 5 % 13 - 6) / 8.0f);
  __half *da, *db;
  float *dc;
  cudaMalloc(&da, a.size() * sizeof(__half));
  cudaMalloc(&db, b.size() * sizeof(__half));
  cudaMalloc(&dc, m * n * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice);
  bool racy = argc > 1 && !strcmp(argv[1], "racy");
  gemm<<<dim3(n / tile, m / tile), 160>>>(map_of(da, m, k), map_of(db, n, k), dc, n, k, racy);
  std::vector<float> c(m * n);
  cudaError_t e = cudaMemcpy(c.data(), dc, m * n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0; // exact: multiples of 1/32 below 2^18
      for (int q = 0; q < k; q++) sum += __half2float(a[i * k + q]) * __half2float(b[j * k + q]);
      wrong += sum != c[i * n + j];
    }
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(e));
  return wrong != 0;
}
