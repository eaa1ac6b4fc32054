/* cuBLAS, as its documentation describes it: types and declarations. */
#ifndef HEDDLE_CUBLAS_API_H
#define HEDDLE_CUBLAS_API_H
#pragma clang system_header
#include "../heddle/library/declare.h"
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <library_types.h>

#define CUBLAS_API_H_ /* by these guards helper_cuda.h of the samples finds the statuses */
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 9
#define CUBLAS_VERSION 120900
#define CUBLASAPI
#define CUBLASWINAPI

typedef struct cublasContext *cublasHandle_t;
typedef enum {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = CUBLAS_OP_C, CUBLAS_OP_CONJG } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71, CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
#define __HEDDLE_ALGO(N) CUBLAS_GEMM_ALGO##N = N, CUBLAS_GEMM_ALGO##N##_TENSOR_OP = 100 + N
typedef enum {
  CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1,
  __HEDDLE_ALGO(0), __HEDDLE_ALGO(1), __HEDDLE_ALGO(2), __HEDDLE_ALGO(3), __HEDDLE_ALGO(4), __HEDDLE_ALGO(5),
  __HEDDLE_ALGO(6), __HEDDLE_ALGO(7), __HEDDLE_ALGO(8), __HEDDLE_ALGO(9), __HEDDLE_ALGO(10), __HEDDLE_ALGO(11),
  __HEDDLE_ALGO(12), __HEDDLE_ALGO(13), __HEDDLE_ALGO(14), __HEDDLE_ALGO(15),
  CUBLAS_GEMM_ALGO16 = 16, CUBLAS_GEMM_ALGO17, CUBLAS_GEMM_ALGO18, CUBLAS_GEMM_ALGO19, CUBLAS_GEMM_ALGO20,
  CUBLAS_GEMM_ALGO21, CUBLAS_GEMM_ALGO22, CUBLAS_GEMM_ALGO23,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_AUTOTUNE = 100
} cublasGemmAlgo_t;
#undef __HEDDLE_ALGO

#define __HEDDLE_CALL(NAME, PARAMETERS) __HEDDLE_DECLARE(cublasStatus_t, NAME, PARAMETERS)
#define __HEDDLE_WORK __HEDDLE_CALL
#include "../heddle/library/cublas.h"
#undef __HEDDLE_CALL
#undef __HEDDLE_WORK
extern "C" const char *cublasGetStatusName(cublasStatus_t);
extern "C" const char *cublasGetStatusString(cublasStatus_t);

/* Before CUDA 11 the type of the computation was a type of data. */
static inline cublasStatus_t cublasGemmEx(cublasHandle_t __h, cublasOperation_t __ta, cublasOperation_t __tb, int __m,
    int __n, int __k, const void *__alpha, const void *__a, cudaDataType __at, int __lda, const void *__b,
    cudaDataType __bt, int __ldb, const void *__beta, void *__c, cudaDataType __ct, int __ldc, cudaDataType __type,
    cublasGemmAlgo_t __algo) {
  return cublasGemmEx(__h, __ta, __tb, __m, __n, __k, __alpha, __a, __at, __lda, __b, __bt, __ldb, __beta, __c, __ct,
                      __ldc, __type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, __algo);
}
static inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t __h, cublasOperation_t __ta,
    cublasOperation_t __tb, int __m, int __n, int __k, const void *__alpha, const void *__a, cudaDataType __at, int __lda,
    long long __sa, const void *__b, cudaDataType __bt, int __ldb, long long __sb, const void *__beta, void *__c,
    cudaDataType __ct, int __ldc, long long __sc, int __count, cudaDataType __type, cublasGemmAlgo_t __algo) {
  return cublasGemmStridedBatchedEx(__h, __ta, __tb, __m, __n, __k, __alpha, __a, __at, __lda, __sa, __b, __bt, __ldb,
                                    __sb, __beta, __c, __ct, __ldc, __sc, __count,
                                    __type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, __algo);
}
static inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t __h, cublasOperation_t __ta, cublasOperation_t __tb,
    int __m, int __n, int __k, const void *__alpha, const void *const __a[], cudaDataType __at, int __lda,
    const void *const __b[], cudaDataType __bt, int __ldb, const void *__beta, void *const __c[], cudaDataType __ct,
    int __ldc, int __count, cudaDataType __type, cublasGemmAlgo_t __algo) {
  return cublasGemmBatchedEx(__h, __ta, __tb, __m, __n, __k, __alpha, __a, __at, __lda, __b, __bt, __ldb, __beta, __c,
                             __ct, __ldc, __count, __type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, __algo);
}

/* The names with a version are those of the library's symbols. */
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasCgemm_v2 cublasCgemm
#define cublasZgemm_v2 cublasZgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy
#define cublasSdot_v2 cublasSdot
#define cublasDdot_v2 cublasDdot
#define cublasSnrm2_v2 cublasSnrm2
#define cublasDnrm2_v2 cublasDnrm2
#define cublasSscal_v2 cublasSscal
#define cublasDscal_v2 cublasDscal

#endif
