// Breadth-first search on a graph that the program builds: a kernel for each level, until a flag stays 0.
#include <cstdio>
#include <queue>
#include <vector>

__global__ void expand(const int *row, const int *edge, int *level, int now, int n, int *more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicCAS(&level[edge[e]], -1, now + 1) == -1) atomicExch(more, 1);
}

template <typename T>
T *upload(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

int main() {
  const int n = 600;
  std::vector<std::vector<int>> next(n);
  for (int v = 0; v < n; v++) next[v] = {(v * 7 + 1) % n, (v * 3 + 5) % n, (v + 1) % (n - 7)};
  std::vector<int> row(1), edge, level(n, -1), want(n, -1);
  for (auto &list : next) {
    edge.insert(edge.end(), list.begin(), list.end());
    row.push_back((int)edge.size());
  }
  level[0] = want[0] = 0;
  std::queue<int> todo({0});
  for (; !todo.empty(); todo.pop())
    for (int u : next[todo.front()])
      if (want[u] < 0) want[u] = want[todo.front()] + 1, todo.push(u);

  int *d_row = upload(row), *d_edge = upload(edge), *d_level = upload(level), *d_more = upload(std::vector<int>{0});
  int more = 1;
  for (int now = 0; more; now++) {
    more = 0;
    cudaMemcpy(d_more, &more, sizeof(int), cudaMemcpyHostToDevice);
    expand<<<(n + 127) / 128, 128>>>(d_row, d_edge, d_level, now, n, d_more);
    cudaMemcpy(&more, d_more, sizeof(int), cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(level.data(), d_level, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%s\n", level == want ? "right" : "wrong");
  return level != want;
}
