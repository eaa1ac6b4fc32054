/* Work-item functions (6.15.1). A work-group is a block, a sub-group a warp. The global offset is zero, as
   NULL for global_work_offset means to clEnqueueNDRangeKernel, or -D__HEDDLE_GLOBAL_OFFSET=X,Y,Z. All work-groups have one size. */
#ifndef HEDDLE_OPENCL_WORKITEM_H
#define HEDDLE_OPENCL_WORKITEM_H

#define __HEDDLE_DIM(NAME, REG, ELSE)                           \
  __heddle_cl size_t NAME(uint __d) {                           \
    switch (__d) {                                              \
    case 0: return (uint)__nvvm_read_ptx_sreg_##REG##_x();      \
    case 1: return (uint)__nvvm_read_ptx_sreg_##REG##_y();      \
    case 2: return (uint)__nvvm_read_ptx_sreg_##REG##_z();      \
    }                                                           \
    return ELSE;                                                \
  }
__HEDDLE_DIM(get_local_id, tid, 0)
__HEDDLE_DIM(get_group_id, ctaid, 0)
__HEDDLE_DIM(get_local_size, ntid, 1)
__HEDDLE_DIM(get_enqueued_local_size, ntid, 1)
__HEDDLE_DIM(get_num_groups, nctaid, 1)

/* A file with get_global_offset, get_global_linear_id or get_work_dim expects more than the launch says. A
   run has the values below; to a proof they are unknown, as all memory is that the host sets. */
#ifdef __HEDDLE_ANY_NDRANGE
extern __constant ulong __heddle_offset[3];
extern __constant uint __heddle_dims;
#endif
#ifdef __HEDDLE_GLOBAL_OFFSET
__heddle_cl size_t __heddle_component(uint __d, size_t __x, size_t __y, size_t __z) { return __d == 0 ? __x : __d == 1 ? __y : __d == 2 ? __z : 0; }
__heddle_cl size_t get_global_offset(uint __d) { return __heddle_component(__d, __HEDDLE_GLOBAL_OFFSET); }
#elif defined(__HEDDLE_ANY_NDRANGE)
__heddle_cl size_t get_global_offset(uint __d) { return __d < 3 ? __heddle_offset[__d] : 0; }
#else
__heddle_cl size_t get_global_offset(uint __d) { return 0; }
#endif
__heddle_cl size_t get_global_size(uint __d) { return get_num_groups(__d) * get_local_size(__d); }
__heddle_cl size_t get_global_id(uint __d) { return get_global_offset(__d) + get_group_id(__d) * get_local_size(__d) + get_local_id(__d); }
/* A launch does not record the number of dimensions: count them up to the last one larger than 1. There may be
   more, of size 1, unless -D__HEDDLE_WORK_DIM=N says how many there are. */
__heddle_cl uint get_work_dim(void) {
#ifdef __HEDDLE_WORK_DIM
  return __HEDDLE_WORK_DIM;
#endif
  uint __n = get_global_size(2) > 1 ? 3 : get_global_size(1) > 1 ? 2 : 1;
#ifdef __HEDDLE_ANY_NDRANGE
  if (__n < 3 && __heddle_dims > __n && __heddle_dims < 4) return __heddle_dims;
#endif
  return __n;
}
__heddle_cl size_t get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
__heddle_cl size_t get_global_linear_id(void) {
  return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1)) * get_global_size(0)
    + get_global_id(0) - get_global_offset(0); /* OpenCL C 3.0, 6.15.1: without the offset */
}

/* The same by warps, which does not affect how many dimensions the kernel uses. */
__heddle_cl uint __heddle_local_linear_id(void) { return __nvvm_read_ptx_sreg_warpid() * 32 + __nvvm_read_ptx_sreg_laneid(); }

/* Facts about copies of a work-group, for proofs. */
uint __heddle_share(uint __rank, uint __threads, uint __group);
void __heddle_collective(ulong __to, ulong __from, ulong __n, ulong __step);
event_t __heddle_event(event_t __e);
void __heddle_await(event_t __e);
void __heddle_awaited(int __n);

/* Sub-groups (6.15.1, 6.15.19). */
__heddle_cl size_t __heddle_work_group_size(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }
/* All of them read the size, 32, so that a proof sees that the kernel depends on it. */
__heddle_cl uint get_max_sub_group_size(void) {
  uint __size;
  __asm__("mov.u32 %0, WARP_SZ;" : "=r"(__size));
  return __size;
}
__heddle_cl uint get_num_sub_groups(void) {
  uint __size = get_max_sub_group_size();
  return ((uint)__heddle_work_group_size() + __size - 1) / __size;
}
__heddle_cl uint get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
__heddle_cl uint get_sub_group_id(void) { return __nvvm_read_ptx_sreg_warpid() * (get_max_sub_group_size() / 32); }
__heddle_cl uint get_sub_group_local_id(void) {
  return __nvvm_read_ptx_sreg_laneid() & (get_max_sub_group_size() - 1);
}
__heddle_cl uint get_sub_group_size(void) {
  uint __left = (uint)__heddle_work_group_size() - get_sub_group_id() * 32;
  return __left < 32 ? __left : 32;
}

#endif
