// A graph from captured streams: two kernels side by side, and one that needs both. It is launched
// twice, the second time with another input. With the argument "racy", the first graph is made
// without the event that joins the second stream, which CUDA rejects, and then with a third kernel
// that does not wait for the second.
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void twice(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
__global__ void square(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}
__global__ void sum(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

const int n = 600;
static int *in, *a, *b, *out, *host;
static cudaStream_t first, second;
static cudaEvent_t fork_, join_;

// Captures in -> a, b -> out -> host. wait says whether the sum waits for the square.
static cudaGraph_t capture(bool wait) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork_, first);
  cudaStreamWaitEvent(second, fork_, 0);
  twice<<<3, 256, 0, first>>>(in, a, n);
  square<<<3, 256, 0, second>>>(in, b, n);
  cudaEventRecord(join_, second);
  if (wait) cudaStreamWaitEvent(first, join_, 0);
  sum<<<3, 256, 0, first>>>(a, b, out, n);
  if (!wait) cudaStreamWaitEvent(first, join_, 0); // too late
  cudaMemcpyAsync(host, out, n * sizeof(int), cudaMemcpyDeviceToHost, first);
  cudaError_t e = cudaStreamEndCapture(first, &graph);
  if (e != cudaSuccess) printf("cudaStreamEndCapture: %s\n", cudaGetErrorName(e));
  return graph;
}

int main(int argc, char **argv) {
  bool racy = argc > 1 && !strcmp(argv[1], "racy");
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMallocHost(&host, n * sizeof(int));
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join_, cudaEventDisableTiming);

  if (racy) { // a stream that was forked must be joined
    cudaGraph_t none;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork_, first);
    cudaStreamWaitEvent(second, fork_, 0);
    square<<<3, 256, 0, second>>>(in, b, n);
    printf("not joined: %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &none)));
  }
  cudaGraph_t graph = capture(!racy);
  size_t nodes;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  int wrong = 0;
  std::vector<int> v(n);
  for (int round = 1; round <= 2; round++) {
    for (int i = 0; i < n; i++) v[i] = i * round;
    cudaMemcpyAsync(in, v.data(), n * sizeof(int), cudaMemcpyHostToDevice, first);
    cudaGraphLaunch(exec, first);
    cudaStreamSynchronize(first);
    for (int i = 0; i < n; i++) wrong += host[i] != 2 * v[i] + v[i] * v[i];
  }
  printf("%zu nodes, %d wrong\n", nodes, wrong);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(fork_);
  cudaEventDestroy(join_);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(in);
  cudaFree(a);
  cudaFree(b);
  cudaFree(out);
  cudaFreeHost(host);
  return wrong != 0;
}
