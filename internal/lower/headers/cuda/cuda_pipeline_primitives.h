/* Pipeline primitives (CUDA C++ Programming Guide, "Pipeline Primitives Interface") on cp.async, PTX ISA 9.7.9.25.3. */
#ifndef HEDDLE_CUDA_PIPELINE_PRIMITIVES_H
#define HEDDLE_CUDA_PIPELINE_PRIMITIVES_H
#include "cuda_awbarrier_primitives.h"

/* Copies size bytes, which must be 4, 8 or 16; the last zfill of them are zeros. */
__heddle_fn void __pipeline_memcpy_async(void * __dst, const void * __src, __SIZE_TYPE__ __size,
                                         __SIZE_TYPE__ __zfill = 0) {
  unsigned int __to = (unsigned int)__cvta_generic_to_shared(__dst);
  __SIZE_TYPE__ __from = __cvta_generic_to_global(__src);
  unsigned int __n = (unsigned int)(__size - __zfill);
  if (__size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(__to), "l"(__from), "r"(__n) : "memory");
  else if (__size == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(__to), "l"(__from), "r"(__n) : "memory");
  else if (__size == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(__to), "l"(__from), "r"(__n) : "memory");
  else __trap();
}

__heddle_fn void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* Waits for all but the last prior commits, for up to 15. cp.async.wait_group takes a constant. */
#define __HEDDLE_WAIT_PRIOR(N) \
  case N: asm volatile("cp.async.wait_group " #N ";" ::: "memory"); break
__heddle_fn void __pipeline_wait_prior(__SIZE_TYPE__ __prior) {
  switch (__prior) {
    __HEDDLE_WAIT_PRIOR(0);
    __HEDDLE_WAIT_PRIOR(1);
    __HEDDLE_WAIT_PRIOR(2);
    __HEDDLE_WAIT_PRIOR(3);
    __HEDDLE_WAIT_PRIOR(4);
    __HEDDLE_WAIT_PRIOR(5);
    __HEDDLE_WAIT_PRIOR(6);
    __HEDDLE_WAIT_PRIOR(7);
    __HEDDLE_WAIT_PRIOR(8);
    __HEDDLE_WAIT_PRIOR(9);
    __HEDDLE_WAIT_PRIOR(10);
    __HEDDLE_WAIT_PRIOR(11);
    __HEDDLE_WAIT_PRIOR(12);
    __HEDDLE_WAIT_PRIOR(13);
    __HEDDLE_WAIT_PRIOR(14);
    __HEDDLE_WAIT_PRIOR(15);
    default: break; /* waiting for more than requested would hide races, waiting for less does not */
  }
}
#undef __HEDDLE_WAIT_PRIOR

/* The barrier's phase also waits for the copies that the thread has issued before. */
__heddle_fn void __pipeline_arrive_on(__mbarrier_t *__b) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(__heddle_mbarrier(__b)) : "memory");
}

#endif
