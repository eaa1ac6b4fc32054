/* Sub-group functions (6.15.19) of 32 work-items, by shuffles; they order no memory. All work-items of the
   sub-group must execute them. */
#ifndef HEDDLE_OPENCL_SUBGROUP_H
#define HEDDLE_OPENCL_SUBGROUP_H

__heddle_cl int sub_group_all(int __p) {
  int __r;
  __asm__ volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync.all.pred p2, p1, 0xffffffff;\n\tselp.u32 %0, 1, 0, p2;\n\t}" : "=r"(__r) : "r"(__p));
  return __r;
}
__heddle_cl int sub_group_any(int __p) {
  int __r;
  __asm__ volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync.any.pred p2, p1, 0xffffffff;\n\tselp.u32 %0, 1, 0, p2;\n\t}" : "=r"(__r) : "r"(__p));
  return __r;
}

#define __HEDDLE_SHFL(NAME, MODE, CLAMP)                                                                         \
  __heddle_cl uint __heddle_##NAME(uint __v, uint __l) {                                                         \
    uint __r;                                                                                                    \
    __asm__ volatile("shfl.sync." MODE ".b32 %0, %1, %2, " CLAMP ", 0xffffffff;" : "=r"(__r) : "r"(__v), "r"(__l)); \
    return __r;                                                                                                  \
  }                                                                                                              \
  __heddle_cl int NAME(int __v, uint __l) { return (int)__heddle_##NAME((uint)__v, __l); }                       \
  __heddle_cl uint NAME(uint __v, uint __l) { return __heddle_##NAME(__v, __l); }                                \
  __heddle_cl float NAME(float __v, uint __l) { return __builtin_astype(__heddle_##NAME(__builtin_astype(__v, uint), __l), float); } \
  __heddle_cl ulong NAME(ulong __v, uint __l) {                                                                  \
    return (ulong)__heddle_##NAME((uint)(__v >> 32), __l) << 32 | __heddle_##NAME((uint)__v, __l);               \
  }                                                                                                              \
  __heddle_cl long NAME(long __v, uint __l) { return (long)NAME((ulong)__v, __l); }                              \
  __heddle_cl double NAME(double __v, uint __l) { return __builtin_astype(NAME(__builtin_astype(__v, ulong), __l), double); }
__HEDDLE_SHFL(sub_group_broadcast, "idx", "31")
__HEDDLE_SHFL(sub_group_shuffle, "idx", "31")
__HEDDLE_SHFL(sub_group_shuffle_xor, "bfly", "31")
__HEDDLE_SHFL(sub_group_shuffle_up, "up", "0")
__HEDDLE_SHFL(sub_group_shuffle_down, "down", "31")

#define __HEDDLE_SUB_GROUP(OP, T, ZERO, EXPR)                                     \
  __heddle_cl T sub_group_scan_inclusive_##OP(T __a) {                            \
    for (uint __d = 1; __d < get_sub_group_size(); __d *= 2) {                    \
      T __b = sub_group_shuffle_up(__a, __d);                                     \
      if (get_sub_group_local_id() >= __d) __a = EXPR;                            \
    }                                                                             \
    return __a;                                                                   \
  }                                                                               \
  __heddle_cl T sub_group_scan_exclusive_##OP(T __a) {                            \
    T __i = sub_group_shuffle_up(sub_group_scan_inclusive_##OP(__a), 1);          \
    return get_sub_group_local_id() == 0 ? ZERO : __i;                            \
  }                                                                               \
  __heddle_cl T sub_group_reduce_##OP(T __a) {                                    \
    return sub_group_broadcast(sub_group_scan_inclusive_##OP(__a), get_sub_group_size() - 1); \
  }
#define __HEDDLE_SUB_GROUP_ALL(T, LOW, HIGH)                    \
  __HEDDLE_SUB_GROUP(add, T, (T)0, __a + __b)                   \
  __HEDDLE_SUB_GROUP(min, T, HIGH, __a < __b ? __a : __b)       \
  __HEDDLE_SUB_GROUP(max, T, LOW, __a > __b ? __a : __b)
__HEDDLE_SUB_GROUP_ALL(int, INT_MIN, INT_MAX)
__HEDDLE_SUB_GROUP_ALL(uint, 0, UINT_MAX)
__HEDDLE_SUB_GROUP_ALL(long, LONG_MIN, LONG_MAX)
__HEDDLE_SUB_GROUP_ALL(ulong, 0, ULONG_MAX)
__HEDDLE_SUB_GROUP_ALL(float, -INFINITY, INFINITY)
__HEDDLE_SUB_GROUP_ALL(double, -HUGE_VAL, HUGE_VAL)

#endif
