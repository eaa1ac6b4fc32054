/* Types of pointers to functions of the driver API, as cuGetProcAddress returns them: the newest of each. */
#ifndef HEDDLE_CUDA_TYPEDEFS_H
#define HEDDLE_CUDA_TYPEDEFS_H
#include "cuda.h"

#define __HEDDLE_PFN(NAME, VERSION) \
  typedef decltype(&NAME) PFN_##NAME##_v##VERSION; \
  typedef decltype(&NAME) PFN_##NAME;
__HEDDLE_PFN(cuTensorMapEncodeTiled, 12000)
__HEDDLE_PFN(cuTensorMapEncodeIm2col, 12000)
__HEDDLE_PFN(cuTensorMapEncodeIm2colWide, 12080)
__HEDDLE_PFN(cuTensorMapReplaceAddress, 12000)
__HEDDLE_PFN(cuGetErrorString, 6000)
__HEDDLE_PFN(cuGetErrorName, 6000)
__HEDDLE_PFN(cuLaunchKernel, 7000)
__HEDDLE_PFN(cuLaunchKernelEx, 11060)
__HEDDLE_PFN(cuMemGetAddressRange, 3020)
__HEDDLE_PFN(cuPointerGetAttribute, 4000)
#undef __HEDDLE_PFN

#endif
