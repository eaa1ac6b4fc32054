/* Arithmetic of packed bytes and half-words, and the functions for dynamic programming (CUDA Math API, "SIMD
   Intrinsics" and "DPX"), by plain C++ on each element. */
#ifndef HEDDLE_SIMD_H
#define HEDDLE_SIMD_H

/* Element __i of __bits bits, and where it is. */
__heddle_hd int __heddle_s(unsigned int __a, int __i, int __bits) { return (int)(__a << (32 - __bits - __i)) >> (32 - __bits); }
__heddle_hd int __heddle_u(unsigned int __a, int __i, int __bits) { return (int)(__a >> __i & ((1u << __bits) - 1)); }
__heddle_hd int __heddle_clamp(int __x, int __lo, int __hi) { return __x < __lo ? __lo : __x > __hi ? __hi : __x; }

/* NAME2 and NAME4: of elements __x and __y, which GET reads with or without a sign, EXPR, of which the low bits are
   kept. __top is the largest number of the element's type, __low the smallest. */
#define __HEDDLE_SIMD(NAME, BITS, GET, EXPR)                                                          \
  __heddle_hd unsigned int NAME(unsigned int __a, unsigned int __b) {                                 \
    unsigned int __r = 0;                                                                             \
    const int __s = 1 << ((BITS)-1), __low = GET(~0u, 0, (BITS)) < 0 ? -__s : 0;                      \
    const int __top = __low + 2 * __s - 1;                                                            \
    for (int __i = 0; __i < 32; __i += (BITS)) {                                                      \
      const int __x = GET(__a, __i, (BITS)), __y = GET(__b, __i, (BITS));                             \
      __r |= ((unsigned int)(EXPR) & (2u * __s - 1)) << __i;                                          \
    }                                                                                                 \
    (void)__low, (void)__top;                                                                         \
    return __r;                                                                                       \
  }
#define __HEDDLE_SIMD_1(NAME, BITS, EXPR)                                                             \
  __HEDDLE_SIMD(__heddle##NAME, BITS, __heddle_s, EXPR)                                               \
  __heddle_hd unsigned int NAME(unsigned int __a) { return __heddle##NAME(__a, 0); }
#define __HEDDLE_SIMD_SUM(NAME, BITS, GET)                                                            \
  __heddle_hd unsigned int NAME(unsigned int __a, unsigned int __b) {                                 \
    unsigned int __r = 0;                                                                             \
    for (int __i = 0; __i < 32; __i += (BITS)) {                                                      \
      const int __x = GET(__a, __i, (BITS)), __y = GET(__b, __i, (BITS));                             \
      __r += (unsigned int)(__x > __y ? __x - __y : __y - __x);                                       \
    }                                                                                                 \
    return __r;                                                                                       \
  }
#define __HEDDLE_SIMD_COMPARE(MASK, BIT, BITS, GET, OP)                                               \
  __HEDDLE_SIMD(MASK, BITS, GET, __x OP __y ? -1 : 0)                                                 \
  __HEDDLE_SIMD(BIT, BITS, GET, __x OP __y)
#define __HEDDLE_SIMD_ALL(N, BITS)                                                                    \
  __HEDDLE_SIMD(__vadd##N, BITS, __heddle_u, __x + __y)                                               \
  __HEDDLE_SIMD(__vaddss##N, BITS, __heddle_s, __heddle_clamp(__x + __y, __low, __top))               \
  __HEDDLE_SIMD(__vaddus##N, BITS, __heddle_u, __heddle_clamp(__x + __y, __low, __top))               \
  __HEDDLE_SIMD(__vsub##N, BITS, __heddle_u, __x - __y)                                               \
  __HEDDLE_SIMD(__vsubss##N, BITS, __heddle_s, __heddle_clamp(__x - __y, __low, __top))               \
  __HEDDLE_SIMD(__vsubus##N, BITS, __heddle_u, __heddle_clamp(__x - __y, __low, __top))               \
  __HEDDLE_SIMD(__vabsdiffs##N, BITS, __heddle_s, __x > __y ? __x - __y : __y - __x)                  \
  __HEDDLE_SIMD(__vabsdiffu##N, BITS, __heddle_u, __x > __y ? __x - __y : __y - __x)                  \
  /* Rounded to nearest, ties away from zero (PTX ISA, vavrg2 and vavrg4). */                         \
  __HEDDLE_SIMD(__vavgs##N, BITS, __heddle_s, (__x + __y + (__x + __y >= 0)) >> 1)                    \
  __HEDDLE_SIMD(__vavgu##N, BITS, __heddle_u, (__x + __y + 1) >> 1)                                   \
  __HEDDLE_SIMD(__vhaddu##N, BITS, __heddle_u, (__x + __y) >> 1)                                      \
  __HEDDLE_SIMD(__vmaxs##N, BITS, __heddle_s, __x > __y ? __x : __y)                                  \
  __HEDDLE_SIMD(__vmaxu##N, BITS, __heddle_u, __x > __y ? __x : __y)                                  \
  __HEDDLE_SIMD(__vmins##N, BITS, __heddle_s, __x < __y ? __x : __y)                                  \
  __HEDDLE_SIMD(__vminu##N, BITS, __heddle_u, __x < __y ? __x : __y)                                  \
  __HEDDLE_SIMD_1(__vabs##N, BITS, __x < 0 ? -__x : __x)                                              \
  __HEDDLE_SIMD_1(__vabsss##N, BITS, __heddle_clamp(__x < 0 ? -__x : __x, __low, __top))              \
  __HEDDLE_SIMD_1(__vneg##N, BITS, -__x)                                                              \
  __HEDDLE_SIMD_1(__vnegss##N, BITS, __heddle_clamp(-__x, __low, __top))                              \
  __HEDDLE_SIMD_SUM(__vsads##N, BITS, __heddle_s)                                                     \
  __HEDDLE_SIMD_SUM(__vsadu##N, BITS, __heddle_u)                                                     \
  __HEDDLE_SIMD_COMPARE(__vcmpeq##N, __vseteq##N, BITS, __heddle_u, ==)                               \
  __HEDDLE_SIMD_COMPARE(__vcmpne##N, __vsetne##N, BITS, __heddle_u, !=)                               \
  __HEDDLE_SIMD_COMPARE(__vcmpges##N, __vsetges##N, BITS, __heddle_s, >=)                             \
  __HEDDLE_SIMD_COMPARE(__vcmpgeu##N, __vsetgeu##N, BITS, __heddle_u, >=)                             \
  __HEDDLE_SIMD_COMPARE(__vcmpgts##N, __vsetgts##N, BITS, __heddle_s, >)                              \
  __HEDDLE_SIMD_COMPARE(__vcmpgtu##N, __vsetgtu##N, BITS, __heddle_u, >)                              \
  __HEDDLE_SIMD_COMPARE(__vcmples##N, __vsetles##N, BITS, __heddle_s, <=)                             \
  __HEDDLE_SIMD_COMPARE(__vcmpleu##N, __vsetleu##N, BITS, __heddle_u, <=)                             \
  __HEDDLE_SIMD_COMPARE(__vcmplts##N, __vsetlts##N, BITS, __heddle_s, <)                              \
  __HEDDLE_SIMD_COMPARE(__vcmpltu##N, __vsetltu##N, BITS, __heddle_u, <)
__HEDDLE_SIMD_ALL(2, 16)
__HEDDLE_SIMD_ALL(4, 8)

/* Of two half-words, by one function on each. */
#define __HEDDLE_DPX_2(NAME, GET, EXPR)                                                               \
  __heddle_hd unsigned int NAME(unsigned int __aa, unsigned int __bb) {                               \
    unsigned int __r = 0;                                                                             \
    for (int __i = 0; __i < 32; __i += 16) {                                                          \
      const int __a = GET(__aa, __i, 16), __b = GET(__bb, __i, 16);                                   \
      __r |= ((unsigned int)(EXPR) & 0xffffu) << __i;                                                 \
    }                                                                                                 \
    return __r;                                                                                       \
  }
#define __HEDDLE_DPX_3(NAME, GET, EXPR)                                                               \
  __heddle_hd unsigned int NAME(unsigned int __aa, unsigned int __bb, unsigned int __cc) {            \
    unsigned int __r = 0;                                                                             \
    for (int __i = 0; __i < 32; __i += 16) {                                                          \
      const int __a = GET(__aa, __i, 16), __b = GET(__bb, __i, 16), __c = GET(__cc, __i, 16);         \
      __r |= ((unsigned int)(EXPR) & 0xffffu) << __i;                                                 \
    }                                                                                                 \
    return __r;                                                                                       \
  }
template <typename __T> __heddle_hd __T __heddle_max(__T __a, __T __b) { return __a > __b ? __a : __b; }
template <typename __T> __heddle_hd __T __heddle_min(__T __a, __T __b) { return __a < __b ? __a : __b; }
/* The sum of two elements, in as many bits. */
__heddle_hd int __heddle_sum_s(int __a, int __b) { return (short)(__a + __b); }
__heddle_hd int __heddle_sum_u(int __a, int __b) { return (__a + __b) & 0xffff; }

#define __HEDDLE_DPX(M, OP)                                                                           \
  __heddle_hd int __vi##M##3_s32(int __a, int __b, int __c) { return OP(OP(__a, __b), __c); }         \
  __heddle_hd unsigned int __vi##M##3_u32(unsigned int __a, unsigned int __b, unsigned int __c) { return OP(OP(__a, __b), __c); } \
  __heddle_hd int __vi##M##3_s32_relu(int __a, int __b, int __c) { return __heddle_max(OP(OP(__a, __b), __c), 0); } \
  __heddle_hd int __vi##M##_s32_relu(int __a, int __b) { return __heddle_max(OP(__a, __b), 0); }      \
  __heddle_hd int __viadd##M##_s32(int __a, int __b, int __c) { return OP((int)((unsigned)__a + (unsigned)__b), __c); } \
  __heddle_hd unsigned int __viadd##M##_u32(unsigned int __a, unsigned int __b, unsigned int __c) { return OP(__a + __b, __c); } \
  __heddle_hd int __viadd##M##_s32_relu(int __a, int __b, int __c) { return __heddle_max(__viadd##M##_s32(__a, __b, __c), 0); } \
  __HEDDLE_DPX_3(__vi##M##3_s16x2, __heddle_s, OP(OP(__a, __b), __c))                                 \
  __HEDDLE_DPX_3(__vi##M##3_u16x2, __heddle_u, OP(OP(__a, __b), __c))                                 \
  __HEDDLE_DPX_3(__vi##M##3_s16x2_relu, __heddle_s, __heddle_max(OP(OP(__a, __b), __c), 0))           \
  __HEDDLE_DPX_2(__vi##M##_s16x2_relu, __heddle_s, __heddle_max(OP(__a, __b), 0))                     \
  __HEDDLE_DPX_3(__viadd##M##_s16x2, __heddle_s, OP(__heddle_sum_s(__a, __b), __c))                   \
  __HEDDLE_DPX_3(__viadd##M##_u16x2, __heddle_u, OP(__heddle_sum_u(__a, __b), __c))                   \
  __HEDDLE_DPX_3(__viadd##M##_s16x2_relu, __heddle_s, __heddle_max(OP(__heddle_sum_s(__a, __b), __c), 0))
__HEDDLE_DPX(max, __heddle_max)
__HEDDLE_DPX(min, __heddle_min)

/* With a predicate: whether the first operand is the result. */
#define __HEDDLE_DPX_PRED(M, OP)                                                                      \
  __heddle_hd int __vib##M##_s32(int __a, int __b, bool *__p) { *__p = __a OP __b; return *__p ? __a : __b; }     \
  __heddle_hd unsigned int __vib##M##_u32(unsigned int __a, unsigned int __b, bool *__p) { *__p = __a OP __b; return *__p ? __a : __b; } \
  __heddle_hd unsigned int __vib##M##_s16x2(unsigned int __a, unsigned int __b, bool *__hi, bool *__lo) {         \
    *__hi = __heddle_s(__a, 16, 16) OP __heddle_s(__b, 16, 16), *__lo = __heddle_s(__a, 0, 16) OP __heddle_s(__b, 0, 16); \
    return ((*__hi ? __a : __b) & 0xffff0000u) | ((*__lo ? __a : __b) & 0xffffu);                     \
  }                                                                                                   \
  __heddle_hd unsigned int __vib##M##_u16x2(unsigned int __a, unsigned int __b, bool *__hi, bool *__lo) {         \
    *__hi = __heddle_u(__a, 16, 16) OP __heddle_u(__b, 16, 16), *__lo = __heddle_u(__a, 0, 16) OP __heddle_u(__b, 0, 16); \
    return ((*__hi ? __a : __b) & 0xffff0000u) | ((*__lo ? __a : __b) & 0xffffu);                     \
  }
__HEDDLE_DPX_PRED(max, >=)
__HEDDLE_DPX_PRED(min, <=)

/* Products of packed numbers as vectors; intrinsics.h has them as words. */
__heddle_fn int __dp4a(char4 __a, char4 __b, int __c) { return __dp4a(__builtin_bit_cast(int, __a), __builtin_bit_cast(int, __b), __c); }
__heddle_fn unsigned int __dp4a(uchar4 __a, uchar4 __b, unsigned int __c) {
  return __dp4a(__builtin_bit_cast(unsigned int, __a), __builtin_bit_cast(unsigned int, __b), __c);
}
#define __HEDDLE_DP2A(NAME)                                                                           \
  __heddle_fn int NAME(short2 __a, char4 __b, int __c) { return NAME(__builtin_bit_cast(int, __a), __builtin_bit_cast(int, __b), __c); } \
  __heddle_fn unsigned int NAME(ushort2 __a, uchar4 __b, unsigned int __c) {                          \
    return NAME(__builtin_bit_cast(unsigned int, __a), __builtin_bit_cast(unsigned int, __b), __c);   \
  }
__HEDDLE_DP2A(__dp2a_lo)
__HEDDLE_DP2A(__dp2a_hi)

/* Pairs (CUDA 12.8), each of their numbers rounded as the name says. */
#define __HEDDLE_ROUND2(M)                                                                              \
  __heddle_fn float2 __fadd2_##M(float2 x, float2 y) {                                                  \
    return make_float2(__fadd_##M(x.x, y.x), __fadd_##M(x.y, y.y));                                     \
  }                                                                                                     \
  __heddle_fn float2 __fmul2_##M(float2 x, float2 y) {                                                  \
    return make_float2(__fmul_##M(x.x, y.x), __fmul_##M(x.y, y.y));                                     \
  }                                                                                                     \
  __heddle_fn float2 __ffma2_##M(float2 x, float2 y, float2 z) {                                        \
    return make_float2(__fmaf_##M(x.x, y.x, z.x), __fmaf_##M(x.y, y.y, z.y));                           \
  }
__HEDDLE_ROUND2(rn)
__HEDDLE_ROUND2(rz)
__HEDDLE_ROUND2(ru)
__HEDDLE_ROUND2(rd)

#endif
