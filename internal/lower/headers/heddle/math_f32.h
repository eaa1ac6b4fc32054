/* Single-precision functions. sqrt, rounding, fma, min and max are exact instructions. sin, cos, exp and log
   come from the approximate instructions (PTX ISA 9.7.3.18-9.7.3.21) after range reduction: absolute error
   about 2^-20 for sinf and cosf, relative about 2^-21 for expf and logf. The others go through math_f64.h
   and are rounded once. A GPU's values differ in the last bits. */
#ifndef HEDDLE_MATH_F32_H
#define HEDDLE_MATH_F32_H

__HEDDLE_1(sqrtf, float, "f", float, "f", "sqrt.rn.f32")
__HEDDLE_1(rsqrtf, float, "f", float, "f", "rsqrt.approx.f32")
__heddle_fn float fmaf(float __a, float __b, float __c) { return __fmaf_rn(__a, __b, __c); }
/* These ignore -ftz, which heddle does not set. */
__heddle_fn float __fmaf_ieee_rn(float __a, float __b, float __c) { return __fmaf_rn(__a, __b, __c); }
__heddle_fn float __fmaf_ieee_rd(float __a, float __b, float __c) { return __fmaf_rd(__a, __b, __c); }
__heddle_fn float __fmaf_ieee_ru(float __a, float __b, float __c) { return __fmaf_ru(__a, __b, __c); }
__heddle_fn float __fmaf_ieee_rz(float __a, float __b, float __c) { return __fmaf_rz(__a, __b, __c); }
__heddle_fn float fabsf(float x) { return __builtin_fabsf(x); }
__heddle_fn float floorf(float x) { return __builtin_floorf(x); }
__heddle_fn float ceilf(float x) { return __builtin_ceilf(x); }
__heddle_fn float truncf(float x) { return __builtin_truncf(x); }
__HEDDLE_1(rintf, float, "f", float, "f", "cvt.rni.f32.f32")
__heddle_fn float nearbyintf(float x) { return rintf(x); }
__heddle_fn float copysignf(float x, float y) { return __int_as_float((__float_as_int(x) & 0x7fffffff) | (__float_as_int(y) & (int)0x80000000)); }
__heddle_fn float roundf(float x) {
  float __t = truncf(x);
  return fabsf(x - __t) >= 0.5f ? __t + copysignf(1.0f, x) : copysignf(__t, x);
}
__heddle_fn long int lrintf(float x) { return (long)__float2ll_rn(x); }
__heddle_fn long int lroundf(float x) { return (long)roundf(x); }
__heddle_fn long long int llrintf(float x) { return __float2ll_rn(x); }
__heddle_fn long long int llroundf(float x) { return (long long)roundf(x); }
__HEDDLE_2(fminf, float, "f", float, "f", "min.f32")
__HEDDLE_2(fmaxf, float, "f", float, "f", "max.f32")
__heddle_fn float fdimf(float x, float y) { return x > y ? x - y : (x != x || y != y ? x + y : 0.0f); }
__heddle_fn float fdividef(float x, float y) { return x / y; }
__heddle_fn float nanf(const char *) { return __builtin_nanf(""); }

/* x - 2 pi rint(x / 2 pi), so that the instruction sees [-pi, pi], where its error bound holds. */
__heddle_fn float __heddle_reducef(float x) {
  float __k = rintf(x * 0.15915494309189535f);
  float __r = __fmaf_rn(__k, -6.28318548202514648f, x);
  return __fmaf_rn(__k, 1.74845553146951715e-7f, __r);
}
__heddle_fn float sinf(float x) { return __sinf(__heddle_reducef(x)); }
__heddle_fn float cosf(float x) { return __cosf(__heddle_reducef(x)); }
__heddle_fn float tanf(float x) { return sinf(x) / cosf(x); }
__heddle_fn void sincosf(float x, float *__s, float *__c) { *__s = sinf(x); *__c = cosf(x); }
__heddle_fn float sinpif(float x) { return __sinf((x - 2.0f * rintf(0.5f * x)) * 3.14159265358979f); }
__heddle_fn float cospif(float x) { return __cosf((x - 2.0f * rintf(0.5f * x)) * 3.14159265358979f); }
__heddle_fn float exp2f(float x) { return __heddle_ex2(x); }
/* x log2(e) in two parts: the rounding error of the product would be scaled by x. */
__heddle_fn float expf(float x) {
  float __k = rintf(x * 1.44269504f);
  float __r = __fmaf_rn(__k, -0.693147182464599609f, x);
  __r = __fmaf_rn(__k, 1.90465429995776804e-9f, __r);
  float __v = __heddle_ex2(__r * 1.44269504f) * __heddle_ex2(__k * 0.5f) * __heddle_ex2(__k * 0.5f);
  return x > 89.0f ? __builtin_huge_valf() : x < -104.0f ? 0.0f : __v;
}
__heddle_fn float exp10f(float x) { return __exp10f(x); }
__heddle_fn float log2f(float x) { return __heddle_lg2(x); }
__heddle_fn float logf(float x) { return __logf(x); }
__heddle_fn float log10f(float x) { return __log10f(x); }

/* By double precision. */
#define __HEDDLE_VIA64(F) __heddle_fn float F##f(float x) { return (float)F((double)x); }
#define __HEDDLE_VIA64_2(F) __heddle_fn float F##f(float x, float y) { return (float)F((double)x, (double)y); }
__HEDDLE_VIA64(expm1)
__HEDDLE_VIA64(log1p)
__HEDDLE_VIA64(asin)
__HEDDLE_VIA64(acos)
__HEDDLE_VIA64(atan)
__HEDDLE_VIA64(sinh)
__HEDDLE_VIA64(cosh)
__HEDDLE_VIA64(tanh)
__HEDDLE_VIA64(asinh)
__HEDDLE_VIA64(acosh)
__HEDDLE_VIA64(atanh)
__HEDDLE_VIA64(cbrt)
__HEDDLE_VIA64(rcbrt)
__HEDDLE_VIA64(erf)
__HEDDLE_VIA64(erfc)
__HEDDLE_VIA64(erfcx)
__HEDDLE_VIA64(normcdf)
__HEDDLE_VIA64(erfinv)
__HEDDLE_VIA64(erfcinv)
__HEDDLE_VIA64(normcdfinv)
__HEDDLE_VIA64(j0)
__HEDDLE_VIA64(j1)
__HEDDLE_VIA64(y0)
__HEDDLE_VIA64(y1)
__HEDDLE_VIA64(cyl_bessel_i0)
__HEDDLE_VIA64(cyl_bessel_i1)
__HEDDLE_VIA64(lgamma)
__HEDDLE_VIA64(tgamma)
__HEDDLE_VIA64(logb)
__HEDDLE_VIA64_2(pow)
__HEDDLE_VIA64_2(atan2)
__HEDDLE_VIA64_2(hypot)
__HEDDLE_VIA64_2(rhypot)
__HEDDLE_VIA64_2(fmod)
__HEDDLE_VIA64_2(remainder)
__heddle_fn float powif(float x, int __n) { return (float)powi(x, __n); }
__heddle_fn float ldexpf(float x, int __n) { return (float)ldexp((double)x, __n); }
__heddle_fn float scalbnf(float x, int __n) { return ldexpf(x, __n); }
__heddle_fn float scalblnf(float x, long __n) { return (float)scalbln((double)x, __n); }
__heddle_fn float jnf(int __n, float x) { return (float)jn(__n, (double)x); }
__heddle_fn float ynf(int __n, float x) { return (float)yn(__n, (double)x); }
__heddle_fn float frexpf(float x, int *__e) { return (float)frexp((double)x, __e); }
__heddle_fn int ilogbf(float x) { return ilogb((double)x); }
__heddle_fn float modff(float x, float *ip) {
  *ip = truncf(x);
  return copysignf(fabsf(x) == __builtin_huge_valf() ? 0.0f : x - *ip, x);
}
__heddle_fn float remquof(float x, float y, int *quo) { return (float)remquo((double)x, (double)y, quo); }
__heddle_fn float nextafterf(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return copysignf(1.40129846e-45f, y);
  int __b = __float_as_int(x);
  return __int_as_float((x < y) == (x > 0) ? __b + 1 : __b - 1);
}
__heddle_fn float norm3df(float __a, float __b, float __c) { return sqrtf(__a * __a + __b * __b + __c * __c); }
__heddle_fn float rnorm3df(float __a, float __b, float __c) { return rsqrtf(__a * __a + __b * __b + __c * __c); }
__heddle_fn float norm4df(float __a, float __b, float __c, float __d) { return sqrtf(__a * __a + __b * __b + __c * __c + __d * __d); }
__heddle_fn float rnorm4df(float __a, float __b, float __c, float __d) { return rsqrtf(__a * __a + __b * __b + __c * __c + __d * __d); }
static __inline__ __attribute__((device)) float normf(int __n, const float *__p) {
  float __s = 0.0f;
  for (int __i = 0; __i < __n; __i++) __s += __p[__i] * __p[__i];
  return sqrtf(__s);
}
__heddle_fn float rnormf(int __n, const float *__p) { return 1.0f / normf(__n, __p); }
__heddle_fn void sincospif(float x, float *__s, float *__c) { *__s = sinpif(x); *__c = cospif(x); }

#endif
