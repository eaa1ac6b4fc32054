/* bfloat16: __nv_bfloat16 and its pair as storage, with arithmetic in float. ../heddle/half.h has the part that is
   common with half. C++ without device code gets the types and their conversions. */
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H
#pragma clang system_header
#include "../heddle/odd.h"

struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };

/* The upper half of a float, rounded to nearest even; NaN is 0x7fff (PTX ISA 9.7.9.21). */
__heddle_hd unsigned short __heddle_f2bf_rn(float __f) {
  unsigned int __b = __builtin_bit_cast(unsigned int, __f);
  if ((__b & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (unsigned short)((__b + 0x7fffu + (__b >> 16 & 1u)) >> 16);
}
__heddle_hd unsigned short __heddle_f2bf_rz(float __f) {
  unsigned int __b = __builtin_bit_cast(unsigned int, __f);
  return (__b & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (unsigned short)(__b >> 16);
}
/* Up for numbers of one sign and down for the others; the next pattern of bits is the next number, or infinity. */
__heddle_hd unsigned short __heddle_f2bf_away(float __f, bool __negative) {
  unsigned int __b = __builtin_bit_cast(unsigned int, __f);
  unsigned short __z = __heddle_f2bf_rz(__f);
  return (__b & 0x7fffffffu) <= 0x7f800000u && __b >> 31 == __negative && (__b & 0xffffu) ? (unsigned short)(__z + 1) : __z;
}
__heddle_hd float __heddle_bf2f(unsigned short __h) { return __builtin_bit_cast(float, (unsigned int)__h << 16); }
struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __heddle_hd_member constexpr __nv_bfloat16(__nv_bfloat16_raw __r) : __x(__r.x) {}
  __heddle_hd_member __nv_bfloat16(float __f) : __x(__heddle_f2bf_rn(__f)) {}
  __heddle_hd_member __nv_bfloat16(double __f) : __x(__heddle_f2bf_rn(__heddle_odd(__f))) {}
  __heddle_hd_member __nv_bfloat16(short __i) : __x(__heddle_f2bf_rn((float)__i)) {}
  __heddle_hd_member __nv_bfloat16(unsigned short __i) : __x(__heddle_f2bf_rn((float)__i)) {}
  __heddle_hd_member __nv_bfloat16(int __i) : __x(__heddle_f2bf_rn(__heddle_odd((double)__i))) {}
  __heddle_hd_member __nv_bfloat16(unsigned int __i) : __x(__heddle_f2bf_rn(__heddle_odd((double)__i))) {}
  __heddle_hd_member __nv_bfloat16(long __i) : __nv_bfloat16((long long)__i) {}
  __heddle_hd_member __nv_bfloat16(unsigned long __i) : __nv_bfloat16((unsigned long long)__i) {}
  __heddle_hd_member __nv_bfloat16(long long __i) : __x(__heddle_f2bf_rn(__heddle_odd((double)__i))) {}
  __heddle_hd_member __nv_bfloat16(unsigned long long __i) : __x(__heddle_f2bf_rn(__heddle_odd((double)__i))) {}
  __heddle_hd_member operator float() const { return __heddle_bf2f(__x); }
  __heddle_hd_member operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  __heddle_hd_member operator __nv_bfloat16_raw() const volatile { return __nv_bfloat16_raw{__x}; }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __heddle_hd_member constexpr __nv_bfloat162(__nv_bfloat16 __a, __nv_bfloat16 __b) : x(__a), y(__b) {}
  __heddle_hd_member constexpr __nv_bfloat162(const __nv_bfloat162_raw &__r) : x(__nv_bfloat16_raw{__r.x}), y(__nv_bfloat16_raw{__r.y}) {}
  __heddle_hd_member operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

__heddle_hd __nv_bfloat16 __heddle_bf(unsigned short __b) { return __nv_bfloat16(__nv_bfloat16_raw{__b}); }
__heddle_hd __nv_bfloat16 __float2bfloat16(float __f) { return __nv_bfloat16(__f); }
__heddle_hd __nv_bfloat16 __float2bfloat16_rn(float __f) { return __nv_bfloat16(__f); }
__heddle_hd __nv_bfloat16 __float2bfloat16_rz(float __f) { return __heddle_bf(__heddle_f2bf_rz(__f)); }
__heddle_hd __nv_bfloat16 __float2bfloat16_rd(float __f) { return __heddle_bf(__heddle_f2bf_away(__f, true)); }
__heddle_hd __nv_bfloat16 __float2bfloat16_ru(float __f) { return __heddle_bf(__heddle_f2bf_away(__f, false)); }
__heddle_hd __nv_bfloat16 __double2bfloat16(double __f) { return __nv_bfloat16(__f); }
__heddle_hd float __bfloat162float(__nv_bfloat16 __h) { return __heddle_bf2f(__h.__x); }

#ifndef HEDDLE_HOST_H
#define __HEDDLE_H __nv_bfloat16
#define __HEDDLE_H2 __nv_bfloat162
#define __HEDDLE_H_NAME(BEFORE, AFTER) BEFORE##bfloat16##AFTER
#define __HEDDLE_H_RN(F) __heddle_bf(__heddle_f2bf_rn(F))
#define __HEDDLE_H_BITS(B) __heddle_bf(B)
#define __HEDDLE_H_INFINITY 0x7f80
#define __HEDDLE_H_OPERATION(NAME, PTX, EXPR)                            \
  __heddle_fn __nv_bfloat16 NAME(__nv_bfloat16 __a, __nv_bfloat16 __b) { \
    float __x = (float)__a, __y = (float)__b;                            \
    return __heddle_bf(__heddle_f2bf_rn(EXPR));                          \
  }
/* The product has 16 bits and is exact. */
__heddle_fn __nv_bfloat16 __hfma(__nv_bfloat16 __a, __nv_bfloat16 __b, __nv_bfloat16 __c) {
  return __nv_bfloat16((double)(float)__a * (double)(float)__b + (double)(float)__c);
}
#include "../heddle/half.h"
#endif

__heddle_hd __nv_bfloat162 __float2bfloat162_rn(float __f) { return __nv_bfloat162(__nv_bfloat16(__f), __nv_bfloat16(__f)); }
__heddle_hd __nv_bfloat162 __floats2bfloat162_rn(float __a, float __b) { return __nv_bfloat162(__nv_bfloat16(__a), __nv_bfloat16(__b)); }
__heddle_hd __nv_bfloat162 __float22bfloat162_rn(float2 __v) { return __floats2bfloat162_rn(__v.x, __v.y); }
__heddle_hd float2 __bfloat1622float2(__nv_bfloat162 __v) { return make_float2((float)__v.x, (float)__v.y); }
__heddle_hd __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 __a) { return __nv_bfloat162(__a, __a); }
__heddle_hd __nv_bfloat162 make_bfloat162(__nv_bfloat16 __a, __nv_bfloat16 __b) { return __nv_bfloat162(__a, __b); }

/* The constants of the CUDA Math API. */
#define CUDART_INF_BF16 __heddle_bf(0x7f80)
#define CUDART_NAN_BF16 __heddle_bf(0x7fff)
#define CUDART_MIN_DENORM_BF16 __heddle_bf(0x0001)
#define CUDART_MAX_NORMAL_BF16 __heddle_bf(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __heddle_bf(0x8000)
#define CUDART_ZERO_BF16 __heddle_bf(0x0000)
#define CUDART_ONE_BF16 __heddle_bf(0x3f80)

#endif
