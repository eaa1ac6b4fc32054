/* C++ overloads: sin(float), sin of an integer, pow of mixed types; abs, min, max, the classification
   functions; and all of these in namespace std. They come before the C++ library's headers, so that their
   constexpr host functions of the same signature stay host functions (clang: CUDA, "overloading based on
   target attributes"). */
#ifndef HEDDLE_MATH_STD_H
#define HEDDLE_MATH_STD_H

/* float with float stays float; every other mix of arithmetic types is computed in double. */
template <typename __A, typename __B> struct __heddle_mixed { enum { value = __heddle_is<__A>::arithmetic && __heddle_is<__B>::arithmetic }; };
template <> struct __heddle_mixed<float, float> { enum { value = false }; };
template <> struct __heddle_mixed<double, double> { enum { value = false }; };

#define __HEDDLE_OVERLOAD_1(F)                                                                                       \
  __heddle_fn float F(float x) { return F##f(x); }                                                                   \
  template <typename __T> __heddle_fn typename __heddle_if<__heddle_is<__T>::integral, double>::type F(__T x) { return F((double)x); }
#define __HEDDLE_OVERLOAD_2(F)                                 \
  __heddle_fn float F(float x, float y) { return F##f(x, y); } \
  template <typename __A, typename __B>                        \
  __heddle_fn typename __heddle_if<__heddle_mixed<__A, __B>::value, double>::type F(__A x, __B y) { return F((double)x, (double)y); }

__HEDDLE_OVERLOAD_1(sqrt)
__HEDDLE_OVERLOAD_1(fabs)
__HEDDLE_OVERLOAD_1(floor)
__HEDDLE_OVERLOAD_1(ceil)
__HEDDLE_OVERLOAD_1(trunc)
__HEDDLE_OVERLOAD_1(rint)
__HEDDLE_OVERLOAD_1(nearbyint)
__HEDDLE_OVERLOAD_1(round)
__HEDDLE_OVERLOAD_1(exp)
__HEDDLE_OVERLOAD_1(exp2)
__HEDDLE_OVERLOAD_1(expm1)
__HEDDLE_OVERLOAD_1(log)
__HEDDLE_OVERLOAD_1(log2)
__HEDDLE_OVERLOAD_1(log10)
__HEDDLE_OVERLOAD_1(log1p)
__HEDDLE_OVERLOAD_1(sin)
__HEDDLE_OVERLOAD_1(cos)
__HEDDLE_OVERLOAD_1(tan)
__HEDDLE_OVERLOAD_1(asin)
__HEDDLE_OVERLOAD_1(acos)
__HEDDLE_OVERLOAD_1(atan)
__HEDDLE_OVERLOAD_1(sinh)
__HEDDLE_OVERLOAD_1(cosh)
__HEDDLE_OVERLOAD_1(tanh)
__HEDDLE_OVERLOAD_1(asinh)
__HEDDLE_OVERLOAD_1(acosh)
__HEDDLE_OVERLOAD_1(atanh)
__HEDDLE_OVERLOAD_1(cbrt)
__HEDDLE_OVERLOAD_1(erf)
__HEDDLE_OVERLOAD_1(erfc)
__HEDDLE_OVERLOAD_1(lgamma)
__HEDDLE_OVERLOAD_1(tgamma)
__HEDDLE_OVERLOAD_1(logb)
__HEDDLE_OVERLOAD_2(pow)
__HEDDLE_OVERLOAD_2(atan2)
__HEDDLE_OVERLOAD_2(hypot)
__HEDDLE_OVERLOAD_2(fmod)
__HEDDLE_OVERLOAD_2(remainder)
__HEDDLE_OVERLOAD_2(fmin)
__HEDDLE_OVERLOAD_2(fmax)
__HEDDLE_OVERLOAD_2(fdim)
__HEDDLE_OVERLOAD_2(copysign)
__HEDDLE_OVERLOAD_2(nextafter)

__heddle_fn float fma(float __a, float __b, float __c) { return fmaf(__a, __b, __c); }
__heddle_fn float ldexp(float x, int __n) { return ldexpf(x, __n); }
__heddle_fn float scalbn(float x, int __n) { return scalbnf(x, __n); }
__heddle_fn float frexp(float x, int *__e) { return frexpf(x, __e); }
__heddle_fn float modf(float x, float *ip) { return modff(x, ip); }
__heddle_fn int ilogb(float x) { return ilogbf(x); }
__heddle_fn long lrint(float x) { return lrintf(x); }
__heddle_fn long lround(float x) { return lroundf(x); }
__heddle_fn long long llrint(float x) { return llrintf(x); }
__heddle_fn long long llround(float x) { return llroundf(x); }
__heddle_fn float rsqrt(float x) { return rsqrtf(x); }
__heddle_fn void sincos(float x, float *__s, float *__c) { sincosf(x, __s, __c); }

__heddle_fn int abs(int x) { return x < 0 ? -x : x; }
__heddle_fn long abs(long x) { return x < 0 ? -x : x; }
__heddle_fn long long abs(long long x) { return x < 0 ? -x : x; }
__heddle_fn float abs(float x) { return fabsf(x); }
__heddle_fn double abs(double x) { return fabs(x); }
__heddle_fn long labs(long x) { return x < 0 ? -x : x; }
__heddle_fn long long llabs(long long x) { return x < 0 ? -x : x; }

#define __HEDDLE_CLASSIFY(T, INF)                                        \
  __heddle_fn bool isnan(T x) { return x != x; }                         \
  __heddle_fn bool isinf(T x) { return x == INF || x == -INF; }          \
  __heddle_fn bool isfinite(T x) { return x - x == 0; }                  \
  __heddle_fn bool signbit(T x) { return __builtin_signbit(x); }
__heddle_fn int __isnanf(float x) { return x != x; }
__heddle_fn int __isinff(float x) { return x == __builtin_huge_valf() || x == -__builtin_huge_valf(); }
__heddle_fn int __finitef(float x) { return x - x == 0; }
__heddle_fn int __signbitf(float x) { return __builtin_signbit(x); }
__HEDDLE_CLASSIFY(float, __builtin_huge_valf())
__HEDDLE_CLASSIFY(double, __builtin_huge_val())

/* nvcc provides min and max for host and device. */
#define __HEDDLE_MINMAX(T)                                          \
  __heddle_hd T min(T __a, T __b) { return __b < __a ? __b : __a; } \
  __heddle_hd T max(T __a, T __b) { return __a < __b ? __b : __a; }
__HEDDLE_MINMAX(int)
__HEDDLE_MINMAX(unsigned int)
__HEDDLE_MINMAX(long)
__HEDDLE_MINMAX(unsigned long)
__HEDDLE_MINMAX(long long)
__HEDDLE_MINMAX(unsigned long long)
/* nvcc's overloads for two types are no templates, so that they are better than such of a library (CuTe). */
#define __HEDDLE_MINMAX_MIXED(A, B, R)                                                        \
  __heddle_hd R min(A __a, B __b) { return (R)__b < (R)__a ? (R)__b : (R)__a; }               \
  __heddle_hd R min(B __a, A __b) { return (R)__b < (R)__a ? (R)__b : (R)__a; }               \
  __heddle_hd R max(A __a, B __b) { return (R)__a < (R)__b ? (R)__b : (R)__a; }               \
  __heddle_hd R max(B __a, A __b) { return (R)__a < (R)__b ? (R)__b : (R)__a; }
__HEDDLE_MINMAX_MIXED(int, unsigned int, unsigned int)
__HEDDLE_MINMAX_MIXED(long, unsigned long, unsigned long)
__HEDDLE_MINMAX_MIXED(long long, unsigned long long, unsigned long long)
__HEDDLE_MINMAX_MIXED(float, double, double)
/* Mixed integers are converted to their common type; float and double to double. */
template <typename __A, typename __B> struct __heddle_common { enum { value = __heddle_is<__A>::integral && __heddle_is<__B>::integral }; };
template <> struct __heddle_common<float, double> { enum { value = true }; };
template <> struct __heddle_common<double, float> { enum { value = true }; };
template <typename __A, typename __B>
__heddle_hd typename __heddle_if<__heddle_common<__A, __B>::value, decltype(__A() + __B())>::type min(__A __a, __B __b) {
  typedef decltype(__a + __b) __R;
  return (__R)__b < (__R)__a ? (__R)__b : (__R)__a;
}
template <typename __A, typename __B>
__heddle_hd typename __heddle_if<__heddle_common<__A, __B>::value, decltype(__A() + __B())>::type max(__A __a, __B __b) {
  typedef decltype(__a + __b) __R;
  return (__R)__a < (__R)__b ? (__R)__b : (__R)__a;
}
/* On the device, a NaN operand is ignored, as by min.f32 (PTX ISA 9.7.3.11). */
#define __HEDDLE_MINMAX_F(T, MIN, MAX)                                                          \
  __heddle_fn T min(T __a, T __b) { return MIN(__a, __b); }                                     \
  __heddle_fn T max(T __a, T __b) { return MAX(__a, __b); }                                     \
  static __inline__ __attribute__((host)) T min(T __a, T __b) { return __b < __a ? __b : __a; } \
  static __inline__ __attribute__((host)) T max(T __a, T __b) { return __a < __b ? __b : __a; }
__HEDDLE_MINMAX_F(float, fminf, fmaxf)
__HEDDLE_MINMAX_F(double, fmin, fmax)
__heddle_fn unsigned int umin(unsigned int __a, unsigned int __b) { return __b < __a ? __b : __a; }
__heddle_fn unsigned int umax(unsigned int __a, unsigned int __b) { return __a < __b ? __b : __a; }

namespace std {
using ::abs;
using ::acos;
using ::acosf;
using ::acosh;
using ::acoshf;
using ::asin;
using ::asinf;
using ::asinh;
using ::asinhf;
using ::atan;
using ::atan2;
using ::atan2f;
using ::atanf;
using ::atanh;
using ::atanhf;
using ::cbrt;
using ::cbrtf;
using ::ceil;
using ::ceilf;
using ::copysign;
using ::copysignf;
using ::cos;
using ::cosf;
using ::cosh;
using ::coshf;
using ::erf;
using ::erfc;
using ::erfcf;
using ::erff;
using ::exp;
using ::exp2;
using ::exp2f;
using ::expf;
using ::expm1;
using ::expm1f;
using ::fabs;
using ::fabsf;
using ::fdim;
using ::fdimf;
using ::floor;
using ::floorf;
using ::fma;
using ::fmaf;
using ::fmax;
using ::fmaxf;
using ::fmin;
using ::fminf;
using ::fmod;
using ::fmodf;
using ::frexp;
using ::frexpf;
using ::hypot;
using ::hypotf;
using ::ilogb;
using ::ilogbf;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::labs;
using ::ldexp;
using ::ldexpf;
using ::lgamma;
using ::lgammaf;
using ::llabs;
using ::llrint;
using ::llrintf;
using ::llround;
using ::llroundf;
using ::log;
using ::log10;
using ::log10f;
using ::log1p;
using ::log1pf;
using ::log2;
using ::log2f;
using ::logb;
using ::logbf;
using ::logf;
using ::lrint;
using ::lrintf;
using ::lround;
using ::lroundf;
using ::modf;
using ::modff;
using ::nearbyint;
using ::nearbyintf;
using ::nextafter;
using ::nextafterf;
using ::pow;
using ::powf;
using ::remainder;
using ::remainderf;
using ::remquo;
using ::remquof;
using ::rint;
using ::rintf;
using ::round;
using ::roundf;
using ::scalbn;
using ::scalbnf;
using ::signbit;
using ::sin;
using ::sinf;
using ::sinh;
using ::sinhf;
using ::sqrt;
using ::sqrtf;
using ::tan;
using ::tanf;
using ::tanh;
using ::tanhf;
using ::tgamma;
using ::tgammaf;
using ::trunc;
using ::truncf;
}  // namespace std

#endif
