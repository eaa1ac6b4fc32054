/* Updates of an atomic object by the operators of cooperative groups, for reduce_update_async and the scans that update. */
#ifndef HEDDLE_GROUP_UPDATE_H
#define HEDDLE_GROUP_UPDATE_H
#pragma clang system_header
#include <cuda/atomic>

namespace cooperative_groups {
/* __by returns the value before the update. */
template <typename __A, typename __T, typename __Op> struct __update;
#define __HEDDLE_UPDATE(OP, FETCH)                                                      \
  template <typename __A, typename __T, typename __V> struct __update<__A, __T, OP<__V>> { \
    static __heddle_member __T __by(__A &__a, __T __v) { return (__T)__a.FETCH(__v, cuda::std::memory_order_relaxed); }  \
  };
__HEDDLE_UPDATE(plus, fetch_add)
__HEDDLE_UPDATE(less, fetch_min)
__HEDDLE_UPDATE(greater, fetch_max)
__HEDDLE_UPDATE(bit_and, fetch_and)
__HEDDLE_UPDATE(bit_or, fetch_or)
__HEDDLE_UPDATE(bit_xor, fetch_xor)
#undef __HEDDLE_UPDATE
}

#endif
