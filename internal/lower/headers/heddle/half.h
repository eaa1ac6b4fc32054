/* The common part of half and bfloat16, included once for each. These must be defined before:

     __HEDDLE_H, __HEDDLE_H2      the type and its pair
     __HEDDLE_H_NAME(a, b)        the name of a function, with that of the type between a and b
     __HEDDLE_H_RN(float)         the nearest value, ties to even
     __HEDDLE_H_BITS(bits)        the value with these bits; __HEDDLE_H_INFINITY are those of infinity
     __HEDDLE_H_OPERATION(name, ptx, expression of floats __x and __y)
     __hfma                       for the type

   and are undefined at its end. Sums, products and quotients are computed in float and rounded again: with 24 bits
   that is the same as rounding once. */
__HEDDLE_H_OPERATION(__hadd, "add.rn", __x + __y)
__HEDDLE_H_OPERATION(__hsub, "sub.rn", __x - __y)
__HEDDLE_H_OPERATION(__hmul, "mul.rn", __x * __y)
__HEDDLE_H_OPERATION(__hmin, "min", fminf(__x, __y))
__HEDDLE_H_OPERATION(__hmax, "max", fmaxf(__x, __y))
#define __HEDDLE_H_HOST(NAME, EXPR)                                \
  __heddle_host __HEDDLE_H NAME(__HEDDLE_H __a, __HEDDLE_H __b) {  \
    float __x = (float)__a, __y = (float)__b;                      \
    return __HEDDLE_H_RN(EXPR);                                    \
  }
__HEDDLE_H_HOST(__hadd, __x + __y)
__HEDDLE_H_HOST(__hsub, __x - __y)
__HEDDLE_H_HOST(__hmul, __x * __y)
__HEDDLE_H_HOST(__hmin, __builtin_fminf(__x, __y))
__HEDDLE_H_HOST(__hmax, __builtin_fmaxf(__x, __y))
#undef __HEDDLE_H_HOST
__heddle_hd __HEDDLE_H __hdiv(__HEDDLE_H __a, __HEDDLE_H __b) { return __HEDDLE_H_RN((float)__a / (float)__b); }
__heddle_hd __HEDDLE_H __hneg(__HEDDLE_H __a) { return __HEDDLE_H_BITS((unsigned short)(__a.__x ^ 0x8000)); }
__heddle_hd __HEDDLE_H __habs(__HEDDLE_H __a) { return __HEDDLE_H_BITS((unsigned short)(__a.__x & 0x7fff)); }
__heddle_hd bool __hisnan(__HEDDLE_H __a) { return (__a.__x & 0x7fff) > __HEDDLE_H_INFINITY; }
__heddle_hd int __hisinf(__HEDDLE_H __a) { return (__a.__x & 0x7fff) != __HEDDLE_H_INFINITY ? 0 : __a.__x == __HEDDLE_H_INFINITY ? 1 : -1; }
__heddle_fn __HEDDLE_H __hmin_nan(__HEDDLE_H __a, __HEDDLE_H __b) { return __hisnan(__a) ? __a : __hisnan(__b) ? __b : __hmin(__a, __b); }
__heddle_fn __HEDDLE_H __hmax_nan(__HEDDLE_H __a, __HEDDLE_H __b) { return __hisnan(__a) ? __a : __hisnan(__b) ? __b : __hmax(__a, __b); }
/* Saturated to [0, 1], or cut at zero; NaN becomes zero and stays NaN. */
__heddle_fn __HEDDLE_H __heddle_sat(__HEDDLE_H __a) { return __HEDDLE_H_RN(__saturatef((float)__a)); }
__heddle_fn __HEDDLE_H __heddle_relu(__HEDDLE_H __a) { return (float)__a < 0.0f ? __HEDDLE_H_BITS(0) : __a; }
__heddle_fn __HEDDLE_H __hfma_sat(__HEDDLE_H __a, __HEDDLE_H __b, __HEDDLE_H __c) { return __heddle_sat(__hfma(__a, __b, __c)); }
__heddle_fn __HEDDLE_H __hfma_relu(__HEDDLE_H __a, __HEDDLE_H __b, __HEDDLE_H __c) { return __heddle_relu(__hfma(__a, __b, __c)); }

/* Operations on pairs are those of the components. */
#define __HEDDLE_H_PAIR1(NAME2, NAME) \
  __heddle_fn __HEDDLE_H2 NAME2(__HEDDLE_H2 __a) { return __HEDDLE_H2(NAME(__a.x), NAME(__a.y)); }
#define __HEDDLE_H_PAIR2(NAME2, NAME) \
  __heddle_fn __HEDDLE_H2 NAME2(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __HEDDLE_H2(NAME(__a.x, __b.x), NAME(__a.y, __b.y)); }
#define __HEDDLE_H_PAIR3(NAME2, NAME) \
  __heddle_fn __HEDDLE_H2 NAME2(__HEDDLE_H2 __a, __HEDDLE_H2 __b, __HEDDLE_H2 __c) { return __HEDDLE_H2(NAME(__a.x, __b.x, __c.x), NAME(__a.y, __b.y, __c.y)); }
#define __HEDDLE_H_SAME(ALIAS, NAME) \
  __heddle_fn __HEDDLE_H ALIAS(__HEDDLE_H __a, __HEDDLE_H __b) { return NAME(__a, __b); }
#define __HEDDLE_H_SATURATED(NAME, OP) \
  __heddle_fn __HEDDLE_H NAME(__HEDDLE_H __a, __HEDDLE_H __b) { return __heddle_sat(OP(__a, __b)); }
__HEDDLE_H_SAME(__hadd_rn, __hadd)
__HEDDLE_H_SAME(__hsub_rn, __hsub)
__HEDDLE_H_SAME(__hmul_rn, __hmul)
__HEDDLE_H_SATURATED(__hadd_sat, __hadd)
__HEDDLE_H_SATURATED(__hsub_sat, __hsub)
__HEDDLE_H_SATURATED(__hmul_sat, __hmul)
__HEDDLE_H_PAIR2(__hadd2, __hadd)
__HEDDLE_H_PAIR2(__hsub2, __hsub)
__HEDDLE_H_PAIR2(__hmul2, __hmul)
__HEDDLE_H_PAIR2(__hadd2_rn, __hadd)
__HEDDLE_H_PAIR2(__hsub2_rn, __hsub)
__HEDDLE_H_PAIR2(__hmul2_rn, __hmul)
__HEDDLE_H_PAIR2(__hadd2_sat, __hadd_sat)
__HEDDLE_H_PAIR2(__hsub2_sat, __hsub_sat)
__HEDDLE_H_PAIR2(__hmul2_sat, __hmul_sat)
__HEDDLE_H_PAIR2(__h2div, __hdiv)
__HEDDLE_H_PAIR2(__hmin2, __hmin)
__HEDDLE_H_PAIR2(__hmax2, __hmax)
__HEDDLE_H_PAIR2(__hmin2_nan, __hmin_nan)
__HEDDLE_H_PAIR2(__hmax2_nan, __hmax_nan)
__HEDDLE_H_PAIR3(__hfma2, __hfma)
__HEDDLE_H_PAIR3(__hfma2_sat, __hfma_sat)
__HEDDLE_H_PAIR3(__hfma2_relu, __hfma_relu)
__HEDDLE_H_PAIR1(__hneg2, __hneg)
__HEDDLE_H_PAIR1(__habs2, __habs)
/* Complex: a * b + c. */
__heddle_fn __HEDDLE_H2 __hcmadd(__HEDDLE_H2 __a, __HEDDLE_H2 __b, __HEDDLE_H2 __c) {
  return __HEDDLE_H2(__hfma(__hneg(__a.y), __b.y, __hfma(__a.x, __b.x, __c.x)), __hfma(__a.y, __b.x, __hfma(__a.x, __b.y, __c.y)));
}

/* Comparisons are functions of the host, too, and operators of the device: plain, true for NaN too (u), of pairs with
   1 or 0 or with masks as results, and of both. */
#define __HEDDLE_H_COMPARE(NAME, OP, NEGATED)                                                                                         \
  __heddle_hd bool __h##NAME(__HEDDLE_H __a, __HEDDLE_H __b) { return (float)__a OP (float)__b; }                                    \
  __heddle_hd bool __h##NAME##u(__HEDDLE_H __a, __HEDDLE_H __b) { return !((float)__a NEGATED (float)__b); }                         \
  __heddle_hd __HEDDLE_H2 __h##NAME##2(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __HEDDLE_H2(__HEDDLE_H(__h##NAME(__a.x, __b.x) ? 1.0f : 0.0f), __HEDDLE_H(__h##NAME(__a.y, __b.y) ? 1.0f : 0.0f)); } \
  __heddle_hd __HEDDLE_H2 __h##NAME##u2(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __HEDDLE_H2(__HEDDLE_H(__h##NAME##u(__a.x, __b.x) ? 1.0f : 0.0f), __HEDDLE_H(__h##NAME##u(__a.y, __b.y) ? 1.0f : 0.0f)); } \
  __heddle_hd unsigned int __h##NAME##u2_mask(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return (__h##NAME##u(__a.x, __b.x) ? 0xffffu : 0u) | (__h##NAME##u(__a.y, __b.y) ? 0xffff0000u : 0u); } \
  __heddle_hd unsigned int __h##NAME##2_mask(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return (__h##NAME(__a.x, __b.x) ? 0xffffu : 0u) | (__h##NAME(__a.y, __b.y) ? 0xffff0000u : 0u); } \
  __heddle_hd bool __hb##NAME##2(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __h##NAME(__a.x, __b.x) && __h##NAME(__a.y, __b.y); }    \
  __heddle_hd bool __hb##NAME##u2(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __h##NAME##u(__a.x, __b.x) && __h##NAME##u(__a.y, __b.y); } \
  __heddle_fn bool operator OP(__HEDDLE_H __a, __HEDDLE_H __b) { return __h##NAME(__a, __b); }                                       \
  __heddle_fn bool operator OP(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __hb##NAME##2(__a, __b); }
__HEDDLE_H_COMPARE(eq, ==, !=)
__HEDDLE_H_COMPARE(ne, !=, ==)
__HEDDLE_H_COMPARE(lt, <, >=)
__HEDDLE_H_COMPARE(le, <=, >)
__HEDDLE_H_COMPARE(gt, >, <=)
__HEDDLE_H_COMPARE(ge, >=, <)
__heddle_fn __HEDDLE_H2 __hisnan2(__HEDDLE_H2 __a) { return __HEDDLE_H2(__HEDDLE_H(__hisnan(__a.x) ? 1.0f : 0.0f), __HEDDLE_H(__hisnan(__a.y) ? 1.0f : 0.0f)); }

#define __HEDDLE_H_OPERATOR(OP, NAME, NAME2)                                                                     \
  __heddle_fn __HEDDLE_H operator OP(__HEDDLE_H __a, __HEDDLE_H __b) { return NAME(__a, __b); }                  \
  __heddle_fn __HEDDLE_H &operator OP##=(__HEDDLE_H &__a, __HEDDLE_H __b) { return __a = NAME(__a, __b); }       \
  __heddle_fn __HEDDLE_H2 operator OP(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return NAME2(__a, __b); }              \
  __heddle_fn __HEDDLE_H2 &operator OP##=(__HEDDLE_H2 &__a, __HEDDLE_H2 __b) { return __a = NAME2(__a, __b); }
__HEDDLE_H_OPERATOR(+, __hadd, __hadd2)
__HEDDLE_H_OPERATOR(-, __hsub, __hsub2)
__HEDDLE_H_OPERATOR(*, __hmul, __hmul2)
__HEDDLE_H_OPERATOR(/, __hdiv, __h2div)
/* The host computes in float, to which the type converts; only these need a function. */
#define __HEDDLE_H_HOST(OP) \
  __heddle_host __HEDDLE_H &operator OP##=(__HEDDLE_H &__a, __HEDDLE_H __b) { return __a = __HEDDLE_H((float)__a OP (float)__b); }
__HEDDLE_H_HOST(+)
__HEDDLE_H_HOST(-)
__HEDDLE_H_HOST(*)
__HEDDLE_H_HOST(/)
#undef __HEDDLE_H_HOST
__heddle_fn __HEDDLE_H operator-(__HEDDLE_H __a) { return __hneg(__a); }
/* On the host, too: without it, -a is a float there, and c ? -a : a has no type. */
__heddle_host __HEDDLE_H operator-(__HEDDLE_H __a) { return __HEDDLE_H_BITS((unsigned short)(__a.__x ^ 0x8000u)); }
__heddle_host __HEDDLE_H operator+(__HEDDLE_H __a) { return __a; }
__heddle_fn __HEDDLE_H operator+(__HEDDLE_H __a) { return __a; }
__heddle_fn __HEDDLE_H2 operator-(__HEDDLE_H2 __a) { return __hneg2(__a); }
__heddle_fn __HEDDLE_H &operator++(__HEDDLE_H &__a) { return __a = __hadd(__a, __HEDDLE_H(1.0f)); }
__heddle_fn __HEDDLE_H &operator--(__HEDDLE_H &__a) { return __a = __hsub(__a, __HEDDLE_H(1.0f)); }
__heddle_fn __HEDDLE_H operator++(__HEDDLE_H &__a, int) { __HEDDLE_H __old = __a; ++__a; return __old; }
__heddle_fn __HEDDLE_H operator--(__HEDDLE_H &__a, int) { __HEDDLE_H __old = __a; --__a; return __old; }
__heddle_fn __HEDDLE_H2 operator+(__HEDDLE_H2 __a) { return __a; }
__heddle_fn __HEDDLE_H2 &operator++(__HEDDLE_H2 &__a) { return __a = __hadd2(__a, __HEDDLE_H2(__HEDDLE_H(1.0f), __HEDDLE_H(1.0f))); }
__heddle_fn __HEDDLE_H2 &operator--(__HEDDLE_H2 &__a) { return __a = __hsub2(__a, __HEDDLE_H2(__HEDDLE_H(1.0f), __HEDDLE_H(1.0f))); }
__heddle_fn __HEDDLE_H2 operator++(__HEDDLE_H2 &__a, int) { __HEDDLE_H2 __old = __a; ++__a; return __old; }
__heddle_fn __HEDDLE_H2 operator--(__HEDDLE_H2 &__a, int) { __HEDDLE_H2 __old = __a; --__a; return __old; }

#define __HEDDLE_H_MATH(NAME)                                                                    \
  __heddle_fn __HEDDLE_H h##NAME(__HEDDLE_H __a) { return __HEDDLE_H_RN(NAME##f((float)__a)); }  \
  __HEDDLE_H_PAIR1(h2##NAME, h##NAME)
__HEDDLE_H_MATH(sqrt)
__HEDDLE_H_MATH(rsqrt)
__HEDDLE_H_MATH(exp)
__HEDDLE_H_MATH(exp2)
__HEDDLE_H_MATH(exp10)
__HEDDLE_H_MATH(log)
__HEDDLE_H_MATH(log2)
__HEDDLE_H_MATH(log10)
__HEDDLE_H_MATH(sin)
__HEDDLE_H_MATH(cos)
__HEDDLE_H_MATH(tanh)
__heddle_fn __HEDDLE_H htanh_approx(__HEDDLE_H __a) { return htanh(__a); }
__HEDDLE_H_PAIR1(h2tanh_approx, htanh_approx)
__HEDDLE_H_MATH(floor)
__HEDDLE_H_MATH(ceil)
__HEDDLE_H_MATH(trunc)
__HEDDLE_H_MATH(rint)
__heddle_fn __HEDDLE_H hrcp(__HEDDLE_H __a) { return __HEDDLE_H_RN(1.0f / (float)__a); }
__HEDDLE_H_PAIR1(h2rcp, hrcp)

/* Conversions from and to integers, rounded as the name says, the former cut to the range of the type. An integer
   that a float cannot hold is rounded twice in the same direction, which is rounding once; to nearest, the constructor
   does it. */
#define __HEDDLE_H_TO(T, NAME, WIDE, R, LOW, HIGH)                                                               \
  __heddle_fn T __HEDDLE_H_NAME(__, 2##NAME##_##R)(__HEDDLE_H __h) {                                             \
    decltype(__float2##WIDE##_##R(0.0f)) __i = __float2##WIDE##_##R((float)__h);                                 \
    return (T)(__i < LOW ? LOW : __i > HIGH ? HIGH : __i);                                                       \
  }
#define __HEDDLE_H_FROM(T, NAME, WIDE, R) \
  __heddle_fn __HEDDLE_H __HEDDLE_H_NAME(__##NAME##2, _##R)(T __i) { return __HEDDLE_H_NAME(__float2, _##R)(__##WIDE##2float_##R(__i)); }
#define __HEDDLE_H_INTEGER(T, NAME, WIDE, LOW, HIGH)                                                             \
  __HEDDLE_H_TO(T, NAME, WIDE, rn, LOW, HIGH) __HEDDLE_H_TO(T, NAME, WIDE, rz, LOW, HIGH)                        \
  __HEDDLE_H_TO(T, NAME, WIDE, rd, LOW, HIGH) __HEDDLE_H_TO(T, NAME, WIDE, ru, LOW, HIGH)                        \
  __heddle_fn __HEDDLE_H __HEDDLE_H_NAME(__##NAME##2, _rn)(T __i) { return __HEDDLE_H(__i); }                    \
  __HEDDLE_H_FROM(T, NAME, WIDE, rz) __HEDDLE_H_FROM(T, NAME, WIDE, rd) __HEDDLE_H_FROM(T, NAME, WIDE, ru)
__HEDDLE_H_INTEGER(int, int, int, -0x7fffffff - 1, 0x7fffffff)
__HEDDLE_H_INTEGER(unsigned int, uint, uint, 0u, 0xffffffffu)
__HEDDLE_H_INTEGER(short, short, int, -0x8000, 0x7fff)
__HEDDLE_H_INTEGER(unsigned short, ushort, uint, 0u, 0xffffu)
__HEDDLE_H_INTEGER(long long, ll, ll, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
__HEDDLE_H_INTEGER(unsigned long long, ull, ull, 0ull, 0xffffffffffffffffull)
__HEDDLE_H_TO(signed char, char, int, rz, -0x80, 0x7f)
__HEDDLE_H_TO(unsigned char, uchar, uint, rz, 0u, 0xffu)

__heddle_fn float __low2float(__HEDDLE_H2 __v) { return (float)__v.x; }
__heddle_fn float __high2float(__HEDDLE_H2 __v) { return (float)__v.y; }
__heddle_fn __HEDDLE_H __HEDDLE_H_NAME(__low2, )(__HEDDLE_H2 __v) { return __v.x; }
__heddle_fn __HEDDLE_H __HEDDLE_H_NAME(__high2, )(__HEDDLE_H2 __v) { return __v.y; }
__heddle_fn __HEDDLE_H2 __HEDDLE_H_NAME(__low2, 2)(__HEDDLE_H2 __v) { return __HEDDLE_H2(__v.x, __v.x); }
__heddle_fn __HEDDLE_H2 __HEDDLE_H_NAME(__high2, 2)(__HEDDLE_H2 __v) { return __HEDDLE_H2(__v.y, __v.y); }
__heddle_fn __HEDDLE_H2 __lowhigh2highlow(__HEDDLE_H2 __v) { return __HEDDLE_H2(__v.y, __v.x); }
__heddle_fn __HEDDLE_H2 __HEDDLE_H_NAME(__lows2, 2)(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __HEDDLE_H2(__a.x, __b.x); }
__heddle_fn __HEDDLE_H2 __HEDDLE_H_NAME(__highs2, 2)(__HEDDLE_H2 __a, __HEDDLE_H2 __b) { return __HEDDLE_H2(__a.y, __b.y); }
__heddle_fn __HEDDLE_H2 __HEDDLE_H_NAME(__halves2, 2)(__HEDDLE_H __a, __HEDDLE_H __b) { return __HEDDLE_H2(__a, __b); }
__heddle_fn unsigned short __HEDDLE_H_NAME(__, _as_ushort)(__HEDDLE_H __h) { return __h.__x; }
__heddle_fn short __HEDDLE_H_NAME(__, _as_short)(__HEDDLE_H __h) { return (short)__h.__x; }
__heddle_fn __HEDDLE_H __HEDDLE_H_NAME(__ushort_as_, )(unsigned short __b) { return __HEDDLE_H_BITS(__b); }
__heddle_fn __HEDDLE_H __HEDDLE_H_NAME(__short_as_, )(short __b) { return __HEDDLE_H_BITS((unsigned short)__b); }

#define __HEDDLE_H_SHFL(NAME, T)                                                                                   \
  __heddle_fn __HEDDLE_H NAME(unsigned int __m, __HEDDLE_H __v, T __l, int __w = 32) {                             \
    return __HEDDLE_H_BITS((unsigned short)NAME(__m, (unsigned int)__v.__x, __l, __w));                            \
  }                                                                                                                \
  __heddle_fn __HEDDLE_H2 NAME(unsigned int __m, __HEDDLE_H2 __v, T __l, int __w = 32) {                           \
    unsigned int __b = NAME(__m, (unsigned int)__v.x.__x | (unsigned int)__v.y.__x << 16, __l, __w);               \
    return __HEDDLE_H2(__HEDDLE_H_BITS((unsigned short)__b), __HEDDLE_H_BITS((unsigned short)(__b >> 16)));        \
  }
__HEDDLE_H_SHFL(__shfl_sync, int)
__HEDDLE_H_SHFL(__shfl_up_sync, unsigned int)
__HEDDLE_H_SHFL(__shfl_down_sync, unsigned int)
__HEDDLE_H_SHFL(__shfl_xor_sync, int)

/* Loads and stores with cache operators: one access each. */
#define __HEDDLE_H_LOAD(NAME)                                                                                      \
  __heddle_fn __HEDDLE_H NAME(const __HEDDLE_H *__p) { return __HEDDLE_H_BITS(NAME((const unsigned short *)__p)); } \
  __heddle_fn __HEDDLE_H2 NAME(const __HEDDLE_H2 *__p) {                                                           \
    unsigned int __b = NAME((const unsigned int *)__p);                                                            \
    return __HEDDLE_H2(__HEDDLE_H_BITS((unsigned short)__b), __HEDDLE_H_BITS((unsigned short)(__b >> 16)));        \
  }
__HEDDLE_H_LOAD(__ldg)
__HEDDLE_H_LOAD(__ldca)
__HEDDLE_H_LOAD(__ldcg)
__HEDDLE_H_LOAD(__ldcs)
__HEDDLE_H_LOAD(__ldlu)
__HEDDLE_H_LOAD(__ldcv)
#define __HEDDLE_H_STORE(NAME)                                                                                     \
  __heddle_fn void NAME(__HEDDLE_H *__p, __HEDDLE_H __v) { NAME((unsigned short *)__p, __v.__x); }                 \
  __heddle_fn void NAME(__HEDDLE_H2 *__p, __HEDDLE_H2 __v) {                                                       \
    NAME((unsigned int *)__p, (unsigned int)__v.x.__x | (unsigned int)__v.y.__x << 16);                            \
  }
__HEDDLE_H_STORE(__stwb)
__HEDDLE_H_STORE(__stcg)
__HEDDLE_H_STORE(__stcs)
__HEDDLE_H_STORE(__stwt)

/* By compare-and-swap, which has the same order and conflicts as atom.add.noftz; a pair is two additions. */
__heddle_fn __HEDDLE_H atomicAdd(__HEDDLE_H *__p, __HEDDLE_H __v) {
  unsigned short __old, __seen = ((volatile __HEDDLE_H *)__p)->__x;
  do {
    __old = __seen;
    __seen = atomicCAS((unsigned short *)__p, __old, (__HEDDLE_H_BITS(__old) + __v).__x);
  } while (__seen != __old);
  return __HEDDLE_H_BITS(__old);
}
__heddle_fn __HEDDLE_H2 atomicAdd(__HEDDLE_H2 *__p, __HEDDLE_H2 __v) {
  __HEDDLE_H __a = atomicAdd(&__p->x, __v.x);
  return __HEDDLE_H2(__a, atomicAdd(&__p->y, __v.y));
}

#undef __HEDDLE_H
#undef __HEDDLE_H2
#undef __HEDDLE_H_NAME
#undef __HEDDLE_H_RN
#undef __HEDDLE_H_BITS
#undef __HEDDLE_H_INFINITY
#undef __HEDDLE_H_OPERATION
#undef __HEDDLE_H_PAIR1
#undef __HEDDLE_H_PAIR2
#undef __HEDDLE_H_PAIR3
#undef __HEDDLE_H_SAME
#undef __HEDDLE_H_SATURATED
#undef __HEDDLE_H_COMPARE
#undef __HEDDLE_H_OPERATOR
#undef __HEDDLE_H_MATH
#undef __HEDDLE_H_INTEGER
#undef __HEDDLE_H_TO
#undef __HEDDLE_H_FROM
#undef __HEDDLE_H_STORE
#undef __HEDDLE_H_SHFL
#undef __HEDDLE_H_LOAD
