/* Shuffles, votes, match, reduce (PTX ISA 9.7.9.6, 9.7.13.9-9.7.13.12). They order no memory, so their
   assembly has no memory clobber. */
#ifndef HEDDLE_WARP_H
#define HEDDLE_WARP_H

__heddle_fn unsigned int __activemask() {
  unsigned int r;
  asm volatile("activemask.b32 %0;" : "=r"(r));
  return r;
}
__heddle_fn unsigned int __lane_id() {
  unsigned int r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}
#define __HEDDLE_SREG(NAME, REG)                   \
  __heddle_fn unsigned int NAME() {                \
    unsigned int r;                                \
    asm volatile("mov.u32 %0, %%" REG ";" : "=r"(r)); \
    return r;                                      \
  }
__HEDDLE_SREG(__smid, "smid")
__HEDDLE_SREG(__warpid, "warpid")
__HEDDLE_SREG(__nv_lanemask_lt, "lanemask_lt")
__HEDDLE_SREG(__nv_lanemask_le, "lanemask_le")
__HEDDLE_SREG(__nv_lanemask_gt, "lanemask_gt")
__HEDDLE_SREG(__nv_lanemask_ge, "lanemask_ge")
__HEDDLE_SREG(__nv_lanemask_eq, "lanemask_eq")

/* shfl.sync moves 32 bits. Operand c: clamp value in bits 0-4, segment mask in bits 8-12. */
#define __HEDDLE_SHFL32(MODE, CLAMP)                                                                            \
  __heddle_fn unsigned int __heddle_shfl_##MODE(unsigned int mask, unsigned int v, unsigned int b, int width) { \
    unsigned int r, c = (unsigned int)((32 - width) << 8) | CLAMP;                                              \
    asm volatile("shfl.sync." #MODE ".b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(v), "r"(b), "r"(c), "r"(mask));  \
    return r;                                                                                                   \
  }
__HEDDLE_SHFL32(idx, 0x1f)
__HEDDLE_SHFL32(up, 0)
__HEDDLE_SHFL32(down, 0x1f)
__HEDDLE_SHFL32(bfly, 0x1f)

/* One template a mode. A type narrower than int is passed as int, as by integral promotion. */
template <typename T, bool = __heddle_is<T>::arithmetic> struct __heddle_lane {};
template <typename T> struct __heddle_lane<T, true> { typedef decltype(+T()) type; };

#define __HEDDLE_SHFL(NAME, MODE, BT)                                                                          \
  template <typename T>                                                                                        \
  __heddle_fn typename __heddle_lane<T>::type NAME##_sync(unsigned int mask, T value, BT b, int width = 32) {  \
    typedef typename __heddle_lane<T>::type R;                                                                 \
    R v = value;                                                                                               \
    if constexpr (sizeof(R) == 8) {                                                                            \
      unsigned long long u = __builtin_bit_cast(unsigned long long, v);                                        \
      unsigned int lo = __heddle_shfl_##MODE(mask, (unsigned int)u, (unsigned int)b, width);                   \
      unsigned int hi = __heddle_shfl_##MODE(mask, (unsigned int)(u >> 32), (unsigned int)b, width);           \
      return __builtin_bit_cast(R, (unsigned long long)hi << 32 | lo);                                         \
    } else {                                                                                                   \
      return __builtin_bit_cast(R, __heddle_shfl_##MODE(mask, __builtin_bit_cast(unsigned int, v), (unsigned int)b, width)); \
    }                                                                                                          \
  }                                                                                                            \
  template <typename T> __heddle_fn typename __heddle_lane<T>::type NAME(T v, BT b, int width = 32) {          \
    return NAME##_sync(__activemask(), v, b, width);                                                           \
  }
/* The shuffles without _sync are gone from sm_70 on; sources that still have them mean the active lanes. */
__HEDDLE_SHFL(__shfl, idx, int)
__HEDDLE_SHFL(__shfl_up, up, unsigned int)
__HEDDLE_SHFL(__shfl_down, down, unsigned int)
__HEDDLE_SHFL(__shfl_xor, bfly, int)

#define __HEDDLE_VOTE(NAME, MODE)                                                                        \
  __heddle_fn int NAME##_sync(unsigned int mask, int p) {                                                \
    int r;                                                                                               \
    asm volatile("{\n\t.reg .pred p1;\n\t.reg .pred p2;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync." MODE     \
                 ".pred p2, p1, %2;\n\tselp.u32 %0, 1, 0, p2;\n\t}"                                      \
                 : "=r"(r) : "r"(p), "r"(mask));                                                         \
    return r;                                                                                            \
  }
__HEDDLE_VOTE(__all, "all")
__HEDDLE_VOTE(__any, "any")
__HEDDLE_VOTE(__uni, "uni")
__heddle_fn unsigned int __ballot_sync(unsigned int mask, int p) {
  unsigned int r;
  asm volatile("{\n\t.reg .pred p1;\n\tsetp.ne.u32 p1, %1, 0;\n\tvote.sync.ballot.b32 %0, p1, %2;\n\t}" : "=r"(r) : "r"(p), "r"(mask));
  return r;
}
__heddle_fn int __all(int p) { return __all_sync(__activemask(), p); }
__heddle_fn int __any(int p) { return __any_sync(__activemask(), p); }
__heddle_fn unsigned int __ballot(int p) { return __ballot_sync(__activemask(), p); }

__heddle_fn unsigned int __heddle_match_any32(unsigned int mask, unsigned int v) {
  unsigned int r;
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));
  return r;
}
__heddle_fn unsigned int __heddle_match_any64(unsigned int mask, unsigned long long v) {
  unsigned int r;
  asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(mask));
  return r;
}
__heddle_fn unsigned int __heddle_match_all32(unsigned int mask, unsigned int v, int *pred) {
  unsigned int r;
  int p;
  asm volatile("{\n\t.reg .pred p1;\n\tmatch.all.sync.b32 %0|p1, %2, %3;\n\tselp.u32 %1, 1, 0, p1;\n\t}" : "=r"(r), "=r"(p) : "r"(v), "r"(mask));
  *pred = p;
  return r;
}
__heddle_fn unsigned int __heddle_match_all64(unsigned int mask, unsigned long long v, int *pred) {
  unsigned int r;
  int p;
  asm volatile("{\n\t.reg .pred p1;\n\tmatch.all.sync.b64 %0|p1, %2, %3;\n\tselp.u32 %1, 1, 0, p1;\n\t}" : "=r"(r), "=r"(p) : "l"(v), "r"(mask));
  *pred = p;
  return r;
}
#define __HEDDLE_MATCH(T, U, N)                                                                                                  \
  __heddle_fn unsigned int __match_any_sync(unsigned int mask, T v) { return __heddle_match_any##N(mask, __builtin_bit_cast(U, v)); } \
  __heddle_fn unsigned int __match_all_sync(unsigned int mask, T v, int *pred) { return __heddle_match_all##N(mask, __builtin_bit_cast(U, v), pred); }
__HEDDLE_MATCH(int, unsigned int, 32)
__HEDDLE_MATCH(unsigned int, unsigned int, 32)
__HEDDLE_MATCH(float, unsigned int, 32)
__HEDDLE_MATCH(long, unsigned long long, 64)
__HEDDLE_MATCH(unsigned long, unsigned long long, 64)
__HEDDLE_MATCH(long long, unsigned long long, 64)
__HEDDLE_MATCH(unsigned long long, unsigned long long, 64)
__HEDDLE_MATCH(double, unsigned long long, 64)

#define __HEDDLE_REDUX(NAME, T, OP)                                                         \
  __heddle_fn T NAME(unsigned int mask, T v) {                                              \
    T r;                                                                                    \
    asm volatile("redux.sync." OP " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));            \
    return r;                                                                               \
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
