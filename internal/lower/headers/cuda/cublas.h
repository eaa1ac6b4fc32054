/* The interface of cuBLAS without handles, if the other one was not included before. */
#ifndef HEDDLE_CUBLAS_API_H
#define HEDDLE_CUBLAS_API_H
#pragma clang system_header
#include "../heddle/library/declare.h"
#include <cuComplex.h>
#include <library_types.h>

#define CUBLAS_VERSION 120900
typedef unsigned int cublasStatus;
#define CUBLAS_STATUS_SUCCESS 0
#define CUBLAS_STATUS_NOT_INITIALIZED 1
#define CUBLAS_STATUS_ALLOC_FAILED 3
#define CUBLAS_STATUS_INVALID_VALUE 7
#define CUBLAS_STATUS_ARCH_MISMATCH 8
#define CUBLAS_STATUS_MAPPING_ERROR 11
#define CUBLAS_STATUS_EXECUTION_FAILED 13
#define CUBLAS_STATUS_INTERNAL_ERROR 14
typedef cublasStatus cublasStatus_t;
/* Their symbols are others than those of the functions with handles, which have the same names. */
#define __HEDDLE_CALL(TYPE, NAME, PARAMETERS) extern "C" TYPE NAME PARAMETERS __asm__("heddle_v1_" #NAME);
#include "../heddle/library/cublas1.h"
#undef __HEDDLE_CALL

#endif
