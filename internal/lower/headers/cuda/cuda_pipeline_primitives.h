/* The C interface of asynchronous copies: cp.async and its groups (PTX ISA 9.7.9.25.3). */
#ifndef HEDDLE_CUDA_PIPELINE_PRIMITIVES_H
#define HEDDLE_CUDA_PIPELINE_PRIMITIVES_H
#pragma clang system_header
__heddle_fn void __pipeline_memcpy_async(void *__to, const void *__from, size_t __size, size_t __zeros = 0) {
  unsigned int __s = (unsigned int)__cvta_generic_to_shared(__to), __n = (unsigned int)(__size - __zeros);
  unsigned long long __g = (unsigned long long)__cvta_generic_to_global(__from);
  switch (__size) {
  case 16: asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(__s), "l"(__g), "r"(__n) : "memory"); break;
  case 8: asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(__s), "l"(__g), "r"(__n) : "memory"); break;
  default: asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(__s), "l"(__g), "r"(__n) : "memory");
  }
}
__heddle_fn void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__heddle_fn void __pipeline_wait_prior(unsigned int __n) {
  switch (__n) {
  case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
  case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
  case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
  case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
  case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
  case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
  case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
  default: asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
}
#endif
