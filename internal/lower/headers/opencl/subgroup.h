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

/* Masks of the work-items of a sub-group (cl_khr_subgroup_ballot): 32 bits of the first component. */
__heddle_cl uint4 sub_group_ballot(int __p) {
  uint __r;
  __asm__ volatile("{\n\t.reg .pred p1;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync.ballot.b32 %0, p1, 0xffffffff;\n\t}" : "=r"(__r) : "r"(__p));
  return (uint4)(__r, 0, 0, 0);
}
#define __HEDDLE_LANES(NAME, REG)                          \
  __heddle_cl uint4 get_sub_group_##NAME##_mask(void) {    \
    uint __r;                                              \
    __asm__("mov.u32 %0, %%lanemask_" REG ";" : "=r"(__r)); \
    return (uint4)(__r, 0, 0, 0);                          \
  }
__HEDDLE_LANES(eq, "eq")
__HEDDLE_LANES(ge, "ge")
__HEDDLE_LANES(gt, "gt")
__HEDDLE_LANES(le, "le")
__HEDDLE_LANES(lt, "lt")
__heddle_cl int sub_group_ballot_bit_extract(uint4 __v, uint __i) { return (int)(__v.x >> (__i & 31) & 1); }
__heddle_cl int sub_group_inverse_ballot(uint4 __v) { return sub_group_ballot_bit_extract(__v, get_sub_group_local_id()); }
__heddle_cl uint sub_group_ballot_bit_count(uint4 __v) { return (uint)__builtin_popcount(__v.x); }
__heddle_cl uint sub_group_ballot_inclusive_scan(uint4 __v) { return (uint)__builtin_popcount(__v.x & get_sub_group_le_mask().x); }
__heddle_cl uint sub_group_ballot_exclusive_scan(uint4 __v) { return (uint)__builtin_popcount(__v.x & get_sub_group_lt_mask().x); }
__heddle_cl uint sub_group_ballot_find_lsb(uint4 __v) { return (uint)__builtin_ctz(__v.x); }
__heddle_cl uint sub_group_ballot_find_msb(uint4 __v) { return 31u - (uint)__builtin_clz(__v.x); }

/* The work-items that execute together (cl_khr_subgroup_non_uniform_vote). */
__heddle_cl uint __heddle_active(void) {
  uint __r;
  __asm__ volatile("activemask.b32 %0;" : "=r"(__r));
  return __r;
}
__heddle_cl int sub_group_elect(void) { return (uint)__builtin_ctz(__heddle_active()) == get_sub_group_local_id(); }

/* Rotation (cl_khr_subgroup_rotate), and the names of cl_intel_subgroups, whose shuffles up and down go on in a second
   value at the end. */
#define __HEDDLE_TURN(T)                                                                                                  \
  __heddle_cl T sub_group_rotate(T __v, int __d) { return sub_group_shuffle(__v, (get_sub_group_local_id() + (uint)__d) & 31); } \
  __heddle_cl T intel_sub_group_shuffle(T __v, uint __l) { return sub_group_shuffle(__v, __l); }                          \
  __heddle_cl T intel_sub_group_shuffle_xor(T __v, uint __l) { return sub_group_shuffle_xor(__v, __l); }                  \
  __heddle_cl T intel_sub_group_shuffle_down(T __a, T __b, uint __d) {                                                    \
    uint __i = get_sub_group_local_id() + __d;                                                                            \
    T __x = sub_group_shuffle(__a, __i & 31), __y = sub_group_shuffle(__b, __i & 31);                                     \
    return __i < 32 ? __x : __y;                                                                                          \
  }                                                                                                                       \
  __heddle_cl T intel_sub_group_shuffle_up(T __a, T __b, uint __d) {                                                      \
    uint __i = get_sub_group_local_id() - __d;                                                                            \
    T __x = sub_group_shuffle(__a, __i & 31), __y = sub_group_shuffle(__b, __i & 31);                                     \
    return __i < 32 ? __y : __x;                                                                                          \
  }
__HEDDLE_TURN(int)
__HEDDLE_TURN(uint)
__HEDDLE_TURN(long)
__HEDDLE_TURN(ulong)
__HEDDLE_TURN(float)
__HEDDLE_TURN(double)

#endif
