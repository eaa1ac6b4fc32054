/* Loads and stores with cache operators (CUDA C++ Programming Guide, "Read-Only Data Cache Load Function",
   "Load/Store Functions Using Cache Hints"). They address global memory. A load through the read-only
   cache is still a read: it races with a write. */
#ifndef HEDDLE_MEMORY_H
#define HEDDLE_MEMORY_H

/* One template per operation: a scalar, or a vector type of two or four components, moves as raw bits. (An
   overload for each of the 30 types would cost every compilation 60 ms.) */
template <__SIZE_TYPE__> struct __heddle_bits;
template <> struct __heddle_bits<1> { typedef unsigned int reg; };
template <> struct __heddle_bits<2> { typedef unsigned short reg; };
template <> struct __heddle_bits<4> { typedef unsigned int reg; };
template <> struct __heddle_bits<8> { typedef unsigned long long reg; };

#define __HEDDLE_LD_CASES(OP, SIZE, PT, C)                                                         \
  if constexpr (sizeof(__E) == SIZE && __M::__n == 1)                                              \
    asm volatile("ld." OP "." PT " %0, [%1];" : "=" C(__r[0]) : "l"(__a));                         \
  else if constexpr (sizeof(__E) == SIZE && __M::__n == 2)                                         \
    asm volatile("ld." OP ".v2." PT " {%0, %1}, [%2];" : "=" C(__r[0]), "=" C(__r[1]) : "l"(__a)); \
  else if constexpr (sizeof(__E) == SIZE && __M::__n == 4)                                         \
    asm volatile("ld." OP ".v4." PT " {%0, %1, %2, %3}, [%4];"                                     \
                 : "=" C(__r[0]), "=" C(__r[1]), "=" C(__r[2]), "=" C(__r[3]) : "l"(__a))
#define __HEDDLE_LD(NAME, OP)                                                                              \
  template <typename __T> __heddle_fn __T NAME(const __T *__p) {                                           \
    typedef __heddle_mem<__T> __M;                                                                         \
    typedef typename __M::elem __E;                                                                        \
    typename __heddle_bits<sizeof(__E)>::reg __r[__M::__n];                                                \
    __attribute__((address_space(1))) const __T *__a = (__attribute__((address_space(1))) const __T *)__p; \
    __HEDDLE_LD_CASES(OP, 1, "b8", "r");                                                                   \
    __HEDDLE_LD_CASES(OP, 2, "b16", "h");                                                                  \
    __HEDDLE_LD_CASES(OP, 4, "b32", "r");                                                                  \
    __HEDDLE_LD_CASES(OP, 8, "b64", "l");                                                                  \
    __T __v;                                                                                               \
    if constexpr (sizeof(__E) == 1) {                                                                      \
      unsigned int w = __r[0] & 255;                                                                       \
      if constexpr (__M::__n > 1) w |= (__r[1] & 255) << 8;                                                \
      if constexpr (__M::__n > 2) w |= (__r[2] & 255) << 16 | __r[3] << 24;                                \
      __builtin_memcpy(&__v, &w, sizeof(__T));                                                             \
    } else {                                                                                               \
      __builtin_memcpy(&__v, __r, sizeof(__T));                                                            \
    }                                                                                                      \
    return __v;                                                                                            \
  }

#define __HEDDLE_ST_CASES(OP, SIZE, PT, C)                                                           \
  if constexpr (sizeof(__E) == SIZE && __M::__n == 1)                                                \
    asm volatile("st." OP "." PT " [%0], %1;" ::"l"(__a), C(__r[0]) : "memory");                     \
  else if constexpr (sizeof(__E) == SIZE && __M::__n == 2)                                           \
    asm volatile("st." OP ".v2." PT " [%0], {%1, %2};" ::"l"(__a), C(__r[0]), C(__r[1]) : "memory"); \
  else if constexpr (sizeof(__E) == SIZE && __M::__n == 4)                                           \
    asm volatile("st." OP ".v4." PT " [%0], {%1, %2, %3, %4};"                                       \
                 ::"l"(__a), C(__r[0]), C(__r[1]), C(__r[2]), C(__r[3]) : "memory")
#define __HEDDLE_ST(NAME, OP)                                                                  \
  template <typename __T> __heddle_fn void NAME(__T *__p, __T __v) {                           \
    typedef __heddle_mem<__T> __M;                                                             \
    typedef typename __M::elem __E;                                                            \
    typename __heddle_bits<sizeof(__E)>::reg __r[__M::__n];                                    \
    if constexpr (sizeof(__E) == 1) {                                                          \
      unsigned int w = 0;                                                                      \
      __builtin_memcpy(&w, &__v, sizeof(__T));                                                 \
      __r[0] = w;                                                                              \
      if constexpr (__M::__n > 1) __r[1] = w >> 8;                                             \
      if constexpr (__M::__n > 2) __r[2] = w >> 16, __r[3] = w >> 24;                          \
    } else {                                                                                   \
      __builtin_memcpy(__r, &__v, sizeof(__T));                                                \
    }                                                                                          \
    __attribute__((address_space(1))) __T *__a = (__attribute__((address_space(1))) __T *)__p; \
    __HEDDLE_ST_CASES(OP, 1, "b8", "r");                                                       \
    __HEDDLE_ST_CASES(OP, 2, "b16", "h");                                                      \
    __HEDDLE_ST_CASES(OP, 4, "b32", "r");                                                      \
    __HEDDLE_ST_CASES(OP, 8, "b64", "l");                                                      \
  }

__HEDDLE_LD(__ldg, "global.nc")
__HEDDLE_LD(__ldca, "global.ca")
__HEDDLE_LD(__ldcg, "global.cg")
__HEDDLE_LD(__ldcs, "global.cs")
__HEDDLE_LD(__ldlu, "global.lu")
__HEDDLE_LD(__ldcv, "global.cv")
__HEDDLE_ST(__stwb, "global.wb")
__HEDDLE_ST(__stcg, "global.cg")
__HEDDLE_ST(__stcs, "global.cs")
__HEDDLE_ST(__stwt, "global.wt")

/* Address spaces of generic pointers (PTX ISA 9.7.9.19, 9.7.9.20). */
#define __HEDDLE_ISSPACE(NAME, SPACE)                                                                               \
  __heddle_fn unsigned int NAME(const void *__p) {                                                                  \
    unsigned int __r;                                                                                               \
    asm("{\n\t.reg .pred p1;\n\tisspacep." SPACE " p1, %1;\n\tselp.u32 %0, 1, 0, p1;\n\t}" : "=r"(__r) : "l"(__p)); \
    return __r;                                                                                                     \
  }
__HEDDLE_ISSPACE(__isGlobal, "global")
__HEDDLE_ISSPACE(__isShared, "shared")
__HEDDLE_ISSPACE(__isConstant, "const")
__HEDDLE_ISSPACE(__isLocal, "local")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__HEDDLE_ISSPACE(__isCtaShared, "shared")
__HEDDLE_ISSPACE(__isClusterShared, "shared::cluster")
#endif
/* A parameter whose address is taken is copied to local memory (lower: sroa, LLVM's nvptx-lower-args), so that none is in the
   space of parameters: the answer is not known. A run takes 0. */
inline __attribute__((constant)) unsigned int __heddle_grid_constant = 0;
__heddle_fn unsigned int __isGridConstant(const void *) { return __heddle_grid_constant; }

#define __HEDDLE_CVTA(SPACE)                                             \
  __heddle_fn __SIZE_TYPE__ __cvta_generic_to_##SPACE(const void *__p) { \
    __SIZE_TYPE__ __r;                                                   \
    asm("cvta.to." #SPACE ".u64 %0, %1;" : "=l"(__r) : "l"(__p));        \
    return __r;                                                          \
  }                                                                      \
  __heddle_fn void *__cvta_##SPACE##_to_generic(__SIZE_TYPE__ raw) {     \
    void *__r;                                                           \
    asm("cvta." #SPACE ".u64 %0, %1;" : "=l"(__r) : "l"(raw));           \
    return __r;                                                          \
  }
__HEDDLE_CVTA(global)
__HEDDLE_CVTA(shared)
__HEDDLE_CVTA(local)
/* Constants: cvta.const. A parameter whose address is taken is in local memory (above), whose conversion is that of
   no other state space, so __cvta_generic_to_grid_constant is left out. */
__heddle_fn __SIZE_TYPE__ __cvta_generic_to_constant(const void *__p) {
  __SIZE_TYPE__ __r;
  asm("cvta.to.const.u64 %0, %1;" : "=l"(__r) : "l"(__p));
  return __r;
}
__heddle_fn void *__cvta_constant_to_generic(__SIZE_TYPE__ raw) {
  void *__r;
  asm("cvta.const.u64 %0, %1;" : "=l"(__r) : "l"(raw));
  return __r;
}

#endif
