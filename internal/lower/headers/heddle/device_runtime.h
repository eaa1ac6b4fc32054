/* The device runtime, by which kernels launch kernels (grid.h), with C linkage. What the emulator does not execute is
   unsupported by its name there. */
#ifndef HEDDLE_DEVICE_RUNTIME_H
#define HEDDLE_DEVICE_RUNTIME_H

#define __heddle_runtime __attribute__((device))
__heddle_runtime void *cudaGetParameterBuffer(size_t, size_t);
__heddle_runtime cudaError_t cudaLaunchDevice(void *, void *, dim3, dim3, unsigned, cudaStream_t);
__heddle_runtime void *cudaGetParameterBufferV2(void *, dim3, dim3, unsigned);
__heddle_runtime cudaError_t cudaLaunchDeviceV2(void *, cudaStream_t);
__heddle_runtime cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance();
__heddle_runtime cudaError_t cudaPeekAtLastError(void);
__heddle_runtime const char *cudaGetErrorString(cudaError_t);
__heddle_runtime const char *cudaGetErrorName(cudaError_t);
__heddle_runtime cudaError_t cudaMalloc(void **, size_t);
__heddle_runtime cudaError_t cudaFree(void *);
__heddle_runtime cudaError_t cudaGetDeviceCount(int *);
__heddle_runtime cudaError_t cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
__heddle_runtime cudaError_t cudaDeviceGetLimit(size_t *, enum cudaLimit);
__heddle_runtime cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned int);
__heddle_runtime cudaError_t cudaStreamDestroy(cudaStream_t);
__heddle_runtime cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0);
__heddle_runtime cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned int);
__heddle_runtime cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
__heddle_runtime cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t = 0, unsigned int = 0);
__heddle_runtime cudaError_t cudaEventDestroy(cudaEvent_t);
__heddle_runtime cudaGraphExec_t cudaGetCurrentGraphExec(void);
__heddle_runtime cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
__heddle_runtime cudaError_t cudaMemcpyAsync(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
__heddle_runtime cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
#undef __heddle_runtime

#endif
