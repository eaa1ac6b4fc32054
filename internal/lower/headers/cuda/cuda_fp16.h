/* Half precision: half and half2 as storage, with arithmetic by the f16 instructions (PTX ISA 9.7.4) and
   everything else by way of float, rounded once. */
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H

struct __half_raw { unsigned short x; };

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

struct __attribute__((aligned(2))) __half {
  unsigned short __x;
  __half() = default;
  __heddle_member __half(__half_raw __r) : __x(__r.x) {}
  __heddle_member __half(float __f) : __x(__heddle_f2h_rn(__f)) {}
  __heddle_member __half(double __f) : __x(__heddle_f2h_rn((float)__f)) {}
  __heddle_member __half(int __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_member __half(unsigned int __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_member __half(long long __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_member __half(unsigned long long __i) : __x(__heddle_f2h_rn((float)__i)) {}
  __heddle_member operator float() const { return __heddle_h2f(__x); }
  __heddle_member operator __half_raw() const { return __half_raw{__x}; }
};
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __heddle_member __half2(__half __a, __half __b) : x(__a), y(__b) {}
};
typedef __half half, __nv_half;
typedef __half2 half2, __nv_half2;

__heddle_fn half __heddle_half(unsigned short __b) { return half(__half_raw{__b}); }
__heddle_fn half __float2half(float __f) { return half(__f); }
__heddle_fn half __float2half_rn(float __f) { return half(__f); }
__heddle_fn half __float2half_rz(float __f) { return __heddle_half(__heddle_f2h_rz(__f)); }
__heddle_fn half __double2half(double __f) { return half(__f); }
__heddle_fn float __half2float(half __h) { return __heddle_h2f(__h.__x); }
__heddle_fn half __int2half_rn(int __i) { return half(__i); }
__heddle_fn half __uint2half_rn(unsigned int __i) { return half(__i); }
__heddle_fn int __half2int_rn(half __h) { return __float2int_rn((float)__h); }
__heddle_fn int __half2int_rz(half __h) { return (int)(float)__h; }
__heddle_fn unsigned short __half_as_ushort(half __h) { return __h.__x; }
__heddle_fn short __half_as_short(half __h) { return (short)__h.__x; }
__heddle_fn half __ushort_as_half(unsigned short __b) { return __heddle_half(__b); }
__heddle_fn half __short_as_half(short __b) { return __heddle_half((unsigned short)__b); }

#define __HEDDLE_HALF_2(NAME, OP)                                                          \
  __heddle_fn half NAME(half __a, half __b) {                                              \
    unsigned short __r;                                                                    \
    asm(OP " %0, %1, %2;" : "=h"(__r) : "h"(__a.__x), "h"(__b.__x));                       \
    return __heddle_half(__r);                                                             \
  }                                                                                        \
  __heddle_fn half2 NAME##2(half2 __a, half2 __b) { return half2(NAME(__a.x, __b.x), NAME(__a.y, __b.y)); }
__HEDDLE_HALF_2(__hadd, "add.rn.f16")
__HEDDLE_HALF_2(__hsub, "sub.rn.f16")
__HEDDLE_HALF_2(__hmul, "mul.rn.f16")
__HEDDLE_HALF_2(__hmin, "min.f16")
__HEDDLE_HALF_2(__hmax, "max.f16")
__heddle_fn half __hdiv(half __a, half __b) { return half((float)__a / (float)__b); }
__heddle_fn half2 __h2div(half2 __a, half2 __b) { return half2(__hdiv(__a.x, __b.x), __hdiv(__a.y, __b.y)); }
__heddle_fn half __hfma(half __a, half __b, half __c) {
  unsigned short __r;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(__r) : "h"(__a.__x), "h"(__b.__x), "h"(__c.__x));
  return __heddle_half(__r);
}
__heddle_fn half2 __hfma2(half2 __a, half2 __b, half2 __c) { return half2(__hfma(__a.x, __b.x, __c.x), __hfma(__a.y, __b.y, __c.y)); }
__heddle_fn half __hneg(half __a) { return __heddle_half(__a.__x ^ 0x8000); }
__heddle_fn half __habs(half __a) { return __heddle_half(__a.__x & 0x7fff); }
__heddle_fn half2 __hneg2(half2 __a) { return half2(__hneg(__a.x), __hneg(__a.y)); }
__heddle_fn half2 __habs2(half2 __a) { return half2(__habs(__a.x), __habs(__a.y)); }

#define __HEDDLE_HALF_COMPARE(NAME, OP) \
  __heddle_fn bool NAME(half __a, half __b) { return (float)__a OP (float)__b; }
__HEDDLE_HALF_COMPARE(__heq, ==)
__HEDDLE_HALF_COMPARE(__hne, !=)
__HEDDLE_HALF_COMPARE(__hlt, <)
__HEDDLE_HALF_COMPARE(__hle, <=)
__HEDDLE_HALF_COMPARE(__hgt, >)
__HEDDLE_HALF_COMPARE(__hge, >=)
__HEDDLE_HALF_COMPARE(operator==, ==)
__HEDDLE_HALF_COMPARE(operator!=, !=)
__HEDDLE_HALF_COMPARE(operator<, <)
__HEDDLE_HALF_COMPARE(operator<=, <=)
__HEDDLE_HALF_COMPARE(operator>, >)
__HEDDLE_HALF_COMPARE(operator>=, >=)
__heddle_fn bool __hisnan(half __a) { return (__a.__x & 0x7fff) > 0x7c00; }
__heddle_fn int __hisinf(half __a) { return (__a.__x & 0x7fff) != 0x7c00 ? 0 : __a.__x == 0x7c00 ? 1 : -1; }

#define __HEDDLE_HALF_OPERATOR(OP, NAME, NAME2)                                                    \
  __heddle_fn half operator OP(half __a, half __b) { return NAME(__a, __b); }                      \
  __heddle_fn half &operator OP##=(half &__a, half __b) { return __a = NAME(__a, __b); }           \
  __heddle_fn half2 operator OP(half2 __a, half2 __b) { return NAME2(__a, __b); }                  \
  __heddle_fn half2 &operator OP##=(half2 &__a, half2 __b) { return __a = NAME2(__a, __b); }
__HEDDLE_HALF_OPERATOR(+, __hadd, __hadd2)
__HEDDLE_HALF_OPERATOR(-, __hsub, __hsub2)
__HEDDLE_HALF_OPERATOR(*, __hmul, __hmul2)
__HEDDLE_HALF_OPERATOR(/, __hdiv, __h2div)
__heddle_fn half operator-(half __a) { return __hneg(__a); }
__heddle_fn half2 operator-(half2 __a) { return __hneg2(__a); }

#define __HEDDLE_HALF_MATH(NAME)                                                                  \
  __heddle_fn half h##NAME(half __a) { return half(NAME##f((float)__a)); }                        \
  __heddle_fn half2 h2##NAME(half2 __a) { return half2(h##NAME(__a.x), h##NAME(__a.y)); }
__HEDDLE_HALF_MATH(sqrt)
__HEDDLE_HALF_MATH(rsqrt)
__HEDDLE_HALF_MATH(exp)
__HEDDLE_HALF_MATH(exp2)
__HEDDLE_HALF_MATH(log)
__HEDDLE_HALF_MATH(log2)
__HEDDLE_HALF_MATH(sin)
__HEDDLE_HALF_MATH(cos)
__HEDDLE_HALF_MATH(floor)
__HEDDLE_HALF_MATH(ceil)
__HEDDLE_HALF_MATH(trunc)
__HEDDLE_HALF_MATH(rint)
__heddle_fn half hrcp(half __a) { return half(1.0f / (float)__a); }
__heddle_fn half2 h2rcp(half2 __a) { return half2(hrcp(__a.x), hrcp(__a.y)); }

__heddle_fn half2 __halves2half2(half __a, half __b) { return half2(__a, __b); }
__heddle_fn half2 make_half2(half __a, half __b) { return half2(__a, __b); }
__heddle_fn half2 __half2half2(half __a) { return half2(__a, __a); }
__heddle_fn half2 __float2half2_rn(float __f) { return half2(half(__f), half(__f)); }
__heddle_fn half2 __floats2half2_rn(float __a, float __b) { return half2(half(__a), half(__b)); }
__heddle_fn half2 __float22half2_rn(float2 __v) { return half2(half(__v.x), half(__v.y)); }
__heddle_fn float2 __half22float2(half2 __v) { return make_float2((float)__v.x, (float)__v.y); }
__heddle_fn float __low2float(half2 __v) { return (float)__v.x; }
__heddle_fn float __high2float(half2 __v) { return (float)__v.y; }
__heddle_fn half __low2half(half2 __v) { return __v.x; }
__heddle_fn half __high2half(half2 __v) { return __v.y; }
__heddle_fn half2 __low2half2(half2 __v) { return half2(__v.x, __v.x); }
__heddle_fn half2 __high2half2(half2 __v) { return half2(__v.y, __v.y); }
__heddle_fn half2 __lowhigh2highlow(half2 __v) { return half2(__v.y, __v.x); }

__heddle_fn half __shfl_sync(unsigned int __m, half __v, int __l, int __w = 32) { return __heddle_half((unsigned short)__shfl_sync(__m, (unsigned int)__v.__x, __l, __w)); }
__heddle_fn half __shfl_up_sync(unsigned int __m, half __v, unsigned int __d, int __w = 32) { return __heddle_half((unsigned short)__shfl_up_sync(__m, (unsigned int)__v.__x, __d, __w)); }
__heddle_fn half __shfl_down_sync(unsigned int __m, half __v, unsigned int __d, int __w = 32) { return __heddle_half((unsigned short)__shfl_down_sync(__m, (unsigned int)__v.__x, __d, __w)); }
__heddle_fn half __shfl_xor_sync(unsigned int __m, half __v, int __x, int __w = 32) { return __heddle_half((unsigned short)__shfl_xor_sync(__m, (unsigned int)__v.__x, __x, __w)); }

/* By compare and swap, which orders and conflicts as atom.add.noftz.f16 does; a pair is two additions. */
__heddle_fn half atomicAdd(half *__p, half __v) {
  unsigned short __old, __seen = ((volatile half *)__p)->__x;
  do {
    __old = __seen;
    __seen = atomicCAS((unsigned short *)__p, __old, (__heddle_half(__old) + __v).__x);
  } while (__seen != __old);
  return __heddle_half(__old);
}
__heddle_fn half2 atomicAdd(half2 *__p, half2 __v) {
  half __a = atomicAdd(&__p->x, __v.x);
  return half2(__a, atomicAdd(&__p->y, __v.y));
}

#endif
