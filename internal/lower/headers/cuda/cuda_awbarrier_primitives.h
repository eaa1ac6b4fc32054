/* Arrive-wait barriers of a block (CUDA C++ Programming Guide, "Memory Barrier Primitives Interface") on mbarriers, PTX
   ISA 9.7.13.15. */
#ifndef HEDDLE_CUDA_AWBARRIER_PRIMITIVES_H
#define HEDDLE_CUDA_AWBARRIER_PRIMITIVES_H
#pragma clang system_header

typedef unsigned long long __mbarrier_t, __mbarrier_token_t;

__heddle_fn unsigned int __heddle_mbarrier(__mbarrier_t *__b) { return (unsigned int)__cvta_generic_to_shared(__b); }
__heddle_fn unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
__heddle_fn void __mbarrier_init(__mbarrier_t *__b, unsigned int __expected) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(__heddle_mbarrier(__b)), "r"(__expected) : "memory");
}
__heddle_fn void __mbarrier_inval(__mbarrier_t *__b) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(__heddle_mbarrier(__b)) : "memory");
}
__heddle_fn __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *__b) {
  __mbarrier_token_t __t;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(__t) : "r"(__heddle_mbarrier(__b)) : "memory");
  return __t;
}
__heddle_fn __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *__b) {
  __mbarrier_token_t __t;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(__t) : "r"(__heddle_mbarrier(__b)) : "memory");
  return __t;
}
__heddle_fn bool __mbarrier_test_wait(__mbarrier_t *__b, __mbarrier_token_t __t) {
  unsigned int __r;
  asm volatile("{\n\t.reg .pred p1;\n\tmbarrier.test_wait.shared.b64 p1, [%1], %2;\n\tselp.u32 %0, 1, 0, p1;\n\t}"
               : "=r"(__r) : "r"(__heddle_mbarrier(__b)), "l"(__t) : "memory");
  return __r != 0;
}
__heddle_fn unsigned int __mbarrier_token_pending_count(__mbarrier_token_t __t) {
  unsigned int __r;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(__r) : "l"(__t));
  return __r;
}

#endif
