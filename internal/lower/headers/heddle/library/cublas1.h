/* The interface of cuBLAS without handles. */
#define __HEDDLE_BLAS1(L, l, T)                                                                                         \
  __HEDDLE_CALL(void, cublas##L##axpy, (int, T, const T *, int, T *, int))                                              \
  __HEDDLE_CALL(void, cublas##L##copy, (int, const T *, int, T *, int))                                                 \
  __HEDDLE_CALL(void, cublas##L##swap, (int, T *, int, T *, int))                                                       \
  __HEDDLE_CALL(void, cublas##L##scal, (int, T, T *, int))                                                              \
  __HEDDLE_CALL(int, cublasI##l##amax, (int, const T *, int))                                                           \
  __HEDDLE_CALL(int, cublasI##l##amin, (int, const T *, int))                                                           \
  __HEDDLE_CALL(void, cublas##L##gemv, (char, int, int, T, const T *, int, const T *, int, T, T *, int))                \
  __HEDDLE_CALL(void, cublas##L##gemm, (char, char, int, int, int, T, const T *, int, const T *, int, T, T *, int))     \
  __HEDDLE_CALL(void, cublas##L##symm, (char, char, int, int, T, const T *, int, const T *, int, T, T *, int))          \
  __HEDDLE_CALL(void, cublas##L##syrk, (char, char, int, int, T, const T *, int, T, T *, int))                          \
  __HEDDLE_CALL(void, cublas##L##trsm, (char, char, char, char, int, int, T, const T *, int, T *, int))
#define __HEDDLE_BLAS1_REAL(L, l, T)                                                                                    \
  __HEDDLE_BLAS1(L, l, T)                                                                                               \
  __HEDDLE_CALL(T, cublas##L##dot, (int, const T *, int, const T *, int))                                               \
  __HEDDLE_CALL(T, cublas##L##nrm2, (int, const T *, int))                                                              \
  __HEDDLE_CALL(T, cublas##L##asum, (int, const T *, int))                                                              \
  __HEDDLE_CALL(void, cublas##L##ger, (int, int, T, const T *, int, const T *, int, T *, int))
__HEDDLE_BLAS1_REAL(S, s, float)
__HEDDLE_BLAS1_REAL(D, d, double)
__HEDDLE_BLAS1(C, c, cuComplex)
__HEDDLE_BLAS1(Z, z, cuDoubleComplex)
#undef __HEDDLE_BLAS1
#undef __HEDDLE_BLAS1_REAL
__HEDDLE_CALL(cublasStatus, cublasInit, (void))
__HEDDLE_CALL(cublasStatus, cublasShutdown, (void))
__HEDDLE_CALL(cublasStatus, cublasGetError, (void))
__HEDDLE_CALL(cublasStatus, cublasAlloc, (int, int, void **))
__HEDDLE_CALL(cublasStatus, cublasFree, (void *))
__HEDDLE_CALL(cublasStatus, cublasSetKernelStream, (cudaStream_t))
__HEDDLE_CALL(cublasStatus, cublasSetVector, (int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasStatus, cublasGetVector, (int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasStatus, cublasSetMatrix, (int, int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasStatus, cublasGetMatrix, (int, int, int, const void *, int, void *, int))
