/* Half precision: half and half2 as storage, with arithmetic by the f16 instructions (PTX ISA 9.7.4) and
   everything else in float, rounded once. ../heddle/half.h has the part that is common with bfloat16. C++ without device
   code gets the types and their conversions. */
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H
#include "../heddle/odd.h"

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

#ifndef HEDDLE_HOST_H
__heddle_fn float __heddle_h2f(unsigned short __h) {
  float __f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(__f) : "h"(__h));
  return __f;
}
#define __HEDDLE_F2H(NAME, MODE)                                            \
  __heddle_fn unsigned short NAME(float __f) {                              \
    unsigned short __h;                                                     \
    asm("cvt." MODE ".f16.f32 %0, %1;" : "=h"(__h) : "f"(__f));             \
    return __h;                                                             \
  }
__HEDDLE_F2H(__heddle_f2h_rn, "rn")
__HEDDLE_F2H(__heddle_f2h_rz, "rz")
__HEDDLE_F2H(__heddle_f2h_rm, "rm")
__HEDDLE_F2H(__heddle_f2h_rp, "rp")
#endif

/* The same on the host, which has no such instructions. */
__heddle_host float __heddle_h2f(unsigned short __h) {
  unsigned int __m = __h & 0x3ffu, __e = __h >> 10 & 31u, __s = (unsigned int)(__h >> 15) << 31;
  if (__e == 0) { /* zero or a denormal number: a multiple of 2^-24 */
    float __f = (float)__m * 5.9604644775390625e-8f;
    return __s ? -__f : __f;
  }
  return __builtin_bit_cast(float, __s | (__e == 31 ? 255u : __e + 112u) << 23 | __m << 13);
}
__heddle_host unsigned short __heddle_f2h_rn(float __f) {
  unsigned int __b = __builtin_bit_cast(unsigned int, __f), __s = __b >> 16 & 0x8000u, __a = __b & 0x7fffffffu;
  if (__a > 0x7f800000u) return 0x7fff;
  if (__a >= 0x477ff000u) return (unsigned short)(__s | 0x7c00u); /* rounds above the largest number */
  if (__a < 0x38800000u) /* adding 1/2 leaves multiples of 2^-24, rounded to nearest even */
    return (unsigned short)(__s | (__builtin_bit_cast(unsigned int, __builtin_bit_cast(float, __a) + 0.5f) - 0x3f000000u));
  return (unsigned short)(__s | (__a - 0x38000000u + 0xfffu + (__a >> 13 & 1u)) >> 13);
}

struct __attribute__((aligned(2))) __half {
  unsigned short __x;
  __half() = default;
  __heddle_hd_member constexpr __half(__half_raw __r) : __x(__r.x) {}
  __heddle_hd_member __half(float __f) : __x(__heddle_f2h_rn(__f)) {}
  __heddle_hd_member __half(double __f) : __x(__heddle_f2h_rn(__heddle_odd(__f))) {}
  __heddle_hd_member __half(short __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(unsigned short __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(int __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(unsigned int __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(long __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(unsigned long __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(long long __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member __half(unsigned long long __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_hd_member operator float() const { return __heddle_h2f(__x); }
  __heddle_hd_member operator __half_raw() const { return __half_raw{__x}; }
  __heddle_hd_member operator __half_raw() const volatile { return __half_raw{__x}; }
};
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __heddle_hd_member constexpr __half2(__half __a, __half __b) : x(__a), y(__b) {}
  __heddle_hd_member constexpr __half2(const __half2_raw &__r) : x(__half_raw{__r.x}), y(__half_raw{__r.y}) {}
  __heddle_hd_member operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half half, __nv_half, nv_half;
typedef __half2 half2, __nv_half2, nv_half2;

__heddle_hd half __heddle_half(unsigned short __b) { return half(__half_raw{__b}); }
__heddle_hd half __float2half(float __f) { return half(__f); }
__heddle_hd half __float2half_rn(float __f) { return half(__f); }
__heddle_hd half __double2half(double __f) { return half(__f); }
__heddle_hd float __half2float(half __h) { return __heddle_h2f(__h.__x); }

#ifndef HEDDLE_HOST_H
__heddle_fn half __float2half_rz(float __f) { return __heddle_half(__heddle_f2h_rz(__f)); }
__heddle_fn half __float2half_rd(float __f) { return __heddle_half(__heddle_f2h_rm(__f)); }
__heddle_fn half __float2half_ru(float __f) { return __heddle_half(__heddle_f2h_rp(__f)); }
#define __HEDDLE_H half
#define __HEDDLE_H2 half2
#define __HEDDLE_H_NAME(BEFORE, AFTER) BEFORE##half##AFTER
#define __HEDDLE_H_RN(F) __heddle_half(__heddle_f2h_rn(F))
#define __HEDDLE_H_BITS(B) __heddle_half(B)
#define __HEDDLE_H_INFINITY 0x7c00
#define __HEDDLE_H_OPERATION(NAME, PTX, EXPR)                                \
  __heddle_fn half NAME(half __a, half __b) {                                \
    unsigned short __r;                                                      \
    asm(PTX ".f16 %0, %1, %2;" : "=h"(__r) : "h"(__a.__x), "h"(__b.__x));    \
    return __heddle_half(__r);                                               \
  }
__heddle_fn half __hfma(half __a, half __b, half __c) {
  unsigned short __r;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(__r) : "h"(__a.__x), "h"(__b.__x), "h"(__c.__x));
  return __heddle_half(__r);
}
#include "../heddle/half.h"
#endif

__heddle_hd half2 __float2half2_rn(float __f) { return half2(half(__f), half(__f)); }
__heddle_hd half2 __floats2half2_rn(float __a, float __b) { return half2(half(__a), half(__b)); }
__heddle_hd half2 __float22half2_rn(float2 __v) { return half2(half(__v.x), half(__v.y)); }
__heddle_hd float2 __half22float2(half2 __v) { return make_float2((float)__v.x, (float)__v.y); }
__heddle_hd half2 __half2half2(half __a) { return half2(__a, __a); }
__heddle_hd half2 make_half2(half __a, half __b) { return half2(__a, __b); }

/* The constants of the CUDA Math API. */
#define CUDART_INF_FP16 __heddle_half(0x7c00)
#define CUDART_NAN_FP16 __heddle_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __heddle_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __heddle_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __heddle_half(0x8000)
#define CUDART_ZERO_FP16 __heddle_half(0x0000)
#define CUDART_ONE_FP16 __heddle_half(0x3c00)

#endif
