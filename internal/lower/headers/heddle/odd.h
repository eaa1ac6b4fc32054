/* From double to the smaller formats. */
#ifndef HEDDLE_ODD_H
#define HEDDLE_ODD_H
#include "host.h"

/* The host has no conversion that rounds towards zero. */
__heddle_host float __heddle_d2f_rz(double __d) {
  float __z = (float)__d;
  if (__builtin_fabs((double)__z) <= __builtin_fabs(__d) || __d != __d) return __z;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, __z) - 1u);
}
#ifndef HEDDLE_HOST_H
__heddle_fn float __heddle_d2f_rz(double __d) { return __double2float_rz(__d); }
#endif
/* Rounded to odd, so that rounding the result to fewer bits is rounding once. Integers of 32 bits are exact in double. */
__heddle_hd float __heddle_odd(double __d) {
  float __z = __heddle_d2f_rz(__d);
  return (double)__z == __d ? __z : __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, __z) | 1u);
}

#endif
