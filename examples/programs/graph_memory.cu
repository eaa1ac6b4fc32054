// Graphs that allocate: by nodes, and by capture; with what frees the memory in the graph, outside of
// it, and at the next launch.
#include <cstdio>

__global__ void fill(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 3 * i;
}

__global__ void add(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}

static const int n = 1000;
static int *host;

static int wrong(int plus) {
  int count = 0;
  for (int i = 0; i < n; i++) count += host[i] != 3 * i + plus;
  return count;
}

static unsigned long long used() {
  unsigned long long bytes = 0;
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes);
  return bytes;
}

// Allocates, fills, copies to the host and frees, by nodes.
static int explicitly(cudaStream_t s) {
  cudaGraph_t graph;
  cudaGraphNode_t alloc, kernel, copy, end;
  cudaGraphExec_t exec;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams a = {};
  a.poolProps.allocType = cudaMemAllocationTypePinned;
  a.poolProps.location.type = cudaMemLocationTypeDevice;
  a.bytesize = n * sizeof(int);
  cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &a);
  int count = n;
  void *args[] = {&a.dptr, &count};
  cudaKernelNodeParams k = {};
  k.func = (void *)fill;
  k.gridDim = dim3(8);
  k.blockDim = dim3(128);
  k.kernelParams = args;
  cudaGraphAddKernelNode(&kernel, graph, &alloc, 1, &k);
  cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, a.dptr, n * sizeof(int),
                           cudaMemcpyDeviceToHost);
  cudaGraphAddMemFreeNode(&end, graph, &copy, 1, a.dptr);
  cudaGraphInstantiate(&exec, graph, 0);
  int bad = 0;
  for (int i = 0; i < 2; i++) {
    memset(host, 0, n * sizeof(int));
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    bad += wrong(0) + (used() != 0);
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  return bad;
}

// The graph leaves its memory to a kernel that is launched behind it.
static int captured(cudaStream_t s, int flags) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int *p;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&p, n * sizeof(int), s);
  fill<<<8, 128, 0, s>>>(p, n);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, flags);
  int bad = cudaGraphLaunch(exec, s) != cudaSuccess;
  add<<<8, 128, 0, s>>>(p, n);
  cudaMemcpyAsync(host, p, n * sizeof(int), cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  bad += wrong(1) + (used() != n * sizeof(int));
  cudaError_t again = cudaGraphLaunch(exec, s); // p has not been freed
  bad += again != (flags ? cudaSuccess : cudaErrorInvalidValue);
  cudaMemcpyAsync(host, p, n * sizeof(int), cudaMemcpyDeviceToHost, s);
  cudaFreeAsync(p, s);
  cudaStreamSynchronize(s);
  bad += wrong(flags ? 0 : 1) + (used() != 0);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  return bad;
}

int main() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&host, n * sizeof(int));
  int a = explicitly(s), b = captured(s, 0);
  int c = captured(s, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  cudaFreeHost(host);
  cudaStreamDestroy(s);
  printf("%d, %d and %d wrong\n", a, b, c);
  return a + b + c != 0;
}
