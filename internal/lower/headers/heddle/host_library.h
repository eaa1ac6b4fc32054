/* The headers of the host's C and C++ library that nvcc's cuda_runtime.h includes (crt/common_functions.h,
   crt/math_functions.h, driver_types.h), on which programs and CUB and Thrust rely. */
#ifndef HEDDLE_HOST_LIBRARY_H
#define HEDDLE_HOST_LIBRARY_H

#pragma clang system_header

#ifdef __cplusplus
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#endif
