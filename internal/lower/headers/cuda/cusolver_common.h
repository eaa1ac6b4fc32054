/* cuSOLVER, as its documentation describes it: types and declarations. heddle exec does not compute with it. */
#ifndef HEDDLE_CUSOLVER_H
#define HEDDLE_CUSOLVER_H
#pragma clang system_header
#include <cublas_api.h>
#include <cusparse.h>

#define CUSOLVER_COMMON_H_
#define CUSOLVER_VER_MAJOR 11
#define CUSOLVER_VERSION 11700
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverSpContext *cusolverSpHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef int cusolver_int_t;
typedef enum {
  CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_NOT_INITIALIZED, CUSOLVER_STATUS_ALLOC_FAILED, CUSOLVER_STATUS_INVALID_VALUE,
  CUSOLVER_STATUS_ARCH_MISMATCH, CUSOLVER_STATUS_MAPPING_ERROR, CUSOLVER_STATUS_EXECUTION_FAILED,
  CUSOLVER_STATUS_INTERNAL_ERROR, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSOLVER_STATUS_NOT_SUPPORTED,
  CUSOLVER_STATUS_ZERO_PIVOT, CUSOLVER_STATUS_INVALID_LICENSE
} cusolverStatus_t;
typedef enum { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3 } cusolverEigType_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR } cusolverEigMode_t;

#define __HEDDLE_CALL(NAME, PARAMETERS) __HEDDLE_DECLARE(cusolverStatus_t, NAME, PARAMETERS)
#include "../heddle/library/cusolver.h"
#undef __HEDDLE_CALL

#endif
