// A graph of nodes that the program adds: memset, copy, kernels, a host function and a child graph.
// The executable graph is launched, then a kernel of it gets other parameters, then all of it is
// updated from a changed graph.
#include <cstdio>
#include <vector>

__global__ void add(int *data, const int *more, int n, int factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += factor * more[i];
}
__global__ void negate(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = -data[i];
}

const int n = 500;
static std::vector<int> result(n);
static long total;
static void sum_up(void *) {
  total = 0;
  for (int v : result) total += v;
}

int main() {
  int *data, *more, wrong = 0;
  std::vector<int> host(n);
  for (int i = 0; i < n; i++) host[i] = i;
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&more, n * sizeof(int));

  // data = 7 and more = host, side by side; data += factor * more; data = -data; result = data; sum
  cudaGraph_t graph, child;
  cudaGraphNode_t set, up, plus, minus, inner, down, last;
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams seven = {data, 0, 7, sizeof(int), n, 1};
  cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &seven);
  cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, more, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  int count = n, factor = 3;
  void *args[] = {&data, &more, &count, &factor};
  cudaKernelNodeParams k = {(void *)add, dim3(2), dim3(256), 0, args, nullptr};
  cudaGraphNode_t both[] = {set, up};
  cudaGraphAddKernelNode(&plus, graph, both, 2, &k);

  cudaGraphCreate(&child, 0);
  void *less[] = {&data, &count};
  cudaKernelNodeParams m = {(void *)negate, dim3(2), dim3(256), 0, less, nullptr};
  cudaGraphAddKernelNode(&inner, child, nullptr, 0, &m);
  cudaGraphAddChildGraphNode(&minus, graph, &plus, 1, child);

  cudaGraphAddMemcpyNode1D(&down, graph, nullptr, 0, result.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaGraphAddDependencies(graph, &minus, &down, 1);
  cudaHostNodeParams h = {sum_up, nullptr};
  cudaGraphNodeParams any = {cudaGraphNodeTypeHost};
  any.host = h;
  cudaGraphAddNode(&last, graph, &down, 1, &any);
  cudaGraphNode_t again[] = {plus};
  cudaGraphAddDependencies(graph, again, &down, 1); // not needed, and no error
  size_t nodes, edges;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetEdges(graph, nullptr, nullptr, &edges);

  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int round = 0; round < 3; round++) {
    if (round == 1) { // the executable graph alone
      factor = 4;
      cudaGraphExecKernelNodeSetParams(exec, plus, &k);
    }
    if (round == 2) { // the graph, and from it the executable one
      seven.value = 11;
      cudaGraphMemsetNodeSetParams(set, &seven);
      cudaGraphExecUpdateResultInfo info;
      cudaGraphExecUpdate(exec, graph, &info);
    }
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    long want = 0;
    int start = round == 2 ? 11 : 7, by = round == 1 ? 4 : 3; // the graph itself still has factor 3
    for (int i = 0; i < n; i++) {
      wrong += result[i] != -(start + by * i);
      want += -(start + by * i);
    }
    wrong += total != want;
  }
  printf("%zu nodes, %zu edges, %d wrong, %s\n", nodes, edges, wrong, cudaGetErrorString(cudaGetLastError()));
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaGraphDestroy(child);
  cudaFree(data);
  cudaFree(more);
  return wrong != 0;
}
