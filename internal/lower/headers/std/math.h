/* Used where the system has no C library headers: declarations for host code. Device code has its own. */
#ifndef HEDDLE_STD_MATH_H
#define HEDDLE_STD_MATH_H

extern "C" {
double sqrt(double); float sqrtf(float);
double fabs(double); float fabsf(float);
double floor(double); float floorf(float);
double ceil(double); float ceilf(float);
double trunc(double); float truncf(float);
double rint(double); float rintf(float);
double nearbyint(double); float nearbyintf(float);
double round(double); float roundf(float);
double exp(double); float expf(float);
double exp2(double); float exp2f(float);
double expm1(double); float expm1f(float);
double log(double); float logf(float);
double log2(double); float log2f(float);
double log10(double); float log10f(float);
double log1p(double); float log1pf(float);
double sin(double); float sinf(float);
double cos(double); float cosf(float);
double tan(double); float tanf(float);
double asin(double); float asinf(float);
double acos(double); float acosf(float);
double atan(double); float atanf(float);
double sinh(double); float sinhf(float);
double cosh(double); float coshf(float);
double tanh(double); float tanhf(float);
double asinh(double); float asinhf(float);
double acosh(double); float acoshf(float);
double atanh(double); float atanhf(float);
double cbrt(double); float cbrtf(float);
double erf(double); float erff(float);
double erfc(double); float erfcf(float);
double lgamma(double); float lgammaf(float);
double tgamma(double); float tgammaf(float);
double logb(double); float logbf(float);
double pow(double, double); float powf(float, float);
double atan2(double, double); float atan2f(float, float);
double hypot(double, double); float hypotf(float, float);
double fmod(double, double); float fmodf(float, float);
double remainder(double, double); float remainderf(float, float);
double fmin(double, double); float fminf(float, float);
double fmax(double, double); float fmaxf(float, float);
double fdim(double, double); float fdimf(float, float);
double copysign(double, double); float copysignf(float, float);
double nextafter(double, double); float nextafterf(float, float);
double fma(double, double, double); float fmaf(float, float, float);
double ldexp(double, int); float ldexpf(float, int);
double frexp(double, int *); float frexpf(float, int *);
double modf(double, double *); float modff(float, float *);
long lrint(double); long lrintf(float); long lround(double); long lroundf(float);
}
static __inline__ float sqrt(float x) { return sqrtf(x); }
static __inline__ float fabs(float x) { return fabsf(x); }
static __inline__ float floor(float x) { return floorf(x); }
static __inline__ float ceil(float x) { return ceilf(x); }
static __inline__ float trunc(float x) { return truncf(x); }
static __inline__ float rint(float x) { return rintf(x); }
static __inline__ float nearbyint(float x) { return nearbyintf(x); }
static __inline__ float round(float x) { return roundf(x); }
static __inline__ float exp(float x) { return expf(x); }
static __inline__ float exp2(float x) { return exp2f(x); }
static __inline__ float expm1(float x) { return expm1f(x); }
static __inline__ float log(float x) { return logf(x); }
static __inline__ float log2(float x) { return log2f(x); }
static __inline__ float log10(float x) { return log10f(x); }
static __inline__ float log1p(float x) { return log1pf(x); }
static __inline__ float sin(float x) { return sinf(x); }
static __inline__ float cos(float x) { return cosf(x); }
static __inline__ float tan(float x) { return tanf(x); }
static __inline__ float asin(float x) { return asinf(x); }
static __inline__ float acos(float x) { return acosf(x); }
static __inline__ float atan(float x) { return atanf(x); }
static __inline__ float sinh(float x) { return sinhf(x); }
static __inline__ float cosh(float x) { return coshf(x); }
static __inline__ float tanh(float x) { return tanhf(x); }
static __inline__ float asinh(float x) { return asinhf(x); }
static __inline__ float acosh(float x) { return acoshf(x); }
static __inline__ float atanh(float x) { return atanhf(x); }
static __inline__ float cbrt(float x) { return cbrtf(x); }
static __inline__ float erf(float x) { return erff(x); }
static __inline__ float erfc(float x) { return erfcf(x); }
static __inline__ float lgamma(float x) { return lgammaf(x); }
static __inline__ float tgamma(float x) { return tgammaf(x); }
static __inline__ float logb(float x) { return logbf(x); }
static __inline__ float pow(float x, float y) { return powf(x, y); }
static __inline__ float atan2(float x, float y) { return atan2f(x, y); }
static __inline__ float hypot(float x, float y) { return hypotf(x, y); }
static __inline__ float fmod(float x, float y) { return fmodf(x, y); }
static __inline__ float remainder(float x, float y) { return remainderf(x, y); }
static __inline__ float fmin(float x, float y) { return fminf(x, y); }
static __inline__ float fmax(float x, float y) { return fmaxf(x, y); }
static __inline__ float fdim(float x, float y) { return fdimf(x, y); }
static __inline__ float copysign(float x, float y) { return copysignf(x, y); }
static __inline__ float nextafter(float x, float y) { return nextafterf(x, y); }
static __inline__ bool isnan(double x) { return x != x; }
static __inline__ bool isinf(double x) { return x - x != 0 && x == x; }
static __inline__ bool isfinite(double x) { return x - x == 0; }
extern "C" int abs(int);
static __inline__ double abs(double x) { return x < 0 ? -x : x; }
static __inline__ float abs(float x) { return x < 0 ? -x : x; }
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#endif
