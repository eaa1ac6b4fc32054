// Functions of kernels.cu for host code that is compiled without CUDA.
#pragma once
#include <cstddef>

struct Vector {
  float *data;
  size_t size;
};

Vector make_vector(const float *from, size_t n);
void scale(Vector v, float by);
float dot(Vector a, Vector b);
void free_vector(Vector v);
