/* NVTX for C++: ranges and marks for profilers, which do nothing here. */
#ifndef HEDDLE_NVTX3_HPP
#define HEDDLE_NVTX3_HPP
#include "../nvToolsExt.h"

/* By this CUB finds out whether the names below are there. */
#define NVTX3_CPP_DEFINITIONS_V1_0

namespace nvtx3 {
inline namespace v1 {
struct domain { struct global {}; };
struct rgb { template <class... __A> explicit constexpr rgb(__A...) {} };
struct argb { template <class... __A> explicit constexpr argb(__A...) {} };
struct category { explicit constexpr category(unsigned int) {} };
struct payload { template <class __T> explicit constexpr payload(__T) {} };
struct message { template <class __T> constexpr message(__T &&) {} };
template <class __D = domain::global> struct registered_string_in { template <class... __A> explicit registered_string_in(const __A &...) {} };
using registered_string = registered_string_in<>;
struct event_attributes { template <class... __A> explicit constexpr event_attributes(const __A &...) {} };
template <class __D = domain::global> struct scoped_range_in { template <class... __A> explicit scoped_range_in(const __A &...) {} };
template <class __D = domain::global> struct unique_range_in { template <class... __A> explicit unique_range_in(const __A &...) {} };
using scoped_range = scoped_range_in<>;
using unique_range = unique_range_in<>;
template <class... __A> inline void mark(const __A &...) {}
template <class __D, class... __A> inline void mark_in(const __A &...) {}
}
}
#define NVTX3_FUNC_RANGE() ((void)0)
#define NVTX3_FUNC_RANGE_IN(D) ((void)0)

#endif
