/* Barriers and fences, by the PTX instructions that nvcc emits for them. They are inline assembly
   with a memory clobber, so that no version of LLVM moves them. */
#ifndef HEDDLE_SYNC_H
#define HEDDLE_SYNC_H

/* __syncthreads() itself is a builtin of clang: bar.sync 0. */

/* bar.red, PTX ISA 9.7.13.1 */
__heddle_fn int __syncthreads_count(int __p) {
  int __r;
  asm volatile("{\n\t.reg .pred p1;\n\tsetp.ne.u32 p1, %1, 0;\n\tbar.red.popc.u32 %0, 0, p1;\n\t}" : "=r"(__r) : "r"(__p) : "memory");
  return __r;
}
__heddle_fn int __syncthreads_and(int __p) {
  int __r;
  asm volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\tbar.red.and.pred p2, 0, p1;\n\tselp.u32 %0, 1, 0, p2;\n\t}" : "=r"(__r) : "r"(__p) : "memory");
  return __r;
}
__heddle_fn int __syncthreads_or(int __p) {
  int __r;
  asm volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\tbar.red.or.pred p2, 0, p1;\n\tselp.u32 %0, 1, 0, p2;\n\t}" : "=r"(__r) : "r"(__p) : "memory");
  return __r;
}

__heddle_fn void __syncwarp(unsigned int __mask = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(__mask) : "memory"); }

/* membar.{cta,gl,sys} are fence.sc of the same scope on sm_70 and later (PTX ISA 9.7.13.4). */
__heddle_fn void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
__heddle_fn void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
__heddle_fn void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }

__heddle_fn void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
__heddle_fn void __trap() { asm volatile("trap;"); }
__heddle_fn void __brkpt() { asm volatile("brkpt;"); }

/* Named barriers, with the names of nvcc's builtins. */
__heddle_fn void __nv_bar_sync(unsigned int id, unsigned int __n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(__n) : "memory"); }
__heddle_fn void __nv_bar_arrive(unsigned int id, unsigned int __n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(__n) : "memory"); }

/* barrier.sync, which the threads of a warp may reach apart (PTX ISA 9.7.13.1). */
__heddle_fn void __barrier_sync(unsigned int __id) { asm volatile("barrier.sync %0;" ::"r"(__id) : "memory"); }
__heddle_fn void __barrier_sync_count(unsigned int __id, unsigned int __n) { asm volatile("barrier.sync %0, %1;" ::"r"(__id), "r"(__n) : "memory"); }

#endif
