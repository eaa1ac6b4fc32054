/* checkCudaErrors and similar functions, which samples use from helper_cuda.h. */
#ifndef HEDDLE_HELPER_CUDA_H
#define HEDDLE_HELPER_CUDA_H

#define checkCudaErrors(x) ((void)(x))
#define getLastCudaError(msg) ((void)(msg), (void)cudaGetLastError())
static inline int findCudaDevice(int, const char **) { return 0; }
static inline int gpuGetMaxGflopsDeviceId() { return 0; }
static inline const char *_cudaGetErrorEnum(cudaError_t e) { return cudaGetErrorName(e); }

#endif
