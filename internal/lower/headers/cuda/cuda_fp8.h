/* 8-bit floating point: e4m3 (no infinity, NaN is 0x7f), e5m2, and e8m0, which has powers of two only, and their pairs and quadruples, as storage. The
   conversions saturate and round to nearest even unless told otherwise (CUDA Math API, "FP8 Conversion and Data
   Movement"). */
#ifndef HEDDLE_CUDA_FP8_H
#define HEDDLE_CUDA_FP8_H
#pragma clang system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "../heddle/smallfloat.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

__heddle_hd __nv_fp8_storage_t __nv_cvt_float_to_fp8(float __f, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  const unsigned int __most = __k == __NV_E4M3 ? 0x7eu : 0x7bu; /* 448 and 57344 */
  unsigned int __s = __builtin_bit_cast(unsigned int, __f) >> 24 & 0x80u;
  if (__f != __f) return 0x7f;
  unsigned int __r = __k == __NV_E4M3 ? __heddle_f2small(__f, 3, 7, __most) : __heddle_f2small(__f, 2, 15, __most);
  if (__r > __most) {
    if (__sat == __NV_SATFINITE) __r = __most;
    else __r = __k == __NV_E4M3 ? 0x7fu : 0x7cu;
  }
  return (__nv_fp8_storage_t)(__s | __r);
}
__heddle_hd float __heddle_fp82f(__nv_fp8_storage_t __x, __nv_fp8_interpretation_t __k) {
  unsigned int __s = (unsigned int)(__x & 0x80u) << 24, __a = __x & 0x7fu;
  if (__k == __NV_E4M3 ? __a == 0x7f : __a > 0x7c) return __builtin_bit_cast(float, 0x7fffffffu);
  if (__k == __NV_E5M2 && __a == 0x7c) return __builtin_bit_cast(float, __s | 0x7f800000u);
  return __k == __NV_E4M3 ? __heddle_small2f(__a, __s, 3, 7) : __heddle_small2f(__a, __s, 2, 15);
}
__heddle_hd __nv_fp8_storage_t __nv_cvt_double_to_fp8(double __d, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return __nv_cvt_float_to_fp8(__heddle_odd(__d), __sat, __k);
}
__heddle_hd __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw __h, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return __nv_cvt_float_to_fp8(__heddle_h2f(__h.x), __sat, __k);
}
__heddle_hd __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw __h, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return __nv_cvt_float_to_fp8(__heddle_bf2f(__h.x), __sat, __k);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 __v, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(__v.x, __sat, __k) | __nv_cvt_float_to_fp8(__v.y, __sat, __k) << 8);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 __v, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(__v.x, __sat, __k) | __nv_cvt_double_to_fp8(__v.y, __sat, __k) << 8);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw __v, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return __nv_cvt_float2_to_fp8x2(make_float2(__heddle_h2f(__v.x), __heddle_h2f(__v.y)), __sat, __k);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw __v, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  return __nv_cvt_float2_to_fp8x2(make_float2(__heddle_bf2f(__v.x), __heddle_bf2f(__v.y)), __sat, __k);
}
/* To an integer: towards zero, cut to the range of the type; NaN is 0. */
template <typename __T> __heddle_hd __T __heddle_cut(float __f, __T __low, __T __high) {
  if (__f != __f) return 0;
  return __f <= (float)__low ? __low : __f >= (float)__high ? __high : (__T)__f;
}
/* Each number of the formats is one of half. */
__heddle_hd __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t __x, __nv_fp8_interpretation_t __k) {
  return __half_raw{__heddle_f2h_rn(__heddle_fp82f(__x, __k))};
}
__heddle_hd __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t __x, __nv_fp8_interpretation_t __k) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)__x, __k).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(__x >> 8), __k).x};
}

#define __HEDDLE_FP8_INTEGER(T, LOW, HIGH, KIND) \
  __heddle_hd_member explicit operator T() const { return __heddle_cut<T>(__heddle_fp82f(__x, KIND), LOW, HIGH); }
#define __HEDDLE_FP8(TYPE, TYPE2, TYPE4, KIND)                                                                      \
  struct TYPE {                                                                                                     \
    __nv_fp8_storage_t __x;                                                                                         \
    TYPE() = default;                                                                                               \
    __heddle_hd_member explicit TYPE(float __f) : __x(__nv_cvt_float_to_fp8(__f, __NV_SATFINITE, KIND)) {}          \
    __heddle_hd_member explicit TYPE(double __f) : __x(__nv_cvt_double_to_fp8(__f, __NV_SATFINITE, KIND)) {}        \
    __heddle_hd_member explicit TYPE(__half __f) : __x(__nv_cvt_float_to_fp8((float)__f, __NV_SATFINITE, KIND)) {}  \
    __heddle_hd_member explicit TYPE(__nv_bfloat16 __f) : __x(__nv_cvt_float_to_fp8((float)__f, __NV_SATFINITE, KIND)) {} \
    __heddle_hd_member explicit TYPE(int __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {}   \
    __heddle_hd_member explicit TYPE(unsigned int __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {} \
    __heddle_hd_member explicit TYPE(short __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {}                       \
    __heddle_hd_member explicit TYPE(unsigned short __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {}              \
    __heddle_hd_member explicit TYPE(long __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {}                        \
    __heddle_hd_member explicit TYPE(unsigned long __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {}               \
    __heddle_hd_member explicit TYPE(unsigned long long __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {}          \
    __heddle_hd_member explicit TYPE(long long __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {} \
    __heddle_hd_member explicit operator __half() const { return __half(__heddle_fp82f(__x, KIND)); }               \
    __heddle_hd_member explicit operator __nv_bfloat16() const { return __nv_bfloat16(__heddle_fp82f(__x, KIND)); } \
    __heddle_hd_member explicit operator float() const { return __heddle_fp82f(__x, KIND); }                        \
    __heddle_hd_member explicit operator double() const { return (double)__heddle_fp82f(__x, KIND); }               \
    __heddle_hd_member explicit operator bool() const { return (__x & 0x7f) != 0; }                                 \
    __HEDDLE_FP8_INTEGER(char, (char)-1 < 0 ? -0x80 : 0, (char)-1 < 0 ? 0x7f : 0xff, KIND)          \
    __HEDDLE_FP8_INTEGER(signed char, -0x80, 0x7f, KIND) __HEDDLE_FP8_INTEGER(unsigned char, 0, 0xff, KIND)         \
    __HEDDLE_FP8_INTEGER(short, -0x8000, 0x7fff, KIND) __HEDDLE_FP8_INTEGER(unsigned short, 0, 0xffff, KIND)        \
    __HEDDLE_FP8_INTEGER(int, -0x7fffffff - 1, 0x7fffffff, KIND)                                                    \
    __HEDDLE_FP8_INTEGER(unsigned int, 0, 0xffffffffu, KIND)                                                        \
    __HEDDLE_FP8_INTEGER(long, -__LONG_MAX__ - 1, __LONG_MAX__, KIND)                                               \
    __HEDDLE_FP8_INTEGER(unsigned long, 0, __LONG_MAX__ * 2ul + 1, KIND)                                            \
    __HEDDLE_FP8_INTEGER(long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__, KIND)                                \
    __HEDDLE_FP8_INTEGER(unsigned long long, 0, __LONG_LONG_MAX__ * 2ull + 1, KIND)                                 \
  };                                                                                                                \
  struct __attribute__((aligned(2))) TYPE2 {                                                                        \
    __nv_fp8x2_storage_t __x;                                                                                       \
    TYPE2() = default;                                                                                              \
    __heddle_hd_member explicit TYPE2(float2 __v) : __x(__nv_cvt_float2_to_fp8x2(__v, __NV_SATFINITE, KIND)) {}     \
    __heddle_hd_member explicit TYPE2(__half2 __v) : TYPE2(make_float2((float)__v.x, (float)__v.y)) {}              \
    __heddle_hd_member explicit TYPE2(__nv_bfloat162 __v) : TYPE2(make_float2((float)__v.x, (float)__v.y)) {}       \
    __heddle_hd_member explicit operator float2() const {                                                           \
      return make_float2(__heddle_fp82f((__nv_fp8_storage_t)__x, KIND), __heddle_fp82f((__nv_fp8_storage_t)(__x >> 8), KIND)); \
    }                                                                                                               \
    __heddle_hd_member explicit operator __half2() const {                                                          \
      float2 __v = (float2)*this;                                                                                   \
      return __half2(__half(__v.x), __half(__v.y));                                                                 \
    }                                                                                                               \
  };                                                                                                                \
  struct __attribute__((aligned(4))) TYPE4 {                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                       \
    TYPE4() = default;                                                                                              \
    __heddle_hd_member explicit TYPE4(float4 __v)                                                                   \
        : __x(TYPE2(make_float2(__v.x, __v.y)).__x | (unsigned int)TYPE2(make_float2(__v.z, __v.w)).__x << 16) {}   \
    __heddle_hd_member explicit TYPE4(__half2 __a, __half2 __b)                                                     \
        : __x(TYPE2(__a).__x | (unsigned int)TYPE2(__b).__x << 16) {}                                               \
    __heddle_hd_member explicit TYPE4(__nv_bfloat162 __a, __nv_bfloat162 __b)                                       \
        : __x(TYPE2(__a).__x | (unsigned int)TYPE2(__b).__x << 16) {}                                               \
    __heddle_hd_member explicit operator float4() const {                                                           \
      TYPE2 __l, __h;                                                                                               \
      __l.__x = (__nv_fp8x2_storage_t)__x, __h.__x = (__nv_fp8x2_storage_t)(__x >> 16);                             \
      float2 __a = (float2)__l, __b = (float2)__h;                                                                  \
      return make_float4(__a.x, __a.y, __b.x, __b.y);                                                               \
    }                                                                                                               \
  };
__HEDDLE_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
__HEDDLE_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef __HEDDLE_FP8
#undef __HEDDLE_FP8_INTEGER

/* 2^(x-127); 0xff is NaN. A scale of other formats. */
__heddle_hd __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float __f, __nv_saturation_t __sat, cudaRoundMode __mode) {
  unsigned int __b = __builtin_bit_cast(unsigned int, __f) & 0x7fffffffu;
  if (__b > 0x7f800000u) return 0xff;
  if (__b == 0x7f800000u) return __sat == __NV_SATFINITE ? 0xfe : 0xff;
  unsigned int __e = __b >> 23, __m = __b & 0x7fffffu;
  if (__mode == cudaRoundPosInf && (__e == 0 ? __m > 0x400000u : __m != 0)) __e++;
  return (__nv_fp8_storage_t)(__e < 0xff ? __e : __sat == __NV_SATFINITE ? 0xfe : 0xff);
}
__heddle_hd float __heddle_e8m02f(__nv_fp8_storage_t __x) {
  if (__x == 0xff) return __builtin_bit_cast(float, 0x7fffffffu);
  return __builtin_bit_cast(float, __x == 0 ? 0x400000u : (unsigned int)__x << 23);
}
__heddle_hd __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double __d, __nv_saturation_t __sat, cudaRoundMode __mode) {
  return __nv_cvt_float_to_e8m0(__heddle_odd(__d), __sat, __mode);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 __v, __nv_saturation_t __sat, cudaRoundMode __mode) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_e8m0(__v.x, __sat, __mode) | __nv_cvt_float_to_e8m0(__v.y, __sat, __mode) << 8);
}
__heddle_hd __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t __x) {
  return __nv_bfloat16_raw{__heddle_f2bf_rn(__heddle_e8m02f(__x))};
}
__heddle_hd __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw __h, __nv_saturation_t __sat, cudaRoundMode __mode) {
  return __nv_cvt_float_to_e8m0(__heddle_bf2f(__h.x), __sat, __mode);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw __v, __nv_saturation_t __sat, cudaRoundMode __mode) {
  return __nv_cvt_float2_to_e8m0x2(make_float2(__heddle_bf2f(__v.x), __heddle_bf2f(__v.y)), __sat, __mode);
}
__heddle_hd __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 __v, __nv_saturation_t __sat, cudaRoundMode __mode) {
  return __nv_cvt_float2_to_e8m0x2(make_float2(__heddle_odd(__v.x), __heddle_odd(__v.y)), __sat, __mode);
}
__heddle_hd __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t __x) {
  return __nv_bfloat162_raw{__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)__x).x, __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(__x >> 8)).x};
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  __heddle_hd_member explicit __nv_fp8_e8m0(float __f) : __x(__nv_cvt_float_to_e8m0(__f, __NV_SATFINITE, cudaRoundPosInf)) {}
  __heddle_hd_member explicit __nv_fp8_e8m0(double __f) : __x(__nv_cvt_double_to_e8m0(__f, __NV_SATFINITE, cudaRoundPosInf)) {}
  __heddle_hd_member explicit __nv_fp8_e8m0(__half __f) : __nv_fp8_e8m0((float)__f) {}
  __heddle_hd_member explicit __nv_fp8_e8m0(__nv_bfloat16 __f) : __nv_fp8_e8m0((float)__f) {}
  __heddle_hd_member explicit operator float() const { return __heddle_e8m02f(__x); }
  __heddle_hd_member explicit operator double() const { return (double)__heddle_e8m02f(__x); }
  __heddle_hd_member explicit operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
};
struct __attribute__((aligned(2))) __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  __heddle_hd_member explicit __nv_fp8x2_e8m0(float2 __v) : __x(__nv_cvt_float2_to_e8m0x2(__v, __NV_SATFINITE, cudaRoundPosInf)) {}
};
struct __attribute__((aligned(4))) __nv_fp8x4_e8m0 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e8m0() = default;
  __heddle_hd_member explicit __nv_fp8x4_e8m0(float4 __v)
      : __x(__nv_fp8x2_e8m0(make_float2(__v.x, __v.y)).__x | (unsigned int)__nv_fp8x2_e8m0(make_float2(__v.z, __v.w)).__x << 16) {}
};

#endif
