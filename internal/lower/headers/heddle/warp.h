/* Shuffles, votes, match, reduce (PTX ISA 9.7.9.6, 9.7.13.9-9.7.13.12). They order no memory, so their
   assembly has no memory clobber. */
#ifndef HEDDLE_WARP_H
#define HEDDLE_WARP_H

__heddle_fn unsigned int __activemask() {
  unsigned int __r;
  asm volatile("activemask.b32 %0;" : "=r"(__r));
  return __r;
}
__heddle_fn unsigned int __lane_id() {
  unsigned int __r;
  asm("mov.u32 %0, %%laneid;" : "=r"(__r));
  return __r;
}
#define __HEDDLE_SREG(NAME, REG)                        \
  __heddle_fn unsigned int NAME() {                     \
    unsigned int __r;                                   \
    asm volatile("mov.u32 %0, %%" REG ";" : "=r"(__r)); \
    return __r;                                         \
  }
__HEDDLE_SREG(__smid, "smid")
__HEDDLE_SREG(__warpid, "warpid")
__HEDDLE_SREG(__nv_lanemask_lt, "lanemask_lt")
__HEDDLE_SREG(__nv_lanemask_le, "lanemask_le")
__HEDDLE_SREG(__nv_lanemask_gt, "lanemask_gt")
__HEDDLE_SREG(__nv_lanemask_ge, "lanemask_ge")
__HEDDLE_SREG(__nv_lanemask_eq, "lanemask_eq")

/* shfl.sync moves 32 bits. Operand c: clamp value in bits 0-4, segment mask in bits 8-12. */
#define __HEDDLE_SHFL32(MODE, CLAMP)                                                                                     \
  __heddle_fn unsigned int __heddle_shfl_##MODE(unsigned int __mask, unsigned int __v, unsigned int __b, int width) {    \
    unsigned int __r, __c = (unsigned int)((32 - width) << 8) | CLAMP;                                                   \
    asm volatile("shfl.sync." #MODE ".b32 %0, %1, %2, %3, %4;" : "=r"(__r) : "r"(__v), "r"(__b), "r"(__c), "r"(__mask)); \
    return __r;                                                                                                          \
  }
__HEDDLE_SHFL32(idx, 0x1f)
__HEDDLE_SHFL32(up, 0)
__HEDDLE_SHFL32(down, 0x1f)
__HEDDLE_SHFL32(bfly, 0x1f)

/* One template per mode. A type narrower than int is passed as int, as by integral promotion. */
template <typename __T, bool = __heddle_is<__T>::arithmetic> struct __heddle_lane {};
template <typename __T> struct __heddle_lane<__T, true> { typedef decltype(+__T()) type; };

#define __HEDDLE_SHFL(NAME, MODE, BT)                                                                                                \
  template <typename __T>                                                                                                            \
  __heddle_fn typename __heddle_lane<__T>::type NAME##_sync(unsigned int __mask, __T value, BT __b, int width = 32) {                \
    typedef typename __heddle_lane<__T>::type __R;                                                                                   \
    __R __v = value;                                                                                                                 \
    if constexpr (sizeof(__R) == 8) {                                                                                                \
      unsigned long long __u = __builtin_bit_cast(unsigned long long, __v);                                                          \
      unsigned int __lo = __heddle_shfl_##MODE(__mask, (unsigned int)__u, (unsigned int)__b, width);                                 \
      unsigned int __hi = __heddle_shfl_##MODE(__mask, (unsigned int)(__u >> 32), (unsigned int)__b, width);                         \
      return __builtin_bit_cast(__R, (unsigned long long)__hi << 32 | __lo);                                                         \
    } else {                                                                                                                         \
      return __builtin_bit_cast(__R, __heddle_shfl_##MODE(__mask, __builtin_bit_cast(unsigned int, __v), (unsigned int)__b, width)); \
    }                                                                                                                                \
  }                                                                                                                                  \
  template <typename __T> __heddle_fn typename __heddle_lane<__T>::type NAME(__T __v, BT __b, int width = 32) {                      \
    return NAME##_sync(__activemask(), __v, __b, width);                                                                             \
  }
/* sm_70 removed the shuffles without _sync; sources that use them mean the active lanes. */
__HEDDLE_SHFL(__shfl, idx, int)
__HEDDLE_SHFL(__shfl_up, up, unsigned int)
__HEDDLE_SHFL(__shfl_down, down, unsigned int)
__HEDDLE_SHFL(__shfl_xor, bfly, int)

#define __HEDDLE_VOTE(NAME, MODE)                                                                     \
  __heddle_fn int NAME##_sync(unsigned int __mask, int __p) {                                         \
    int __r;                                                                                          \
    asm volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync." MODE \
                 ".pred p2, p1, %2;\n\tselp.u32 %0, 1, 0, p2;\n\t}"                                   \
                 : "=r"(__r) : "r"(__p), "r"(__mask));                                                \
    return __r;                                                                                       \
  }
__HEDDLE_VOTE(__all, "all")
__HEDDLE_VOTE(__any, "any")
__HEDDLE_VOTE(__uni, "uni")
__heddle_fn unsigned int __ballot_sync(unsigned int __mask, int __p) {
  unsigned int __r;
  asm volatile("{\n\t.reg .pred p1;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync.ballot.b32 %0, p1, %2;\n\t}" : "=r"(__r) : "r"(__p), "r"(__mask));
  return __r;
}
__heddle_fn int __all(int __p) { return __all_sync(__activemask(), __p); }
__heddle_fn int __any(int __p) { return __any_sync(__activemask(), __p); }
__heddle_fn unsigned int __ballot(int __p) { return __ballot_sync(__activemask(), __p); }

__heddle_fn unsigned int __heddle_match_any32(unsigned int __mask, unsigned int __v) {
  unsigned int __r;
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(__r) : "r"(__v), "r"(__mask));
  return __r;
}
__heddle_fn unsigned int __heddle_match_any64(unsigned int __mask, unsigned long long __v) {
  unsigned int __r;
  asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(__r) : "l"(__v), "r"(__mask));
  return __r;
}
__heddle_fn unsigned int __heddle_match_all32(unsigned int __mask, unsigned int __v, int *__pred) {
  unsigned int __r;
  int __p;
  asm volatile("{\n\t.reg .pred p1;\n\tmatch.all.sync.b32 %0|p1, %2, %3;\n\tselp.u32 %1, 1, 0, p1;\n\t}" : "=r"(__r), "=r"(__p) : "r"(__v), "r"(__mask));
  *__pred = __p;
  return __r;
}
__heddle_fn unsigned int __heddle_match_all64(unsigned int __mask, unsigned long long __v, int *__pred) {
  unsigned int __r;
  int __p;
  asm volatile("{\n\t.reg .pred p1;\n\tmatch.all.sync.b64 %0|p1, %2, %3;\n\tselp.u32 %1, 1, 0, p1;\n\t}" : "=r"(__r), "=r"(__p) : "l"(__v), "r"(__mask));
  *__pred = __p;
  return __r;
}
#define __HEDDLE_MATCH(T, U, N)                                                                                                               \
  __heddle_fn unsigned int __match_any_sync(unsigned int __mask, T __v) { return __heddle_match_any##N(__mask, __builtin_bit_cast(U, __v)); } \
  __heddle_fn unsigned int __match_all_sync(unsigned int __mask, T __v, int *__pred) { return __heddle_match_all##N(__mask, __builtin_bit_cast(U, __v), __pred); }
__HEDDLE_MATCH(int, unsigned int, 32)
__HEDDLE_MATCH(unsigned int, unsigned int, 32)
__HEDDLE_MATCH(float, unsigned int, 32)
__HEDDLE_MATCH(long, unsigned long long, 64)
__HEDDLE_MATCH(unsigned long, unsigned long long, 64)
__HEDDLE_MATCH(long long, unsigned long long, 64)
__HEDDLE_MATCH(unsigned long long, unsigned long long, 64)
__HEDDLE_MATCH(double, unsigned long long, 64)

#define __HEDDLE_REDUX(NAME, T, OP)                                                    \
  __heddle_fn T NAME(unsigned int __mask, T __v) {                                     \
    T __r;                                                                             \
    asm volatile("redux.sync." OP " %0, %1, %2;" : "=r"(__r) : "r"(__v), "r"(__mask)); \
    return __r;                                                                        \
  }
__HEDDLE_REDUX(__reduce_add_sync, int, "add.s32")
__HEDDLE_REDUX(__reduce_add_sync, unsigned int, "add.u32")
__HEDDLE_REDUX(__reduce_min_sync, int, "min.s32")
__HEDDLE_REDUX(__reduce_min_sync, unsigned int, "min.u32")
__HEDDLE_REDUX(__reduce_max_sync, int, "max.s32")
__HEDDLE_REDUX(__reduce_max_sync, unsigned int, "max.u32")
__HEDDLE_REDUX(__reduce_and_sync, unsigned int, "and.b32")
__HEDDLE_REDUX(__reduce_or_sync, unsigned int, "or.b32")
__HEDDLE_REDUX(__reduce_xor_sync, unsigned int, "xor.b32")

#endif
