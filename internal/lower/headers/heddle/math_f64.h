/* Double-precision functions. PTX has instructions for sqrt, fma, abs, rounding and no others; NVIDIA's
   libdevice is not used. The rest is computed here by range reduction and series.

   Accuracy (relative, against the exact result): exp, log, sin, cos, tan, atan and what is built on them
   about 1e-15; sin, cos and tan lose it for |x| above 1e6; pow about 1e-15 times |y log x|, so 1e-13 at
   worst; erf, erfc 1e-14; tgamma, lgamma 1e-13. That is enough for values that steer a kernel, and is not bit for bit what a GPU computes. */
#ifndef HEDDLE_MATH_F64_H
#define HEDDLE_MATH_F64_H

#define __heddle_out static __inline__ __attribute__((device))

__HEDDLE_1(sqrt, double, "d", double, "d", "sqrt.rn.f64")
__heddle_fn double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
__heddle_fn double fabs(double x) { return __builtin_fabs(x); }
__heddle_fn double floor(double x) { return __builtin_floor(x); }
__heddle_fn double ceil(double x) { return __builtin_ceil(x); }
__heddle_fn double trunc(double x) { return __builtin_trunc(x); }
__HEDDLE_1(rint, double, "d", double, "d", "cvt.rni.f64.f64")
__heddle_fn double nearbyint(double x) { return rint(x); }
__heddle_fn double copysign(double x, double y) { return __longlong_as_double((__double_as_longlong(x) & 0x7fffffffffffffffLL) | (__double_as_longlong(y) & (long long)0x8000000000000000ULL)); }
__heddle_out double round(double x) {
  double t = trunc(x);
  return fabs(x - t) >= 0.5 ? t + copysign(1.0, x) : copysign(t, x);
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
__heddle_out double ldexp(double x, int n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  for (int i = 0; i < 3; i++) {
    int k = n < -1000 ? -1000 : n > 1000 ? 1000 : n;
    x *= __longlong_as_double((long long)(k + 1023) << 52);
    n -= k;
  }
  return x;
}
__heddle_fn double scalbn(double x, int n) { return ldexp(x, n); }
__heddle_fn double scalbln(double x, long n) { return ldexp(x, n < -3000 ? -3000 : n > 3000 ? 3000 : (int)n); }
__heddle_out double frexp(double x, int *e) {
  *e = 0;
  if (x == 0 || x != x || fabs(x) == __heddle_inf()) return x;
  int extra = 0;
  if (fabs(x) < 2.2250738585072014e-308) x *= 18014398509481984.0, extra = 54;
  long long b = __double_as_longlong(x);
  *e = (int)(b >> 52 & 0x7ff) - 1022 - extra;
  return __longlong_as_double((b & (long long)0x800fffffffffffffULL) | 0x3fe0000000000000LL);
}
__heddle_out double logb(double x) {
  if (x == 0) return -__heddle_inf();
  if (x != x || fabs(x) == __heddle_inf()) return x * x;
  int e;
  frexp(x, &e);
  return e - 1;
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
  double ax = fabs(x), ay = fabs(y);
  if (!(ax < __heddle_inf()) || ay != ay || ay == 0) return __heddle_nan();
  if (ax < ay) return x;
  int ex, ey;
  frexp(ax, &ex);
  frexp(ay, &ey);
  for (int k = ex - ey; k >= 0; k--) {
    double s = ldexp(ay, k);
    if (ax >= s) ax -= s;
  }
  return copysign(ax, x);
}
__heddle_out double remainder(double x, double y) {
  double ay = fabs(y), r = fabs(fmod(x, ay + ay < __heddle_inf() ? ay + ay : ay));
  if (r != r) return r;
  if (r > ay) {
    r -= ay;
    if (r >= 0.5 * ay) r -= ay;
  } else if (r > 0.5 * ay) {
    r -= ay;
  }
  return x < 0 ? -r : r;
}

/* exp: x = k ln2 + r, |r| <= ln2/2, Taylor series of degree 13. */
__heddle_out double exp(double x) {
  if (x != x) return x;
  if (x > 709.79) return __heddle_inf();
  if (x < -745.2) return 0.0;
  double k = rint(x * 1.4426950408889634074);
  double r = fma(k, -6.93147180369123816490e-01, x);
  r = fma(k, -1.90821492927058770002e-10, r);
  double p = 1.0 / 6227020800.0;
  p = fma(p, r, 1.0 / 479001600.0);
  p = fma(p, r, 1.0 / 39916800.0);
  p = fma(p, r, 1.0 / 3628800.0);
  p = fma(p, r, 1.0 / 362880.0);
  p = fma(p, r, 1.0 / 40320.0);
  p = fma(p, r, 1.0 / 5040.0);
  p = fma(p, r, 1.0 / 720.0);
  p = fma(p, r, 1.0 / 120.0);
  p = fma(p, r, 1.0 / 24.0);
  p = fma(p, r, 1.0 / 6.0);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  return ldexp(p, (int)k);
}
__heddle_fn double exp2(double x) {
  double k = rint(x);
  return x > 1100 || x < -1100 ? exp(x) : ldexp(exp((x - k) * 0.69314718055994530942), (int)k);
}
__heddle_fn double exp10(double x) { return exp2(x * 3.3219280948873623479); }
__heddle_out double expm1(double x) {
  if (fabs(x) > 0.35) return exp(x) - 1.0;
  double p = 1.0 / 87178291200.0;
  p = fma(p, x, 1.0 / 6227020800.0);
  p = fma(p, x, 1.0 / 479001600.0);
  p = fma(p, x, 1.0 / 39916800.0);
  p = fma(p, x, 1.0 / 3628800.0);
  p = fma(p, x, 1.0 / 362880.0);
  p = fma(p, x, 1.0 / 40320.0);
  p = fma(p, x, 1.0 / 5040.0);
  p = fma(p, x, 1.0 / 720.0);
  p = fma(p, x, 1.0 / 120.0);
  p = fma(p, x, 1.0 / 24.0);
  p = fma(p, x, 1.0 / 6.0);
  p = fma(p, x, 0.5);
  return fma(p * x, x, x);
}

/* 2 atanh(s) for |s| <= 0.18: the series behind log and log1p. */
__heddle_out double __heddle_log_series(double s) {
  double z = s * s, p = 1.0 / 23.0;
  p = fma(p, z, 1.0 / 21.0);
  p = fma(p, z, 1.0 / 19.0);
  p = fma(p, z, 1.0 / 17.0);
  p = fma(p, z, 1.0 / 15.0);
  p = fma(p, z, 1.0 / 13.0);
  p = fma(p, z, 1.0 / 11.0);
  p = fma(p, z, 1.0 / 9.0);
  p = fma(p, z, 1.0 / 7.0);
  p = fma(p, z, 1.0 / 5.0);
  p = fma(p, z, 1.0 / 3.0);
  return fma(2.0 * s * z, p, 2.0 * s);
}
/* log: x = 2^e m, m in [sqrt(1/2), sqrt(2)). */
__heddle_out double log(double x) {
  if (x != x || x < 0) return __heddle_nan();
  if (x == 0) return -__heddle_inf();
  if (x == __heddle_inf()) return x;
  int e;
  double m = frexp(x, &e);
  if (m < 0.70710678118654752440) m += m, e--;
  double s = __heddle_log_series((m - 1.0) / (m + 1.0));
  return fma((double)e, 6.93147180369123816490e-01, fma((double)e, 1.90821492927058770002e-10, s));
}
__heddle_fn double log2(double x) {
  int e;
  double m = frexp(x, &e);
  if (m == 0.5) return e - 1;
  return log(x) * 1.4426950408889634074;
}
__heddle_fn double log10(double x) { return log(x) * 0.43429448190325182765; }
__heddle_out double log1p(double x) { return fabs(x) < 0.3 ? __heddle_log_series(x / (2.0 + x)) : log(1.0 + x); }

/* sin and cos: x = q pi/2 + r, |r| <= pi/4, by a three-part pi/2. */
__heddle_out double __heddle_reduce(double x, int *q) {
  double k = rint(x * 0.63661977236758134308);
  double r = fma(k, -1.57079632679489655800e+00, x);
  r = fma(k, -6.12323399573676603587e-17, r);
  r = fma(k, 1.49738490485916983000e-33, r);
  *q = (int)((long long)k & 3);
  return r;
}
__heddle_out double __heddle_sin_series(double r) {
  double z = r * r, p = -1.0 / 121645100408832000.0;
  p = fma(p, z, 1.0 / 355687428096000.0);
  p = fma(p, z, -1.0 / 1307674368000.0);
  p = fma(p, z, 1.0 / 6227020800.0);
  p = fma(p, z, -1.0 / 39916800.0);
  p = fma(p, z, 1.0 / 362880.0);
  p = fma(p, z, -1.0 / 5040.0);
  p = fma(p, z, 1.0 / 120.0);
  p = fma(p, z, -1.0 / 6.0);
  return fma(p * z, r, r);
}
__heddle_out double __heddle_cos_series(double r) {
  double z = r * r, p = 1.0 / 2432902008176640000.0;
  p = fma(p, z, -1.0 / 6402373705728000.0);
  p = fma(p, z, 1.0 / 20922789888000.0);
  p = fma(p, z, -1.0 / 87178291200.0);
  p = fma(p, z, 1.0 / 479001600.0);
  p = fma(p, z, -1.0 / 3628800.0);
  p = fma(p, z, 1.0 / 40320.0);
  p = fma(p, z, -1.0 / 720.0);
  p = fma(p, z, 1.0 / 24.0);
  p = fma(p, z, -0.5);
  return fma(p, z, 1.0);
}
__heddle_out double sin(double x) {
  if (!(fabs(x) < __heddle_inf())) return __heddle_nan();
  int q;
  double r = __heddle_reduce(x, &q);
  double v = q & 1 ? __heddle_cos_series(r) : __heddle_sin_series(r);
  return q & 2 ? -v : v;
}
__heddle_out double cos(double x) {
  if (!(fabs(x) < __heddle_inf())) return __heddle_nan();
  int q;
  double r = __heddle_reduce(x, &q);
  double v = q & 1 ? __heddle_sin_series(r) : __heddle_cos_series(r);
  return (q + 1) & 2 ? -v : v;
}
__heddle_fn double tan(double x) { return sin(x) / cos(x); }
__heddle_fn void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
__heddle_fn double sinpi(double x) { return sin((x - 2.0 * rint(0.5 * x)) * 3.14159265358979323846); }
__heddle_fn double cospi(double x) { return cos((x - 2.0 * rint(0.5 * x)) * 3.14159265358979323846); }
__heddle_fn void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }

/* atan: |x| > 1 by its reciprocal, then about tan(pi/6), so that the series has |t| <= 2 - sqrt(3). */
__heddle_out double atan(double x) {
  if (x != x) return x;
  double a = fabs(x), base = 0.0;
  bool inv = a > 1.0;
  if (inv) a = 1.0 / a;
  if (a > 0.26794919243112270647) {
    a = (a * 1.73205080756887729353 - 1.0) / (a + 1.73205080756887729353);
    base = 0.52359877559829887308;
  }
  double z = a * a, p = 1.0 / 29.0;
  p = fma(-p, z, 1.0 / 27.0);
  p = fma(-p, z, 1.0 / 25.0);
  p = fma(-p, z, 1.0 / 23.0);
  p = fma(-p, z, 1.0 / 21.0);
  p = fma(-p, z, 1.0 / 19.0);
  p = fma(-p, z, 1.0 / 17.0);
  p = fma(-p, z, 1.0 / 15.0);
  p = fma(-p, z, 1.0 / 13.0);
  p = fma(-p, z, 1.0 / 11.0);
  p = fma(-p, z, 1.0 / 9.0);
  p = fma(-p, z, 1.0 / 7.0);
  p = fma(-p, z, 1.0 / 5.0);
  p = fma(-p, z, 1.0 / 3.0);
  double v = base + fma(-p * z, a, a);
  if (inv) v = 1.57079632679489661923 - v;
  return copysign(v, x);
}
__heddle_out double atan2(double y, double x) {
  const double pi = 3.14159265358979323846;
  if (x != x || y != y) return __heddle_nan();
  bool neg = __double_as_longlong(x) < 0;
  double ax = fabs(x), ay = fabs(y), v;
  if (ay == 0) v = 0.0;
  else if (ax == 0) v = pi / 2;
  else if (ax == __heddle_inf()) v = ay == __heddle_inf() ? pi / 4 : 0.0;
  else v = atan(ay / ax);
  if (neg) v = pi - v;
  return copysign(v, y);
}
__heddle_fn double asin(double x) { return fabs(x) > 1.0 ? __heddle_nan() : atan2(x, sqrt((1.0 - x) * (1.0 + x))); }
__heddle_fn double acos(double x) { return fabs(x) > 1.0 ? __heddle_nan() : atan2(sqrt((1.0 - x) * (1.0 + x)), x); }
__heddle_out double sinh(double x) {
  double e = expm1(fabs(x)), v = fabs(x) > 700 ? 0.5 * exp(0.5 * fabs(x)) * exp(0.5 * fabs(x)) : 0.5 * (e + e / (e + 1.0));
  return copysign(v, x);
}
__heddle_out double cosh(double x) {
  double h = exp(0.5 * fabs(x));
  return fabs(x) > 700 ? 0.5 * h * h : 0.5 * (exp(x) + exp(-x));
}
__heddle_out double tanh(double x) {
  if (fabs(x) > 22.0) return copysign(1.0, x);
  double e = expm1(2.0 * x);
  return e / (e + 2.0);
}
__heddle_out double asinh(double x) {
  double a = fabs(x);
  return copysign(a > 1e8 ? log(a) + 0.69314718055994530942 : log1p(a + a * a / (1.0 + sqrt(a * a + 1.0))), x);
}
__heddle_out double acosh(double x) {
  if (!(x >= 1.0)) return __heddle_nan();
  double t = x - 1.0;
  return x > 1e8 ? log(x) + 0.69314718055994530942 : log1p(t + sqrt(2.0 * t + t * t));
}
__heddle_fn double atanh(double x) { return 0.5 * log1p(2.0 * x / (1.0 - x)); }

__heddle_out double pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (x != x || y != y) return __heddle_nan();
  double ax = fabs(x);
  bool whole = trunc(y) == y, odd = whole && fabs(y) < 9007199254740992.0 && fmod(y, 2.0) != 0;
  if (x < 0 && !whole && ax < __heddle_inf()) return __heddle_nan();
  double v;
  if (ax == 0 || ax == __heddle_inf()) v = (ax == 0) == (y > 0) ? 0.0 : __heddle_inf();
  else if (ax == 1) v = 1.0;
  else if (fabs(y) == __heddle_inf()) v = (ax > 1) == (y > 0) ? __heddle_inf() : 0.0;
  else v = exp(y * log(ax));
  return odd && __double_as_longlong(x) < 0 ? -v : v;
}
__heddle_out double powi(double x, int n) {
  double r = 1.0;
  for (unsigned k = n < 0 ? 0u - (unsigned)n : (unsigned)n; k; k >>= 1, x *= x)
    if (k & 1) r *= x;
  return n < 0 ? 1.0 / r : r;
}
__heddle_out double cbrt(double x) {
  if (x == 0 || x != x || fabs(x) == __heddle_inf()) return x;
  double a = fabs(x), c = exp(log(a) / 3.0);
  c = c - (c * c * c - a) / (3.0 * c * c);
  return copysign(c, x);
}
__heddle_fn double rcbrt(double x) { return 1.0 / cbrt(x); }
__heddle_fn double rsqrt(double x) { return 1.0 / sqrt(x); }
__heddle_out double hypot(double x, double y) {
  double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
  if (fabs(x) == __heddle_inf() || fabs(y) == __heddle_inf()) return __heddle_inf();
  if (x != x || y != y) return __heddle_nan();
  return a == 0 ? 0.0 : a * sqrt(1.0 + (b / a) * (b / a));
}
__heddle_fn double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
__heddle_fn double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
__heddle_fn double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }

/* erfc by its continued fraction for x >= 2.5 (Abramowitz and Stegun 7.1.14), erf by its series below (7.1.6). */
__heddle_out double __heddle_erfc_tail(double x) {
  double f = x;
  for (int k = 60; k >= 1; k--) f = x + 0.5 * k / f;
  return x > 27.3 ? 0.0 : exp(-x * x) / (f * 1.77245385090551602730);
}
__heddle_out double __heddle_erf_series(double x) {
  double t = x, s = x;
  for (int n = 1; n < 60; n++) {
    t *= 2.0 * x * x / (2.0 * n + 1.0);
    s += t;
  }
  return 1.12837916709551257390 * exp(-x * x) * s;
}
__heddle_out double erf(double x) {
  double a = fabs(x);
  if (x != x) return x;
  return copysign(a < 2.5 ? __heddle_erf_series(a) : 1.0 - __heddle_erfc_tail(a), x);
}
__heddle_out double erfc(double x) {
  if (x != x) return x;
  if (x >= 2.5) return __heddle_erfc_tail(x);
  return 1.0 - erf(x);
}
__heddle_fn double erfcx(double x) { return exp(x * x) * erfc(x); }
__heddle_fn double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

/* log gamma(x) for x > 0 by Stirling's series (Abramowitz and Stegun 6.1.41) after raising x above 10. */
__heddle_out double __heddle_lgamma_pos(double x) {
  double p = 1.0;
  while (x < 10.0) p *= x, x += 1.0;
  double z = 1.0 / (x * x), s = -691.0 / 360360.0;
  s = fma(s, z, 1.0 / 1188.0);
  s = fma(s, z, -1.0 / 1680.0);
  s = fma(s, z, 1.0 / 1260.0);
  s = fma(s, z, -1.0 / 360.0);
  s = fma(s, z, 1.0 / 12.0);
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + s / x - log(p);
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
  long long b = __double_as_longlong(x);
  return __longlong_as_double((x < y) == (x > 0) ? b + 1 : b - 1);
}
__heddle_out double remquo(double x, double y, int *quo) {
  double r = remainder(x, y), ax = fabs(x), q = fmod(ax, 8.0 * fabs(y));
  int n = (int)rint((q - copysign(1.0, x) * r) / fabs(y)) & 7;
  *quo = (x < 0) != (y < 0) ? -n : n;
  return r;
}

#endif
