/* cuBLAS: the functions of levels 1 to 3 for each type, and the extensions that programs use. */
#define __HEDDLE_BLAS_ANY(L, l, T)                                                                                      \
  __HEDDLE_CALL(cublas##L##axpy, (cublasHandle_t, int, const T *, const T *, int, T *, int))                            \
  __HEDDLE_CALL(cublas##L##copy, (cublasHandle_t, int, const T *, int, T *, int))                                       \
  __HEDDLE_CALL(cublas##L##swap, (cublasHandle_t, int, T *, int, T *, int))                                             \
  __HEDDLE_CALL(cublas##L##scal, (cublasHandle_t, int, const T *, T *, int))                                            \
  __HEDDLE_CALL(cublasI##l##amax, (cublasHandle_t, int, const T *, int, int *))                                         \
  __HEDDLE_CALL(cublasI##l##amin, (cublasHandle_t, int, const T *, int, int *))                                         \
  __HEDDLE_CALL(cublas##L##gemv, (cublasHandle_t, cublasOperation_t, int, int, const T *, const T *, int, const T *,    \
                                  int, const T *, T *, int))                                                            \
  __HEDDLE_CALL(cublas##L##gbmv, (cublasHandle_t, cublasOperation_t, int, int, int, int, const T *, const T *, int,     \
                                  const T *, int, const T *, T *, int))                                                 \
  __HEDDLE_CALL(cublas##L##trmv, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int,           \
                                  const T *, int, T *, int))                                                            \
  __HEDDLE_CALL(cublas##L##trsv, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int,           \
                                  const T *, int, T *, int))                                                            \
  __HEDDLE_CALL(cublas##L##symv, (cublasHandle_t, cublasFillMode_t, int, const T *, const T *, int, const T *, int,     \
                                  const T *, T *, int))                                                                 \
  __HEDDLE_CALL(cublas##L##syr, (cublasHandle_t, cublasFillMode_t, int, const T *, const T *, int, T *, int))           \
  __HEDDLE_CALL(cublas##L##gemm, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *,       \
                                  const T *, int, const T *, int, const T *, T *, int))                                 \
  __HEDDLE_CALL(cublas##L##gemmBatched,                                                                                 \
                (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *, const T *const[], int, \
                 const T *const[], int, const T *, T *const[], int, int))                                               \
  __HEDDLE_CALL(cublas##L##gemmStridedBatched,                                                                          \
                (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *, const T *, int,        \
                 long long, const T *, int, long long, const T *, T *, int, long long, int))                            \
  __HEDDLE_CALL(cublas##L##symm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T *, const T *,   \
                                  int, const T *, int, const T *, T *, int))                                            \
  __HEDDLE_CALL(cublas##L##syrk, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *,  \
                                  int, const T *, T *, int))                                                            \
  __HEDDLE_CALL(cublas##L##syr2k, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *, \
                                   int, const T *, int, const T *, T *, int))                                           \
  __HEDDLE_CALL(cublas##L##trmm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,                \
                                  cublasDiagType_t, int, int, const T *, const T *, int, const T *, int, T *, int))     \
  __HEDDLE_CALL(cublas##L##trsm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,                \
                                  cublasDiagType_t, int, int, const T *, const T *, int, T *, int))                     \
  __HEDDLE_CALL(cublas##L##trsmBatched,                                                                                 \
                (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int, int,     \
                 const T *, const T *const[], int, T *const[], int, int))                                               \
  __HEDDLE_CALL(cublas##L##geam, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, const T *, const T *, \
                                  int, const T *, const T *, int, T *, int))                                            \
  __HEDDLE_CALL(cublas##L##dgmm, (cublasHandle_t, cublasSideMode_t, int, int, const T *, int, const T *, int, T *,      \
                                  int))                                                                                 \
  __HEDDLE_CALL(cublas##L##getrfBatched, (cublasHandle_t, int, T *const[], int, int *, int *, int))                     \
  __HEDDLE_CALL(cublas##L##getriBatched, (cublasHandle_t, int, const T *const[], int, const int *, T *const[], int,     \
                                          int *, int))                                                                  \
  __HEDDLE_CALL(cublas##L##getrsBatched, (cublasHandle_t, cublasOperation_t, int, int, const T *const[], int,           \
                                          const int *, T *const[], int, int *, int))                                    \
  __HEDDLE_CALL(cublas##L##gelsBatched, (cublasHandle_t, cublasOperation_t, int, int, int, T *const[], int, T *const[], \
                                         int, int *, int *, int))                                                       \
  __HEDDLE_CALL(cublas##L##matinvBatched, (cublasHandle_t, int, const T *const[], int, T *const[], int, int *, int))
#define __HEDDLE_BLAS_REAL(L, l, T)                                                                                     \
  __HEDDLE_BLAS_ANY(L, l, T)                                                                                            \
  __HEDDLE_CALL(cublas##L##dot, (cublasHandle_t, int, const T *, int, const T *, int, T *))                             \
  __HEDDLE_CALL(cublas##L##nrm2, (cublasHandle_t, int, const T *, int, T *))                                            \
  __HEDDLE_CALL(cublas##L##asum, (cublasHandle_t, int, const T *, int, T *))                                            \
  __HEDDLE_CALL(cublas##L##rot, (cublasHandle_t, int, T *, int, T *, int, const T *, const T *))                        \
  __HEDDLE_CALL(cublas##L##rotg, (cublasHandle_t, T *, T *, T *, T *))                                                  \
  __HEDDLE_CALL(cublas##L##ger, (cublasHandle_t, int, int, const T *, const T *, int, const T *, int, T *, int))
#define __HEDDLE_BLAS_COMPLEX(L, l, T, R)                                                                               \
  __HEDDLE_BLAS_ANY(L, l, T)                                                                                            \
  __HEDDLE_CALL(cublas##L##dotu, (cublasHandle_t, int, const T *, int, const T *, int, T *))                            \
  __HEDDLE_CALL(cublas##L##dotc, (cublasHandle_t, int, const T *, int, const T *, int, T *))                            \
  __HEDDLE_CALL(cublas##L##geru, (cublasHandle_t, int, int, const T *, const T *, int, const T *, int, T *, int))       \
  __HEDDLE_CALL(cublas##L##gerc, (cublasHandle_t, int, int, const T *, const T *, int, const T *, int, T *, int))       \
  __HEDDLE_CALL(cublas##L##hemm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T *, const T *,   \
                                  int, const T *, int, const T *, T *, int))                                            \
  __HEDDLE_CALL(cublas##L##hemv, (cublasHandle_t, cublasFillMode_t, int, const T *, const T *, int, const T *, int,     \
                                  const T *, T *, int))                                                                 \
  __HEDDLE_CALL(cublas##L##herk, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const R *, const T *,  \
                                  int, const R *, T *, int))
__HEDDLE_BLAS_REAL(S, s, float)
__HEDDLE_BLAS_REAL(D, d, double)
__HEDDLE_BLAS_COMPLEX(C, c, cuComplex, float)
__HEDDLE_BLAS_COMPLEX(Z, z, cuDoubleComplex, double)
#undef __HEDDLE_BLAS_ANY
#undef __HEDDLE_BLAS_REAL
#undef __HEDDLE_BLAS_COMPLEX
__HEDDLE_CALL(cublasCreate, (cublasHandle_t *))
__HEDDLE_CALL(cublasDestroy, (cublasHandle_t))
__HEDDLE_CALL(cublasGetVersion, (cublasHandle_t, int *))
__HEDDLE_CALL(cublasGetProperty, (libraryPropertyType, int *))
__HEDDLE_CALL(cublasSetStream, (cublasHandle_t, cudaStream_t))
__HEDDLE_CALL(cublasGetStream, (cublasHandle_t, cudaStream_t *))
__HEDDLE_CALL(cublasSetWorkspace, (cublasHandle_t, void *, size_t))
__HEDDLE_CALL(cublasSetPointerMode, (cublasHandle_t, cublasPointerMode_t))
__HEDDLE_CALL(cublasGetPointerMode, (cublasHandle_t, cublasPointerMode_t *))
__HEDDLE_CALL(cublasSetAtomicsMode, (cublasHandle_t, cublasAtomicsMode_t))
__HEDDLE_CALL(cublasGetAtomicsMode, (cublasHandle_t, cublasAtomicsMode_t *))
__HEDDLE_CALL(cublasSetMathMode, (cublasHandle_t, cublasMath_t))
__HEDDLE_CALL(cublasGetMathMode, (cublasHandle_t, cublasMath_t *))
__HEDDLE_CALL(cublasSetSmCountTarget, (cublasHandle_t, int))
__HEDDLE_CALL(cublasLoggerConfigure, (int, int, int, const char *))
__HEDDLE_CALL(cublasSetVector, (int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasGetVector, (int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasSetMatrix, (int, int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasGetMatrix, (int, int, int, const void *, int, void *, int))
__HEDDLE_CALL(cublasSetVectorAsync, (int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_CALL(cublasGetVectorAsync, (int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_CALL(cublasSetMatrixAsync, (int, int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_CALL(cublasGetMatrixAsync, (int, int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_CALL(cublasScnrm2, (cublasHandle_t, int, const cuComplex *, int, float *))
__HEDDLE_CALL(cublasDznrm2, (cublasHandle_t, int, const cuDoubleComplex *, int, double *))
__HEDDLE_CALL(cublasScasum, (cublasHandle_t, int, const cuComplex *, int, float *))
__HEDDLE_CALL(cublasDzasum, (cublasHandle_t, int, const cuDoubleComplex *, int, double *))
__HEDDLE_CALL(cublasCsscal, (cublasHandle_t, int, const float *, cuComplex *, int))
__HEDDLE_CALL(cublasZdscal, (cublasHandle_t, int, const double *, cuDoubleComplex *, int))
__HEDDLE_CALL(cublasHgemm, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const __half *,
                            const __half *, int, const __half *, int, const __half *, __half *, int))
__HEDDLE_CALL(cublasHgemmBatched,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const __half *, const __half *const[],
               int, const __half *const[], int, const __half *, __half *const[], int, int))
__HEDDLE_CALL(cublasHgemmStridedBatched,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const __half *, const __half *, int,
               long long, const __half *, int, long long, const __half *, __half *, int, long long, int))
__HEDDLE_CALL(cublasSgemmEx, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float *,
                              const void *, cudaDataType, int, const void *, cudaDataType, int, const float *, void *,
                              cudaDataType, int))
__HEDDLE_CALL(cublasCgemmEx, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const cuComplex *,
                              const void *, cudaDataType, int, const void *, cudaDataType, int, const cuComplex *, void *,
                              cudaDataType, int))
__HEDDLE_CALL(cublasCgemm3m, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const cuComplex *,
                              const cuComplex *, int, const cuComplex *, int, const cuComplex *, cuComplex *, int))
__HEDDLE_CALL(cublasGemmEx, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                             const void *, cudaDataType, int, const void *, cudaDataType, int, const void *, void *,
                             cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t))
__HEDDLE_CALL(cublasGemmBatchedEx,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *, const void *const[],
               cudaDataType, int, const void *const[], cudaDataType, int, const void *, void *const[], cudaDataType, int,
               int, cublasComputeType_t, cublasGemmAlgo_t))
__HEDDLE_CALL(cublasGemmStridedBatchedEx,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *, const void *,
               cudaDataType, int, long long, const void *, cudaDataType, int, long long, const void *, void *,
               cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t))
__HEDDLE_CALL(cublasAxpyEx, (cublasHandle_t, int, const void *, cudaDataType, const void *, cudaDataType, int, void *,
                             cudaDataType, int, cudaDataType))
__HEDDLE_CALL(cublasDotEx, (cublasHandle_t, int, const void *, cudaDataType, int, const void *, cudaDataType, int, void *,
                            cudaDataType, cudaDataType))
__HEDDLE_CALL(cublasNrm2Ex, (cublasHandle_t, int, const void *, cudaDataType, int, void *, cudaDataType, cudaDataType))
__HEDDLE_CALL(cublasScalEx, (cublasHandle_t, int, const void *, cudaDataType, void *, cudaDataType, int, cudaDataType))
