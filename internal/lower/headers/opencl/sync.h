/* Barriers and fences (6.15.8, 6.15.12.6). PTX's barriers order all memory, those of OpenCL only the memory
   that their flags name: a .pragma before the instruction passes the flags to the detector. Flags that are not
   constant are tested when the kernel runs; for a barrier, the flags that all work-items of a warp have in common
   count, so that all of them reach it by the same instruction. */
#ifndef HEDDLE_OPENCL_SYNC_H
#define HEDDLE_OPENCL_SYNC_H

typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_IMAGE_MEM_FENCE 4
#define CLK_CHANNEL_MEM_FENCE 8

typedef enum memory_scope {
  memory_scope_work_item = 0,
  memory_scope_work_group = 1,
  memory_scope_device = 2,
  memory_scope_all_svm_devices = 3,
  memory_scope_all_devices = 3,
  memory_scope_sub_group = 4
} memory_scope;
typedef enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
} memory_order;

/* 6.15.12.1; ATOMIC_VAR_INIT is deprecated in 2.2, but programs use it. */
#define ATOMIC_VAR_INIT(VALUE) (VALUE)
#define ATOMIC_FLAG_INIT 0

/* These have no body, which makes a kernel unsupported that reaches a call. */
void memory_scope_sub_group_and_work_item_are_not_supported(void);
void a_fence_of_only_one_of_images_and_global_memory_is_not_supported(void);

#define __HEDDLE_ORDERING(SPACES, INSTR) __asm__ volatile(".pragma \"heddle.order " SPACES "\";\n\t" INSTR ::: "memory")
/* Images are in global memory here, but CLK_GLOBAL_MEM_FENCE does not order their pixels, nor does
   CLK_IMAGE_MEM_FENCE order the rest (6.15.8): where a kernel may read what it writes to an image, both flags
   are needed for an answer. */
#ifdef __HEDDLE_READ_WRITE_IMAGES
#define __HEDDLE_IMAGE_FENCE(FLAGS) \
  if (((FLAGS) & 6) == 2 || ((FLAGS) & 6) == 4) a_fence_of_only_one_of_images_and_global_memory_is_not_supported();
#else
#define __HEDDLE_IMAGE_FENCE(FLAGS)
#endif
#define __HEDDLE_FLAGGED(FLAGS, INSTR)                  \
  __HEDDLE_IMAGE_FENCE(FLAGS)                           \
  switch ((FLAGS) & 3) {                                \
  case 0: __HEDDLE_ORDERING("none", INSTR); break;      \
  case 1: __HEDDLE_ORDERING("shared", INSTR); break;    \
  case 2: __HEDDLE_ORDERING("global", INSTR); break;    \
  case 3: __asm__ volatile(INSTR ::: "memory"); break;  \
  }

__heddle_cl cl_mem_fence_flags __heddle_common(cl_mem_fence_flags __f) {
  cl_mem_fence_flags __r;
  __asm__ volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\t.reg .b32 m, a, b;\n\tactivemask.b32 m;\n\t"
                   "and.b32 a, %1, 1;\n\tsetp.ne.u32 p1, a, 0;\n\tvote.sync.all.pred p2, p1, m;\n\tselp.u32 a, 1, 0, p2;\n\t"
                   "and.b32 b, %1, 2;\n\tsetp.ne.u32 p1, b, 0;\n\tvote.sync.all.pred p2, p1, m;\n\tselp.u32 b, 2, 0, p2;\n\t"
                   "or.b32 %0, a, b;\n\t}" : "=r"(__r) : "r"(__f) : "memory");
  return __r;
}
#define __HEDDLE_BARRIER(FLAGS)                                                                  \
  __HEDDLE_IMAGE_FENCE(FLAGS)                                                                    \
  if (__builtin_constant_p(FLAGS)) {                                                             \
    __HEDDLE_FLAGGED(FLAGS, "bar.sync 0;")                                                       \
  } else {                                                                                       \
    __HEDDLE_FLAGGED(__heddle_common(FLAGS), "bar.sync 0;")                                      \
  }

/* "orders memory operations ... to become visible to all work-items in the work-group"; a wider scope makes
   them visible to other groups, which must acquire them. */
__heddle_cl void work_group_barrier(cl_mem_fence_flags __f) { __HEDDLE_BARRIER(__f) }
__heddle_cl void work_group_barrier(cl_mem_fence_flags __f, memory_scope __s) {
  if (__s == memory_scope_sub_group || __s == memory_scope_work_item) memory_scope_sub_group_and_work_item_are_not_supported();
  __HEDDLE_BARRIER(__f)
}
__heddle_cl void barrier(cl_mem_fence_flags __f) { __HEDDLE_BARRIER(__f) }
__heddle_cl void sub_group_barrier(cl_mem_fence_flags __f) { __HEDDLE_FLAGGED(__f, "bar.warp.sync 0xffffffff;") }
__heddle_cl void sub_group_barrier(cl_mem_fence_flags __f, memory_scope __s) { __HEDDLE_FLAGGED(__f, "bar.warp.sync 0xffffffff;") }

/* A fence of scope work_item orders image accesses of one work-item only; a relaxed one orders nothing. */
#define __HEDDLE_FENCE_SCOPE(F, SEM, SCOPE)                                                     \
  switch (SCOPE) {                                                                              \
  case memory_scope_sub_group: memory_scope_sub_group_and_work_item_are_not_supported(); break; \
  case memory_scope_work_group: __HEDDLE_FLAGGED(F, "fence." SEM ".cta;") break;                \
  case memory_scope_device: __HEDDLE_FLAGGED(F, "fence." SEM ".gpu;") break;                    \
  case memory_scope_all_svm_devices: __HEDDLE_FLAGGED(F, "fence." SEM ".sys;") break;           \
  }
__heddle_cl void atomic_work_item_fence(cl_mem_fence_flags __f, memory_order __o, memory_scope __s) {
  switch (__o) {
  case memory_order_acquire: __HEDDLE_FENCE_SCOPE(__f, "acquire", __s) break;
  case memory_order_release: __HEDDLE_FENCE_SCOPE(__f, "release", __s) break;
  case memory_order_acq_rel: __HEDDLE_FENCE_SCOPE(__f, "acq_rel", __s) break;
  case memory_order_seq_cst: __HEDDLE_FENCE_SCOPE(__f, "sc", __s) break;
  }
}
/* 2.0 deprecates these for atomic_work_item_fence with memory_scope_work_group. */
__heddle_cl void mem_fence(cl_mem_fence_flags __f) { __HEDDLE_FLAGGED(__f, "fence.acq_rel.cta;") }
__heddle_cl void read_mem_fence(cl_mem_fence_flags __f) { __HEDDLE_FLAGGED(__f, "fence.acquire.cta;") }
__heddle_cl void write_mem_fence(cl_mem_fence_flags __f) { __HEDDLE_FLAGGED(__f, "fence.release.cta;") }

#if __HEDDLE_GENERIC
/* 6.15.10, address space qualifier functions: clang turns to_global(p) into a call of __to_global. */
#define __HEDDLE_TO(NAME, AS, SPACE)                                                                                  \
  AS void *__##NAME(void *__p) {                                                                                      \
    ulong __r;                                                                                                        \
    uint __is;                                                                                                        \
    __asm__("{\n\t.reg .pred p1;\n\tisspacep." SPACE " p1, %2;\n\tcvta.to." SPACE ".u64 %0, %2;\n\t"                     \
            "selp.u32 %1, 1, 0, p1;\n\t}" : "=l"(__r), "=r"(__is) : "l"(__p));                                        \
    if (!__is) return (AS void *)0; /* null is not the address 0 in every space */                                   \
    return __HEDDLE_AT(AS void *, __r);                                                                               \
  }
__HEDDLE_TO(to_global, __global, "global")
__HEDDLE_TO(to_local, __local, "shared")
__heddle_cl int __heddle_is_local(const volatile void *__p) {
  int __r;
  __asm__("{\n\t.reg .pred p1;\n\tisspacep.shared p1, %1;\n\tselp.u32 %0, 1, 0, p1;\n\t}" : "=r"(__r) : "l"(__p));
  return __r;
}
/* Casts that LLVM cannot optimize: it would otherwise fail on casts that are never executed. */
#define __HEDDLE_AS(NAME, AS, SPACE)                                               \
  __heddle_cl AS void *NAME(const volatile void *__p) {                            \
    ulong __r;                                                                     \
    __asm__("cvta.to." SPACE ".u64 %0, %1;" : "=l"(__r) : "l"(__p));               \
    return __HEDDLE_AT(AS void *, __r);                                            \
  }
__HEDDLE_AS(__heddle_as__local, __local, "shared")
__HEDDLE_AS(__heddle_as__global, __global, "global")
__heddle_cl cl_mem_fence_flags get_fence(const void *__p) { return __heddle_is_local(__p) ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE; }
#endif

/* 6.15.16: all and any of a work-group; bar.red orders memory as a barrier does, which the specification does not promise. */
#define __HEDDLE_VOTE(NAME, OP)                                                                                         \
  __heddle_cl int NAME(int __p) {                                                                                       \
    int __r;                                                                                                            \
    __asm__ volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\t.pragma \"heddle.order none\";\n\t" \
                     "bar.red." OP ".pred p2, 0, p1;\n\tselp.u32 %0, 1, 0, p2;\n\t}" : "=r"(__r) : "r"(__p) : "memory"); \
    return __r;                                                                                                         \
  }
__HEDDLE_VOTE(work_group_all, "and")
__HEDDLE_VOTE(work_group_any, "or")

#endif
