/* What <cuda_runtime.h> is for C++ without device code: the types and functions of the runtime, and nothing of
   the language. In CUDA C++ the prelude has declared all of it before. */
#if !defined(HEDDLE_PRELUDE_H) && !defined(HEDDLE_HOST_H)
#define HEDDLE_HOST_H
#pragma clang system_header
#ifndef __cplusplus
#error "heddle does not support cuda_runtime.h in C: compile the file as C++ (rename it to .cpp)"
#endif

#define CUDART_VERSION 12090
#define CUDA_VERSION 12090
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__

#include "qualifiers.h"
#undef __host__
#undef __device__
#undef __global__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__
#undef __cluster_dims__
#undef __block_size__
#undef __forceinline__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#include "vector_types.h"
#include "runtime.h"

#endif
