/* 4-bit floating point, e2m1, and its pairs and quadruples, two numbers in a byte (CUDA Math API). */
#ifndef HEDDLE_CUDA_FP4_H
#define HEDDLE_CUDA_FP4_H
#pragma clang system_header
#include "cuda_fp8.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

__HEDDLE_TINY(__heddle_f2e2m1, __heddle_e2m12f, __nv_fp4_storage_t, 3, 1, 1)
__HEDDLE_TINY_TYPES(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, __nv_fp4_storage_t, __nv_fp4x2_storage_t,
                    __nv_fp4x4_storage_t, 4, __heddle_f2e2m1, __heddle_e2m12f)

/* The only mode of rounding is to nearest. */
__heddle_hd __nv_fp4_storage_t __nv_cvt_float_to_fp4(float __f, __nv_fp4_interpretation_t, cudaRoundMode) { return __heddle_f2e2m1(__f); }
__heddle_hd __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 __v, __nv_fp4_interpretation_t, cudaRoundMode) {
  return (__nv_fp4x2_storage_t)(__heddle_f2e2m1(__v.x) | __heddle_f2e2m1(__v.y) << 4);
}
__HEDDLE_TINY_FROM(fp4, __nv_fp4_storage_t, __nv_fp4x2_storage_t, __nv_fp4_interpretation_t, 4)
__heddle_hd __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t __x, __nv_fp4_interpretation_t) {
  return __half_raw{__heddle_f2h_rn(__heddle_e2m12f(__x))};
}
__heddle_hd __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t __x, __nv_fp4_interpretation_t __k) {
  return __half2_raw{__nv_cvt_fp4_to_halfraw(__x, __k).x, __nv_cvt_fp4_to_halfraw(__x >> 4, __k).x};
}

#endif
