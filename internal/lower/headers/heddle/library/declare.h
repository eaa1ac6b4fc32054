/* The functions of CUDA's libraries are lists, each line of which is __HEDDLE_CALL(NAME, (PARAMETERS)). A header of a
   library turns its list into declarations; heddle's runtime turns it into functions that say that they are not
   supported (exec/library.c). No part of a list comes from NVIDIA's headers. */
#ifndef HEDDLE_LIBRARY_DECLARE_H
#define HEDDLE_LIBRARY_DECLARE_H
#include <cuda_runtime.h>

#define __HEDDLE_DECLARE(STATUS, NAME, PARAMETERS) extern "C" STATUS NAME PARAMETERS;

#endif
