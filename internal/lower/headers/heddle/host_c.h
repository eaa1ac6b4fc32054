/* Functions of C that host code calls without an #include, since nvcc's cuda_runtime.h includes <stdlib.h>, <string.h>,
   <time.h> and <math.h>. The last one is large in C++, so its functions are declared here, as the host's header does. */
#ifndef HEDDLE_HOST_C_H
#define HEDDLE_HOST_C_H
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define __HEDDLE_C1(NAME) double NAME(double) noexcept; float NAME##f(float) noexcept;
#define __HEDDLE_C2(NAME) double NAME(double, double) noexcept; float NAME##f(float, float) noexcept;
extern "C" {
__HEDDLE_C1(sqrt) __HEDDLE_C1(fabs) __HEDDLE_C1(floor) __HEDDLE_C1(ceil) __HEDDLE_C1(round) __HEDDLE_C1(trunc)
__HEDDLE_C1(rint) __HEDDLE_C1(exp) __HEDDLE_C1(exp2) __HEDDLE_C1(expm1) __HEDDLE_C1(log) __HEDDLE_C1(log2)
__HEDDLE_C1(log10) __HEDDLE_C1(log1p) __HEDDLE_C1(sin) __HEDDLE_C1(cos) __HEDDLE_C1(tan) __HEDDLE_C1(asin)
__HEDDLE_C1(acos) __HEDDLE_C1(atan) __HEDDLE_C1(sinh) __HEDDLE_C1(cosh) __HEDDLE_C1(tanh) __HEDDLE_C1(asinh)
__HEDDLE_C1(acosh) __HEDDLE_C1(atanh) __HEDDLE_C1(cbrt) __HEDDLE_C1(erf) __HEDDLE_C1(erfc) __HEDDLE_C1(tgamma)
__HEDDLE_C1(lgamma)
__HEDDLE_C2(pow) __HEDDLE_C2(atan2) __HEDDLE_C2(fmod) __HEDDLE_C2(fmin) __HEDDLE_C2(fmax) __HEDDLE_C2(hypot)
__HEDDLE_C2(copysign) __HEDDLE_C2(remainder) __HEDDLE_C2(fdim)
int printf(const char *, ...);
double fma(double, double, double) noexcept; float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept; float ldexpf(float, int) noexcept;
}
#undef __HEDDLE_C1
#undef __HEDDLE_C2

#endif
