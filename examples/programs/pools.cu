// Memory in the order of a stream: allocated, used and freed without a synchronization, from the
// default pool and from one of the program's own, whose counters it reads.
#include <cstdio>
#include <vector>

__global__ void fill(int *p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v + i;
}

int main() {
  const int n = 1000;
  cudaStream_t s;
  cudaMemPool_t pool, own;
  cudaStreamCreate(&s);
  cudaDeviceGetDefaultMemPool(&pool, 0);
  unsigned long long keep = ~0ull, used[3], most;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPoolCreate(&own, &props);

  int *a, *b, wrong = 0;
  std::vector<int> x(n), y(n);
  cudaMallocAsync(&a, n * sizeof(int), s);
  cudaMallocFromPoolAsync(&b, n * sizeof(int), own, s);
  fill<<<4, 256, 0, s>>>(a, n, 5);
  fill<<<4, 256, 0, s>>>(b, n, 6);
  cudaMemcpyAsync(x.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost, s);
  cudaMemcpyAsync(y.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost, s);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used[0]);
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used[1]);
  cudaFreeAsync(a, s);
  cudaFreeAsync(b, s);
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used[2]);
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &most);
  cudaStreamSynchronize(s);
  for (int i = 0; i < n; i++) wrong += x[i] != 5 + i || y[i] != 6 + i;
  cudaMemPoolTrimTo(own, 0);
  cudaMemPoolDestroy(own);
  cudaStreamDestroy(s);
  printf("used %llu %llu %llu, most %llu; %d wrong, %s\n", used[0], used[1], used[2], most, wrong,
         cudaGetErrorString(cudaGetLastError()));
  return wrong != 0;
}
