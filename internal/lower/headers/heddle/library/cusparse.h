/* cuSPARSE: the generic interface, and what is left of the one for each type. */
#define __HEDDLE_SPARSE(L, T)                                                                                            \
  __HEDDLE_CALL(cusparse##L##nnz, (cusparseHandle_t, cusparseDirection_t, int, int, const cusparseMatDescr_t,            \
                                   const T *, int, int *, int *))                                                        \
  __HEDDLE_CALL(cusparse##L##csr2csc, (cusparseHandle_t, int, int, int, const T *, const int *, const int *, T *, int *, \
                                       int *, cusparseAction_t, cusparseIndexBase_t))                                    \
  __HEDDLE_CALL(cusparse##L##csrmv, (cusparseHandle_t, cusparseOperation_t, int, int, int, const T *,                    \
                                     const cusparseMatDescr_t, const T *, const int *, const int *, const T *,           \
                                     const T *, T *))                                                                    \
  __HEDDLE_CALL(cusparse##L##bsrmv, (cusparseHandle_t, cusparseDirection_t, cusparseOperation_t, int, int, int,          \
                                     const T *, const cusparseMatDescr_t, const T *, const int *, const int *, int,      \
                                     const T *, const T *, T *))                                                         \
  __HEDDLE_CALL(cusparse##L##csrilu02_bufferSize, (cusparseHandle_t, int, int, const cusparseMatDescr_t, T *,            \
                                                   const int *, const int *, csrilu02Info_t, int *))                     \
  __HEDDLE_CALL(cusparse##L##csrilu02_analysis, (cusparseHandle_t, int, int, const cusparseMatDescr_t, const T *,        \
                                                 const int *, const int *, csrilu02Info_t, cusparseSolvePolicy_t,        \
                                                 void *))                                                                \
  __HEDDLE_CALL(cusparse##L##csrilu02, (cusparseHandle_t, int, int, const cusparseMatDescr_t, T *, const int *,          \
                                        const int *, csrilu02Info_t, cusparseSolvePolicy_t, void *))                     \
  __HEDDLE_CALL(cusparse##L##csric02_bufferSize, (cusparseHandle_t, int, int, const cusparseMatDescr_t, T *,             \
                                                  const int *, const int *, csric02Info_t, int *))                       \
  __HEDDLE_CALL(cusparse##L##csric02_analysis, (cusparseHandle_t, int, int, const cusparseMatDescr_t, const T *,         \
                                                const int *, const int *, csric02Info_t, cusparseSolvePolicy_t, void *)) \
  __HEDDLE_CALL(cusparse##L##csric02, (cusparseHandle_t, int, int, const cusparseMatDescr_t, T *, const int *,           \
                                       const int *, csric02Info_t, cusparseSolvePolicy_t, void *))                       \
  __HEDDLE_CALL(cusparse##L##gtsv2_nopivot_bufferSizeExt, (cusparseHandle_t, int, int, const T *, const T *, const T *,  \
                                                           const T *, int, size_t *))                                    \
  __HEDDLE_CALL(cusparse##L##gtsv2_nopivot, (cusparseHandle_t, int, int, const T *, const T *, const T *, T *, int,      \
                                             void *))                                                                    \
  __HEDDLE_CALL(cusparse##L##gtsv2StridedBatch_bufferSizeExt,                                                            \
                (cusparseHandle_t, int, const T *, const T *, const T *, const T *, int, int, size_t *))                 \
  __HEDDLE_CALL(cusparse##L##gtsv2StridedBatch,                                                                          \
                (cusparseHandle_t, int, const T *, const T *, const T *, T *, int, int, void *))
__HEDDLE_SPARSE(S, float)
__HEDDLE_SPARSE(D, double)
__HEDDLE_SPARSE(C, cuComplex)
__HEDDLE_SPARSE(Z, cuDoubleComplex)
#undef __HEDDLE_SPARSE
__HEDDLE_CALL(cusparseCreate, (cusparseHandle_t *))
__HEDDLE_CALL(cusparseDestroy, (cusparseHandle_t))
__HEDDLE_CALL(cusparseGetVersion, (cusparseHandle_t, int *))
__HEDDLE_CALL(cusparseSetStream, (cusparseHandle_t, cudaStream_t))
__HEDDLE_CALL(cusparseGetStream, (cusparseHandle_t, cudaStream_t *))
__HEDDLE_CALL(cusparseSetPointerMode, (cusparseHandle_t, cusparsePointerMode_t))
__HEDDLE_CALL(cusparseGetPointerMode, (cusparseHandle_t, cusparsePointerMode_t *))
__HEDDLE_CALL(cusparseCreateMatDescr, (cusparseMatDescr_t *))
__HEDDLE_CALL(cusparseDestroyMatDescr, (cusparseMatDescr_t))
__HEDDLE_CALL(cusparseSetMatType, (cusparseMatDescr_t, cusparseMatrixType_t))
__HEDDLE_CALL(cusparseSetMatFillMode, (cusparseMatDescr_t, cusparseFillMode_t))
__HEDDLE_CALL(cusparseSetMatDiagType, (cusparseMatDescr_t, cusparseDiagType_t))
__HEDDLE_CALL(cusparseSetMatIndexBase, (cusparseMatDescr_t, cusparseIndexBase_t))
__HEDDLE_CALL(cusparseCreateCsrilu02Info, (csrilu02Info_t *))
__HEDDLE_CALL(cusparseDestroyCsrilu02Info, (csrilu02Info_t))
__HEDDLE_CALL(cusparseCreateCsric02Info, (csric02Info_t *))
__HEDDLE_CALL(cusparseDestroyCsric02Info, (csric02Info_t))
__HEDDLE_CALL(cusparseXcsrilu02_zeroPivot, (cusparseHandle_t, csrilu02Info_t, int *))
__HEDDLE_CALL(cusparseXcsric02_zeroPivot, (cusparseHandle_t, csric02Info_t, int *))
__HEDDLE_CALL(cusparseXcoo2csr, (cusparseHandle_t, const int *, int, int, int *, cusparseIndexBase_t))
__HEDDLE_CALL(cusparseXcsr2coo, (cusparseHandle_t, const int *, int, int, int *, cusparseIndexBase_t))
__HEDDLE_CALL(cusparseXcsrsort_bufferSizeExt, (cusparseHandle_t, int, int, int, const int *, const int *, size_t *))
__HEDDLE_CALL(cusparseXcsrsort, (cusparseHandle_t, int, int, int, const cusparseMatDescr_t, const int *, int *, int *,
                                 void *))
__HEDDLE_CALL(cusparseXcoosort_bufferSizeExt, (cusparseHandle_t, int, int, int, const int *, const int *, size_t *))
__HEDDLE_CALL(cusparseXcoosortByRow, (cusparseHandle_t, int, int, int, int *, int *, int *, void *))
__HEDDLE_CALL(cusparseCreateIdentityPermutation, (cusparseHandle_t, int, int *))
__HEDDLE_CALL(cusparseCreateCsr, (cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, void *, void *, void *,
                                  cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType))
__HEDDLE_CALL(cusparseCreateConstCsr, (cusparseConstSpMatDescr_t *, int64_t, int64_t, int64_t, const void *, const void *,
                                       const void *, cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
                                       cudaDataType))
__HEDDLE_CALL(cusparseCreateCsc, (cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, void *, void *, void *,
                                  cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType))
__HEDDLE_CALL(cusparseCreateCoo, (cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, void *, void *, void *,
                                  cusparseIndexType_t, cusparseIndexBase_t, cudaDataType))
__HEDDLE_CALL(cusparseCreateBsr, (cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *,
                                  void *, cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType,
                                  cusparseOrder_t))
__HEDDLE_CALL(cusparseCreateBlockedEll, (cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, int64_t, void *, void *,
                                         cusparseIndexType_t, cusparseIndexBase_t, cudaDataType))
__HEDDLE_CALL(cusparseDestroySpMat, (cusparseConstSpMatDescr_t))
__HEDDLE_CALL(cusparseSpMatGetSize, (cusparseConstSpMatDescr_t, int64_t *, int64_t *, int64_t *))
__HEDDLE_CALL(cusparseSpMatSetAttribute, (cusparseSpMatDescr_t, cusparseSpMatAttribute_t, void *, size_t))
__HEDDLE_CALL(cusparseSpMatSetStridedBatch, (cusparseSpMatDescr_t, int))
__HEDDLE_CALL(cusparseCsrSetPointers, (cusparseSpMatDescr_t, void *, void *, void *))
__HEDDLE_CALL(cusparseCsrSetStridedBatch, (cusparseSpMatDescr_t, int, int64_t, int64_t))
__HEDDLE_CALL(cusparseCscSetPointers, (cusparseSpMatDescr_t, void *, void *, void *))
__HEDDLE_CALL(cusparseCooSetPointers, (cusparseSpMatDescr_t, void *, void *, void *))
__HEDDLE_CALL(cusparseCreateDnMat, (cusparseDnMatDescr_t *, int64_t, int64_t, int64_t, void *, cudaDataType,
                                    cusparseOrder_t))
__HEDDLE_CALL(cusparseDestroyDnMat, (cusparseConstDnMatDescr_t))
__HEDDLE_CALL(cusparseDnMatSetStridedBatch, (cusparseDnMatDescr_t, int, int64_t))
__HEDDLE_CALL(cusparseDnMatSetValues, (cusparseDnMatDescr_t, void *))
__HEDDLE_CALL(cusparseCreateDnVec, (cusparseDnVecDescr_t *, int64_t, void *, cudaDataType))
__HEDDLE_CALL(cusparseDestroyDnVec, (cusparseConstDnVecDescr_t))
__HEDDLE_CALL(cusparseDnVecSetValues, (cusparseDnVecDescr_t, void *))
__HEDDLE_CALL(cusparseCreateSpVec, (cusparseSpVecDescr_t *, int64_t, int64_t, void *, void *, cusparseIndexType_t,
                                    cusparseIndexBase_t, cudaDataType))
__HEDDLE_CALL(cusparseDestroySpVec, (cusparseConstSpVecDescr_t))
__HEDDLE_CALL(cusparseAxpby, (cusparseHandle_t, const void *, cusparseConstSpVecDescr_t, const void *,
                              cusparseDnVecDescr_t))
__HEDDLE_CALL(cusparseGather, (cusparseHandle_t, cusparseConstDnVecDescr_t, cusparseSpVecDescr_t))
__HEDDLE_CALL(cusparseScatter, (cusparseHandle_t, cusparseConstSpVecDescr_t, cusparseDnVecDescr_t))
__HEDDLE_CALL(cusparseSpVV_bufferSize, (cusparseHandle_t, cusparseOperation_t, cusparseConstSpVecDescr_t,
                                        cusparseConstDnVecDescr_t, const void *, cudaDataType, size_t *))
__HEDDLE_CALL(cusparseSpVV, (cusparseHandle_t, cusparseOperation_t, cusparseConstSpVecDescr_t,
                             cusparseConstDnVecDescr_t, void *, cudaDataType, void *))
__HEDDLE_CALL(cusparseSpMV_bufferSize, (cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                        cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
                                        cusparseSpMVAlg_t, size_t *))
__HEDDLE_CALL(cusparseSpMV_preprocess, (cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                        cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
                                        cusparseSpMVAlg_t, void *))
__HEDDLE_CALL(cusparseSpMV, (cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                             cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType,
                             cusparseSpMVAlg_t, void *))
__HEDDLE_CALL(cusparseSpMM_bufferSize, (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
                                        cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *,
                                        cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, size_t *))
__HEDDLE_CALL(cusparseSpMM_preprocess, (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
                                        cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *,
                                        cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, void *))
__HEDDLE_CALL(cusparseSpMM, (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
                             cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t,
                             cudaDataType, cusparseSpMMAlg_t, void *))
__HEDDLE_CALL(cusparseSDDMM_bufferSize, (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
                                         cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void *,
                                         cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t, size_t *))
__HEDDLE_CALL(cusparseSDDMM_preprocess, (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
                                         cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void *,
                                         cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t, void *))
__HEDDLE_CALL(cusparseSDDMM, (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
                              cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseSpMatDescr_t,
                              cudaDataType, cusparseSDDMMAlg_t, void *))
__HEDDLE_CALL(cusparseSpGEMM_createDescr, (cusparseSpGEMMDescr_t *))
__HEDDLE_CALL(cusparseSpGEMM_destroyDescr, (cusparseSpGEMMDescr_t))
__HEDDLE_CALL(cusparseSpGEMM_workEstimation,
              (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
               cusparseConstSpMatDescr_t, const void *, cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,
               cusparseSpGEMMDescr_t, size_t *, void *))
__HEDDLE_CALL(cusparseSpGEMM_compute,
              (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
               cusparseConstSpMatDescr_t, const void *, cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,
               cusparseSpGEMMDescr_t, size_t *, void *))
__HEDDLE_CALL(cusparseSpGEMM_copy,
              (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
               cusparseConstSpMatDescr_t, const void *, cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,
               cusparseSpGEMMDescr_t))
__HEDDLE_CALL(cusparseSpSV_createDescr, (cusparseSpSVDescr_t *))
__HEDDLE_CALL(cusparseSpSV_destroyDescr, (cusparseSpSVDescr_t))
__HEDDLE_CALL(cusparseSpSV_bufferSize,
              (cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
               cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t, size_t *))
__HEDDLE_CALL(cusparseSpSV_analysis,
              (cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
               cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t, void *))
__HEDDLE_CALL(cusparseSpSV_solve,
              (cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
               cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t))
__HEDDLE_CALL(cusparseSpSM_createDescr, (cusparseSpSMDescr_t *))
__HEDDLE_CALL(cusparseSpSM_destroyDescr, (cusparseSpSMDescr_t))
__HEDDLE_CALL(cusparseSpSM_bufferSize,
              (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
               cusparseConstDnMatDescr_t, cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t,
               size_t *))
__HEDDLE_CALL(cusparseSpSM_analysis,
              (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
               cusparseConstDnMatDescr_t, cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t,
               void *))
__HEDDLE_CALL(cusparseSpSM_solve,
              (cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
               cusparseConstDnMatDescr_t, cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t))
__HEDDLE_CALL(cusparseDenseToSparse_bufferSize, (cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                                                 cusparseDenseToSparseAlg_t, size_t *))
__HEDDLE_CALL(cusparseDenseToSparse_analysis, (cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                                               cusparseDenseToSparseAlg_t, void *))
__HEDDLE_CALL(cusparseDenseToSparse_convert, (cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                                              cusparseDenseToSparseAlg_t, void *))
__HEDDLE_CALL(cusparseSparseToDense_bufferSize, (cusparseHandle_t, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                                                 cusparseSparseToDenseAlg_t, size_t *))
__HEDDLE_CALL(cusparseSparseToDense, (cusparseHandle_t, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                                      cusparseSparseToDenseAlg_t, void *))
__HEDDLE_CALL(cusparseCsr2cscEx2_bufferSize,
              (cusparseHandle_t, int, int, int, const void *, const int *, const int *, void *, int *, int *, cudaDataType,
               cusparseAction_t, cusparseIndexBase_t, cusparseCsr2CscAlg_t, size_t *))
__HEDDLE_CALL(cusparseCsr2cscEx2,
              (cusparseHandle_t, int, int, int, const void *, const int *, const int *, void *, int *, int *, cudaDataType,
               cusparseAction_t, cusparseIndexBase_t, cusparseCsr2CscAlg_t, void *))
