// A sum in two kernels, as a template that only host code instantiates, with dynamic shared memory.
#include <cstdio>
#include <numeric>
#include <vector>

template <typename T>
__global__ void reduce(const T *in, T *out, int n) {
  extern __shared__ unsigned char memory[];
  T *part = reinterpret_cast<T *>(memory);
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    __syncthreads();
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

template <typename T>
T sum(const std::vector<T> &v) {
  const int blocks = 12, threads = 128;
  T *in, *parts, result;
  cudaMalloc(&in, v.size() * sizeof(T));
  cudaMalloc(&parts, (blocks + 1) * sizeof(T));
  cudaMemcpy(in, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  reduce<T><<<blocks, threads, threads * sizeof(T)>>>(in, parts, (int)v.size());
  reduce<T><<<1, threads, threads * sizeof(T)>>>(parts, parts + blocks, blocks);
  cudaMemcpy(&result, parts + blocks, sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(parts);
  return result;
}

int main() {
  std::vector<int> i(5000);
  std::iota(i.begin(), i.end(), 0);
  std::vector<double> d(i.begin(), i.end());
  int si = sum(i);
  double sd = sum(d);
  printf("%d %g\n", si, sd);
  return si != 4999 * 5000 / 2 || sd != 4999.0 * 5000 / 2;
}
