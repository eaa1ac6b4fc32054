/* hipCUB as on NVIDIA's GPUs: the names of CUB, from a copy on the machine, in another namespace (hipCUB's
   documentation), and the operators that CUB has until version 2. */
#ifndef HEDDLE_HIPCUB_H
#define HEDDLE_HIPCUB_H
#include "../hip/hip_runtime.h"
#include <cub/config.cuh>

namespace cub {} /* if there is no copy */
namespace hipcub {
using namespace cub;
#define __HEDDLE_OPERATOR(NAME, TYPE, VALUE)                                                             \
  struct NAME {                                                                                          \
    template <class __T> __host__ __device__ constexpr TYPE operator()(const __T &__a, const __T &__b) const { \
      return VALUE;                                                                                      \
    }                                                                                                    \
  };
__HEDDLE_OPERATOR(Equality, bool, __a == __b)
__HEDDLE_OPERATOR(Inequality, bool, !(__a == __b))
__HEDDLE_OPERATOR(Sum, __T, __a + __b)
__HEDDLE_OPERATOR(Difference, __T, __a - __b)
__HEDDLE_OPERATOR(Division, __T, __a / __b)
__HEDDLE_OPERATOR(Max, __T, __a < __b ? __b : __a)
__HEDDLE_OPERATOR(Min, __T, __b < __a ? __b : __a)
#undef __HEDDLE_OPERATOR
}

#define HIPCUB_ARCH 1
#define HIPCUB_WARP_THREADS 32
#define HIPCUB_DEVICE_WARP_THREADS 32
#define HIPCUB_HOST_WARP_THREADS 32
#define HIPCUB_RUNTIME_FUNCTION __host__ __device__
#define HIPCUB_HOST __host__
#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_SHARED_MEMORY __shared__

#endif
