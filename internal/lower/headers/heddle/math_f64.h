/* Double-precision functions. PTX has instructions for sqrt, fma, abs, rounding and no others; NVIDIA's
   libdevice is not used. The rest is computed here by range reduction and series.

   Accuracy (relative, against the exact result): exp, log, sin, cos, tan, atan and what is built on them
   about 1e-15 away from their zeros; sin, cos and tan lose it as |x| grows, and above 1e9 they are some
   value of their range; pow, log2 and log10 1e-15, and exact where the result is a whole number or pow's y
   is one; erf 1e-14, erfc, tgamma,
   lgamma, the Bessel functions, and the inverses of erf and erfc 1e-12. That is enough for values that steer a kernel, and not bit for bit what a GPU computes. */
#ifndef HEDDLE_MATH_F64_H
#define HEDDLE_MATH_F64_H

#define __heddle_out static __inline__ __attribute__((device))

__HEDDLE_1(sqrt, double, "d", double, "d", "sqrt.rn.f64")
__heddle_fn double fma(double __a, double __b, double __c) { return __fma_rn(__a, __b, __c); }
__heddle_fn double fabs(double x) { return __builtin_fabs(x); }
__heddle_fn double floor(double x) { return __builtin_floor(x); }
__heddle_fn double ceil(double x) { return __builtin_ceil(x); }
__heddle_fn double trunc(double x) { return __builtin_trunc(x); }
__HEDDLE_1(rint, double, "d", double, "d", "cvt.rni.f64.f64")
__heddle_fn double nearbyint(double x) { return rint(x); }
__heddle_fn double copysign(double x, double y) { return __longlong_as_double((__double_as_longlong(x) & 0x7fffffffffffffffLL) | (__double_as_longlong(y) & (long long)0x8000000000000000ULL)); }
__heddle_out double round(double x) {
  double __t = trunc(x);
  return fabs(x - __t) >= 0.5 ? __t + copysign(1.0, x) : copysign(__t, x);
}
__heddle_fn long int lrint(double x) { return (long)__double2ll_rn(x); }
__heddle_fn long int lround(double x) { return (long)round(x); }
__heddle_fn long long int llrint(double x) { return __double2ll_rn(x); }
__heddle_fn long long int llround(double x) { return (long long)round(x); }
__HEDDLE_2(fmin, double, "d", double, "d", "min.f64")
__HEDDLE_2(fmax, double, "d", double, "d", "max.f64")
__heddle_fn double fdim(double x, double y) { return x > y ? x - y : (x != x || y != y ? x + y : 0.0); }
__heddle_fn double __heddle_inf() { return __builtin_huge_val(); }
__heddle_fn double __heddle_nan() { return __builtin_nan(""); }
__heddle_fn double nan(const char *) { return __heddle_nan(); }

/* x * 2^n in three exact steps, so that results near the ends of the range round once. */
__heddle_out double ldexp(double x, int __n) {
  __n = __n < -2200 ? -2200 : __n > 2200 ? 2200 : __n;
  for (int __i = 0; __i < 3; __i++) {
    int __k = __n < -1000 ? -1000 : __n > 1000 ? 1000 : __n;
    x *= __longlong_as_double((long long)(__k + 1023) << 52);
    __n -= __k;
  }
  return x;
}
__heddle_fn double scalbn(double x, int __n) { return ldexp(x, __n); }
__heddle_fn double scalbln(double x, long __n) { return ldexp(x, __n < -3000 ? -3000 : __n > 3000 ? 3000 : (int)__n); }
__heddle_out double frexp(double x, int *__e) {
  *__e = 0;
  if (x == 0 || x != x || fabs(x) == __heddle_inf()) return x;
  int extra = 0;
  if (fabs(x) < 2.2250738585072014e-308) x *= 18014398509481984.0, extra = 54;
  long long __b = __double_as_longlong(x);
  *__e = (int)(__b >> 52 & 0x7ff) - 1022 - extra;
  return __longlong_as_double((__b & (long long)0x800fffffffffffffULL) | 0x3fe0000000000000LL);
}
__heddle_out double logb(double x) {
  if (x == 0) return -__heddle_inf();
  if (x != x || fabs(x) == __heddle_inf()) return x * x;
  int __e;
  frexp(x, &__e);
  return __e - 1;
}
__heddle_out int ilogb(double x) {
  if (x == 0 || x != x) return (int)0x80000000;
  if (fabs(x) == __heddle_inf()) return 0x7fffffff;
  return (int)logb(x);
}
__heddle_out double modf(double x, double *ip) {
  *ip = trunc(x);
  return copysign(fabs(x) == __heddle_inf() ? 0.0 : x - *ip, x);
}

/* Exact remainder: x is reduced by y scaled by powers of two, each step exact. */
__heddle_out double fmod(double x, double y) {
  double __ax = fabs(x), __ay = fabs(y);
  if (!(__ax < __heddle_inf()) || __ay != __ay || __ay == 0) return __heddle_nan();
  if (__ax < __ay) return x;
  int __ex, __ey;
  frexp(__ax, &__ex);
  frexp(__ay, &__ey);
  for (int __k = __ex - __ey; __k >= 0; __k--) {
    double __s = ldexp(__ay, __k);
    if (__ax >= __s) __ax -= __s;
  }
  return copysign(__ax, x);
}
__heddle_out double remainder(double x, double y) {
  double __ay = fabs(y), __r = fabs(fmod(x, __ay + __ay < __heddle_inf() ? __ay + __ay : __ay));
  if (__r != __r) return __r;
  if (__r > __ay) {
    __r -= __ay;
    if (__r >= 0.5 * __ay) __r -= __ay;
  } else if (__r > 0.5 * __ay) {
    __r -= __ay;
  }
  return x < 0 ? -__r : __r;
}

/* exp: x = k ln2 + r, |r| <= ln2/2, Taylor series of degree 13. */
__heddle_out double exp(double x) {
  if (x != x) return x;
  if (x > 709.79) return __heddle_inf();
  if (x < -745.2) return 0.0;
  double __k = rint(x * 1.4426950408889634074);
  double __r = fma(__k, -6.93147180369123816490e-01, x);
  __r = fma(__k, -1.90821492927058770002e-10, __r);
  double __p = 1.0 / 6227020800.0;
  __p = fma(__p, __r, 1.0 / 479001600.0);
  __p = fma(__p, __r, 1.0 / 39916800.0);
  __p = fma(__p, __r, 1.0 / 3628800.0);
  __p = fma(__p, __r, 1.0 / 362880.0);
  __p = fma(__p, __r, 1.0 / 40320.0);
  __p = fma(__p, __r, 1.0 / 5040.0);
  __p = fma(__p, __r, 1.0 / 720.0);
  __p = fma(__p, __r, 1.0 / 120.0);
  __p = fma(__p, __r, 1.0 / 24.0);
  __p = fma(__p, __r, 1.0 / 6.0);
  __p = fma(__p, __r, 0.5);
  __p = fma(__p, __r, 1.0);
  __p = fma(__p, __r, 1.0);
  return ldexp(__p, (int)__k);
}
__heddle_fn double exp2(double x) {
  double __k = rint(x);
  return x > 1100 || x < -1100 ? exp(x) : ldexp(exp((x - __k) * 0.69314718055994530942), (int)__k);
}
__heddle_out double expm1(double x) {
  if (fabs(x) > 0.35) return exp(x) - 1.0;
  double __p = 1.0 / 87178291200.0;
  __p = fma(__p, x, 1.0 / 6227020800.0);
  __p = fma(__p, x, 1.0 / 479001600.0);
  __p = fma(__p, x, 1.0 / 39916800.0);
  __p = fma(__p, x, 1.0 / 3628800.0);
  __p = fma(__p, x, 1.0 / 362880.0);
  __p = fma(__p, x, 1.0 / 40320.0);
  __p = fma(__p, x, 1.0 / 5040.0);
  __p = fma(__p, x, 1.0 / 720.0);
  __p = fma(__p, x, 1.0 / 120.0);
  __p = fma(__p, x, 1.0 / 24.0);
  __p = fma(__p, x, 1.0 / 6.0);
  __p = fma(__p, x, 0.5);
  return fma(__p * x, x, x);
}

/* 2 atanh(s) - 2 s for |s| <= 0.18: the series behind log and log1p. */
__heddle_out double __heddle_log_tail(double __s) {
  double z = __s * __s, __p = 1.0 / 23.0;
  __p = fma(__p, z, 1.0 / 21.0);
  __p = fma(__p, z, 1.0 / 19.0);
  __p = fma(__p, z, 1.0 / 17.0);
  __p = fma(__p, z, 1.0 / 15.0);
  __p = fma(__p, z, 1.0 / 13.0);
  __p = fma(__p, z, 1.0 / 11.0);
  __p = fma(__p, z, 1.0 / 9.0);
  __p = fma(__p, z, 1.0 / 7.0);
  __p = fma(__p, z, 1.0 / 5.0);
  __p = fma(__p, z, 1.0 / 3.0);
  return 2.0 * __s * z * __p;
}
__heddle_fn double __heddle_log_series(double __s) { return 2.0 * __s + __heddle_log_tail(__s); }
/* log: x = 2^e m, m in [sqrt(1/2), sqrt(2)). */
__heddle_out double log(double x) {
  if (x != x || x < 0) return __heddle_nan();
  if (x == 0) return -__heddle_inf();
  if (x == __heddle_inf()) return x;
  int __e;
  double __m = frexp(x, &__e);
  if (__m < 0.70710678118654752440) __m += __m, __e--;
  double __s = __heddle_log_series((__m - 1.0) / (__m + 1.0));
  return fma((double)__e, 6.93147180369123816490e-01, fma((double)__e, 1.90821492927058770002e-10, __s));
}
/* log(x) as the sum of two doubles, to about 2^-59 of it; x is positive and finite. s + __sl is
   (m - 1) / (m + 1), where m - 1 is exact. */
__heddle_out double __heddle_log_sum(double x, double *__lo) {
  int __e;
  double __m = frexp(x, &__e);
  if (__m < 0.70710678118654752440) __m += __m, __e--;
  double __f = __m - 1.0, __g = __m + 1.0, __s = __f / __g;
  double __sl = (fma(-__s, __g, __f) - __s * (__m - (__g - 1.0))) / __g;
  double __r = 2.0 * __s, __a = __e * 6.93147180369123816490e-01, __h = __a + __r;
  double __l = __r - (__h - __a) + (2.0 * __sl + (__heddle_log_tail(__s) + __e * 1.90821492927058770002e-10));
  double __sum = __h + __l;
  *__lo = __l - (__sum - __h);
  return __sum;
}
/* log(x) times a constant that is the sum of two doubles. */
__heddle_out double __heddle_log_times(double x, double __c, double __cl) {
  if (!(x > 0) || x == __heddle_inf()) return log(x);
  double __lo, __hi = __heddle_log_sum(x, &__lo), __p = __hi * __c;
  return __p + (fma(__hi, __c, -__p) + fma(__hi, __cl, __lo * __c));
}
__heddle_fn double log2(double x) { return __heddle_log_times(x, 1.44269504088896338700e+00, 2.03552737409310331e-17); }
__heddle_fn double log10(double x) { return __heddle_log_times(x, 4.34294481903251816668e-01, 1.09831965021676506e-17); }
__heddle_out double log1p(double x) { return fabs(x) < 0.3 ? __heddle_log_series(x / (2.0 + x)) : log(1.0 + x); }

/* sin and cos: x = q pi/2 + r, |r| <= pi/4, by a three-part pi/2. */
__heddle_out double __heddle_reduce(double x, int *__q) {
  if (fabs(x) > 1e9) x = fmod(x, 6.28318530717958647693);
  double __k = rint(x * 0.63661977236758134308);
  double __r = fma(__k, -1.57079632679489655800e+00, x);
  __r = fma(__k, -6.12323399573676603587e-17, __r);
  __r = fma(__k, 1.49738490485916983000e-33, __r);
  *__q = (int)((long long)__k & 3);
  return __r;
}
__heddle_out double __heddle_sin_series(double __r) {
  double z = __r * __r, __p = -1.0 / 121645100408832000.0;
  __p = fma(__p, z, 1.0 / 355687428096000.0);
  __p = fma(__p, z, -1.0 / 1307674368000.0);
  __p = fma(__p, z, 1.0 / 6227020800.0);
  __p = fma(__p, z, -1.0 / 39916800.0);
  __p = fma(__p, z, 1.0 / 362880.0);
  __p = fma(__p, z, -1.0 / 5040.0);
  __p = fma(__p, z, 1.0 / 120.0);
  __p = fma(__p, z, -1.0 / 6.0);
  return fma(__p * z, __r, __r);
}
__heddle_out double __heddle_cos_series(double __r) {
  double z = __r * __r, __p = 1.0 / 2432902008176640000.0;
  __p = fma(__p, z, -1.0 / 6402373705728000.0);
  __p = fma(__p, z, 1.0 / 20922789888000.0);
  __p = fma(__p, z, -1.0 / 87178291200.0);
  __p = fma(__p, z, 1.0 / 479001600.0);
  __p = fma(__p, z, -1.0 / 3628800.0);
  __p = fma(__p, z, 1.0 / 40320.0);
  __p = fma(__p, z, -1.0 / 720.0);
  __p = fma(__p, z, 1.0 / 24.0);
  __p = fma(__p, z, -0.5);
  return fma(__p, z, 1.0);
}
__heddle_out double sin(double x) {
  if (!(fabs(x) < __heddle_inf())) return __heddle_nan();
  int __q;
  double __r = __heddle_reduce(x, &__q);
  double __v = __q & 1 ? __heddle_cos_series(__r) : __heddle_sin_series(__r);
  return __q & 2 ? -__v : __v;
}
__heddle_out double cos(double x) {
  if (!(fabs(x) < __heddle_inf())) return __heddle_nan();
  int __q;
  double __r = __heddle_reduce(x, &__q);
  double __v = __q & 1 ? __heddle_sin_series(__r) : __heddle_cos_series(__r);
  return (__q + 1) & 2 ? -__v : __v;
}
__heddle_fn double tan(double x) { return sin(x) / cos(x); }
__heddle_fn void sincos(double x, double *__s, double *__c) { *__s = sin(x); *__c = cos(x); }
__heddle_fn double sinpi(double x) { return sin((x - 2.0 * rint(0.5 * x)) * 3.14159265358979323846); }
__heddle_fn double cospi(double x) { return cos((x - 2.0 * rint(0.5 * x)) * 3.14159265358979323846); }
__heddle_fn void sincospi(double x, double *__s, double *__c) { *__s = sinpi(x); *__c = cospi(x); }

/* atan: |x| > 1 by its reciprocal, then about tan(pi/6), so that the series has |t| <= 2 - sqrt(3). */
__heddle_out double atan(double x) {
  if (x != x) return x;
  double __a = fabs(x), __base = 0.0;
  bool inv = __a > 1.0;
  if (inv) __a = 1.0 / __a;
  if (__a > 0.26794919243112270647) {
    __a = (__a * 1.73205080756887729353 - 1.0) / (__a + 1.73205080756887729353);
    __base = 0.52359877559829887308;
  }
  double z = __a * __a, __p = 1.0 / 29.0;
  __p = fma(-__p, z, 1.0 / 27.0);
  __p = fma(-__p, z, 1.0 / 25.0);
  __p = fma(-__p, z, 1.0 / 23.0);
  __p = fma(-__p, z, 1.0 / 21.0);
  __p = fma(-__p, z, 1.0 / 19.0);
  __p = fma(-__p, z, 1.0 / 17.0);
  __p = fma(-__p, z, 1.0 / 15.0);
  __p = fma(-__p, z, 1.0 / 13.0);
  __p = fma(-__p, z, 1.0 / 11.0);
  __p = fma(-__p, z, 1.0 / 9.0);
  __p = fma(-__p, z, 1.0 / 7.0);
  __p = fma(-__p, z, 1.0 / 5.0);
  __p = fma(-__p, z, 1.0 / 3.0);
  double __v = __base + fma(-__p * z, __a, __a);
  if (inv) __v = 1.57079632679489661923 - __v;
  return copysign(__v, x);
}
__heddle_out double atan2(double y, double x) {
  const double pi = 3.14159265358979323846;
  if (x != x || y != y) return __heddle_nan();
  bool neg = __double_as_longlong(x) < 0;
  double __ax = fabs(x), __ay = fabs(y), __v;
  if (__ay == 0) __v = 0.0;
  else if (__ax == 0) __v = pi / 2;
  else if (__ax == __heddle_inf()) __v = __ay == __heddle_inf() ? pi / 4 : 0.0;
  else __v = atan(__ay / __ax);
  if (neg) __v = pi - __v;
  return copysign(__v, y);
}
__heddle_fn double asin(double x) { return fabs(x) > 1.0 ? __heddle_nan() : atan2(x, sqrt((1.0 - x) * (1.0 + x))); }
__heddle_fn double acos(double x) { return fabs(x) > 1.0 ? __heddle_nan() : atan2(sqrt((1.0 - x) * (1.0 + x)), x); }
__heddle_out double sinh(double x) {
  double __e = expm1(fabs(x)), __v = fabs(x) > 700 ? 0.5 * exp(0.5 * fabs(x)) * exp(0.5 * fabs(x)) : 0.5 * (__e + __e / (__e + 1.0));
  return copysign(__v, x);
}
__heddle_out double cosh(double x) {
  double __h = exp(0.5 * fabs(x));
  return fabs(x) > 700 ? 0.5 * __h * __h : 0.5 * (exp(x) + exp(-x));
}
__heddle_out double tanh(double x) {
  if (fabs(x) > 22.0) return copysign(1.0, x);
  double __e = expm1(2.0 * x);
  return __e / (__e + 2.0);
}
__heddle_out double asinh(double x) {
  double __a = fabs(x);
  return copysign(__a > 1e8 ? log(__a) + 0.69314718055994530942 : log1p(__a + __a * __a / (1.0 + sqrt(__a * __a + 1.0))), x);
}
__heddle_out double acosh(double x) {
  if (!(x >= 1.0)) return __heddle_nan();
  double __t = x - 1.0;
  return x > 1e8 ? log(x) + 0.69314718055994530942 : log1p(__t + sqrt(2.0 * __t + __t * __t));
}
__heddle_fn double atanh(double x) { return 0.5 * log1p(2.0 * x / (1.0 - x)); }

/* |x|^n for n >= 0, with products of sums of two doubles, so that what is exact comes out exact: programs
   truncate powers of 2 and 10 to integers. The result and its parts must not overflow. */
__heddle_out double __heddle_power(double __b, int __n, bool __inverse) {
  double __bl = 0.0, __r = 1.0, __rl = 0.0;
  for (;;) {
    if (__n & 1) {
      double __p = __r * __b, __e = fma(__r, __b, -__p) + fma(__r, __bl, __rl * __b);
      __r = __p + __e;
      __rl = __e - (__r - __p);
    }
    if (!(__n >>= 1)) break;
    double __p = __b * __b, __e = fma(__b, __b, -__p) + 2.0 * __b * __bl;
    __b = __p + __e;
    __bl = __e - (__b - __p);
  }
  if (!__inverse) return __r;
  double __q = 1.0 / __r;
  return fma(__q, fma(-__q, __r, 1.0) - __q * __rl, __q);
}
__heddle_out double __heddle_pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (x != x || y != y) return __heddle_nan();
  double __ax = fabs(x), __ay = fabs(y);
  bool whole = trunc(y) == y, odd = whole && __ay < 9007199254740992.0 && trunc(0.5 * y) != 0.5 * y;
  if (x < 0 && !whole && __ax < __heddle_inf()) return __heddle_nan();
  double __v;
  if (__ax == 0 || __ax == __heddle_inf()) __v = (__ax == 0) == (y > 0) ? 0.0 : __heddle_inf();
  else if (__ax == 1) __v = 1.0;
  else if (__ay == __heddle_inf()) __v = (__ax > 1) == (y > 0) ? __heddle_inf() : 0.0;
  else if (y == 0.5) __v = sqrt(__ax);
  else {
    int __e;
    double __m = frexp(__ax, &__e);
    if (whole && __m == 0.5) {
      double __k = y * (__e - 1);
      __v = ldexp(1.0, __k < -2200 ? -2200 : __k > 2200 ? 2200 : (int)__k);
    } else if (whole && __ay <= 1024 && (__e < 1 ? 1 - __e : __e) * (int)__ay < 960) {
      __v = __heddle_power(__ax, (int)__ay, y < 0);
    } else {
      double __lo, __hi = __heddle_log_sum(__ax, &__lo), __p = y * __hi;
      __lo = fabs(__p) < 800 ? fma(y, __hi, -__p) + y * __lo : 0.0;
      __v = exp(__p);
      if (__v < __heddle_inf()) __v = fma(__v, __lo, __v);
    }
  }
  return odd && __double_as_longlong(x) < 0 ? -__v : __v;
}
/* A power of constants is a constant, as with nvcc. */
__heddle_fn double pow(double x, double y) {
  if (__builtin_constant_p(x) && __builtin_constant_p(y) &&
      ((x >= 1e-9 && x <= 1e9 && fabs(y) <= 30) || (x >= 0.1 && x <= 10 && fabs(y) <= 300)))
    return __builtin_pow(x, y);
  return __heddle_pow(x, y);
}
__heddle_fn double exp10(double x) { return pow(10.0, x); }
__heddle_out double powi(double x, int __n) {
  double __r = 1.0;
  for (unsigned __k = __n < 0 ? 0u - (unsigned)__n : (unsigned)__n; __k; __k >>= 1, x *= x)
    if (__k & 1) __r *= x;
  return __n < 0 ? 1.0 / __r : __r;
}
__heddle_out double cbrt(double x) {
  if (x == 0 || x != x || fabs(x) == __heddle_inf()) return x;
  double __a = fabs(x);
  bool __small = __a < 1e-290;
  if (__small) __a *= 9.1343852333181432e+46; /* 2^156 */
  double __c = exp(log(__a) / 3.0);
  double __p = __c * __c;
  __c = __c - (fma(__p, __c, -__a) + fma(__c, __c, -__p) * __c) / (3.0 * __p);
  if (__small) __c *= 2.220446049250313e-16; /* 2^-52 */
  return copysign(__c, x);
}
__heddle_fn double rcbrt(double x) { return 1.0 / cbrt(x); }
__heddle_fn double rsqrt(double x) { return 1.0 / sqrt(x); }
__heddle_out double hypot(double x, double y) {
  double __a = fmax(fabs(x), fabs(y)), __b = fmin(fabs(x), fabs(y));
  if (fabs(x) == __heddle_inf() || fabs(y) == __heddle_inf()) return __heddle_inf();
  if (x != x || y != y) return __heddle_nan();
  return __a == 0 ? 0.0 : __a * sqrt(1.0 + (__b / __a) * (__b / __a));
}
__heddle_fn double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
__heddle_fn double norm3d(double __a, double __b, double __c) { return hypot(hypot(__a, __b), __c); }
__heddle_fn double norm4d(double __a, double __b, double __c, double __d) { return hypot(hypot(__a, __b), hypot(__c, __d)); }
__heddle_fn double rnorm3d(double __a, double __b, double __c) { return 1.0 / norm3d(__a, __b, __c); }
__heddle_fn double rnorm4d(double __a, double __b, double __c, double __d) { return 1.0 / norm4d(__a, __b, __c, __d); }
__heddle_out double norm(int __n, const double *__p) {
  double __r = 0.0;
  for (int __i = 0; __i < __n; __i++) __r = hypot(__r, __p[__i]);
  return __r;
}
__heddle_fn double rnorm(int __n, const double *__p) { return 1.0 / norm(__n, __p); }

/* erfc by its continued fraction for x >= 2.5 (Abramowitz and Stegun 7.1.14), erf by its series below (7.1.6). */
__heddle_out double __heddle_erfc_tail(double x) {
  double __f = x;
  for (int __k = 60; __k >= 1; __k--) __f = x + 0.5 * __k / __f;
  return x > 27.3 ? 0.0 : exp(-x * x) / (__f * 1.77245385090551602730);
}
__heddle_out double __heddle_erf_series(double x) {
  double __t = x, __s = x;
  for (int __n = 1; __n < 60; __n++) {
    __t *= 2.0 * x * x / (2.0 * __n + 1.0);
    __s += __t;
  }
  return 1.12837916709551257390 * exp(-x * x) * __s;
}
__heddle_out double erf(double x) {
  double __a = fabs(x);
  if (x != x) return x;
  return copysign(__a < 2.5 ? __heddle_erf_series(__a) : 1.0 - __heddle_erfc_tail(__a), x);
}
__heddle_out double erfc(double x) {
  if (x != x) return x;
  if (x >= 2.5) return __heddle_erfc_tail(x);
  return 1.0 - erf(x);
}
__heddle_fn double erfcx(double x) { return exp(x * x) * erfc(x); }
__heddle_fn double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

/* The inverses of erfc and erf by Halley's method, from an estimate by elementary functions. */
__heddle_out double __heddle_erf_estimate(double x, double __rest) { /* rest is 1 - x^2 */
  double __l = log(__rest), __h = 4.33074675078731 + 0.5 * __l;
  return copysign(sqrt(sqrt(__h * __h - __l / 0.147) - __h), x);
}
__heddle_out double __heddle_erfcinv(double x) { /* 0 < x <= 1 */
  double __r = __heddle_erf_estimate(1.0, x * (2.0 - x));
  for (int __i = 0; __i < 5; __i++) {
    double __e = (x - erfc(__r)) * 0.88622692545275801365 * exp(__r * __r);
    __r -= __e / (1.0 + __r * __e);
  }
  return __r;
}
__heddle_fn double erfcinv(double x) {
  if (x != x || x < 0 || x > 2) return __heddle_nan();
  if (x == 0 || x == 2) return x == 0 ? __heddle_inf() : -__heddle_inf();
  return x > 1 ? -__heddle_erfcinv(2.0 - x) : __heddle_erfcinv(x);
}
__heddle_out double erfinv(double x) {
  if (x != x || fabs(x) > 1) return __heddle_nan();
  if (fabs(x) > 0.9) return copysign(erfcinv(1.0 - fabs(x)), x);
  double __r = x == 0 ? x : __heddle_erf_estimate(x, 1.0 - x * x);
  for (int __i = 0; __i < 5; __i++) {
    double __e = (erf(__r) - x) * 0.88622692545275801365 * exp(__r * __r);
    __r -= __e / (1.0 + __r * __e);
  }
  return __r;
}
__heddle_fn double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2.0 * x); }

/* Bessel functions. Below 25 those of the first kind by their recurrence from above, normalized by
   1 = J0 + 2 J2 + 2 J4 + ..., and those of the second kind by sums of them (Abramowitz and Stegun 9.1.46, 9.1.88);
   from 25 on by Hankel's expansion (9.2.5 to 9.2.10). */
__heddle_out double __heddle_bessel(int __n, double x, double *__y0, double *__y1) { /* 0 < x */
  const double __two = 0.63661977236758134308, __l = log(0.5 * x) + 0.57721566490153286061; /* 2/pi */
  if (x < 1e-8) { /* the first terms of the series */
    *__y0 = __two * __l;
    *__y1 = -__two / x;
    return __n == 0 ? 1.0 : __n == 1 ? 0.5 * x : 0.0;
  }
  int __m = (__n > (int)x ? __n : (int)x) + 60;
  __m += __m & 1;
  double __above = 0.0, __at = 1e-280, __sum = 0.0, __s0 = 0.0, __s1 = 0.0, __j = 0.0, __j1 = 0.0;
  for (int __k = __m; __k > 0; __k--) { /* at is J_k */
    double __h = (__k / 2) & 1 ? -1.0 : 1.0;
    if (__k & 1) {
      if (__k > 1) __s1 += __h * __k * __at / ((__k / 2) * (__k / 2 + 1.0));
    } else {
      __sum += 2.0 * __at;
      __s0 += __h * __at / (__k / 2);
    }
    if (__k == __n) __j = __at;
    if (__k == 1) __j1 = __at;
    double __below = 2.0 * __k / x * __at - __above;
    __above = __at, __at = __below;
    if (fabs(__at) > 1e150) {
      const double __c = 1e-150;
      __above *= __c, __at *= __c, __sum *= __c, __s0 *= __c, __s1 *= __c, __j *= __c, __j1 *= __c;
    }
  }
  double __norm = 1.0 / (__sum + __at), __j0 = __at * __norm;
  *__y0 = __two * (__l * __j0 - 2.0 * __s0 * __norm);
  *__y1 = __two * ((__l - 1.0) * __j1 * __norm - __s1 * __norm - __j0 / x);
  return (__n == 0 ? __at : __j) * __norm;
}
__heddle_out double __heddle_hankel(int __n, double x, double *__y) { /* n is 0 or 1, and x at least 25 */
  double __p = 1.0, __q = 0.0, __t = 1.0;
  for (int __k = 1; __k < 24; __k++) {
    double __odd = 2.0 * __k - 1.0;
    __t *= (4.0 * __n * __n - __odd * __odd) / (8.0 * x * __k);
    if (__k & 1) __q += __k & 2 ? -__t : __t;
    else __p += __k & 2 ? -__t : __t;
  }
  double __s = sin(x), __c = cos(x), __r = 0.70710678118654752440 * sqrt(0.63661977236758134308 / x);
  double __cos = __n ? __s - __c : __c + __s, __sin = __n ? -__s - __c : __s - __c; /* of x - (2n+1) pi/4, times sqrt(2) */
  *__y = __r * (__p * __sin + __q * __cos);
  return __r * (__p * __cos - __q * __sin);
}
__heddle_out double __heddle_bessel01(int __n, double x, double *__y) {
  double __y0, __y1, __r;
  if (x >= 25) return __heddle_hankel(__n, x, __y);
  __r = __heddle_bessel(__n, x, &__y0, &__y1);
  *__y = __n ? __y1 : __y0;
  return __r;
}
__heddle_out double jn(int __n, double x) {
  double __a = fabs(x), __y, __y2;
  if (x != x || __n < 0) return __heddle_nan();
  if (__a == __heddle_inf()) return 0.0;
  if (__a == 0) return __n ? 0.0 : 1.0;
  double __r = __a < 25 || __n > __a ? __heddle_bessel(__n, __a, &__y, &__y2) : __heddle_hankel(__n & 1, __a, &__y);
  if (__a >= 25 && __n > 1 && __n <= __a) {
    double __b = __heddle_hankel(0, __a, &__y), __c = __heddle_hankel(1, __a, &__y);
    for (int __k = 1; __k < __n; __k++) {
      double __d = 2.0 * __k / __a * __c - __b;
      __b = __c, __c = __d;
    }
    __r = __c;
  }
  return x < 0 && __n & 1 ? -__r : __r;
}
__heddle_out double yn(int __n, double x) {
  double __b, __c;
  if (x != x || x < 0 || __n < 0) return __heddle_nan();
  if (x == 0) return -__heddle_inf();
  if (x == __heddle_inf()) return 0.0;
  __heddle_bessel01(0, x, &__b);
  __heddle_bessel01(1, x, &__c);
  if (__n == 0) return __b;
  for (int __k = 1; __k < __n; __k++) {
    double __d = 2.0 * __k / x * __c - __b;
    __b = __c, __c = __d;
  }
  return __c;
}
__heddle_fn double j0(double x) { return jn(0, x); }
__heddle_fn double j1(double x) { return jn(1, x); }
__heddle_fn double y0(double x) { return yn(0, x); }
__heddle_fn double y1(double x) { return yn(1, x); }

/* Modified Bessel functions by their series (9.6.10), above 40 by their expansion (9.7.1). */
__heddle_out double __heddle_bessel_i(int __n, double x) { /* n is 0 or 1 */
  double __a = fabs(x), __t = 1.0, __s = 1.0;
  if (x != x || __a == __heddle_inf()) return __n ? x : __a;
  if (__a <= 40) {
    for (int __k = 1; __k < 120; __k++) __s += __t *= 0.25 * __a * __a / (__k * (double)(__k + __n));
    return __n ? 0.5 * x * __s : __s;
  }
  for (int __k = 1; __k < 20; __k++) {
    double __odd = 2.0 * __k - 1.0;
    __s += __t *= (__odd * __odd - 4.0 * __n) / (8.0 * __a * __k);
  }
  __s *= exp(__a) * sqrt(0.15915494309189533577 / __a);
  return __n ? copysign(__s, x) : __s;
}
__heddle_fn double cyl_bessel_i0(double x) { return __heddle_bessel_i(0, x); }
__heddle_fn double cyl_bessel_i1(double x) { return __heddle_bessel_i(1, x); }

/* log gamma(x) for x > 0 by Stirling's series (Abramowitz and Stegun 6.1.41) after raising x above 10. */
__heddle_out double __heddle_lgamma_pos(double x) {
  double __p = 1.0;
  while (x < 10.0) __p *= x, x += 1.0;
  double z = 1.0 / (x * x), __s = -691.0 / 360360.0;
  __s = fma(__s, z, 1.0 / 1188.0);
  __s = fma(__s, z, -1.0 / 1680.0);
  __s = fma(__s, z, 1.0 / 1260.0);
  __s = fma(__s, z, -1.0 / 360.0);
  __s = fma(__s, z, 1.0 / 12.0);
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + __s / x - log(__p);
}
__heddle_out double lgamma(double x) {
  if (x != x) return x;
  if (fabs(x) == __heddle_inf()) return __heddle_inf();
  if (x > 0) return __heddle_lgamma_pos(x);
  if (floor(x) == x) return __heddle_inf();
  return log(3.14159265358979323846 / fabs(sinpi(x))) - __heddle_lgamma_pos(1.0 - x);
}
__heddle_out double tgamma(double x) {
  if (x == 0) return copysign(__heddle_inf(), x);
  if (x != x || x < 0 && floor(x) == x) return __heddle_nan();
  if (x > 0) return x > 171.7 ? __heddle_inf() : exp(__heddle_lgamma_pos(x));
  return 3.14159265358979323846 / (sinpi(x) * exp(__heddle_lgamma_pos(1.0 - x)));
}
__heddle_out double nextafter(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return copysign(4.9406564584124654e-324, y);
  long long __b = __double_as_longlong(x);
  return __longlong_as_double((x < y) == (x > 0) ? __b + 1 : __b - 1);
}
__heddle_out double remquo(double x, double y, int *quo) {
  double __r = remainder(x, y), __ax = fabs(x), __q = fmod(__ax, 8.0 * fabs(y));
  int __n = (int)rint((__q - copysign(1.0, x) * __r) / fabs(y)) & 7;
  *quo = (x < 0) != (y < 0) ? -__n : __n;
  return __r;
}

#endif
