/* Atomic functions. Without a scope suffix they are .relaxed.gpu, which is what atom means without .sem and
   .scope (PTX ISA 9.7.13.5); _block is .cta and _system is .sys. They order no other access.

   The unscoped ones are compiler atomics, so that address-space inference reaches them. LLVM up to 19 prints
   every relaxed atomic without a scope; later versions print the requested scope. The scoped ones
   are inline assembly on generic addresses, which is the same in every version. */
#ifndef HEDDLE_ATOMICS_H
#define HEDDLE_ATOMICS_H

#if __clang_major__ >= 20
#define __HEDDLE_RMW(OP, P, V) __scoped_atomic_##OP(P, V, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define __HEDDLE_CAS(P, E, V) __scoped_atomic_compare_exchange_n(P, E, V, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#else
#define __HEDDLE_RMW(OP, P, V) __atomic_##OP(P, V, __ATOMIC_RELAXED)
#define __HEDDLE_CAS(P, E, V) __atomic_compare_exchange_n(P, E, V, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#endif

/* One operation in its three scopes. PTX is the operation with its type, C the operand constraint. */
#define __HEDDLE_SCOPED(NAME, SUFFIX, SCOPE, T, PTX, C)                                              \
  __heddle_fn T NAME##SUFFIX(T *__p, T __v) {                                                        \
    T __r;                                                                                           \
    asm volatile("atom." SCOPE "." PTX " %0, [%1], %2;" : "=" C(__r) : "l"(__p), C(__v) : "memory"); \
    return __r;                                                                                      \
  }
#define __HEDDLE_SCOPES(NAME, T, PTX, C)          \
  __HEDDLE_SCOPED(NAME, _block, "cta", T, PTX, C) \
  __HEDDLE_SCOPED(NAME, _system, "sys", T, PTX, C)
#define __HEDDLE_ATOMIC(NAME, OP, T, PTX, C)                               \
  __heddle_fn T NAME(T *__p, T __v) { return __HEDDLE_RMW(OP, __p, __v); } \
  __HEDDLE_SCOPES(NAME, T, PTX, C)
/* Operations for which compilers have no builtin. */
#define __HEDDLE_ATOMIC_ASM(NAME, T, PTX, C)    \
  __HEDDLE_SCOPED(NAME, , "gpu", T, PTX, C)     \
  __HEDDLE_SCOPES(NAME, T, PTX, C)

typedef unsigned int __heddle_u32;
typedef unsigned long long __heddle_u64;

__HEDDLE_ATOMIC(atomicAdd, fetch_add, int, "add.s32", "r")
__HEDDLE_ATOMIC(atomicAdd, fetch_add, __heddle_u32, "add.u32", "r")
__HEDDLE_ATOMIC(atomicAdd, fetch_add, __heddle_u64, "add.u64", "l")

#if __clang_major__ >= 20
__heddle_fn float atomicAdd(float *__p, float __v) { return __HEDDLE_RMW(fetch_add, __p, __v); }
__heddle_fn double atomicAdd(double *__p, double __v) { return __HEDDLE_RMW(fetch_add, __p, __v); }
#else
/* LLVM before 20 does not print the order of this builtin either: plain atom.add.f32. */
__heddle_fn float atomicAdd(float *__p, float __v) { return __nvvm_atom_add_gen_f(__p, __v); }
__heddle_fn double atomicAdd(double *__p, double __v) { return __nvvm_atom_add_gen_d(__p, __v); }
#endif
__HEDDLE_SCOPES(atomicAdd, float, "add.f32", "f")
__HEDDLE_SCOPES(atomicAdd, double, "add.f64", "d")

/* Of vectors, the addition of each element is atomic, and that of the vector is not (CUDA C++ Programming Guide,
   atomicAdd). */
#define __HEDDLE_ATOMIC_ADD_VECTORS(SUFFIX)                                                                          \
  __heddle_fn float2 atomicAdd##SUFFIX(float2 *__p, float2 __v) {                                                    \
    return make_float2(atomicAdd##SUFFIX(&__p->x, __v.x), atomicAdd##SUFFIX(&__p->y, __v.y));                        \
  }                                                                                                                  \
  __heddle_fn float4 atomicAdd##SUFFIX(float4 *__p, float4 __v) {                                                    \
    return make_float4(atomicAdd##SUFFIX(&__p->x, __v.x), atomicAdd##SUFFIX(&__p->y, __v.y),                         \
                       atomicAdd##SUFFIX(&__p->z, __v.z), atomicAdd##SUFFIX(&__p->w, __v.w));                        \
  }
__HEDDLE_ATOMIC_ADD_VECTORS()
__HEDDLE_ATOMIC_ADD_VECTORS(_block)
__HEDDLE_ATOMIC_ADD_VECTORS(_system)

/* There is no atom.sub: nvcc adds the negation too. */
#define __HEDDLE_ATOMIC_SUB(SUFFIX)                                                                                  \
  __heddle_fn int atomicSub##SUFFIX(int *__p, int __v) { return atomicAdd##SUFFIX(__p, (int)(0u - (unsigned)__v)); } \
  __heddle_fn __heddle_u32 atomicSub##SUFFIX(__heddle_u32 *__p, __heddle_u32 __v) { return atomicAdd##SUFFIX(__p, 0u - __v); }
__HEDDLE_ATOMIC_SUB()
__HEDDLE_ATOMIC_SUB(_block)
__HEDDLE_ATOMIC_SUB(_system)

__HEDDLE_ATOMIC(atomicMin, fetch_min, int, "min.s32", "r")
__HEDDLE_ATOMIC(atomicMin, fetch_min, __heddle_u32, "min.u32", "r")
__HEDDLE_ATOMIC(atomicMin, fetch_min, long long, "min.s64", "l")
__HEDDLE_ATOMIC(atomicMin, fetch_min, __heddle_u64, "min.u64", "l")
__HEDDLE_ATOMIC(atomicMax, fetch_max, int, "max.s32", "r")
__HEDDLE_ATOMIC(atomicMax, fetch_max, __heddle_u32, "max.u32", "r")
__HEDDLE_ATOMIC(atomicMax, fetch_max, long long, "max.s64", "l")
__HEDDLE_ATOMIC(atomicMax, fetch_max, __heddle_u64, "max.u64", "l")

__HEDDLE_ATOMIC(atomicAnd, fetch_and, int, "and.b32", "r")
__HEDDLE_ATOMIC(atomicAnd, fetch_and, __heddle_u32, "and.b32", "r")
__HEDDLE_ATOMIC(atomicAnd, fetch_and, __heddle_u64, "and.b64", "l")
__HEDDLE_ATOMIC(atomicOr, fetch_or, int, "or.b32", "r")
__HEDDLE_ATOMIC(atomicOr, fetch_or, __heddle_u32, "or.b32", "r")
__HEDDLE_ATOMIC(atomicOr, fetch_or, __heddle_u64, "or.b64", "l")
__HEDDLE_ATOMIC(atomicXor, fetch_xor, int, "xor.b32", "r")
__HEDDLE_ATOMIC(atomicXor, fetch_xor, __heddle_u32, "xor.b32", "r")
__HEDDLE_ATOMIC(atomicXor, fetch_xor, __heddle_u64, "xor.b64", "l")

__HEDDLE_ATOMIC_ASM(atomicInc, __heddle_u32, "inc.u32", "r")
__HEDDLE_ATOMIC_ASM(atomicDec, __heddle_u32, "dec.u32", "r")

__HEDDLE_ATOMIC(atomicExch, exchange_n, int, "exch.b32", "r")
__HEDDLE_ATOMIC(atomicExch, exchange_n, __heddle_u32, "exch.b32", "r")
__HEDDLE_ATOMIC(atomicExch, exchange_n, __heddle_u64, "exch.b64", "l")
#define __HEDDLE_ATOMIC_EXCH_FLOAT(SUFFIX)                                                          \
  __heddle_fn float atomicExch##SUFFIX(float *__p, float __v) {                                     \
    return __builtin_bit_cast(float, atomicExch##SUFFIX((int *)__p, __builtin_bit_cast(int, __v))); \
  }
__HEDDLE_ATOMIC_EXCH_FLOAT()
__HEDDLE_ATOMIC_EXCH_FLOAT(_block)
__HEDDLE_ATOMIC_EXCH_FLOAT(_system)

#define __HEDDLE_CAS_SCOPED(SUFFIX, SCOPE, T, B, C)                                                                \
  __heddle_fn T atomicCAS##SUFFIX(T *__p, T cmp, T __v) {                                                          \
    T __r;                                                                                                         \
    asm volatile("atom." SCOPE ".cas." B " %0, [%1], %2, %3;" : "=" C(__r) : "l"(__p), C(cmp), C(__v) : "memory"); \
    return __r;                                                                                                    \
  }
#define __HEDDLE_CAS_ALL(T, B, C)                 \
  __heddle_fn T atomicCAS(T *__p, T cmp, T __v) { \
    __HEDDLE_CAS(__p, &cmp, __v);                 \
    return cmp;                                   \
  }                                               \
  __HEDDLE_CAS_SCOPED(_block, "cta", T, B, C)     \
  __HEDDLE_CAS_SCOPED(_system, "sys", T, B, C)
__HEDDLE_CAS_ALL(int, "b32", "r")
__HEDDLE_CAS_ALL(__heddle_u32, "b32", "r")
__HEDDLE_CAS_ALL(__heddle_u64, "b64", "l")
/* LLVM would widen a 16-bit compare-and-swap to a loop over 32 bits, which accesses other bytes. */
__HEDDLE_CAS_SCOPED(, "gpu", unsigned short, "b16", "h")
__HEDDLE_CAS_SCOPED(_block, "cta", unsigned short, "b16", "h")
__HEDDLE_CAS_SCOPED(_system, "sys", unsigned short, "b16", "h")

/* clang's own atomic functions with a scope. Up to LLVM 19 it drops the scope for NVPTX, and a race between blocks
   on an operation of one block would be missed. */
#if __has_builtin(__scoped_atomic_load_n)
template <int __S> __heddle_fn constexpr int __heddle_scope() {
  static_assert(__S <= __MEMORY_SCOPE_DEVICE,
                "heddle supports __scoped_atomic functions only with the scopes of the system and of the device: "
                "use atomicAdd_block and its relatives, or cuda::atomic_ref");
  return 0;
}
#define __HEDDLE_SCOPED(S, ...) (__heddle_scope<(S)>(), __VA_ARGS__)
#define __scoped_atomic_load_n(P, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_load_n(P, O, S))
#define __scoped_atomic_load(P, R, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_load(P, R, O, S))
#define __scoped_atomic_store_n(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_store_n(P, V, O, S))
#define __scoped_atomic_store(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_store(P, V, O, S))
#define __scoped_atomic_exchange_n(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_exchange_n(P, V, O, S))
#define __scoped_atomic_exchange(P, V, R, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_exchange(P, V, R, O, S))
#define __scoped_atomic_compare_exchange_n(P, E, D, W, O, F, S) __HEDDLE_SCOPED(S, __scoped_atomic_compare_exchange_n(P, E, D, W, O, F, S))
#define __scoped_atomic_compare_exchange(P, E, D, W, O, F, S) __HEDDLE_SCOPED(S, __scoped_atomic_compare_exchange(P, E, D, W, O, F, S))
#define __scoped_atomic_fetch_add(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_add(P, V, O, S))
#define __scoped_atomic_fetch_sub(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_sub(P, V, O, S))
#define __scoped_atomic_fetch_and(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_and(P, V, O, S))
#define __scoped_atomic_fetch_or(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_or(P, V, O, S))
#define __scoped_atomic_fetch_xor(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_xor(P, V, O, S))
#define __scoped_atomic_fetch_nand(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_nand(P, V, O, S))
#define __scoped_atomic_fetch_min(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_min(P, V, O, S))
#define __scoped_atomic_fetch_max(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_fetch_max(P, V, O, S))
#define __scoped_atomic_add_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_add_fetch(P, V, O, S))
#define __scoped_atomic_sub_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_sub_fetch(P, V, O, S))
#define __scoped_atomic_and_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_and_fetch(P, V, O, S))
#define __scoped_atomic_or_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_or_fetch(P, V, O, S))
#define __scoped_atomic_xor_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_xor_fetch(P, V, O, S))
#define __scoped_atomic_nand_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_nand_fetch(P, V, O, S))
#define __scoped_atomic_min_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_min_fetch(P, V, O, S))
#define __scoped_atomic_max_fetch(P, V, O, S) __HEDDLE_SCOPED(S, __scoped_atomic_max_fetch(P, V, O, S))
#endif

/* HIP's functions, with the scopes that hipcc predefines; the scope is dropped in the same way. */
#if __has_builtin(__hip_atomic_load)
#ifndef __HIP_MEMORY_SCOPE_SINGLETHREAD
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif
template <int __S> __heddle_fn constexpr int __heddle_hip_scope() {
  static_assert(__S >= __HIP_MEMORY_SCOPE_AGENT,
                "heddle supports __hip_atomic functions only with the scopes of the system and of the agent: "
                "use atomicAdd_block and its relatives");
  return 0;
}
#define __HEDDLE_HIP(S, ...) (__heddle_hip_scope<(S)>(), __VA_ARGS__)
#define __hip_atomic_load(P, O, S) __HEDDLE_HIP(S, __hip_atomic_load(P, O, S))
#define __hip_atomic_store(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_store(P, V, O, S))
#define __hip_atomic_exchange(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_exchange(P, V, O, S))
#define __hip_atomic_compare_exchange_weak(P, E, D, O, F, S) __HEDDLE_HIP(S, __hip_atomic_compare_exchange_weak(P, E, D, O, F, S))
#define __hip_atomic_compare_exchange_strong(P, E, D, O, F, S) __HEDDLE_HIP(S, __hip_atomic_compare_exchange_strong(P, E, D, O, F, S))
#define __hip_atomic_fetch_add(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_add(P, V, O, S))
#define __hip_atomic_fetch_sub(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_sub(P, V, O, S))
#define __hip_atomic_fetch_and(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_and(P, V, O, S))
#define __hip_atomic_fetch_or(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_or(P, V, O, S))
#define __hip_atomic_fetch_xor(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_xor(P, V, O, S))
#define __hip_atomic_fetch_min(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_min(P, V, O, S))
#define __hip_atomic_fetch_max(P, V, O, S) __HEDDLE_HIP(S, __hip_atomic_fetch_max(P, V, O, S))
#endif

#endif
