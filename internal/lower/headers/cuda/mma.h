/* mma.h: nvcuda::wmma, by the wmma instructions (PTX ISA 9.7.14.4). As in the ISA, it is unspecified which lane has
   which element of a fragment. The numbers of registers are those of table 9.7.14.4.1. */
#ifndef HEDDLE_MMA_H
#define HEDDLE_MMA_H
#pragma clang system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32; }
namespace experimental {
namespace precision { struct u4; struct s4; struct b1; }
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}

/* The type of the elements of a fragment, and their layout in memory. */
template <typename __T> struct __element { typedef __T storage; typedef __T memory; };
template <> struct __element<precision::tf32> { typedef float storage; typedef float memory; };
template <> struct __element<experimental::precision::u4> { typedef unsigned int storage; typedef void memory; };
template <> struct __element<experimental::precision::s4> { typedef int storage; typedef void memory; };
template <> struct __element<experimental::precision::b1> { typedef unsigned int storage; typedef void memory; };

template <typename __T, int __n> struct __fragment_base {
  enum { num_elements = __n, num_storage_elements = __n };
  typedef __T element_type;
  typedef __T storage_element_type;
  __T x[__n];
};
/* Without a specialization, the ISA has no such fragment. */
template <typename __Use, int __m, int __n, int __k, typename __T, typename __Layout = void> class fragment;

template <typename __F, typename __V> __heddle_fn void fill_fragment(__F &__f, const __V &__v) {
  for (int __i = 0; __i < __F::num_elements; __i++) __f.x[__i] = (typename __F::element_type)__v;
}
/* tf32 is a float with 10 bits of fraction (PTX ISA 9.7.9.21). */
__heddle_fn float __float_to_tf32(float __f) {
  unsigned int __r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(__r) : "f"(__f));
  return __builtin_bit_cast(float, __r);
}

#define __HEDDLE_W_LIST1(R) "{%[" #R "0]}"
#define __HEDDLE_W_LIST2(R) "{%[" #R "0], %[" #R "1]}"
#define __HEDDLE_W_LIST4(R) "{%[" #R "0], %[" #R "1], %[" #R "2], %[" #R "3]}"
#define __HEDDLE_W_LIST8(R) "{%[" #R "0], %[" #R "1], %[" #R "2], %[" #R "3], %[" #R "4], %[" #R "5], %[" #R "6], %[" #R "7]}"
#define __HEDDLE_W_OUT1(C, R) [R##0] "=" C(__##R[0])
#define __HEDDLE_W_OUT2(C, R) __HEDDLE_W_OUT1(C, R), [R##1] "=" C(__##R[1])
#define __HEDDLE_W_OUT4(C, R) __HEDDLE_W_OUT2(C, R), [R##2] "=" C(__##R[2]), [R##3] "=" C(__##R[3])
#define __HEDDLE_W_OUT8(C, R) __HEDDLE_W_OUT4(C, R), [R##4] "=" C(__##R[4]), [R##5] "=" C(__##R[5]), [R##6] "=" C(__##R[6]), [R##7] "=" C(__##R[7])
#define __HEDDLE_W_IN1(C, R) [R##0] C(__##R[0])
#define __HEDDLE_W_IN2(C, R) __HEDDLE_W_IN1(C, R), [R##1] C(__##R[1])
#define __HEDDLE_W_IN4(C, R) __HEDDLE_W_IN2(C, R), [R##2] C(__##R[2]), [R##3] C(__##R[3])
#define __HEDDLE_W_IN8(C, R) __HEDDLE_W_IN4(C, R), [R##4] C(__##R[4]), [R##5] C(__##R[5]), [R##6] C(__##R[6]), [R##7] C(__##R[7])

/* A multiplicand: USE matrix_a or matrix_b, OP its letter, of N registers with E elements. */
#define __HEDDLE_W_MULTIPLICAND(USE, OP, M, N, K, T, PTX, REG, C, COUNT, E)                                                 \
  template <typename __L> class fragment<USE, M, N, K, T, __L> : public __fragment_base<__element<T>::storage, E> {};       \
  __HEDDLE_W_LOAD(USE, OP, M, N, K, T, PTX, REG, C, COUNT, row)                                                             \
  __HEDDLE_W_LOAD(USE, OP, M, N, K, T, PTX, REG, C, COUNT, col)
#define __HEDDLE_W_LOAD(USE, OP, M, N, K, T, PTX, REG, C, COUNT, LAYOUT)                                                    \
  __heddle_fn void load_matrix_sync(fragment<USE, M, N, K, T, LAYOUT##_major> &__f, const __element<T>::memory *__p, unsigned int __ldm) { \
    REG __r[COUNT];                                                                                                         \
    asm volatile("wmma.load." OP ".sync.aligned." #LAYOUT ".m" #M "n" #N "k" #K "." PTX " " __HEDDLE_W_LIST##COUNT(r) ", [%[p]], %[s];" \
                 : __HEDDLE_W_OUT##COUNT(C, r) : [p] "l"(__p), [s] "r"(__ldm) : "memory");                                  \
    __builtin_memcpy(__f.x, __r, sizeof __r);                                                                               \
  }
#define __HEDDLE_W_ACCUMULATOR(M, N, K, T, PTX, REG, C, COUNT, E)                                                           \
  template <> class fragment<accumulator, M, N, K, T, void> : public __fragment_base<T, E> {};                              \
  __heddle_fn void load_matrix_sync(fragment<accumulator, M, N, K, T> &__f, const T *__p, unsigned int __ldm, layout_t __l) { \
    REG __r[COUNT];                                                                                                         \
    if (__l == mem_row_major)                                                                                               \
      asm volatile("wmma.load.c.sync.aligned.row.m" #M "n" #N "k" #K "." PTX " " __HEDDLE_W_LIST##COUNT(r) ", [%[p]], %[s];" \
                   : __HEDDLE_W_OUT##COUNT(C, r) : [p] "l"(__p), [s] "r"(__ldm) : "memory");                                \
    else                                                                                                                    \
      asm volatile("wmma.load.c.sync.aligned.col.m" #M "n" #N "k" #K "." PTX " " __HEDDLE_W_LIST##COUNT(r) ", [%[p]], %[s];" \
                   : __HEDDLE_W_OUT##COUNT(C, r) : [p] "l"(__p), [s] "r"(__ldm) : "memory");                                \
    __builtin_memcpy(__f.x, __r, sizeof __r);                                                                               \
  }                                                                                                                         \
  __heddle_fn void store_matrix_sync(T *__p, const fragment<accumulator, M, N, K, T> &__f, unsigned int __ldm, layout_t __l) { \
    REG __r[COUNT];                                                                                                         \
    __builtin_memcpy(__r, __f.x, sizeof __r);                                                                               \
    if (__l == mem_row_major)                                                                                               \
      asm volatile("wmma.store.d.sync.aligned.row.m" #M "n" #N "k" #K "." PTX " [%[p]], " __HEDDLE_W_LIST##COUNT(r) ", %[s];" \
                   ::[p] "l"(__p), [s] "r"(__ldm), __HEDDLE_W_IN##COUNT(C, r) : "memory");                                  \
    else                                                                                                                    \
      asm volatile("wmma.store.d.sync.aligned.col.m" #M "n" #N "k" #K "." PTX " [%[p]], " __HEDDLE_W_LIST##COUNT(r) ", %[s];" \
                   ::[p] "l"(__p), [s] "r"(__ldm), __HEDDLE_W_IN##COUNT(C, r) : "memory");                                  \
  }

/* D = A * B + C for one choice of layouts. TYPES is the end of the opcode. */
#define __HEDDLE_W_MMA1(NAME, LA, LB, M, N, K, T, REG, C, NA, NB, DT, DREG, DC, ND, CT, CREG, CC, NC, TYPES)                \
  __heddle_fn void NAME(fragment<accumulator, M, N, K, DT> &__df, const fragment<matrix_a, M, N, K, T, LA##_major> &__af,   \
                        const fragment<matrix_b, M, N, K, T, LB##_major> &__bf, const fragment<accumulator, M, N, K, CT> &__cf) { \
    DREG __d[ND];                                                                                                           \
    REG __a[NA], __b[NB];                                                                                                   \
    CREG __c[NC];                                                                                                           \
    __builtin_memcpy(__a, __af.x, sizeof __a);                                                                              \
    __builtin_memcpy(__b, __bf.x, sizeof __b);                                                                              \
    __builtin_memcpy(__c, __cf.x, sizeof __c);                                                                              \
    asm volatile("wmma.mma." TYPES " " __HEDDLE_W_LIST##ND(d) ", " __HEDDLE_W_LIST##NA(a) ", " __HEDDLE_W_LIST##NB(b) ", " __HEDDLE_W_LIST##NC(c) ";" \
                 : __HEDDLE_W_OUT##ND(DC, d) : __HEDDLE_W_IN##NA(C, a), __HEDDLE_W_IN##NB(C, b), __HEDDLE_W_IN##NC(CC, c)); \
    __builtin_memcpy(__df.x, __d, sizeof __d);                                                                              \
  }
#define __HEDDLE_W_MMA(NAME, M, N, K, T, REG, C, NA, NB, DT, DREG, DC, ND, CT, CREG, CC, NC, TYPES)                         \
  __HEDDLE_W_MMA1(NAME, row, row, M, N, K, T, REG, C, NA, NB, DT, DREG, DC, ND, CT, CREG, CC, NC, "sync.aligned.row.row.m" #M "n" #N "k" #K TYPES) \
  __HEDDLE_W_MMA1(NAME, row, col, M, N, K, T, REG, C, NA, NB, DT, DREG, DC, ND, CT, CREG, CC, NC, "sync.aligned.row.col.m" #M "n" #N "k" #K TYPES) \
  __HEDDLE_W_MMA1(NAME, col, row, M, N, K, T, REG, C, NA, NB, DT, DREG, DC, ND, CT, CREG, CC, NC, "sync.aligned.col.row.m" #M "n" #N "k" #K TYPES) \
  __HEDDLE_W_MMA1(NAME, col, col, M, N, K, T, REG, C, NA, NB, DT, DREG, DC, ND, CT, CREG, CC, NC, "sync.aligned.col.col.m" #M "n" #N "k" #K TYPES)

/* Shapes of the types of 8 and 16 bits, with the registers of A and B for bytes and bfloat16. */
#define __HEDDLE_W_SHAPE(M, N, K, A8, A8E, B8, B8E, ABF, ABFE, BBF, BBFE)                                                   \
  __HEDDLE_W_MULTIPLICAND(matrix_a, "a", M, N, K, half, "f16", unsigned int, "r", 8, 16)                                    \
  __HEDDLE_W_MULTIPLICAND(matrix_b, "b", M, N, K, half, "f16", unsigned int, "r", 8, 16)                                    \
  __HEDDLE_W_MULTIPLICAND(matrix_a, "a", M, N, K, __nv_bfloat16, "bf16", unsigned int, "r", ABF, ABFE)                      \
  __HEDDLE_W_MULTIPLICAND(matrix_b, "b", M, N, K, __nv_bfloat16, "bf16", unsigned int, "r", BBF, BBFE)                      \
  __HEDDLE_W_MULTIPLICAND(matrix_a, "a", M, N, K, signed char, "s8", unsigned int, "r", A8, A8E)                            \
  __HEDDLE_W_MULTIPLICAND(matrix_b, "b", M, N, K, signed char, "s8", unsigned int, "r", B8, B8E)                            \
  __HEDDLE_W_MULTIPLICAND(matrix_a, "a", M, N, K, unsigned char, "u8", unsigned int, "r", A8, A8E)                          \
  __HEDDLE_W_MULTIPLICAND(matrix_b, "b", M, N, K, unsigned char, "u8", unsigned int, "r", B8, B8E)                          \
  __HEDDLE_W_ACCUMULATOR(M, N, K, half, "f16", unsigned int, "r", 4, 8)                                                     \
  __HEDDLE_W_ACCUMULATOR(M, N, K, float, "f32", float, "f", 8, 8)                                                           \
  __HEDDLE_W_ACCUMULATOR(M, N, K, int, "s32", int, "r", 8, 8)                                                               \
  __HEDDLE_W_MMA(mma_sync, M, N, K, half, unsigned int, "r", 8, 8, float, float, "f", 8, float, float, "f", 8, ".f32.f32")  \
  __HEDDLE_W_MMA(mma_sync, M, N, K, half, unsigned int, "r", 8, 8, half, unsigned int, "r", 4, half, unsigned int, "r", 4, ".f16.f16") \
  __HEDDLE_W_MMA(mma_sync, M, N, K, half, unsigned int, "r", 8, 8, float, float, "f", 8, half, unsigned int, "r", 4, ".f32.f16") \
  __HEDDLE_W_MMA(mma_sync, M, N, K, half, unsigned int, "r", 8, 8, half, unsigned int, "r", 4, float, float, "f", 8, ".f16.f32") \
  __HEDDLE_W_MMA(mma_sync, M, N, K, __nv_bfloat16, unsigned int, "r", ABF, BBF, float, float, "f", 8, float, float, "f", 8, ".f32.bf16.bf16.f32") \
  __HEDDLE_W_MMA(__mma_wrap, M, N, K, signed char, unsigned int, "r", A8, B8, int, int, "r", 8, int, int, "r", 8, ".s32.s8.s8.s32") \
  __HEDDLE_W_MMA(__mma_sat, M, N, K, signed char, unsigned int, "r", A8, B8, int, int, "r", 8, int, int, "r", 8, ".s32.s8.s8.s32.satfinite") \
  __HEDDLE_W_MMA(__mma_wrap, M, N, K, unsigned char, unsigned int, "r", A8, B8, int, int, "r", 8, int, int, "r", 8, ".s32.u8.u8.s32") \
  __HEDDLE_W_MMA(__mma_sat, M, N, K, unsigned char, unsigned int, "r", A8, B8, int, int, "r", 8, int, int, "r", 8, ".s32.u8.u8.s32.satfinite")
__HEDDLE_W_SHAPE(16, 16, 16, 2, 8, 2, 8, 4, 8, 4, 8)
__HEDDLE_W_SHAPE(8, 32, 16, 1, 4, 4, 16, 2, 4, 8, 16)
__HEDDLE_W_SHAPE(32, 8, 16, 4, 16, 1, 4, 8, 16, 2, 4)

__HEDDLE_W_MULTIPLICAND(matrix_a, "a", 16, 16, 8, precision::tf32, "tf32", unsigned int, "r", 4, 4)
__HEDDLE_W_MULTIPLICAND(matrix_b, "b", 16, 16, 8, precision::tf32, "tf32", unsigned int, "r", 4, 4)
__HEDDLE_W_ACCUMULATOR(16, 16, 8, float, "f32", float, "f", 8, 8)
__HEDDLE_W_MMA(mma_sync, 16, 16, 8, precision::tf32, unsigned int, "r", 4, 4, float, float, "f", 8, float, float, "f", 8, ".f32.tf32.tf32.f32")

__HEDDLE_W_MULTIPLICAND(matrix_a, "a", 8, 8, 4, double, "f64", double, "d", 1, 1)
__HEDDLE_W_MULTIPLICAND(matrix_b, "b", 8, 8, 4, double, "f64", double, "d", 1, 1)
__HEDDLE_W_ACCUMULATOR(8, 8, 4, double, "f64", double, "d", 2, 2)
__HEDDLE_W_MMA(mma_sync, 8, 8, 4, double, double, "d", 1, 1, double, double, "d", 2, double, double, "d", 2, ".f64.f64.f64.f64")

/* Integers may saturate. */
template <int __m, int __n, int __k, typename __T, typename __LA, typename __LB>
__heddle_fn void mma_sync(fragment<accumulator, __m, __n, __k, int> &__d, const fragment<matrix_a, __m, __n, __k, __T, __LA> &__a,
                          const fragment<matrix_b, __m, __n, __k, __T, __LB> &__b, const fragment<accumulator, __m, __n, __k, int> &__c, bool __satf = false) {
  if (__satf) __mma_sat(__d, __a, __b, __c);
  else __mma_wrap(__d, __a, __b, __c);
}

/* With elements of 4 bits and 1 bit, A is in row order and B in column order; strides count elements. */
#define __HEDDLE_W_SUBBYTE(K, T, PTX)                                                                                       \
  template <> class fragment<matrix_a, 8, 8, K, T, row_major> : public __fragment_base<__element<T>::storage, 1> {};        \
  template <> class fragment<matrix_b, 8, 8, K, T, col_major> : public __fragment_base<__element<T>::storage, 1> {};        \
  __HEDDLE_W_LOAD(matrix_a, "a", 8, 8, K, T, PTX, unsigned int, "r", 1, row)                                                \
  __HEDDLE_W_LOAD(matrix_b, "b", 8, 8, K, T, PTX, unsigned int, "r", 1, col)
__HEDDLE_W_SUBBYTE(32, experimental::precision::s4, "s4")
__HEDDLE_W_SUBBYTE(32, experimental::precision::u4, "u4")
__HEDDLE_W_SUBBYTE(128, experimental::precision::b1, "b1")
__HEDDLE_W_ACCUMULATOR(8, 8, 32, int, "s32", int, "r", 2, 2)
__HEDDLE_W_ACCUMULATOR(8, 8, 128, int, "s32", int, "r", 2, 2)
#define __HEDDLE_W_MMA_SUBBYTE(NAME, K, T, TYPES) \
  __HEDDLE_W_MMA1(NAME, row, col, 8, 8, K, T, unsigned int, "r", 1, 1, int, int, "r", 2, int, int, "r", 2, TYPES)
__HEDDLE_W_MMA_SUBBYTE(__mma_wrap, 32, experimental::precision::s4, "sync.aligned.row.col.m8n8k32.s32.s4.s4.s32")
__HEDDLE_W_MMA_SUBBYTE(__mma_sat, 32, experimental::precision::s4, "sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite")
__HEDDLE_W_MMA_SUBBYTE(__mma_wrap, 32, experimental::precision::u4, "sync.aligned.row.col.m8n8k32.s32.u4.u4.s32")
__HEDDLE_W_MMA_SUBBYTE(__mma_sat, 32, experimental::precision::u4, "sync.aligned.row.col.m8n8k32.s32.u4.u4.s32.satfinite")
__HEDDLE_W_MMA_SUBBYTE(__bmma_xor, 128, experimental::precision::b1, "xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32")
__HEDDLE_W_MMA_SUBBYTE(__bmma_and, 128, experimental::precision::b1, "and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32")
template <typename __D, typename __A, typename __B, typename __C>
__heddle_fn void bmma_sync(__D &__d, const __A &__a, const __B &__b, const __C &__c, experimental::bmmaBitOp __op = experimental::bmmaBitOpXOR,
                           experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  if (__op == experimental::bmmaBitOpXOR) __bmma_xor(__d, __a, __b, __c);
  else __bmma_and(__d, __a, __b, __c);
}
}
}

#endif
