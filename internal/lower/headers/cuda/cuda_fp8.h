/* 8-bit floating point: e4m3 (no infinity, NaN is 0x7f) and e5m2, and their pairs and quadruples, as storage. The
   conversions saturate and round to nearest even unless told otherwise (CUDA Math API, "FP8 Conversion and Data
   Movement"). */
#ifndef HEDDLE_CUDA_FP8_H
#define HEDDLE_CUDA_FP8_H
#pragma clang system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/* Of a number between those of the format the nearer one, of a tie the even one. */
__heddle_hd __nv_fp8_storage_t __nv_cvt_float_to_fp8(float __f, __nv_saturation_t __sat, __nv_fp8_interpretation_t __k) {
  const int __m = __k == __NV_E4M3 ? 3 : 2, __bias = __k == __NV_E4M3 ? 7 : 15;
  const unsigned int __most = __k == __NV_E4M3 ? 0x7eu : 0x7bu; /* 448 and 57344 */
  unsigned int __b = __builtin_bit_cast(unsigned int, __f), __s = __b >> 24 & 0x80u, __a = __b & 0x7fffffffu;
  if (__a > 0x7f800000u) return 0x7f;
  int __e = (int)(__a >> 23) - 127;
  unsigned int __r;
  if (__a == 0x7f800000u) {
    __r = __most + 1;
  } else if (__e < -__bias - __m) {
    __r = 0; /* below half of the least number */
  } else {
    /* The significand with its leading bit, in units of the last place, and what is cut off. */
    unsigned int __sig = (__a & 0x7fffffu) | 0x800000u;
    int __cut = 23 - __m + (__e < 1 - __bias ? 1 - __bias - __e : 0);
    unsigned int __half = 1u << (__cut - 1), __rest = __sig & ((1u << __cut) - 1);
    __r = __sig >> __cut;
    __r += __rest > __half || (__rest == __half && (__r & 1u));
    if (__e >= 1 - __bias) __r += (unsigned int)(__e + __bias - 1) << __m;
  }
  if (__r > __most) {
    if (__sat == __NV_SATFINITE) __r = __most;
    else __r = __k == __NV_E4M3 ? 0x7fu : 0x7cu;
  }
  return (__nv_fp8_storage_t)(__s | __r);
}
__heddle_hd float __heddle_fp82f(__nv_fp8_storage_t __x, __nv_fp8_interpretation_t __k) {
  const int __m = __k == __NV_E4M3 ? 3 : 2, __bias = __k == __NV_E4M3 ? 7 : 15;
  unsigned int __s = (unsigned int)(__x & 0x80u) << 24, __a = __x & 0x7fu, __e = __a >> __m, __f = __a & ((1u << __m) - 1);
  if (__k == __NV_E4M3 ? __a == 0x7f : __a > 0x7c) return __builtin_bit_cast(float, 0x7fffffffu);
  if (__k == __NV_E5M2 && __a == 0x7c) return __builtin_bit_cast(float, __s | 0x7f800000u);
  if (__e == 0) { /* a multiple of the least number */
    float __v = (float)__f * __builtin_bit_cast(float, (unsigned int)(128 - __bias - __m) << 23);
    return __s ? -__v : __v;
  }
  return __builtin_bit_cast(float, __s | (__e + 127 - __bias) << 23 | __f << (23 - __m));
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
/* Each number of the formats is one of half. */
__heddle_hd __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t __x, __nv_fp8_interpretation_t __k) {
  return __half_raw{__heddle_f2h_rn(__heddle_fp82f(__x, __k))};
}
__heddle_hd __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t __x, __nv_fp8_interpretation_t __k) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)__x, __k).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(__x >> 8), __k).x};
}

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
    __heddle_hd_member explicit TYPE(long long __i) : __x(__nv_cvt_double_to_fp8((double)__i, __NV_SATFINITE, KIND)) {} \
    __heddle_hd_member explicit operator __half() const { return __half(__heddle_fp82f(__x, KIND)); }               \
    __heddle_hd_member explicit operator __nv_bfloat16() const { return __nv_bfloat16(__heddle_fp82f(__x, KIND)); } \
    __heddle_hd_member explicit operator float() const { return __heddle_fp82f(__x, KIND); }                        \
    __heddle_hd_member explicit operator double() const { return (double)__heddle_fp82f(__x, KIND); }               \
    __heddle_hd_member explicit operator bool() const { return (__x & 0x7f) != 0; }                                 \
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

#endif
