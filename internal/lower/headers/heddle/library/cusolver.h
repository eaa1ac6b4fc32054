/* cuSOLVER: the dense functions that programs use, for each type, and the sparse solvers by QR and Cholesky. */
#define __HEDDLE_SOLVER(L, T)                                                                                            \
  __HEDDLE_CALL(cusolverDn##L##getrf_bufferSize, (cusolverDnHandle_t, int, int, T *, int, int *))                        \
  __HEDDLE_CALL(cusolverDn##L##getrf, (cusolverDnHandle_t, int, int, T *, int, T *, int *, int *))                       \
  __HEDDLE_CALL(cusolverDn##L##getrs, (cusolverDnHandle_t, cublasOperation_t, int, int, const T *, int, const int *,     \
                                       T *, int, int *))                                                                 \
  __HEDDLE_CALL(cusolverDn##L##potrf_bufferSize, (cusolverDnHandle_t, cublasFillMode_t, int, T *, int, int *))           \
  __HEDDLE_CALL(cusolverDn##L##potrf, (cusolverDnHandle_t, cublasFillMode_t, int, T *, int, T *, int, int *))            \
  __HEDDLE_CALL(cusolverDn##L##potrs, (cusolverDnHandle_t, cublasFillMode_t, int, int, const T *, int, T *, int, int *)) \
  __HEDDLE_CALL(cusolverDn##L##potrfBatched, (cusolverDnHandle_t, cublasFillMode_t, int, T *[], int, int *, int))        \
  __HEDDLE_CALL(cusolverDn##L##geqrf_bufferSize, (cusolverDnHandle_t, int, int, T *, int, int *))                        \
  __HEDDLE_CALL(cusolverDn##L##geqrf, (cusolverDnHandle_t, int, int, T *, int, T *, T *, int, int *))                    \
  __HEDDLE_CALL(cusolverDn##L##ormqr_bufferSize,                                                                         \
                (cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int, int, const T *, int, const T *,      \
                 const T *, int, int *))                                                                                 \
  __HEDDLE_CALL(cusolverDn##L##ormqr, (cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int, int,           \
                                       const T *, int, const T *, T *, int, T *, int, int *))                            \
  __HEDDLE_CALL(cusolverDn##L##gesvd_bufferSize, (cusolverDnHandle_t, int, int, int *))
#define __HEDDLE_SOLVER_EIGEN(L, T, R, NAME)                                                                             \
  __HEDDLE_CALL(cusolverDn##L##gesvd, (cusolverDnHandle_t, signed char, signed char, int, int, T *, int, R *, T *, int,  \
                                       T *, int, T *, int, R *, int *))                                                  \
  __HEDDLE_CALL(cusolverDn##L##gesvdj_bufferSize,                                                                        \
                (cusolverDnHandle_t, cusolverEigMode_t, int, int, int, const T *, int, const R *, const T *, int,        \
                 const T *, int, int *, gesvdjInfo_t))                                                                   \
  __HEDDLE_CALL(cusolverDn##L##gesvdj, (cusolverDnHandle_t, cusolverEigMode_t, int, int, int, T *, int, R *, T *, int,   \
                                        T *, int, T *, int, int *, gesvdjInfo_t))                                        \
  __HEDDLE_CALL(cusolverDn##L##NAME##evd_bufferSize, (cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int,      \
                                                      const T *, int, const R *, int *))                                 \
  __HEDDLE_CALL(cusolverDn##L##NAME##evd, (cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, T *, int, R *,  \
                                           T *, int, int *))                                                             \
  __HEDDLE_CALL(cusolverDn##L##NAME##evj_bufferSize, (cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int,      \
                                                      const T *, int, const R *, int *, syevjInfo_t))                    \
  __HEDDLE_CALL(cusolverDn##L##NAME##evj, (cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, T *, int, R *,  \
                                           T *, int, int *, syevjInfo_t))                                                \
  __HEDDLE_CALL(cusolverDn##L##NAME##evjBatched_bufferSize,                                                              \
                (cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, const T *, int, const R *, int *,         \
                 syevjInfo_t, int))                                                                                      \
  __HEDDLE_CALL(cusolverDn##L##NAME##evjBatched, (cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, T *,     \
                                                  int, R *, T *, int, int *, syevjInfo_t, int))                          \
  __HEDDLE_CALL(cusolverSp##L##csrlsvqr, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const T *,             \
                                          const int *, const int *, const T *, R, int, T *, int *))                      \
  __HEDDLE_CALL(cusolverSp##L##csrlsvchol, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const T *,           \
                                            const int *, const int *, const T *, R, int, T *, int *))                    \
  __HEDDLE_CALL(cusolverSp##L##csrlsvluHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const T *,         \
                                              const int *, const int *, const T *, R, int, T *, int *))                  \
  __HEDDLE_CALL(cusolverSp##L##csrlsvqrHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const T *,         \
                                              const int *, const int *, const T *, R, int, T *, int *))                  \
  __HEDDLE_CALL(cusolverSp##L##csrlsvcholHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const T *,       \
                                                const int *, const int *, const T *, R, int, T *, int *))                \
  __HEDDLE_CALL(cusolverSp##L##csrzfdHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const T *,           \
                                            const int *, const int *, int *, int *))
__HEDDLE_SOLVER(S, float)
__HEDDLE_SOLVER(D, double)
__HEDDLE_SOLVER(C, cuComplex)
__HEDDLE_SOLVER(Z, cuDoubleComplex)
__HEDDLE_SOLVER_EIGEN(S, float, float, sy)
__HEDDLE_SOLVER_EIGEN(D, double, double, sy)
__HEDDLE_SOLVER_EIGEN(C, cuComplex, float, he)
__HEDDLE_SOLVER_EIGEN(Z, cuDoubleComplex, double, he)
#undef __HEDDLE_SOLVER
#undef __HEDDLE_SOLVER_EIGEN
__HEDDLE_CALL(cusolverDnCreate, (cusolverDnHandle_t *))
__HEDDLE_CALL(cusolverDnDestroy, (cusolverDnHandle_t))
__HEDDLE_CALL(cusolverDnSetStream, (cusolverDnHandle_t, cudaStream_t))
__HEDDLE_CALL(cusolverDnCreateParams, (cusolverDnParams_t *))
__HEDDLE_CALL(cusolverDnDestroyParams, (cusolverDnParams_t))
__HEDDLE_CALL(cusolverDnCreateSyevjInfo, (syevjInfo_t *))
__HEDDLE_CALL(cusolverDnDestroySyevjInfo, (syevjInfo_t))
__HEDDLE_CALL(cusolverDnXsyevjSetTolerance, (syevjInfo_t, double))
__HEDDLE_CALL(cusolverDnXsyevjSetMaxSweeps, (syevjInfo_t, int))
__HEDDLE_CALL(cusolverDnXsyevjSetSortEig, (syevjInfo_t, int))
__HEDDLE_CALL(cusolverDnCreateGesvdjInfo, (gesvdjInfo_t *))
__HEDDLE_CALL(cusolverDnDestroyGesvdjInfo, (gesvdjInfo_t))
__HEDDLE_CALL(cusolverDnXgesvdjSetTolerance, (gesvdjInfo_t, double))
__HEDDLE_CALL(cusolverDnXgesvdjSetMaxSweeps, (gesvdjInfo_t, int))
__HEDDLE_CALL(cusolverSpCreate, (cusolverSpHandle_t *))
__HEDDLE_CALL(cusolverSpDestroy, (cusolverSpHandle_t))
__HEDDLE_CALL(cusolverSpSetStream, (cusolverSpHandle_t, cudaStream_t))
__HEDDLE_CALL(cusolverSpGetStream, (cusolverSpHandle_t, cudaStream_t *))
__HEDDLE_CALL(cusolverSpXcsrissymHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const int *, const int *,
                                        const int *, int *))
__HEDDLE_CALL(cusolverSpXcsrsymmdqHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const int *, const int *,
                                         int *))
__HEDDLE_CALL(cusolverSpXcsrmetisndHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const int *, const int *,
                                          const int64_t *, int *))
__HEDDLE_CALL(cusolverSpXcsrsymrcmHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const int *, const int *,
                                         int *))
__HEDDLE_CALL(cusolverSpXcsrsymamdHost, (cusolverSpHandle_t, int, int, const cusparseMatDescr_t, const int *, const int *,
                                         int *))
__HEDDLE_CALL(cusolverSpXcsrperm_bufferSizeHost, (cusolverSpHandle_t, int, int, int, const cusparseMatDescr_t, const int *,
                                                  const int *, const int *, const int *, size_t *))
__HEDDLE_CALL(cusolverSpXcsrpermHost, (cusolverSpHandle_t, int, int, int, const cusparseMatDescr_t, int *, int *,
                                       const int *, const int *, int *, void *))
