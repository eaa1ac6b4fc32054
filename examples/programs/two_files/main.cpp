// The host half of a program in two files, compiled as plain C++ that calls the CUDA runtime.
#include <cmath>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>

#include "vector.h"

int main() {
  std::vector<float> ones(1500, 1), steps(1500);
  for (size_t i = 0; i < steps.size(); i++) steps[i] = i % 10;
  Vector a = make_vector(ones.data(), ones.size()), b = make_vector(steps.data(), steps.size());
  scale(a, 2);
  float got = dot(a, b);
  cudaError_t e = cudaDeviceSynchronize();
  free_vector(a);
  free_vector(b);
  std::cout << got << ", " << cudaGetErrorString(e) << std::endl;
  return std::fabs(got - 2 * 4.5f * 1500) > 1 || e != cudaSuccess;
}
