/* Included after prelude.h in both passes of a program that heddle builds to run (heddle exec). Both passes must see
   the same host declarations. */
#ifndef HEDDLE_STRICT_H
#define HEDDLE_STRICT_H

#pragma clang system_header

#include "host_library.h"

/* Managed memory: the variable of the host shares its pages with that of the device (exec/register.c). So it starts a
   page, and the linker keeps all of them together. */
#undef __managed__
#define __managed__ __attribute__((device, section("heddle_managed"), aligned(4096)))

#endif
