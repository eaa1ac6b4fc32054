/* nvJPEG, as its documentation describes it: types and declarations. heddle exec does not compute with it. */
#ifndef HEDDLE_NVJPEG_H
#define HEDDLE_NVJPEG_H
#pragma clang system_header
#include "../heddle/library/declare.h"
#include <library_types.h>

#define NVJPEG_MAX_COMPONENT 4
#define NVJPEG_FLAGS_DEFAULT 0
typedef struct nvjpegHandle *nvjpegHandle_t;
typedef struct nvjpegJpegState *nvjpegJpegState_t;
typedef struct nvjpegEncoderState *nvjpegEncoderState_t;
typedef struct nvjpegEncoderParams *nvjpegEncoderParams_t;
typedef enum {
  NVJPEG_STATUS_SUCCESS, NVJPEG_STATUS_NOT_INITIALIZED, NVJPEG_STATUS_INVALID_PARAMETER, NVJPEG_STATUS_BAD_JPEG,
  NVJPEG_STATUS_JPEG_NOT_SUPPORTED, NVJPEG_STATUS_ALLOCATOR_FAILURE, NVJPEG_STATUS_EXECUTION_FAILED,
  NVJPEG_STATUS_ARCH_MISMATCH, NVJPEG_STATUS_INTERNAL_ERROR, NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED
} nvjpegStatus_t;
typedef enum {
  NVJPEG_CSS_444, NVJPEG_CSS_422, NVJPEG_CSS_420, NVJPEG_CSS_440, NVJPEG_CSS_411, NVJPEG_CSS_410, NVJPEG_CSS_GRAY,
  NVJPEG_CSS_410V, NVJPEG_CSS_UNKNOWN = -1
} nvjpegChromaSubsampling_t;
typedef enum {
  NVJPEG_OUTPUT_UNCHANGED, NVJPEG_OUTPUT_YUV, NVJPEG_OUTPUT_Y, NVJPEG_OUTPUT_RGB, NVJPEG_OUTPUT_BGR, NVJPEG_OUTPUT_RGBI,
  NVJPEG_OUTPUT_BGRI
} nvjpegOutputFormat_t;
typedef enum { NVJPEG_INPUT_RGB = 3, NVJPEG_INPUT_BGR = 4, NVJPEG_INPUT_RGBI = 5, NVJPEG_INPUT_BGRI = 6 } nvjpegInputFormat_t;
typedef enum {
  NVJPEG_BACKEND_DEFAULT, NVJPEG_BACKEND_HYBRID, NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_BACKEND_HARDWARE
} nvjpegBackend_t;
typedef struct { unsigned char *channel[NVJPEG_MAX_COMPONENT]; size_t pitch[NVJPEG_MAX_COMPONENT]; } nvjpegImage_t;
typedef int (*tDevMalloc)(void **, size_t);
typedef int (*tDevFree)(void *);
typedef int (*tPinnedMalloc)(void **, size_t, unsigned int);
typedef int (*tPinnedFree)(void *);
typedef struct { tDevMalloc dev_malloc; tDevFree dev_free; } nvjpegDevAllocator_t;
typedef struct { tPinnedMalloc pinned_malloc; tPinnedFree pinned_free; } nvjpegPinnedAllocator_t;

#define __HEDDLE_CALL(NAME, PARAMETERS) __HEDDLE_DECLARE(nvjpegStatus_t, NAME, PARAMETERS)
#include "../heddle/library/nvjpeg.h"
#undef __HEDDLE_CALL

#endif
