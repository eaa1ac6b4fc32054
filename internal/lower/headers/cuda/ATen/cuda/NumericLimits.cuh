#pragma once
#include "../../../heddle/torch.h"
#include <limits>

namespace at {
/* The range of a type, with infinities of floating point: constants for device code. */
template <class T> struct numeric_limits {
  static __heddle_hd_member T lowest() { return std::numeric_limits<T>::lowest(); }
  static __heddle_hd_member T max() { return std::numeric_limits<T>::max(); }
  static __heddle_hd_member T lower_bound() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    else return lowest();
  }
  static __heddle_hd_member T upper_bound() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    else return max();
  }
};
/* Of 16 bits: the largest finite number and infinity, by their bits. */
#define __HEDDLE_TORCH_LIMITS(TYPE, MAX, INF)                                                                         \
  template <> struct numeric_limits<TYPE> {                                                                           \
    static __heddle_hd_member TYPE lowest() { return TYPE(0x8000 | MAX, TYPE::from_bits()); }                         \
    static __heddle_hd_member TYPE max() { return TYPE(MAX, TYPE::from_bits()); }                                     \
    static __heddle_hd_member TYPE lower_bound() { return TYPE(0x8000 | INF, TYPE::from_bits()); }                    \
    static __heddle_hd_member TYPE upper_bound() { return TYPE(INF, TYPE::from_bits()); }                             \
  };
__HEDDLE_TORCH_LIMITS(c10::Half, 0x7bff, 0x7c00)
__HEDDLE_TORCH_LIMITS(c10::BFloat16, 0x7f7f, 0x7f80)
#undef __HEDDLE_TORCH_LIMITS
}
