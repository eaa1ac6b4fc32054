/* cuDNN: the functions of the interface with descriptors that programs use. */
#define __HEDDLE_DESCRIPTOR(NAME)                                                    \
  __HEDDLE_CALL(cudnnCreate##NAME##Descriptor, (cudnn##NAME##Descriptor_t *))        \
  __HEDDLE_CALL(cudnnDestroy##NAME##Descriptor, (cudnn##NAME##Descriptor_t))
__HEDDLE_DESCRIPTOR(Tensor)
__HEDDLE_DESCRIPTOR(Filter)
__HEDDLE_DESCRIPTOR(Convolution)
__HEDDLE_DESCRIPTOR(Pooling)
__HEDDLE_DESCRIPTOR(Activation)
__HEDDLE_DESCRIPTOR(LRN)
__HEDDLE_DESCRIPTOR(Dropout)
__HEDDLE_DESCRIPTOR(OpTensor)
__HEDDLE_DESCRIPTOR(ReduceTensor)
#undef __HEDDLE_DESCRIPTOR
__HEDDLE_CALL(cudnnCreate, (cudnnHandle_t *))
__HEDDLE_CALL(cudnnDestroy, (cudnnHandle_t))
__HEDDLE_CALL(cudnnSetStream, (cudnnHandle_t, cudaStream_t))
__HEDDLE_CALL(cudnnGetStream, (cudnnHandle_t, cudaStream_t *))
__HEDDLE_CALL(cudnnSetTensor4dDescriptor, (cudnnTensorDescriptor_t, cudnnTensorFormat_t, cudnnDataType_t, int, int, int,
                                           int))
__HEDDLE_CALL(cudnnSetTensor4dDescriptorEx, (cudnnTensorDescriptor_t, cudnnDataType_t, int, int, int, int, int, int, int,
                                             int))
__HEDDLE_CALL(cudnnSetTensorNdDescriptor, (cudnnTensorDescriptor_t, cudnnDataType_t, int, const int *, const int *))
__HEDDLE_CALL(cudnnSetFilter4dDescriptor, (cudnnFilterDescriptor_t, cudnnDataType_t, cudnnTensorFormat_t, int, int, int,
                                           int))
__HEDDLE_CALL(cudnnSetFilterNdDescriptor, (cudnnFilterDescriptor_t, cudnnDataType_t, cudnnTensorFormat_t, int,
                                           const int *))
__HEDDLE_CALL(cudnnSetConvolution2dDescriptor, (cudnnConvolutionDescriptor_t, int, int, int, int, int, int,
                                                cudnnConvolutionMode_t, cudnnDataType_t))
__HEDDLE_CALL(cudnnSetConvolutionNdDescriptor, (cudnnConvolutionDescriptor_t, int, const int *, const int *, const int *,
                                                cudnnConvolutionMode_t, cudnnDataType_t))
__HEDDLE_CALL(cudnnSetConvolutionMathType, (cudnnConvolutionDescriptor_t, cudnnMathType_t))
__HEDDLE_CALL(cudnnSetConvolutionGroupCount, (cudnnConvolutionDescriptor_t, int))
__HEDDLE_CALL(cudnnGetConvolution2dForwardOutputDim, (cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t,
                                                      cudnnFilterDescriptor_t, int *, int *, int *, int *))
__HEDDLE_CALL(cudnnGetConvolutionForwardAlgorithm_v7,
              (cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
               cudnnTensorDescriptor_t, int, int *, cudnnConvolutionFwdAlgoPerf_t *))
__HEDDLE_CALL(cudnnFindConvolutionForwardAlgorithm,
              (cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
               cudnnTensorDescriptor_t, int, int *, cudnnConvolutionFwdAlgoPerf_t *))
__HEDDLE_CALL(cudnnGetConvolutionForwardWorkspaceSize,
              (cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
               cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t, size_t *))
__HEDDLE_CALL(cudnnConvolutionForward,
              (cudnnHandle_t, const void *, cudnnTensorDescriptor_t, const void *, cudnnFilterDescriptor_t, const void *,
               cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t, void *, size_t, const void *,
               cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnConvolutionBiasActivationForward,
              (cudnnHandle_t, const void *, cudnnTensorDescriptor_t, const void *, cudnnFilterDescriptor_t, const void *,
               cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t, void *, size_t, const void *,
               cudnnTensorDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *, cudnnActivationDescriptor_t,
               cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnGetConvolutionBackwardDataWorkspaceSize,
              (cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
               cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t, size_t *))
__HEDDLE_CALL(cudnnConvolutionBackwardData,
              (cudnnHandle_t, const void *, cudnnFilterDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *,
               cudnnConvolutionDescriptor_t, cudnnConvolutionBwdDataAlgo_t, void *, size_t, const void *,
               cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnGetConvolutionBackwardFilterWorkspaceSize,
              (cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
               cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, size_t *))
__HEDDLE_CALL(cudnnConvolutionBackwardFilter,
              (cudnnHandle_t, const void *, cudnnTensorDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *,
               cudnnConvolutionDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, void *, size_t, const void *,
               cudnnFilterDescriptor_t, void *))
__HEDDLE_CALL(cudnnConvolutionBackwardBias, (cudnnHandle_t, const void *, cudnnTensorDescriptor_t, const void *,
                                             const void *, cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnSetPooling2dDescriptor, (cudnnPoolingDescriptor_t, cudnnPoolingMode_t, cudnnNanPropagation_t, int, int,
                                            int, int, int, int))
__HEDDLE_CALL(cudnnPoolingForward, (cudnnHandle_t, cudnnPoolingDescriptor_t, const void *, cudnnTensorDescriptor_t,
                                    const void *, const void *, cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnPoolingBackward,
              (cudnnHandle_t, cudnnPoolingDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *,
               cudnnTensorDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *, const void *,
               cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnSetActivationDescriptor, (cudnnActivationDescriptor_t, cudnnActivationMode_t, cudnnNanPropagation_t,
                                             double))
__HEDDLE_CALL(cudnnActivationForward, (cudnnHandle_t, cudnnActivationDescriptor_t, const void *, cudnnTensorDescriptor_t,
                                       const void *, const void *, cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnActivationBackward,
              (cudnnHandle_t, cudnnActivationDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *,
               cudnnTensorDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *, const void *,
               cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnSoftmaxForward, (cudnnHandle_t, cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t, const void *,
                                    cudnnTensorDescriptor_t, const void *, const void *, cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnSoftmaxBackward,
              (cudnnHandle_t, cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t, const void *, cudnnTensorDescriptor_t,
               const void *, cudnnTensorDescriptor_t, const void *, const void *, cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnAddTensor, (cudnnHandle_t, const void *, cudnnTensorDescriptor_t, const void *, const void *,
                               cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnTransformTensor, (cudnnHandle_t, const void *, cudnnTensorDescriptor_t, const void *, const void *,
                                     cudnnTensorDescriptor_t, void *))
__HEDDLE_CALL(cudnnSetTensor, (cudnnHandle_t, cudnnTensorDescriptor_t, void *, const void *))
__HEDDLE_CALL(cudnnScaleTensor, (cudnnHandle_t, cudnnTensorDescriptor_t, void *, const void *))
__HEDDLE_CALL(cudnnDeriveBNTensorDescriptor, (cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnBatchNormMode_t))
__HEDDLE_CALL(cudnnBatchNormalizationForwardTraining,
              (cudnnHandle_t, cudnnBatchNormMode_t, const void *, const void *, cudnnTensorDescriptor_t, const void *,
               cudnnTensorDescriptor_t, void *, cudnnTensorDescriptor_t, const void *, const void *, double, void *, void *,
               double, void *, void *))
__HEDDLE_CALL(cudnnBatchNormalizationForwardInference,
              (cudnnHandle_t, cudnnBatchNormMode_t, const void *, const void *, cudnnTensorDescriptor_t, const void *,
               cudnnTensorDescriptor_t, void *, cudnnTensorDescriptor_t, const void *, const void *, const void *,
               const void *, double))
__HEDDLE_CALL(cudnnDropoutGetStatesSize, (cudnnHandle_t, size_t *))
__HEDDLE_CALL(cudnnSetDropoutDescriptor, (cudnnDropoutDescriptor_t, cudnnHandle_t, float, void *, size_t,
                                          unsigned long long))
__HEDDLE_CALL(cudnnSetOpTensorDescriptor, (cudnnOpTensorDescriptor_t, cudnnOpTensorOp_t, cudnnDataType_t,
                                           cudnnNanPropagation_t))
__HEDDLE_CALL(cudnnOpTensor, (cudnnHandle_t, cudnnOpTensorDescriptor_t, const void *, cudnnTensorDescriptor_t, const void *,
                              const void *, cudnnTensorDescriptor_t, const void *, const void *, cudnnTensorDescriptor_t,
                              void *))
