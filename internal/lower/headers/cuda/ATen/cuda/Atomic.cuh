#pragma once
#include "../../c10/util/complex.h"

/* Atomic operations of PyTorch on the types of tensors. Those that CUDA has not are compare-and-swap loops: on the
   value, or for one or two bytes on the aligned word that it is in, as in PyTorch. */
template <class T, class F> __heddle_fn T __heddle_torch_update(T *p, F next) {
  if constexpr (sizeof(T) >= 4) {
    typedef std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int> W;
    W *word = (W *)p, old = 0, seen; /* a guess, which the first operation corrects */
    do {
      seen = old;
      old = atomicCAS(word, seen, __builtin_bit_cast(W, next(__builtin_bit_cast(T, seen))));
    } while (seen != old);
    return __builtin_bit_cast(T, old);
  } else {
    typedef std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char> S;
    unsigned int at = 8 * ((unsigned long long)p & 3), mask = (1u << 8 * sizeof(T)) - 1 << at;
    unsigned int *word = (unsigned int *)((unsigned long long)p & ~3ull), old = 0, seen;
    do {
      seen = old;
      S value = __builtin_bit_cast(S, next(__builtin_bit_cast(T, (S)(seen >> at))));
      old = atomicCAS(word, seen, seen & ~mask | (unsigned int)value << at);
    } while (seen != old);
    return __builtin_bit_cast(T, (S)(old >> at));
  }
}

__heddle_fn void atomicAdd(c10::Half *p, c10::Half v) { atomicAdd((__half *)p, (__half)v); }
__heddle_fn void atomicAdd(c10::BFloat16 *p, c10::BFloat16 v) { atomicAdd((__nv_bfloat16 *)p, (__nv_bfloat16)v); }
__heddle_fn void atomicAdd(int64_t *p, int64_t v) { atomicAdd((unsigned long long *)p, (unsigned long long)v); }
#define __HEDDLE_TORCH_SMALL(T) \
  __heddle_fn void atomicAdd(T *p, T v) { __heddle_torch_update(p, [v](T x) { return (T)(x + v); }); }
__HEDDLE_TORCH_SMALL(uint8_t)
__HEDDLE_TORCH_SMALL(int8_t)
__HEDDLE_TORCH_SMALL(int16_t)
#undef __HEDDLE_TORCH_SMALL
__heddle_fn void atomicAdd(bool *p, bool v) { __heddle_torch_update(p, [v](bool x) { return x || v; }); }
/* The two parts, one after the other. */
template <class T> __heddle_fn void atomicAdd(c10::complex<T> *p, c10::complex<T> v) {
  atomicAdd(&p->real_, v.real_);
  atomicAdd(&p->imag_, v.imag_);
}

template <class T> __heddle_fn auto gpuAtomicAdd(T *p, T v) { return atomicAdd(p, v); }
template <class T> __heddle_fn void gpuAtomicAddNoReturn(T *p, T v) { atomicAdd(p, v); }
template <class T> __heddle_fn T gpuAtomicMul(T *p, T v) { return __heddle_torch_update(p, [v](T x) { return (T)(x * v); }); }
template <class T> __heddle_fn T gpuAtomicMax(T *p, T v) { return __heddle_torch_update(p, [v](T x) { return x < v ? v : x; }); }
template <class T> __heddle_fn T gpuAtomicMin(T *p, T v) { return __heddle_torch_update(p, [v](T x) { return v < x ? v : x; }); }
