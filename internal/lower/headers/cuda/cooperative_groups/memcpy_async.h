/* memcpy_async and wait of cooperative groups: groups of cp.async, and a barrier of the group. */
#ifndef HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#pragma clang system_header
#include "../cooperative_groups.h"
#include "../../heddle/copies.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {
namespace __v1 {
/* Sizes are in bytes; with two of them, in elements, of which the smaller is copied. */
template <typename __G, typename __T, typename __U, typename __Size>
__heddle_fn void memcpy_async(const __G &__g, __T *__to, const __U *__from, const __Size &__size) {
  ::__heddle_copies::__copy_shared<::__heddle_copies::__size_alignment<__Size, __T>::value>(__to, __from, __size, ::__heddle_copies::__share(__g), (unsigned int)__g.size());
  __pipeline_commit();
}
template <typename __G, typename __T, typename __TL, typename __U, typename __UL>
__heddle_fn void memcpy_async(const __G &__g, __T *__to, const __TL &__n, const __U *__from, const __UL &__m) {
  memcpy_async(__g, __to, __from, sizeof(__T) * ((size_t)__n < (size_t)__m ? (size_t)__n : (size_t)__m));
}
template <typename __G> __heddle_fn void wait(const __G &__g) {
  ::__heddle_copies::__copies_done();
  __g.sync();
}
template <unsigned int __N, typename __G> __heddle_fn void wait_prior(const __G &__g) {
  __pipeline_wait_prior(__N);
  __g.sync();
}
}
using namespace __v1;
}
#endif
