/* 6-bit floating point: e2m3 and e3m2, and their pairs and quadruples, a byte for each number (CUDA Math API). */
#ifndef HEDDLE_CUDA_FP6_H
#define HEDDLE_CUDA_FP6_H
#pragma clang system_header
#include "cuda_fp8.h"

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

__HEDDLE_TINY(__heddle_f2e2m3, __heddle_e2m32f, __nv_fp6_storage_t, 5, 3, 1)
__HEDDLE_TINY(__heddle_f2e3m2, __heddle_e3m22f, __nv_fp6_storage_t, 5, 2, 3)
__HEDDLE_TINY_TYPES(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, __nv_fp6_storage_t, __nv_fp6x2_storage_t,
                    __nv_fp6x4_storage_t, 8, __heddle_f2e2m3, __heddle_e2m32f)
__HEDDLE_TINY_TYPES(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, __nv_fp6_storage_t, __nv_fp6x2_storage_t,
                    __nv_fp6x4_storage_t, 8, __heddle_f2e3m2, __heddle_e3m22f)

/* The only mode of rounding is to nearest. */
__heddle_hd __nv_fp6_storage_t __nv_cvt_float_to_fp6(float __f, __nv_fp6_interpretation_t __k, cudaRoundMode) {
  return __k == __NV_E2M3 ? __heddle_f2e2m3(__f) : __heddle_f2e3m2(__f);
}
__heddle_hd __nv_fp6x2_storage_t __nv_cvt_float2_to_fp6x2(float2 __v, __nv_fp6_interpretation_t __k, cudaRoundMode __mode) {
  return (__nv_fp6x2_storage_t)(__nv_cvt_float_to_fp6(__v.x, __k, __mode) | __nv_cvt_float_to_fp6(__v.y, __k, __mode) << 8);
}
__HEDDLE_TINY_FROM(fp6, __nv_fp6_storage_t, __nv_fp6x2_storage_t, __nv_fp6_interpretation_t, 8)
__heddle_hd __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t __x, __nv_fp6_interpretation_t __k) {
  return __half_raw{__heddle_f2h_rn(__k == __NV_E2M3 ? __heddle_e2m32f(__x) : __heddle_e3m22f(__x))};
}
__heddle_hd __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t __x, __nv_fp6_interpretation_t __k) {
  return __half2_raw{__nv_cvt_fp6_to_halfraw((__nv_fp6_storage_t)__x, __k).x, __nv_cvt_fp6_to_halfraw((__nv_fp6_storage_t)(__x >> 8), __k).x};
}

#endif
