/* Copies that a thread, or the threads of a group together, start: what <cuda/barrier>, <cuda/pipeline> and cooperative
   groups have in common. */
#ifndef HEDDLE_COPIES_H
#define HEDDLE_COPIES_H
#pragma clang system_header

/* The types are in __v1, as in CUDA: libcu++ declares some of them there. */
namespace cooperative_groups {
namespace __v1 {
class thread_block;
template <unsigned int __N, typename __Parent> class thread_block_tile;
}
using namespace __v1;
}

namespace __heddle_copies {
/* One element of a copy from global to shared memory: cp.async (PTX ISA 9.7.9.25.3) for the sizes that it supports. */
template <int __N> __heddle_fn void __copy_element(void *__to, const void *__from) {
  unsigned int __s = (unsigned int)__cvta_generic_to_shared(__to);
  unsigned long long __g = (unsigned long long)__cvta_generic_to_global(__from);
  if constexpr (__N == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(__s), "l"(__g) : "memory");
  else if constexpr (__N == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(__s), "l"(__g) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(__s), "l"(__g) : "memory");
}
template <typename __E> __heddle_fn void __copy_plain(void *__to, const void *__from, __SIZE_TYPE__ __size, unsigned int __rank, unsigned int __threads) {
  for (__SIZE_TYPE__ __i = __rank; __i < __size / sizeof(__E); __i += __threads) ((__E *)__to)[__i] = ((const __E *)__from)[__i];
}
/* A copy that the threads of a group perform together. It is asynchronous where hardware copies asynchronously. */
extern "C" {
/* The library does not specify which thread copies which elements. For a proof the result is an arbitrary number below
   threads, which differs between the threads of a block that have the same number of a group, unless that is 0. A run
   uses the rank. */
__attribute__((device)) unsigned int __heddle_share(unsigned int __rank, unsigned int __threads, unsigned int __group);
/* The rank of the member that acts for its group, below threads. A proof knows that members with the same number of a
   group, which is not 0, have one choice in an execution; a run takes the first one. */
__attribute__((device)) unsigned int __heddle_choice(unsigned int __first, unsigned int __threads, unsigned long long __group);
/* An effect at this point may happen later, up to the phase of a barrier object: proofs do not support it. */
__attribute__((device)) void __heddle_completes_later(void);
}
/* The number of a group in its block; 0 if it is not known. */
template <typename __G> __heddle_fn unsigned int __group_number(const __G &) { return 0; }
__heddle_fn unsigned int __group_number(const ::cooperative_groups::thread_block &) { return 1; }
template <unsigned int __N, typename __P> __heddle_fn unsigned int __group_number(const ::cooperative_groups::thread_block_tile<__N, __P> &) {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / __N + 1;
}
template <typename __G> __heddle_fn unsigned int __share(const __G &__g) {
  return __heddle_share((unsigned int)__g.thread_rank(), (unsigned int)__g.size(), __group_number(__g));
}
template <typename __G> __heddle_fn unsigned int __choice(const __G &__g) {
  return __heddle_choice(0, (unsigned int)__g.size(), __group_number(__g));
}
template <int __A> __heddle_fn void __copy_shared(void *__to, const void *__from, __SIZE_TYPE__ __size, unsigned int __rank, unsigned int __threads) {
  if (__isShared(__to) && __isGlobal(__from) && __A >= 4 && __size % __A == 0) {
    if constexpr (__A >= 4) {
      for (__SIZE_TYPE__ __i = (__SIZE_TYPE__)__A * __rank; __i < __size; __i += (__SIZE_TYPE__)__A * __threads)
        __copy_element<__A>((char *)__to + __i, (const char *)__from + __i);
    }
  } else if (__A >= 4 && __size % 4 == 0) {
    __copy_plain<unsigned int>(__to, __from, __size, __rank, __threads);
  } else {
    __copy_plain<unsigned char>(__to, __from, __size, __rank, __threads);
  }
}
/* The alignment that a copy can assume: that of the type, at most 16. */
template <typename __T> struct __copy_alignment { static constexpr int value = alignof(__T) >= 16 ? 16 : alignof(__T) >= 8 ? 8 : alignof(__T) >= 4 ? 4 : 1; };
template <> struct __copy_alignment<void> { static constexpr int value = 1; };
/* aligned_size_t, of heddle's or of the user's copy of libcu++, promises more. */
template <typename __Size, typename __T, typename = void> struct __size_alignment { static constexpr int value = __copy_alignment<__T>::value; };
template <typename __Size, typename __T> struct __size_alignment<__Size, __T, decltype((void)__Size::align)> {
  static constexpr int value = __Size::align >= 16 ? 16 : __Size::align >= 8 ? 8 : __Size::align >= 4 ? 4 : 1;
};

__heddle_fn void __copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }
}

#endif
