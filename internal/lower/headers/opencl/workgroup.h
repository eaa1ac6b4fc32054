/* Work-group functions that compute with the values of all work-items (6.15.16, and the extension
   cl_khr_work_group_uniform_arithmetic). They order no memory, so the values pass through votes of the barrier, a bit
   at a time, and not through local memory. What is the same for all work-items is the result of a vote, which a proof
   knows to be so. Reductions of integers and broadcasts need nothing else; scans, and sums and products of floats,
   which have any order, are those of the sub-groups, one after another. All work-items must execute them. */
#ifndef HEDDLE_OPENCL_WORKGROUP_H
#define HEDDLE_OPENCL_WORKGROUP_H
#include "opencl/subgroup.h"

/* The number of work-items for which a condition holds. */
__heddle_cl uint __heddle_votes(int __p) {
  uint __r;
  __asm__ volatile("{\n\t.reg .pred p1;\n\tsetp.ne.u32 p1, %1, 0;\n\t.pragma \"heddle.order none\";\n\t"
                   "bar.red.popc.u32 %0, 0, p1;\n\t}" : "=r"(__r) : "r"(__p) : "memory");
  return __r;
}

/* The bits are written out, highest first: a proof knows more of each vote than of those of a loop. */
#define __HEDDLE_8_BITS(DO, B) DO(B + 7) DO(B + 6) DO(B + 5) DO(B + 4) DO(B + 3) DO(B + 2) DO(B + 1) DO(B)
#define __HEDDLE_32_BITS(DO) __HEDDLE_8_BITS(DO, 24) __HEDDLE_8_BITS(DO, 16) __HEDDLE_8_BITS(DO, 8) __HEDDLE_8_BITS(DO, 0)
#define __HEDDLE_64_BITS(DO) \
  __HEDDLE_8_BITS(DO, 56) __HEDDLE_8_BITS(DO, 48) __HEDDLE_8_BITS(DO, 40) __HEDDLE_8_BITS(DO, 32) __HEDDLE_32_BITS(DO)

/* The reductions of unsigned integers, whose bits are independent of each other except in max: there, a work-item
   without the highest bit that others have is out of the comparison. */
#define __HEDDLE_BIT_OR(B) __r |= (__t)work_group_any((int)(__v >> (B)) & 1) << (B);
#define __HEDDLE_BIT_ADD(B) __r += (__t)__heddle_votes((int)(__v >> (B)) & 1) << (B);
#define __HEDDLE_BIT_XOR(B) __r |= (__t)(__heddle_votes((int)(__v >> (B)) & 1) & 1) << (B);
#define __HEDDLE_BIT_MAX(B)                          \
  __bit = (int)(__v >> (B)) & 1;                     \
  __any = work_group_any(__in & __bit);              \
  __in &= __bit | !__any;                            \
  __r |= (__t)__any << (B);
#define __HEDDLE_BITWISE(T, BITS)                                                                                    \
  __heddle_cl T __heddle_group_or(T __v) { typedef T __t; T __r = 0; BITS(__HEDDLE_BIT_OR) return __r; }             \
  __heddle_cl T __heddle_group_add(T __v) { typedef T __t; T __r = 0; BITS(__HEDDLE_BIT_ADD) return __r; }           \
  __heddle_cl T __heddle_group_xor(T __v) { typedef T __t; T __r = 0; BITS(__HEDDLE_BIT_XOR) return __r; }           \
  __heddle_cl T __heddle_group_max(T __v) {                                                                          \
    typedef T __t;                                                                                                   \
    T __r = 0;                                                                                                       \
    int __in = 1, __bit, __any;                                                                                      \
    BITS(__HEDDLE_BIT_MAX)                                                                                           \
    return __r;                                                                                                      \
  }
__HEDDLE_BITWISE(uint, __HEDDLE_32_BITS)
__HEDDLE_BITWISE(ulong, __HEDDLE_64_BITS)

/* The value of the one work-item for which mine is true. */
#define __HEDDLE_VALUE(T, U) \
  __heddle_cl T __heddle_value_of(T __v, int __mine) { \
    return __builtin_astype(__heddle_group_or(__mine ? __builtin_astype(__v, U) : (U)0), T); \
  }
#define __HEDDLE_BROADCAST(T)                                                                                        \
  __heddle_cl T work_group_broadcast(T __v, size_t __x, size_t __y, size_t __z) {                                    \
    return __heddle_value_of(__v, get_local_id(0) == __x && get_local_id(1) == __y && get_local_id(2) == __z);       \
  }                                                                                                                  \
  __heddle_cl T work_group_broadcast(T __v, size_t __x, size_t __y) { return work_group_broadcast(__v, __x, __y, (size_t)0); } \
  __heddle_cl T work_group_broadcast(T __v, size_t __x) { return work_group_broadcast(__v, __x, (size_t)0, (size_t)0); }

/* Scans: what the sub-groups before this one have, and the scan of this one. All but the last are full. */
#define __HEDDLE_GROUP_SCAN(OP, T, ZERO, EXPR)                                                                       \
  __heddle_cl T __heddle_join_##OP(T __a, T __b) { return EXPR; }                                                    \
  __heddle_cl T __heddle_before_##OP(T __sum) {                                                                      \
    T __r = ZERO;                                                                                                    \
    uint __n = get_num_sub_groups(), __me = get_sub_group_id();                                                      \
    for (uint __i = 0; __i + 1 < __n; __i++) {                                                                       \
      T __x = __heddle_value_of(__sum, __i == __me && get_sub_group_local_id() == get_sub_group_size() - 1);         \
      if (__i < __me) __r = __heddle_join_##OP(__r, __x);                                                            \
    }                                                                                                                \
    return __r;                                                                                                      \
  }                                                                                                                  \
  __heddle_cl T work_group_scan_inclusive_##OP(T __v) {                                                              \
    __v = sub_group_scan_inclusive_##OP(__v);                                                                        \
    return __heddle_join_##OP(__heddle_before_##OP(__v), __v);                                                       \
  }                                                                                                                  \
  __heddle_cl T work_group_scan_exclusive_##OP(T __v) {                                                              \
    __v = sub_group_scan_inclusive_##OP(__v);                                                                        \
    T __before = __heddle_before_##OP(__v), __i = sub_group_shuffle_up(__v, 1);                                      \
    return get_sub_group_local_id() == 0 ? __before : __heddle_join_##OP(__before, __i);                             \
  }
/* A reduction is the last value of the scan. */
#define __HEDDLE_GROUP_REDUCE(OP, T)                                                                                 \
  __heddle_cl T work_group_reduce_##OP(T __v) {                                                                      \
    return __heddle_value_of(work_group_scan_inclusive_##OP(__v),                                                    \
                             __heddle_local_linear_id() == (uint)__heddle_work_group_size() - 1);                    \
  }

/* The sub-groups have add, min and max. */
#define __HEDDLE_GROUP_SCANS(T, LOW, HIGH)                         \
  __HEDDLE_GROUP_SCAN(add, T, (T)0, __a + __b)                     \
  __HEDDLE_GROUP_SCAN(min, T, HIGH, __a < __b ? __a : __b)         \
  __HEDDLE_GROUP_SCAN(max, T, LOW, __a > __b ? __a : __b)          \
  __HEDDLE_SUB_GROUP(mul, T, (T)1, __a * __b)                      \
  __HEDDLE_GROUP_SCAN(mul, T, (T)1, __a * __b)                     \
  __HEDDLE_GROUP_REDUCE(mul, T)
#define __HEDDLE_GROUP_BITS(OP, T, ZERO, EXPR) __HEDDLE_SUB_GROUP(OP, T, ZERO, EXPR) __HEDDLE_GROUP_SCAN(OP, T, ZERO, EXPR)
#define __HEDDLE_GROUP_INTEGER(T, U, LOW, HIGH)                                                                      \
  __HEDDLE_VALUE(T, U)                                                                                               \
  __HEDDLE_BROADCAST(T)                                                                                              \
  __HEDDLE_GROUP_SCANS(T, LOW, HIGH)                                                                                 \
  __HEDDLE_GROUP_BITS(and, T, ~(T)0, __a & __b)                                                                      \
  __HEDDLE_GROUP_BITS(or, T, (T)0, __a | __b)                                                                        \
  __HEDDLE_GROUP_BITS(xor, T, (T)0, __a ^ __b)                                                                       \
  __heddle_cl T work_group_reduce_add(T __v) { return (T)__heddle_group_add((U)__v); }                               \
  __heddle_cl T work_group_reduce_and(T __v) { return (T)~__heddle_group_or(~(U)__v); }                              \
  __heddle_cl T work_group_reduce_or(T __v) { return (T)__heddle_group_or((U)__v); }                                 \
  __heddle_cl T work_group_reduce_xor(T __v) { return (T)__heddle_group_xor((U)__v); }                               \
  /* Less LOW, signed integers are in the order of unsigned ones. */                                                 \
  __heddle_cl T work_group_reduce_max(T __v) { return (T)(__heddle_group_max((U)__v - (U)LOW) + (U)LOW); }           \
  __heddle_cl T work_group_reduce_min(T __v) { return (T)(~__heddle_group_max(~((U)__v - (U)LOW)) + (U)LOW); }
__HEDDLE_GROUP_INTEGER(int, uint, INT_MIN, INT_MAX)
__HEDDLE_GROUP_INTEGER(uint, uint, 0, UINT_MAX)
__HEDDLE_GROUP_INTEGER(long, ulong, LONG_MIN, LONG_MAX)
__HEDDLE_GROUP_INTEGER(ulong, ulong, 0, ULONG_MAX)
#define __HEDDLE_GROUP_FLOAT(T, U, HIGH)   \
  __HEDDLE_VALUE(T, U)                     \
  __HEDDLE_BROADCAST(T)                    \
  __HEDDLE_GROUP_SCANS(T, -HIGH, HIGH)     \
  __HEDDLE_GROUP_REDUCE(add, T)            \
  __HEDDLE_GROUP_REDUCE(min, T)            \
  __HEDDLE_GROUP_REDUCE(max, T)
__HEDDLE_GROUP_FLOAT(float, uint, INFINITY)
__HEDDLE_GROUP_FLOAT(double, ulong, HUGE_VAL)

/* half is computed through float. */
#define __HEDDLE_GROUP_HALF(NAME) __heddle_cl half NAME(half __v) { return (half)NAME((float)__v); }
#define __HEDDLE_GROUP_HALVES(OP)                \
  __HEDDLE_GROUP_HALF(work_group_reduce_##OP)    \
  __HEDDLE_GROUP_HALF(work_group_scan_inclusive_##OP) \
  __HEDDLE_GROUP_HALF(work_group_scan_exclusive_##OP)
__HEDDLE_GROUP_HALVES(add)
__HEDDLE_GROUP_HALVES(min)
__HEDDLE_GROUP_HALVES(max)
__HEDDLE_GROUP_HALVES(mul)
__heddle_cl half work_group_broadcast(half __v, size_t __x) { return (half)work_group_broadcast((float)__v, __x); }
__heddle_cl half work_group_broadcast(half __v, size_t __x, size_t __y) { return (half)work_group_broadcast((float)__v, __x, __y); }
__heddle_cl half work_group_broadcast(half __v, size_t __x, size_t __y, size_t __z) { return (half)work_group_broadcast((float)__v, __x, __y, __z); }

/* The logical ones are of int. */
#define __HEDDLE_GROUP_LOGICAL(OP, REDUCED)                                                                                    \
  __heddle_cl int work_group_reduce_logical_##OP(int __v) { return REDUCED; }                                                  \
  __heddle_cl int work_group_scan_inclusive_logical_##OP(int __v) { return work_group_scan_inclusive_##OP((int)(__v != 0)); }  \
  __heddle_cl int work_group_scan_exclusive_logical_##OP(int __v) { return work_group_scan_exclusive_##OP((int)(__v != 0)) & 1; }
__HEDDLE_GROUP_LOGICAL(and, work_group_all(__v))
__HEDDLE_GROUP_LOGICAL(or, work_group_any(__v))
__HEDDLE_GROUP_LOGICAL(xor, (int)(__heddle_votes(__v) & 1))

#endif
