// A pipeline of two streams with two buffers: events say that a buffer is full, and that it may be filled again.
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

__global__ void produce(float *p, int n, int round) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i + round;
}

// Each thread reads its neighbours as well: half a block of them belongs to another block.
__global__ void consume(const float *p, int n, float *sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) sum[i] += p[i - 1] + p[i] + p[i + 1];
}

int main() {
  const int n = 4096, rounds = 6, blocks = (n + 255) / 256;
  float *buffer[2], *sum;
  cudaStream_t producer, consumer;
  cudaEvent_t full[2], empty[2];
  for (auto &b : buffer) CHECK(cudaMalloc(&b, n * sizeof(float)));
  CHECK(cudaMalloc(&sum, n * sizeof(float)));
  CHECK(cudaStreamCreate(&producer));
  CHECK(cudaStreamCreate(&consumer));
  for (auto &event : full) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (auto &event : empty) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMemsetAsync(sum, 0, n * sizeof(float), consumer));
  for (int r = 0; r < rounds; r++) {
    float *b = buffer[r % 2];
    CHECK(cudaStreamWaitEvent(producer, empty[r % 2], 0)); // returns at once before the first record
    produce<<<blocks, 256, 0, producer>>>(b, n, r);
    CHECK(cudaEventRecord(full[r % 2], producer));
    CHECK(cudaStreamWaitEvent(consumer, full[r % 2], 0));
    consume<<<blocks, 256, 0, consumer>>>(b, n, sum);
    CHECK(cudaEventRecord(empty[r % 2], consumer));
  }
  float *got = new float[n], want = 0;
  CHECK(cudaMemcpyAsync(got, sum, n * sizeof(float), cudaMemcpyDeviceToHost, consumer));
  CHECK(cudaStreamSynchronize(consumer));
  int wrong = 0;
  for (int i = 1; i < n - 1; i++) {
    want = 0;
    for (int r = 0; r < rounds; r++) want += 3.0f * (i + r);
    wrong += got[i] != want;
  }
  printf("%d rounds, %d wrong\n", rounds, wrong);
  CHECK(cudaStreamDestroy(producer));
  CHECK(cudaStreamDestroy(consumer));
  delete[] got;
  return wrong != 0;
}
