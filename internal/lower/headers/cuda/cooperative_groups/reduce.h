#ifndef HEDDLE_COOPERATIVE_GROUPS_REDUCE_H
#define HEDDLE_COOPERATIVE_GROUPS_REDUCE_H
#include "../cooperative_groups.h"
#include "../../heddle/group_update.h"

namespace cooperative_groups {
namespace __v1 {
/* One member stores the result, or updates an atomic object with it; which one is not specified, and the others do not
   wait (CUDA C++ Programming Guide, "reduce"). */
template <typename __G, typename __T, typename __U, typename __Op> __heddle_fn void reduce_store_async(const __G &__g, __T *__to, __U __v, __Op __op) {
  __U __r = reduce(__g, __v, __op);
  if (__g.thread_rank() == ::__heddle_copies::__choice(__g)) *__to = __r;
}
template <typename __G, typename __A, typename __T, typename __Op> __heddle_fn void reduce_update_async(const __G &__g, __A &__atomic, __T __v, __Op __op) {
  __T __r = reduce(__g, __v, __op);
  if (__g.thread_rank() == ::__heddle_copies::__choice(__g)) __update<__A, __T, __Op>::__by(__atomic, __r);
}
}
using namespace __v1;
}

#endif
