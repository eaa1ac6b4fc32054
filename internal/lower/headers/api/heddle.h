/* heddle.h: annotations of kernels in CUDA C++ and OpenCL C.

   The names are those of GPUVerify's annotation language, so that kernels annotated for it need no change.
   For other compilers an annotation is an empty expression.

   heddle (__HEDDLE__ is defined) compiles an annotation to calls of functions without a body. The PTX
   contains these calls by the following names, and the engines interpret them:

     __heddle_ghost()                 start of an annotation; reads of the thread up to its end are not
                                      accesses of the kernel
     __heddle_KIND(condition, all)    end of an annotation; KIND is assert, assume, requires, ensures,
                                      invariant, candidate, function_wide, barrier_invariant; all is not 0
                                      if it applies to disabled threads too (the global forms): 1 in code
                                      for analysis, 2 in optimized code, whose loops may have other
                                      variables than the source
     __heddle_fresh(p), __heddle_reads_from(p, size), __heddle_writes_to(p, size), __heddle_snapshot(to, from)
     __heddle_read(p), __heddle_write_offset(p), __heddle_other(v), __heddle_old(v), ...
                                      values in a condition
     __heddle_axiom_N()               a function with a body that returns the condition of an axiom

   `heddle run` checks the conditions that the execution of one thread decides: see docs/support.md. */
#ifndef HEDDLE_H
#define HEDDLE_H

#ifdef __clang__
#pragma clang system_header
#endif
#if !defined(__OPENCL_C_VERSION__) && !defined(__OPENCL_CPP_VERSION__)
#include <assert.h> /* first: glibc's declares a function __assert */
#ifndef __cplusplus
#include <stdbool.h>
#endif
#endif
#ifdef __CUDACC__
#define __HEDDLE_DEVICE __attribute__((device))
#else
#define __HEDDLE_DEVICE
#endif

/* Ordinary functions of values, with and without heddle. */
#define __implies(a, b) (!(a) | !!(b))
#ifndef __HEDDLE__
#define __ite(c, a, b) ((c) ? (a) : (b))
#else /* evaluates both operands: without branches, an invariant stays at the head of its loop */
#define __ite(c, a, b) __extension__({ __typeof__(a) __then = (a); __typeof__(b) __else = (b); (c) ? __then : __else; })
#endif
#define __is_pow2(x) ((x) != 0 && ((x) & ((x) - 1)) == 0)
#define __mod_pow2(x, y) ((x) & ((y) - 1))
#define __non_temporal(e) (e)

#define __HEDDLE_CAT_(a, b) a##b
#define __HEDDLE_CAT(a, b) __HEDDLE_CAT_(a, b)

/* Functions whose results are unknown: a call stops `heddle run` as unsupported. */
#ifdef __cplusplus
#define __HEDDLE_UNINTERPRETED extern "C" __HEDDLE_DEVICE
#else
#define __HEDDLE_UNINTERPRETED extern
#endif
#define DECLARE_UF_UNARY(NAME, A, RESULT) __HEDDLE_UNINTERPRETED RESULT NAME(A) __asm__("__heddle_uf_" #NAME)
#define DECLARE_UF_BINARY(NAME, A, B, RESULT) __HEDDLE_UNINTERPRETED RESULT NAME(A, B) __asm__("__heddle_uf_" #NAME)
#define DECLARE_UF_TERNARY(NAME, A, B, C, RESULT) __HEDDLE_UNINTERPRETED RESULT NAME(A, B, C) __asm__("__heddle_uf_" #NAME)

#ifndef __HEDDLE__

#define __HEDDLE_NOTHING ((void)0)
#define __assert(...) __HEDDLE_NOTHING
#define __global_assert(...) __HEDDLE_NOTHING
#define __assume(...) __HEDDLE_NOTHING
#define __requires(...) __HEDDLE_NOTHING
#define __global_requires(...) __HEDDLE_NOTHING
#define __ensures(...) __HEDDLE_NOTHING
#define __global_ensures(...) __HEDDLE_NOTHING
#define __invariant(...) __HEDDLE_NOTHING
#define __global_invariant(...) __HEDDLE_NOTHING
#define __candidate_invariant(...) __HEDDLE_NOTHING
#define __candidate_global_invariant(...) __HEDDLE_NOTHING
#define __function_wide_invariant(...) __HEDDLE_NOTHING
#define __function_wide_candidate_invariant(...) __HEDDLE_NOTHING
#define __HEDDLE_BARRIER_INVARIANT(...) __HEDDLE_NOTHING
#define __requires_fresh_array(...) __HEDDLE_NOTHING
#define __reads_from(...) __HEDDLE_NOTHING
#define __writes_to(...) __HEDDLE_NOTHING
#define __reads_from_local(...) __HEDDLE_NOTHING
#define __writes_to_local(...) __HEDDLE_NOTHING
#define __array_snapshot(...) __HEDDLE_NOTHING
#define __read_permission(...) __HEDDLE_NOTHING
#define __write_permission(...) __HEDDLE_NOTHING
#define __axiom(...)

#else

#ifdef __cplusplus
#define __HEDDLE_EXTERN extern "C" __attribute__((device))
#define __HEDDLE_INLINE static __inline__ __attribute__((device, always_inline, unused))
#define __HEDDLE_NONE
#else
#define __HEDDLE_EXTERN extern
#define __HEDDLE_INLINE static inline __attribute__((always_inline, unused, overloadable))
#define __HEDDLE_NONE void
#endif

__HEDDLE_EXTERN void __heddle_ghost(__HEDDLE_NONE);
__HEDDLE_EXTERN void __heddle_assert(int /*condition*/, int /*all*/);
__HEDDLE_EXTERN void __heddle_assume(int /*condition*/, int /*all*/);
__HEDDLE_EXTERN void __heddle_requires(int /*condition*/, int /*all*/);
/* returns_twice prevents LLVM from inlining the annotated function: its returns and results must stay visible. */
__HEDDLE_EXTERN __attribute__((returns_twice)) void __heddle_ensures(int /*condition*/, int /*all*/);
__HEDDLE_EXTERN void __heddle_invariant(int /*condition*/, int /*all*/);
__HEDDLE_EXTERN void __heddle_candidate(int /*condition*/, int /*all*/);
__HEDDLE_EXTERN void __heddle_function_wide(int /*condition*/, int /*candidate*/);
__HEDDLE_EXTERN void __heddle_barrier_invariant(int /*condition*/, int /*pair*/);
__HEDDLE_EXTERN void __heddle_instance(long /*thread*/);

#ifdef __HEDDLE_ANALYSIS
#define __HEDDLE_ALL 1
#else
#define __HEDDLE_ALL 2
#endif
#define __HEDDLE_STATE(KIND, ALL, ...) (__heddle_ghost(), __heddle_##KIND(!!(__VA_ARGS__), ALL))
#define __assert(...) __HEDDLE_STATE(assert, 0, __VA_ARGS__)
#define __global_assert(...) __HEDDLE_STATE(assert, __HEDDLE_ALL, __VA_ARGS__)
#define __assume(...) __HEDDLE_STATE(assume, 0, __VA_ARGS__)
#define __requires(...) __HEDDLE_STATE(requires, 0, __VA_ARGS__)
#define __global_requires(...) __HEDDLE_STATE(requires, __HEDDLE_ALL, __VA_ARGS__)
#define __ensures(...) __HEDDLE_STATE(ensures, 0, __VA_ARGS__)
#define __global_ensures(...) __HEDDLE_STATE(ensures, __HEDDLE_ALL, __VA_ARGS__)
#define __invariant(...) __HEDDLE_STATE(invariant, 0, __VA_ARGS__)
#define __global_invariant(...) __HEDDLE_STATE(invariant, __HEDDLE_ALL, __VA_ARGS__)
#define __candidate_invariant(...) __HEDDLE_STATE(candidate, 0, __VA_ARGS__)
#define __candidate_global_invariant(...) __HEDDLE_STATE(candidate, __HEDDLE_ALL, __VA_ARGS__)
#define __function_wide_invariant(...) __HEDDLE_STATE(function_wide, 0, __VA_ARGS__)
#define __function_wide_candidate_invariant(...) __HEDDLE_STATE(function_wide, 1, __VA_ARGS__)

/* -D__HEDDLE_CANDIDATES: invariants are candidates, which may be wrong.
   -D__HEDDLE_ONLY_REQUIRES: only __requires has an effect. */
#if defined(__HEDDLE_CANDIDATES) || defined(__HEDDLE_ONLY_REQUIRES)
#undef __invariant
#undef __global_invariant
#undef __function_wide_invariant
#define __invariant(...) __candidate_invariant(__VA_ARGS__)
#define __global_invariant(...) __candidate_global_invariant(__VA_ARGS__)
#define __function_wide_invariant(...) __function_wide_candidate_invariant(__VA_ARGS__)
#endif
#ifdef __HEDDLE_ONLY_REQUIRES
#undef __candidate_invariant
#undef __candidate_global_invariant
#undef __function_wide_candidate_invariant
#define __candidate_invariant(...) ((void)0)
#define __candidate_global_invariant(...) ((void)0)
#define __function_wide_candidate_invariant(...) ((void)0)
#undef __assert
#undef __global_assert
#undef __assume
#undef __ensures
#undef __global_ensures
#define __assert(...) ((void)0)
#define __global_assert(...) ((void)0)
#define __assume(...) ((void)0)
#define __ensures(...) ((void)0)
#define __global_ensures(...) ((void)0)
#endif

/* Pointers are passed as addresses. Those of CUDA are generic; for OpenCL there is a function per address
   space. */
#ifdef __cplusplus
#define __HEDDLE_OF_POINTER(RESULT, NAME)                                  \
  __HEDDLE_EXTERN RESULT __heddle_##NAME(const volatile void *);
#define __HEDDLE_AT(NAME, p) __heddle_##NAME((const volatile void *)(p))
#else
#define __HEDDLE_OF_SPACE(RESULT, NAME, SPACE, SUFFIX)                     \
  __HEDDLE_EXTERN RESULT __heddle_##NAME##SUFFIX(const volatile SPACE void *); \
  __HEDDLE_INLINE RESULT __heddle_at_##NAME(const volatile SPACE void *__p) { return __heddle_##NAME##SUFFIX(__p); }
#define __HEDDLE_OF_POINTER(RESULT, NAME)                                  \
  __HEDDLE_OF_SPACE(RESULT, NAME, __global, _global)                       \
  __HEDDLE_OF_SPACE(RESULT, NAME, __local, _local)                         \
  __HEDDLE_OF_SPACE(RESULT, NAME, __private, _private)                     \
  __HEDDLE_EXTERN RESULT __heddle_##NAME##_constant(const __constant void *); \
  __HEDDLE_INLINE RESULT __heddle_at_##NAME(const __constant void *__p) { return __heddle_##NAME##_constant(__p); }
#define __HEDDLE_AT(NAME, p) __heddle_at_##NAME(p)
#endif

__HEDDLE_OF_POINTER(int, read)
__HEDDLE_OF_POINTER(int, write)
__HEDDLE_OF_POINTER(__SIZE_TYPE__, read_offset)
__HEDDLE_OF_POINTER(__SIZE_TYPE__, write_offset)
__HEDDLE_OF_POINTER(__SIZE_TYPE__, ptr_base)
__HEDDLE_OF_POINTER(__SIZE_TYPE__, ptr_offset)
__HEDDLE_OF_POINTER(void, fresh)
__HEDDLE_EXTERN void __heddle_reads_from(long /*address*/, __SIZE_TYPE__ /*bytes of an element*/);
__HEDDLE_EXTERN void __heddle_writes_to(long /*address*/, __SIZE_TYPE__ /*bytes of an element*/);

#define __read(p) __HEDDLE_AT(read, p)
#define __write(p) __HEDDLE_AT(write, p)
#define __no_read(p) (!__read(p))
#define __no_write(p) (!__write(p))
#define __read_implies(p, ...) __implies(__read(p), (__VA_ARGS__))
#define __write_implies(p, ...) __implies(__write(p), (__VA_ARGS__))
#define __read_offset_bytes(p) __HEDDLE_AT(read_offset, p)
#define __write_offset_bytes(p) __HEDDLE_AT(write_offset, p)
#define __ptr_base(p) __HEDDLE_AT(ptr_base, p)
#define __ptr_offset_bytes(p) __HEDDLE_AT(ptr_offset, p)
#define __requires_fresh_array(p) __HEDDLE_AT(fresh, p)
#define __reads_from(p) __heddle_reads_from((long)(p), sizeof(*(p)))
#define __writes_to(p) __heddle_writes_to((long)(p), sizeof(*(p)))
#define __reads_from_local(p) __reads_from(p)
#define __writes_to_local(p) __writes_to(p)
__HEDDLE_EXTERN void __heddle_snapshot(long /*to*/, long /*from*/);
#define __array_snapshot(to, from) __heddle_snapshot((long)(to), (long)(from))

/* Permissions to read an element in barrier invariants. */
__HEDDLE_EXTERN void __heddle_permission(int /*condition*/, int /*write*/);
#define __read_permission(TYPE, ...) (__heddle_ghost(), (void)(__VA_ARGS__), __heddle_permission(1, 0))
#define __write_permission(TYPE, ...) (__heddle_ghost(), (void)(__VA_ARGS__), __heddle_permission(1, 1))

__HEDDLE_EXTERN int __heddle_enabled(__HEDDLE_NONE);
__HEDDLE_EXTERN int __heddle_dominator_enabled(__HEDDLE_NONE);
__HEDDLE_EXTERN int __heddle_same_group(__HEDDLE_NONE);
__HEDDLE_EXTERN int __heddle_all(int);
__HEDDLE_EXTERN int __heddle_exclusive(int);
__HEDDLE_EXTERN int __heddle_taken(long /*address*/, __SIZE_TYPE__ /*value*/);
__HEDDLE_EXTERN int __heddle_uniform(long);
__HEDDLE_EXTERN int __heddle_distinct(long);
__HEDDLE_EXTERN long __heddle_other(long);
__HEDDLE_EXTERN long __heddle_old(long);
__HEDDLE_EXTERN long __heddle_return(__HEDDLE_NONE);

#define __enabled() (__heddle_enabled() != 0)
#define __dominator_enabled() (__heddle_dominator_enabled() != 0)
#define __same_group (__heddle_same_group() != 0)
#define __all(...) (__heddle_all(!!(__VA_ARGS__)) != 0)
#define __exclusive(...) (__heddle_exclusive(!!(__VA_ARGS__)) != 0)
/* An atomic of this thread on element INDEX of the array has returned the value. */
#define __atomic_has_taken_value(p, index, value) (__heddle_taken((long)((p) + (index)), (__SIZE_TYPE__)(value)) != 0)

/* Values of the other thread, earlier values, and results, by type. FROM and TO convert to 64 bits. */
#ifndef __cplusplus
#undef __HEDDLE_INLINE
#define __HEDDLE_INLINE static inline __attribute__((always_inline, unused))
#endif
#define __HEDDLE_VALUES(NAME, T)                                                                       \
  __HEDDLE_INLINE bool __uniform_##NAME(T __v) { return __heddle_uniform((long)__v) != 0; }                \
  __HEDDLE_INLINE bool __distinct_##NAME(T __v) { return __heddle_distinct((long)__v) != 0; }              \
  __HEDDLE_INLINE T __other_##NAME(T __v) { return (T)__heddle_other((long)__v); }                         \
  __HEDDLE_INLINE T __old_##NAME(T __v) { return (T)__heddle_old((long)__v); }                             \
  __HEDDLE_INLINE T __return_val_##NAME(__HEDDLE_NONE) { return (T)__heddle_return(); }
#define __HEDDLE_FLOATS(NAME, T, BITS)                                                                 \
  __HEDDLE_INLINE BITS __heddle_bits_of_##NAME(T __v) { BITS __b; __builtin_memcpy(&__b, &__v, sizeof __b); return __b; } \
  __HEDDLE_INLINE T __heddle_##NAME##_of(BITS __b) { T __v; __builtin_memcpy(&__v, &__b, sizeof __v); return __v; }     \
  __HEDDLE_INLINE bool __uniform_##NAME(T __v) { return __heddle_uniform((long)__heddle_bits_of_##NAME(__v)) != 0; } \
  __HEDDLE_INLINE bool __distinct_##NAME(T __v) { return __heddle_distinct((long)__heddle_bits_of_##NAME(__v)) != 0; } \
  __HEDDLE_INLINE T __other_##NAME(T __v) { return __heddle_##NAME##_of((BITS)__heddle_other((long)__heddle_bits_of_##NAME(__v))); } \
  __HEDDLE_INLINE T __old_##NAME(T __v) { return __heddle_##NAME##_of((BITS)__heddle_old((long)__heddle_bits_of_##NAME(__v))); } \
  __HEDDLE_INLINE T __return_val_##NAME(__HEDDLE_NONE) { return __heddle_##NAME##_of((BITS)__heddle_return()); }
__HEDDLE_VALUES(bool, bool)
__HEDDLE_VALUES(char, char)
__HEDDLE_VALUES(short, short)
__HEDDLE_VALUES(int, int)
__HEDDLE_VALUES(long, long)
__HEDDLE_VALUES(unsigned_char, unsigned char)
__HEDDLE_VALUES(unsigned_short, unsigned short)
__HEDDLE_VALUES(unsigned_int, unsigned int)
__HEDDLE_VALUES(unsigned_long, unsigned long)
__HEDDLE_VALUES(longlong, long)
__HEDDLE_VALUES(unsigned_longlong, unsigned long)
__HEDDLE_FLOATS(float, float, int)
__HEDDLE_FLOATS(double, double, long)

#define __HEDDLE_VECTOR(T)                                   \
  __HEDDLE_EXTERN T __heddle_return_##T(__HEDDLE_NONE);      \
  __HEDDLE_INLINE T __return_val_##T(__HEDDLE_NONE) { return __heddle_return_##T(); }
__HEDDLE_VECTOR(int2)
__HEDDLE_VECTOR(int4)
__HEDDLE_VECTOR(uint2)
__HEDDLE_VECTOR(uint4)
__HEDDLE_VECTOR(float2)
__HEDDLE_VECTOR(float4)

#define __return_val_ptr() ((const void *)__heddle_return())
#define __return_val_funptr(TYPE) ((TYPE)__heddle_return())
#define __other_ptr(p) ((void *)__heddle_other((long)(p)))
#define __old_ptr(p) ((void *)__heddle_old((long)(p)))
#define __uniform_ptr(p) (__heddle_uniform((long)(p)) != 0)
#define __distinct_ptr(p) (__heddle_distinct((long)(p)) != 0)

/* A condition on all intended launches: a separate function, which an engine can evaluate. */
#ifdef __cplusplus
#define __axiom(...) \
  extern "C" __attribute__((device, used)) int __HEDDLE_CAT(__heddle_axiom_, __LINE__)(void) { return !!(__VA_ARGS__); }
#else
#define __axiom(...) \
  int __HEDDLE_CAT(__heddle_axiom_, __LINE__)(void); \
  __attribute__((used)) int __HEDDLE_CAT(__heddle_axiom_, __LINE__)(void) { return !!(__VA_ARGS__); }
#endif

#define __HEDDLE_INSTANCES_1(t) __heddle_instance((long)(t))
#define __HEDDLE_INSTANCES_2(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_1(__VA_ARGS__)
#define __HEDDLE_INSTANCES_3(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_2(__VA_ARGS__)
#define __HEDDLE_INSTANCES_4(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_3(__VA_ARGS__)
#define __HEDDLE_INSTANCES_5(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_4(__VA_ARGS__)
#define __HEDDLE_INSTANCES_6(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_5(__VA_ARGS__)
#define __HEDDLE_INSTANCES_7(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_6(__VA_ARGS__)
#define __HEDDLE_INSTANCES_8(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_7(__VA_ARGS__)
#define __HEDDLE_INSTANCES_9(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_8(__VA_ARGS__)
#define __HEDDLE_INSTANCES_10(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_9(__VA_ARGS__)
#define __HEDDLE_INSTANCES_11(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_10(__VA_ARGS__)
#define __HEDDLE_INSTANCES_12(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_11(__VA_ARGS__)
#define __HEDDLE_INSTANCES_13(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_12(__VA_ARGS__)
#define __HEDDLE_INSTANCES_14(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_13(__VA_ARGS__)
#define __HEDDLE_INSTANCES_15(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_14(__VA_ARGS__)
#define __HEDDLE_INSTANCES_16(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_15(__VA_ARGS__)
#define __HEDDLE_INSTANCES_17(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_16(__VA_ARGS__)
#define __HEDDLE_INSTANCES_18(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_17(__VA_ARGS__)
#define __HEDDLE_INSTANCES_19(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_18(__VA_ARGS__)
#define __HEDDLE_INSTANCES_20(t, ...) __HEDDLE_INSTANCES_1(t), __HEDDLE_INSTANCES_19(__VA_ARGS__)
#define __HEDDLE_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, n, ...) n
#define __HEDDLE_COUNT(...) __HEDDLE_COUNT_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
/* The instances are the threads for which the invariant is assumed after the barrier. */
#ifdef __HEDDLE_ONLY_REQUIRES
#define __HEDDLE_BARRIER_INVARIANT(...) ((void)0)
#else
#define __HEDDLE_BARRIER_INVARIANT(PAIR, e, ...)                                                           \
  (__heddle_ghost(), __HEDDLE_CAT(__HEDDLE_INSTANCES_, __HEDDLE_COUNT(__VA_ARGS__))(__VA_ARGS__), \
   __heddle_barrier_invariant(!!(e), PAIR))
#endif

#endif

#define __barrier_invariant_1(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_2(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_3(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_4(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_5(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_6(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_7(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_8(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_9(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_10(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_11(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_12(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_13(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_14(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_15(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_16(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_17(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_18(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_19(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_20(...) __HEDDLE_BARRIER_INVARIANT(0, __VA_ARGS__)
#define __barrier_invariant_binary_1(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_2(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_3(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_4(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_5(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_6(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_7(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_8(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_9(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_10(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_11(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_12(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_13(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_14(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_15(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_16(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_17(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_18(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_19(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)
#define __barrier_invariant_binary_20(...) __HEDDLE_BARRIER_INVARIANT(1, __VA_ARGS__)

/* Additions that are assumed not to overflow: as a value, and as a condition on two or three terms. */
#ifdef __cplusplus
template <typename __T> __HEDDLE_DEVICE inline bool __add_noovfl(__T __a, __T __b) { __T __r; return !__builtin_add_overflow(__a, __b, &__r); }
template <typename __T> __HEDDLE_DEVICE inline bool __add_noovfl(__T __a, __T __b, __T __c) {
  __T __r;
  return !__builtin_add_overflow(__a, __b, &__r) && !__builtin_add_overflow(__r, __c, &__r);
}
#define __HEDDLE_SUM(NAME, T) static __inline__ __HEDDLE_DEVICE T __add_noovfl_##NAME(T __a, T __b)
#else
#define __HEDDLE_NO_OVERFLOW(T)                                                                                 \
  static inline __attribute__((overloadable, unused)) bool __add_noovfl(T __a, T __b) { T __r; return !__builtin_add_overflow(__a, __b, &__r); } \
  static inline __attribute__((overloadable, unused)) bool __add_noovfl(T __a, T __b, T __c) {                                 \
    T __r;                                                                                                        \
    return !__builtin_add_overflow(__a, __b, &__r) && !__builtin_add_overflow(__r, __c, &__r);                              \
  }
__HEDDLE_NO_OVERFLOW(int)
__HEDDLE_NO_OVERFLOW(unsigned int)
__HEDDLE_NO_OVERFLOW(long)
__HEDDLE_NO_OVERFLOW(unsigned long)
#define __HEDDLE_SUM(NAME, T) static inline __attribute__((unused)) T __add_noovfl_##NAME(T __a, T __b)
#endif
/* heddle adds the assumption to the sum. */
#define __HEDDLE_SUM_OF(NAME, T)    \
  __HEDDLE_SUM(NAME, T) {           \
    T __r;                            \
    bool __over = __builtin_add_overflow(__a, __b, &__r); \
    __assume(!__over);                \
    (void)__over;                     \
    return __r;                       \
  }
__HEDDLE_SUM_OF(char, char)
__HEDDLE_SUM_OF(short, short)
__HEDDLE_SUM_OF(int, int)
__HEDDLE_SUM_OF(long, long)
__HEDDLE_SUM_OF(unsigned_char, unsigned char)
__HEDDLE_SUM_OF(unsigned_short, unsigned short)
__HEDDLE_SUM_OF(unsigned_int, unsigned int)
__HEDDLE_SUM_OF(unsigned_long, unsigned long)

#endif
