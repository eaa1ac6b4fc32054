/* Floating-point formats of 4, 6 and 8 bits: __m bits of fraction, a biased exponent and a sign. */
#ifndef HEDDLE_SMALLFLOAT_H
#define HEDDLE_SMALLFLOAT_H

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;

/* The magnitude of a number that is not NaN: of a number between those of the format the nearer one, of a tie the
   even one. More than __most if it is above the largest number. */
__heddle_hd unsigned int __heddle_f2small(float __f, int __m, int __bias, unsigned int __most) {
  unsigned int __a = __builtin_bit_cast(unsigned int, __f) & 0x7fffffffu;
  int __e = (int)(__a >> 23) - 127;
  if (__a == 0x7f800000u) return __most + 1;
  if (__e < -__bias - __m) return 0; /* below half of the least number */
  /* The significand with its leading bit, in units of the last place, and what is cut off. */
  unsigned int __sig = (__a & 0x7fffffu) | 0x800000u;
  int __cut = 23 - __m + (__e < 1 - __bias ? 1 - __bias - __e : 0);
  unsigned int __half = 1u << (__cut - 1), __rest = __sig & ((1u << __cut) - 1), __r = __sig >> __cut;
  __r += __rest > __half || (__rest == __half && (__r & 1u));
  if (__e >= 1 - __bias) __r += (unsigned int)(__e + __bias - 1) << __m;
  return __r;
}
/* The number with a magnitude, and a sign in the place of that of a float. */
__heddle_hd float __heddle_small2f(unsigned int __a, unsigned int __sign, int __m, int __bias) {
  unsigned int __e = __a >> __m, __f = __a & ((1u << __m) - 1);
  if (__e == 0) { /* a multiple of the least number */
    float __v = (float)__f * __builtin_bit_cast(float, (unsigned int)(128 - __bias - __m) << 23);
    return __sign ? -__v : __v;
  }
  return __builtin_bit_cast(float, __sign | (__e + 127 - (unsigned int)__bias) << 23 | __f << (23 - __m));
}

/* A format of less than 8 bits, which has neither infinity nor NaN: what is too large becomes the largest number, and
   NaN the largest positive one (CUDA Math API, "FP6 Conversion" and "FP4 Conversion"). SIGN is the place of the sign. */
#define __HEDDLE_TINY(TO, FROM, STORAGE, SIGN, M, BIAS)                                                          \
  __heddle_hd STORAGE TO(float __f) {                                                                            \
    const unsigned int __most = (1u << (SIGN)) - 1;                                                              \
    if (__f != __f) return (STORAGE)__most;                                                                      \
    unsigned int __r = __heddle_f2small(__f, (M), (BIAS), __most);                                               \
    return (STORAGE)((__r < __most ? __r : __most) | __builtin_bit_cast(unsigned int, __f) >> 31 << (SIGN));     \
  }                                                                                                              \
  __heddle_hd float FROM(unsigned int __x) {                                                                     \
    return __heddle_small2f(__x & ((1u << (SIGN)) - 1), (__x >> (SIGN) & 1u) << 31, (M), (BIAS));                \
  }

/* Conversions from the other types, by way of a float that is rounded to odd, so that they round once. FP is fp6 or fp4,
   SHIFT the bits of a number in a pair. */
#define __HEDDLE_TINY_FROM(FP, STORAGE, STORAGE2, KIND, SHIFT)                                                    \
  __heddle_hd STORAGE __nv_cvt_double_to_##FP(double __d, KIND __k, cudaRoundMode __mode) {                       \
    return __nv_cvt_float_to_##FP(__heddle_odd(__d), __k, __mode);                                                \
  }                                                                                                               \
  __heddle_hd STORAGE __nv_cvt_halfraw_to_##FP(__half_raw __h, KIND __k, cudaRoundMode __mode) {                  \
    return __nv_cvt_float_to_##FP(__heddle_h2f(__h.x), __k, __mode);                                              \
  }                                                                                                               \
  __heddle_hd STORAGE __nv_cvt_bfloat16raw_to_##FP(__nv_bfloat16_raw __h, KIND __k, cudaRoundMode __mode) {       \
    return __nv_cvt_float_to_##FP(__heddle_bf2f(__h.x), __k, __mode);                                             \
  }                                                                                                               \
  __heddle_hd STORAGE2 __nv_cvt_double2_to_##FP##x2(double2 __v, KIND __k, cudaRoundMode __mode) {                \
    return (STORAGE2)(__nv_cvt_double_to_##FP(__v.x, __k, __mode) | __nv_cvt_double_to_##FP(__v.y, __k, __mode) << SHIFT); \
  }                                                                                                               \
  __heddle_hd STORAGE2 __nv_cvt_halfraw2_to_##FP##x2(__half2_raw __v, KIND __k, cudaRoundMode __mode) {           \
    return (STORAGE2)(__nv_cvt_float_to_##FP(__heddle_h2f(__v.x), __k, __mode) |                                  \
                      __nv_cvt_float_to_##FP(__heddle_h2f(__v.y), __k, __mode) << SHIFT);                         \
  }                                                                                                               \
  __heddle_hd STORAGE2 __nv_cvt_bfloat16raw2_to_##FP##x2(__nv_bfloat162_raw __v, KIND __k, cudaRoundMode __mode) { \
    return (STORAGE2)(__nv_cvt_float_to_##FP(__heddle_bf2f(__v.x), __k, __mode) |                                 \
                      __nv_cvt_float_to_##FP(__heddle_bf2f(__v.y), __k, __mode) << SHIFT);                        \
  }

/* Its types: one number, and pairs and quadruples of STEP bits each. */
#define __HEDDLE_TINY_TYPES(TYPE, TYPE2, TYPE4, STORAGE, STORAGE2, STORAGE4, STEP, TO, FROM)                     \
  struct TYPE {                                                                                                  \
    STORAGE __x;                                                                                                 \
    TYPE() = default;                                                                                            \
    __heddle_hd_member explicit TYPE(float __f) : __x(TO(__f)) {}                                                \
    __heddle_hd_member explicit TYPE(double __f) : __x(TO(__heddle_odd(__f))) {}                                 \
    __heddle_hd_member explicit TYPE(__half __f) : __x(TO((float)__f)) {}                                        \
    __heddle_hd_member explicit TYPE(__nv_bfloat16 __f) : __x(TO((float)__f)) {}                                 \
    __heddle_hd_member explicit TYPE(int __i) : __x(TO((float)__i)) {}                                           \
    __heddle_hd_member explicit operator float() const { return FROM(__x); }                                     \
    __heddle_hd_member explicit operator double() const { return (double)FROM(__x); }                            \
    __heddle_hd_member explicit operator __half() const { return __half(FROM(__x)); }                            \
    __heddle_hd_member explicit operator __nv_bfloat16() const { return __nv_bfloat16(FROM(__x)); }              \
  };                                                                                                             \
  struct TYPE2 {                                                                                                 \
    STORAGE2 __x;                                                                                                \
    TYPE2() = default;                                                                                           \
    __heddle_hd_member explicit TYPE2(float2 __v) : __x((STORAGE2)(TO(__v.x) | TO(__v.y) << (STEP))) {}          \
    __heddle_hd_member explicit TYPE2(__half2 __v) : TYPE2(make_float2((float)__v.x, (float)__v.y)) {}           \
    __heddle_hd_member explicit TYPE2(__nv_bfloat162 __v) : TYPE2(make_float2((float)__v.x, (float)__v.y)) {}    \
    __heddle_hd_member explicit operator float2() const { return make_float2(FROM(__x), FROM(__x >> (STEP))); }  \
    __heddle_hd_member explicit operator __half2() const { return __half2(__half(FROM(__x)), __half(FROM(__x >> (STEP)))); } \
  };                                                                                                             \
  struct TYPE4 {                                                                                                 \
    STORAGE4 __x;                                                                                                \
    TYPE4() = default;                                                                                           \
    __heddle_hd_member explicit TYPE4(float4 __v)                                                                \
        : __x((STORAGE4)(TO(__v.x) | TO(__v.y) << (STEP) | TO(__v.z) << 2 * (STEP) | (unsigned int)TO(__v.w) << 3 * (STEP))) {} \
    __heddle_hd_member explicit operator float4() const {                                                        \
      return make_float4(FROM(__x), FROM(__x >> (STEP)), FROM(__x >> 2 * (STEP)), FROM(__x >> 3 * (STEP)));      \
    }                                                                                                            \
  };

#endif
