// Chunks of an array in several streams: copies and kernels overlap on a GPU. Events order the streams and
// measure time.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                 \
  do {                                                                              \
    cudaError_t e = (call);                                                         \
    if (e != cudaSuccess) {                                                         \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));             \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

__global__ void square(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= p[i];
}

__global__ void total(const int *p, int n, long long *sum) {
  long long mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += p[i];
  atomicAdd((unsigned long long *)sum, (unsigned long long)mine);
}

static void CUDART_CB done(void *counter) { ++*(int *)counter; }

int main() {
  const int chunks = 4, n = 1000, all = chunks * n;
  int *host, *device, called = 0;
  long long *sum, result;
  CHECK(cudaMallocHost(&host, all * sizeof(int)));
  CHECK(cudaMalloc(&device, all * sizeof(int)));
  CHECK(cudaMalloc(&sum, sizeof(long long)));
  for (int i = 0; i < all; i++) host[i] = i % 100;

  cudaStream_t streams[chunks];
  cudaEvent_t ready[chunks], start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  for (int k = 0; k < chunks; k++) {
    CHECK(cudaStreamCreate(&streams[k]));
    CHECK(cudaEventCreateWithFlags(&ready[k], cudaEventDisableTiming));
    int *to = device + k * n;
    CHECK(cudaMemcpyAsync(to, host + k * n, n * sizeof(int), cudaMemcpyHostToDevice, streams[k]));
    square<<<(n + 127) / 128, 128, 0, streams[k]>>>(to, n);
    CHECK(cudaGetLastError());
    CHECK(cudaLaunchHostFunc(streams[k], done, &called));
    CHECK(cudaEventRecord(ready[k], streams[k]));
  }
  for (int k = 0; k < chunks; k++) CHECK(cudaStreamWaitEvent(streams[0], ready[k], 0));
  CHECK(cudaMemsetAsync(sum, 0, sizeof(long long), streams[0]));
  total<<<1, 256, 0, streams[0]>>>(device, all, sum);
  CHECK(cudaMemcpyAsync(&result, sum, sizeof(result), cudaMemcpyDeviceToHost, streams[0]));
  CHECK(cudaStreamSynchronize(streams[0]));
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));

  long long want = 0;
  for (int i = 0; i < all; i++) want += (i % 100) * (i % 100);
  for (int k = 0; k < chunks; k++) {
    CHECK(cudaStreamDestroy(streams[k]));
    CHECK(cudaEventDestroy(ready[k]));
  }
  CHECK(cudaFreeHost(host));
  printf("sum %lld, %d callbacks\n", result, called);
  return result != want || called != chunks || ms < 0;
}
