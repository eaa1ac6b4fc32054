#ifndef HEDDLE_COOPERATIVE_GROUPS_SCAN_H
#define HEDDLE_COOPERATIVE_GROUPS_SCAN_H
#include "../cooperative_groups.h"
#include "../../heddle/group_update.h"

namespace cooperative_groups {
/* The last member adds the result of all to an atomic object, and each member's result begins with the value that was
   there before (CUDA C++ Programming Guide, "inclusive_scan and exclusive_scan"). */
template <typename __G, typename __A, typename __T, typename __Op> __heddle_fn __T __scan_before(const __G &__g, __A &__atomic, __T __scanned, __Op) {
  __T __old = __T();
  unsigned int __last = (unsigned int)__g.size() - 1;
  if (__g.thread_rank() == __last) __old = __update<__A, __T, __Op>::__by(__atomic, __scanned);
  return __g.shfl(__old, __last);
}
template <typename __G, typename __A, typename __T, typename __Op> __heddle_fn __T inclusive_scan_update(const __G &__g, __A &&__atomic, __T __v, __Op __op) {
  typedef ::std::remove_reference_t<__A> __O;
  __T __scanned = inclusive_scan(__g, __v, __op);
  return __op(__scan_before<__G, __O, __T, __Op>(__g, __atomic, __scanned, __op), __scanned);
}
template <typename __G, typename __A, typename __T> __heddle_fn __T inclusive_scan_update(const __G &__g, __A &&__atomic, __T __v) {
  return inclusive_scan_update(__g, __atomic, __v, plus<__T>());
}
template <typename __G, typename __A, typename __T, typename __Op> __heddle_fn __T exclusive_scan_update(const __G &__g, __A &&__atomic, __T __v, __Op __op) {
  typedef ::std::remove_reference_t<__A> __O;
  __T __scanned = inclusive_scan(__g, __v, __op), __before = __g.shfl_up(__scanned, 1);
  __T __old = __scan_before<__G, __O, __T, __Op>(__g, __atomic, __scanned, __op);
  return __g.thread_rank() == 0 ? __old : __op(__old, __before);
}
template <typename __G, typename __A, typename __T> __heddle_fn __T exclusive_scan_update(const __G &__g, __A &&__atomic, __T __v) {
  return exclusive_scan_update(__g, __atomic, __v, plus<__T>());
}
}

#endif
