/* Included after prelude.h in both passes of a program that heddle builds to run (heddle exec): the headers of the
   C and C++ library that nvcc's cuda_runtime.h includes (crt/common_functions.h, crt/math_functions.h,
   driver_types.h), on which programs rely. Both passes must see the same host declarations. */
#ifndef HEDDLE_STRICT_H
#define HEDDLE_STRICT_H

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

/* Managed memory: the variable of the host shares its pages with that of the device (exec/register.c). So it starts a
   page, and the linker keeps all of them together. */
#undef __managed__
#define __managed__ __attribute__((device, section("heddle_managed"), aligned(4096)))

#endif
