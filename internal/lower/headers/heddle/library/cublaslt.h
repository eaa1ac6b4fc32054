/* cuBLASLt. */
__HEDDLE_CALL(cublasLtCreate, (cublasLtHandle_t *))
__HEDDLE_CALL(cublasLtDestroy, (cublasLtHandle_t))
__HEDDLE_CALL(cublasLtMatmul, (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,
                               const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t,
                               void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t))
__HEDDLE_CALL(cublasLtMatrixTransform,
              (cublasLtHandle_t, cublasLtMatrixTransformDesc_t, const void *, const void *, cublasLtMatrixLayout_t,
               const void *, const void *, cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t, cudaStream_t))
__HEDDLE_CALL(cublasLtMatrixTransformDescCreate, (cublasLtMatrixTransformDesc_t *, cudaDataType))
__HEDDLE_CALL(cublasLtMatrixTransformDescDestroy, (cublasLtMatrixTransformDesc_t))
__HEDDLE_CALL(cublasLtMatrixTransformDescSetAttribute,
              (cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t, const void *, size_t))
__HEDDLE_CALL(cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType))
__HEDDLE_CALL(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t))
__HEDDLE_CALL(cublasLtMatmulDescSetAttribute, (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t))
__HEDDLE_CALL(cublasLtMatmulDescGetAttribute,
              (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, void *, size_t, size_t *))
__HEDDLE_CALL(cublasLtMatrixLayoutCreate, (cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t))
__HEDDLE_CALL(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t))
__HEDDLE_CALL(cublasLtMatrixLayoutSetAttribute,
              (cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void *, size_t))
__HEDDLE_CALL(cublasLtMatrixLayoutGetAttribute,
              (cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, void *, size_t, size_t *))
__HEDDLE_CALL(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t *))
__HEDDLE_CALL(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t))
__HEDDLE_CALL(cublasLtMatmulPreferenceSetAttribute,
              (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *, size_t))
__HEDDLE_CALL(cublasLtMatmulAlgoGetHeuristic,
              (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
               cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
               cublasLtMatmulHeuristicResult_t *, int *))
__HEDDLE_CALL(cublasLtMatmulAlgoInit, (cublasLtHandle_t, cublasComputeType_t, cudaDataType, cudaDataType, cudaDataType,
                                       cudaDataType, cudaDataType, int, cublasLtMatmulAlgo_t *))
__HEDDLE_CALL(cublasLtMatmulAlgoCheck,
              (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
               cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *,
               cublasLtMatmulHeuristicResult_t *))
__HEDDLE_CALL(cublasLtMatmulAlgoConfigSetAttribute,
              (cublasLtMatmulAlgo_t *, cublasLtMatmulAlgoConfigAttributes_t, const void *, size_t))
__HEDDLE_CALL(cublasLtMatmulAlgoConfigGetAttribute,
              (const cublasLtMatmulAlgo_t *, cublasLtMatmulAlgoConfigAttributes_t, void *, size_t, size_t *))
