/* nvJPEG: decoding and encoding of single images. */
__HEDDLE_CALL(nvjpegCreateSimple, (nvjpegHandle_t *))
__HEDDLE_CALL(nvjpegCreate, (nvjpegBackend_t, void *, nvjpegHandle_t *))
__HEDDLE_CALL(nvjpegCreateEx, (nvjpegBackend_t, nvjpegDevAllocator_t *, nvjpegPinnedAllocator_t *, unsigned int,
                               nvjpegHandle_t *))
__HEDDLE_CALL(nvjpegDestroy, (nvjpegHandle_t))
__HEDDLE_CALL(nvjpegJpegStateCreate, (nvjpegHandle_t, nvjpegJpegState_t *))
__HEDDLE_CALL(nvjpegJpegStateDestroy, (nvjpegJpegState_t))
__HEDDLE_CALL(nvjpegGetImageInfo, (nvjpegHandle_t, const unsigned char *, size_t, int *, nvjpegChromaSubsampling_t *, int *,
                                   int *))
__HEDDLE_CALL(nvjpegDecode, (nvjpegHandle_t, nvjpegJpegState_t, const unsigned char *, size_t, nvjpegOutputFormat_t,
                             nvjpegImage_t *, cudaStream_t))
__HEDDLE_CALL(nvjpegDecodeBatchedInitialize, (nvjpegHandle_t, nvjpegJpegState_t, int, int, nvjpegOutputFormat_t))
__HEDDLE_CALL(nvjpegDecodeBatched, (nvjpegHandle_t, nvjpegJpegState_t, const unsigned char *const *, const size_t *,
                                    nvjpegImage_t *, cudaStream_t))
__HEDDLE_CALL(nvjpegEncoderStateCreate, (nvjpegHandle_t, nvjpegEncoderState_t *, cudaStream_t))
__HEDDLE_CALL(nvjpegEncoderStateDestroy, (nvjpegEncoderState_t))
__HEDDLE_CALL(nvjpegEncoderParamsCreate, (nvjpegHandle_t, nvjpegEncoderParams_t *, cudaStream_t))
__HEDDLE_CALL(nvjpegEncoderParamsDestroy, (nvjpegEncoderParams_t))
__HEDDLE_CALL(nvjpegEncoderParamsSetQuality, (nvjpegEncoderParams_t, int, cudaStream_t))
__HEDDLE_CALL(nvjpegEncoderParamsSetOptimizedHuffman, (nvjpegEncoderParams_t, int, cudaStream_t))
__HEDDLE_CALL(nvjpegEncoderParamsSetSamplingFactors, (nvjpegEncoderParams_t, nvjpegChromaSubsampling_t, cudaStream_t))
__HEDDLE_CALL(nvjpegEncodeImage, (nvjpegHandle_t, nvjpegEncoderState_t, const nvjpegEncoderParams_t, const nvjpegImage_t *,
                                  nvjpegInputFormat_t, int, int, cudaStream_t))
__HEDDLE_CALL(nvjpegEncodeRetrieveBitstream, (nvjpegHandle_t, nvjpegEncoderState_t, unsigned char *, size_t *,
                                              cudaStream_t))
