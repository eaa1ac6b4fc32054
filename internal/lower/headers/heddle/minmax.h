/* Included for files that name std::min or std::max: nvcc's cuda_runtime.h includes <cmath>, which brings them in C++17. */
#ifndef HEDDLE_MINMAX_H
#define HEDDLE_MINMAX_H
#pragma clang system_header
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#else
#include <algorithm>
#endif

#endif
