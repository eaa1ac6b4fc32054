#pragma once
#include "../../heddle/torch.h"

namespace at {
/* The type in which values of a type are added up on a GPU. */
template <class T, bool> struct __accumulate { typedef T type; };
template <bool B> struct __accumulate<c10::Half, B> { typedef float type; };
template <bool B> struct __accumulate<c10::BFloat16, B> { typedef float type; };
template <class T, bool B> using acc_type = typename __accumulate<T, B>::type;
}
