/* cuBLAS: the functions of levels 1 to 3 for each type, and the extensions that programs use. */
#define __HEDDLE_BLAS_ANY(L, l, T)                                                                                      \
  __HEDDLE_WORK(cublas##L##axpy, (cublasHandle_t, int, const T *, const T *, int, T *, int))                            \
  __HEDDLE_WORK(cublas##L##copy, (cublasHandle_t, int, const T *, int, T *, int))                                       \
  __HEDDLE_WORK(cublas##L##swap, (cublasHandle_t, int, T *, int, T *, int))                                             \
  __HEDDLE_WORK(cublas##L##scal, (cublasHandle_t, int, const T *, T *, int))                                            \
  __HEDDLE_WORK(cublasI##l##amax, (cublasHandle_t, int, const T *, int, int *))                                         \
  __HEDDLE_WORK(cublasI##l##amin, (cublasHandle_t, int, const T *, int, int *))                                         \
  __HEDDLE_WORK(cublas##L##gemv, (cublasHandle_t, cublasOperation_t, int, int, const T *, const T *, int, const T *,    \
                                  int, const T *, T *, int))                                                            \
  __HEDDLE_CALL(cublas##L##gbmv, (cublasHandle_t, cublasOperation_t, int, int, int, int, const T *, const T *, int,     \
                                  const T *, int, const T *, T *, int))                                                 \
  __HEDDLE_WORK(cublas##L##trmv, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int,           \
                                  const T *, int, T *, int))                                                            \
  __HEDDLE_WORK(cublas##L##trsv, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int,           \
                                  const T *, int, T *, int))                                                            \
  __HEDDLE_WORK(cublas##L##symv, (cublasHandle_t, cublasFillMode_t, int, const T *, const T *, int, const T *, int,     \
                                  const T *, T *, int))                                                                 \
  __HEDDLE_CALL(cublas##L##syr, (cublasHandle_t, cublasFillMode_t, int, const T *, const T *, int, T *, int))           \
  __HEDDLE_WORK(cublas##L##gemm, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *,       \
                                  const T *, int, const T *, int, const T *, T *, int))                                 \
  __HEDDLE_WORK(cublas##L##gemmBatched,                                                                                 \
                (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *, const T *const[], int, \
                 const T *const[], int, const T *, T *const[], int, int))                                               \
  __HEDDLE_WORK(cublas##L##gemmStridedBatched,                                                                          \
                (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *, const T *, int,        \
                 long long, const T *, int, long long, const T *, T *, int, long long, int))                            \
  __HEDDLE_WORK(cublas##L##symm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T *, const T *,   \
                                  int, const T *, int, const T *, T *, int))                                            \
  __HEDDLE_WORK(cublas##L##syrk, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *,  \
                                  int, const T *, T *, int))                                                            \
  __HEDDLE_WORK(cublas##L##syr2k, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *, \
                                   int, const T *, int, const T *, T *, int))                                           \
  __HEDDLE_WORK(cublas##L##trmm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,                \
                                  cublasDiagType_t, int, int, const T *, const T *, int, const T *, int, T *, int))     \
  __HEDDLE_WORK(cublas##L##trsm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,                \
                                  cublasDiagType_t, int, int, const T *, const T *, int, T *, int))                     \
  __HEDDLE_WORK(cublas##L##trsmBatched,                                                                                 \
                (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int, int,     \
                 const T *, const T *const[], int, T *const[], int, int))                                               \
  __HEDDLE_WORK(cublas##L##geam, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, const T *, const T *, \
                                  int, const T *, const T *, int, T *, int))                                            \
  __HEDDLE_WORK(cublas##L##dgmm, (cublasHandle_t, cublasSideMode_t, int, int, const T *, int, const T *, int, T *,      \
                                  int))                                                                                 \
  __HEDDLE_WORK(cublas##L##getrfBatched, (cublasHandle_t, int, T *const[], int, int *, int *, int))                     \
  __HEDDLE_WORK(cublas##L##getriBatched, (cublasHandle_t, int, const T *const[], int, const int *, T *const[], int,     \
                                          int *, int))                                                                  \
  __HEDDLE_WORK(cublas##L##getrsBatched, (cublasHandle_t, cublasOperation_t, int, int, const T *const[], int,           \
                                          const int *, T *const[], int, int *, int))                                    \
  __HEDDLE_CALL(cublas##L##gelsBatched, (cublasHandle_t, cublasOperation_t, int, int, int, T *const[], int, T *const[], \
                                         int, int *, int *, int))                                                       \
  __HEDDLE_WORK(cublas##L##matinvBatched, (cublasHandle_t, int, const T *const[], int, T *const[], int, int *, int))
#define __HEDDLE_BLAS_REAL(L, l, T)                                                                                     \
  __HEDDLE_BLAS_ANY(L, l, T)                                                                                            \
  __HEDDLE_WORK(cublas##L##dot, (cublasHandle_t, int, const T *, int, const T *, int, T *))                             \
  __HEDDLE_WORK(cublas##L##nrm2, (cublasHandle_t, int, const T *, int, T *))                                            \
  __HEDDLE_WORK(cublas##L##asum, (cublasHandle_t, int, const T *, int, T *))                                            \
  __HEDDLE_WORK(cublas##L##rot, (cublasHandle_t, int, T *, int, T *, int, const T *, const T *))                        \
  __HEDDLE_CALL(cublas##L##rotg, (cublasHandle_t, T *, T *, T *, T *))                                                  \
  __HEDDLE_WORK(cublas##L##ger, (cublasHandle_t, int, int, const T *, const T *, int, const T *, int, T *, int))
#define __HEDDLE_BLAS_COMPLEX(L, l, T, R)                                                                               \
  __HEDDLE_BLAS_ANY(L, l, T)                                                                                            \
  __HEDDLE_WORK(cublas##L##dotu, (cublasHandle_t, int, const T *, int, const T *, int, T *))                            \
  __HEDDLE_WORK(cublas##L##dotc, (cublasHandle_t, int, const T *, int, const T *, int, T *))                            \
  __HEDDLE_WORK(cublas##L##geru, (cublasHandle_t, int, int, const T *, const T *, int, const T *, int, T *, int))       \
  __HEDDLE_WORK(cublas##L##gerc, (cublasHandle_t, int, int, const T *, const T *, int, const T *, int, T *, int))       \
  __HEDDLE_WORK(cublas##L##hemm, (cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T *, const T *,   \
                                  int, const T *, int, const T *, T *, int))                                            \
  __HEDDLE_WORK(cublas##L##hemv, (cublasHandle_t, cublasFillMode_t, int, const T *, const T *, int, const T *, int,     \
                                  const T *, T *, int))                                                                 \
  __HEDDLE_WORK(cublas##L##herk, (cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const R *, const T *,  \
                                  int, const R *, T *, int))
__HEDDLE_BLAS_REAL(S, s, float)
__HEDDLE_BLAS_REAL(D, d, double)
__HEDDLE_BLAS_COMPLEX(C, c, cuComplex, float)
__HEDDLE_BLAS_COMPLEX(Z, z, cuDoubleComplex, double)
#undef __HEDDLE_BLAS_ANY
#undef __HEDDLE_BLAS_REAL
#undef __HEDDLE_BLAS_COMPLEX
__HEDDLE_WORK(cublasCreate, (cublasHandle_t *))
__HEDDLE_WORK(cublasDestroy, (cublasHandle_t))
__HEDDLE_WORK(cublasGetVersion, (cublasHandle_t, int *))
__HEDDLE_WORK(cublasGetProperty, (libraryPropertyType, int *))
__HEDDLE_WORK(cublasSetStream, (cublasHandle_t, cudaStream_t))
__HEDDLE_WORK(cublasGetStream, (cublasHandle_t, cudaStream_t *))
__HEDDLE_WORK(cublasSetWorkspace, (cublasHandle_t, void *, size_t))
__HEDDLE_WORK(cublasSetPointerMode, (cublasHandle_t, cublasPointerMode_t))
__HEDDLE_WORK(cublasGetPointerMode, (cublasHandle_t, cublasPointerMode_t *))
__HEDDLE_WORK(cublasSetAtomicsMode, (cublasHandle_t, cublasAtomicsMode_t))
__HEDDLE_WORK(cublasGetAtomicsMode, (cublasHandle_t, cublasAtomicsMode_t *))
__HEDDLE_WORK(cublasSetMathMode, (cublasHandle_t, cublasMath_t))
__HEDDLE_WORK(cublasGetMathMode, (cublasHandle_t, cublasMath_t *))
__HEDDLE_WORK(cublasSetSmCountTarget, (cublasHandle_t, int))
__HEDDLE_WORK(cublasLoggerConfigure, (int, int, int, const char *))
__HEDDLE_WORK(cublasSetVector, (int, int, const void *, int, void *, int))
__HEDDLE_WORK(cublasGetVector, (int, int, const void *, int, void *, int))
__HEDDLE_WORK(cublasSetMatrix, (int, int, int, const void *, int, void *, int))
__HEDDLE_WORK(cublasGetMatrix, (int, int, int, const void *, int, void *, int))
__HEDDLE_WORK(cublasSetVectorAsync, (int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_WORK(cublasGetVectorAsync, (int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_WORK(cublasSetMatrixAsync, (int, int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_WORK(cublasGetMatrixAsync, (int, int, int, const void *, int, void *, int, cudaStream_t))
__HEDDLE_WORK(cublasScnrm2, (cublasHandle_t, int, const cuComplex *, int, float *))
__HEDDLE_WORK(cublasDznrm2, (cublasHandle_t, int, const cuDoubleComplex *, int, double *))
__HEDDLE_WORK(cublasScasum, (cublasHandle_t, int, const cuComplex *, int, float *))
__HEDDLE_WORK(cublasDzasum, (cublasHandle_t, int, const cuDoubleComplex *, int, double *))
__HEDDLE_WORK(cublasCsscal, (cublasHandle_t, int, const float *, cuComplex *, int))
__HEDDLE_WORK(cublasZdscal, (cublasHandle_t, int, const double *, cuDoubleComplex *, int))
__HEDDLE_WORK(cublasHgemm, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const __half *,
                            const __half *, int, const __half *, int, const __half *, __half *, int))
__HEDDLE_WORK(cublasHgemmBatched,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const __half *, const __half *const[],
               int, const __half *const[], int, const __half *, __half *const[], int, int))
__HEDDLE_WORK(cublasHgemmStridedBatched,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const __half *, const __half *, int,
               long long, const __half *, int, long long, const __half *, __half *, int, long long, int))
__HEDDLE_WORK(cublasSgemmEx, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float *,
                              const void *, cudaDataType, int, const void *, cudaDataType, int, const float *, void *,
                              cudaDataType, int))
__HEDDLE_WORK(cublasCgemmEx, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const cuComplex *,
                              const void *, cudaDataType, int, const void *, cudaDataType, int, const cuComplex *, void *,
                              cudaDataType, int))
__HEDDLE_WORK(cublasCgemm3m, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const cuComplex *,
                              const cuComplex *, int, const cuComplex *, int, const cuComplex *, cuComplex *, int))
__HEDDLE_WORK(cublasGemmEx, (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                             const void *, cudaDataType, int, const void *, cudaDataType, int, const void *, void *,
                             cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t))
__HEDDLE_WORK(cublasGemmBatchedEx,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *, const void *const[],
               cudaDataType, int, const void *const[], cudaDataType, int, const void *, void *const[], cudaDataType, int,
               int, cublasComputeType_t, cublasGemmAlgo_t))
__HEDDLE_WORK(cublasGemmStridedBatchedEx,
              (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *, const void *,
               cudaDataType, int, long long, const void *, cudaDataType, int, long long, const void *, void *,
               cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t))
__HEDDLE_WORK(cublasAxpyEx, (cublasHandle_t, int, const void *, cudaDataType, const void *, cudaDataType, int, void *,
                             cudaDataType, int, cudaDataType))
__HEDDLE_WORK(cublasDotEx, (cublasHandle_t, int, const void *, cudaDataType, int, const void *, cudaDataType, int, void *,
                            cudaDataType, cudaDataType))
__HEDDLE_WORK(cublasNrm2Ex, (cublasHandle_t, int, const void *, cudaDataType, int, void *, cudaDataType, cudaDataType))
__HEDDLE_WORK(cublasScalEx, (cublasHandle_t, int, const void *, cudaDataType, void *, cudaDataType, int, cudaDataType))
