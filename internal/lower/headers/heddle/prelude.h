/* Force-included before every .cu file: the CUDA C++ language as device code sees it. No part of it comes
   from the CUDA SDK. Host code gets declarations only (runtime.h), since only device code is compiled. */
#ifndef HEDDLE_PRELUDE_H
#define HEDDLE_PRELUDE_H

/* clang allows device functions next to constexpr functions of the C++ library only in a system header. */
#pragma clang system_header

#define __CUDACC__ 1
/* Headers that compile with several compilers define their own __device__ where this is undefined. */
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9
#define __CUDACC_VER_BUILD__ 41
/* Lambda expressions with __device__ need no option here. Their classes are those of any lambda expression, in both
   passes: nothing that nvcc forbids of its extended ones needs to be told apart. */
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#define CUDART_VERSION 12090
#define CUDA_VERSION 12090
/* Headers of samples (helper_cuda.h) test these include guards to find out whether the types and the functions of
   the runtime exist; Thrust 1 removes __host__ and __device__ unless host_defines.h was included. */
#define __HOST_DEFINES_H__
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__

#include "qualifiers.h"
#include "constants.h"
#include "vector_types.h"
#include "indices.h"
#include "sync.h"
#include "warp.h"
#include "atomics.h"
#include "memory.h"
#include "intrinsics.h"
#include "simd.h"
#include "cluster.h"
#include "math_f64.h"
#include "math_f32.h"
#include "math_std.h"
#include "device_lib.h"
#include <assert.h>
#include <utility>
#include "host_c.h"
#include "runtime.h"
#include "textures.h"

#endif
