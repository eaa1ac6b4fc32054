/* The functions of cuBLAS and other libraries of the CUDA toolkit that heddle declares (heddle/library) and does not
   compute. Each says once
   that it is not supported and fails with the status that the library has for that: a program that needs one must not
   seem to work. A program that brings such a function itself, by a library or its own code, uses that: these are weak. */
#define LIBRARY(STATUS, NAME)                             \
  __attribute__((weak)) long NAME(void) {                 \
    heddle_unsupported(#NAME);                            \
    return STATUS;                                        \
  }
#define TEXT(NAME) \
  __attribute__((weak)) const char *NAME(int status) { return status ? "not supported by heddle exec" : "success"; }

#define __HEDDLE_WORK(NAME, PARAMETERS) /* in cublas.c and others */
#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(15, NAME) /* CUBLAS_STATUS_NOT_SUPPORTED */
#include "../heddle/library/cublas.h"
#include "../heddle/library/cublaslt.h"
#undef __HEDDLE_CALL
LIBRARY(15, cublasLtMatrixLayoutInit_internal)
LIBRARY(15, cublasLtMatmulDescInit_internal)
LIBRARY(15, cublasLtMatmulPreferenceInit_internal)
LIBRARY(120900, cublasLtGetVersion)
TEXT(cublasGetStatusName)
TEXT(cublasGetStatusString)
TEXT(cublasLtGetStatusString)

#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(999, NAME) /* CURAND_STATUS_INTERNAL_ERROR */
#include "../heddle/library/curand.h"
#undef __HEDDLE_CALL

#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(16, NAME) /* CUFFT_NOT_SUPPORTED */
#include "../heddle/library/cufft.h"
#undef __HEDDLE_CALL

#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(10, NAME) /* CUSPARSE_STATUS_NOT_SUPPORTED */
#include "../heddle/library/cusparse.h"
#undef __HEDDLE_CALL
LIBRARY(0, cusparseGetMatType) /* these return no status: the first value of each type */
LIBRARY(0, cusparseGetMatFillMode)
LIBRARY(0, cusparseGetMatDiagType)
LIBRARY(0, cusparseGetMatIndexBase)
TEXT(cusparseGetErrorName)
TEXT(cusparseGetErrorString)

#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(9, NAME) /* CUSOLVER_STATUS_NOT_SUPPORTED, and nvJPEG's */
#include "../heddle/library/cusolver.h"
#include "../heddle/library/nvjpeg.h"
#undef __HEDDLE_CALL

#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(3000, NAME) /* CUDNN_STATUS_NOT_SUPPORTED */
#include "../heddle/library/cudnn.h"
#undef __HEDDLE_CALL
LIBRARY(91000, cudnnGetVersion)
TEXT(cudnnGetErrorString)

#define __HEDDLE_CALL(NAME, PARAMETERS) LIBRARY(5, NAME) /* ncclInvalidUsage */
#include "../heddle/library/nccl.h"
#undef __HEDDLE_CALL
TEXT(ncclGetErrorString)
LIBRARY(0, ncclGetLastError)

/* NVML is asked before anything else, and programs go on without it: it has no driver, silently. */
#define __HEDDLE_CALL(NAME, PARAMETERS) \
  __attribute__((weak)) int NAME(void) { return 9; } /* NVML_ERROR_DRIVER_NOT_LOADED */
#include "../heddle/library/nvml.h"
#undef __HEDDLE_CALL
TEXT(nvmlErrorString)

/* The interface of cuBLAS without handles (cublas.h), which fails by what cublasGetError returns. */
#define __HEDDLE_CALL(TYPE, NAME, PARAMETERS) \
  __attribute__((weak)) long heddle_v1_##NAME(void) { \
    heddle_unsupported(#NAME " of cublas.h");   \
    return 1; /* CUBLAS_STATUS_NOT_INITIALIZED */     \
  }
#include "../heddle/library/cublas1.h"
#undef __HEDDLE_CALL
#undef __HEDDLE_WORK
