/* The functions of CUDA's libraries are lists, each line of which is __HEDDLE_WORK(NAME, (PARAMETERS)) for one that heddle
   exec computes, and else __HEDDLE_CALL(NAME, (PARAMETERS)). A header of a library turns its list into declarations.
   heddle's runtime turns the second kind into functions that say that they are not supported (exec/library.c), and has
   the first kind in files of its own. No part of a list comes from NVIDIA's headers. */
#ifndef HEDDLE_LIBRARY_DECLARE_H
#define HEDDLE_LIBRARY_DECLARE_H
#include <cuda_runtime.h>

#define __HEDDLE_DECLARE(STATUS, NAME, PARAMETERS) extern "C" STATUS NAME PARAMETERS;

#endif
