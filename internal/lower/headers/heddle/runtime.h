/* The CUDA runtime API as host code uses it. The functions are declared only: heddle check compiles no host code,
   and heddle exec links the program with the runtime in exec/. */
#ifndef HEDDLE_RUNTIME_H
#define HEDDLE_RUNTIME_H

#include "runtime_types.h"

/* nvcc provides these without an #include, from C headers that its own headers include. */
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#ifndef NULL
#define NULL __null
#endif

extern "C" {
#ifndef __CUDA_ARCH__
/* nvcc --default-stream per-thread defines this macro. The runtime finds out which default stream the parts of a program
   use by the one of these that it has. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
__attribute__((weak)) int __heddle_per_thread_default_stream = 1;
#else
__attribute__((weak)) int __heddle_legacy_default_stream = 1;
#endif
#endif

#ifdef __CUDA__
#include "device_runtime.h"
#endif

/* clang compiles kernel<<<...>>>(...) to calls of these. */
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);

cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaMallocManaged(void **, size_t, unsigned int = cudaMemAttachGlobal);
cudaError_t cudaMallocPitch(void **, size_t *, size_t, size_t);
cudaError_t cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *, struct cudaExtent);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaHostAlloc(void **, size_t, unsigned int);
cudaError_t cudaHostRegister(void *, size_t, unsigned int);
cudaError_t cudaHostUnregister(void *);
cudaError_t cudaHostGetDevicePointer(void **, void *, unsigned int);
cudaError_t cudaHostGetFlags(unsigned int *, void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpyPeer(void *, int, const void *, int, size_t);
cudaError_t cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *, cudaStream_t = 0);
cudaError_t cudaMallocArray(cudaArray_t *, const struct cudaChannelFormatDesc *, size_t, size_t = 0, unsigned int = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t *, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned int = 0);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned int, unsigned int = 0);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *, cudaMipmappedArray_const_t, unsigned int);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *, struct cudaExtent *, unsigned int *, cudaArray_t);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *, cudaArray_const_t);
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t, size_t, size_t, const void *, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpyFromArray(void *, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyFromArrayAsync(void *, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind = cudaMemcpyDeviceToDevice);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2DFromArray(void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy2DFromArrayAsync(void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, enum cudaMemcpyKind = cudaMemcpyDeviceToDevice);
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *, cudaTextureObject_t);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *, const struct cudaResourceDesc *, const struct cudaTextureDesc *, const struct cudaResourceViewDesc *);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *, cudaTextureObject_t);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *, cudaTextureObject_t);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *, const struct cudaResourceDesc *);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *, cudaSurfaceObject_t);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemset2D(void *, size_t, int, size_t, size_t);
cudaError_t cudaMemset2DAsync(void *, size_t, int, size_t, size_t, cudaStream_t = 0);
cudaError_t cudaMemset3D(struct cudaPitchedPtr, int, struct cudaExtent);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr, int, struct cudaExtent, cudaStream_t = 0);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0);
cudaError_t cudaMemAdvise(const void *, size_t, enum cudaMemoryAdvise, int);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *, const void *);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
cudaError_t cudaDeviceGetStreamPriorityRange(int *, int *);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *);
cudaError_t cudaDeviceGetPCIBusId(char *, int, int);
cudaError_t cudaDeviceGetByPCIBusId(int *, const char *);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *, int);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *, int);
cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const struct cudaMemPoolProps *);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const struct cudaMemAccessDesc *, size_t);
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *, cudaMemPool_t, struct cudaMemLocation *);
cudaError_t cudaMemPoolExportToShareableHandle(void *, cudaMemPool_t, enum cudaMemAllocationHandleType, unsigned int);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *, void *, enum cudaMemAllocationHandleType, unsigned int);
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *, void *);
cudaError_t cudaMemPoolImportPointer(void **, cudaMemPool_t, struct cudaMemPoolPtrExportData *);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *);
cudaError_t cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t, unsigned int);
cudaError_t cudaIpcCloseMemHandle(void *);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *, cudaEvent_t);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *, cudaIpcEventHandle_t);
cudaError_t cudaDeviceGetP2PAttribute(int *, enum cudaDeviceP2PAttr, int, int);
cudaError_t cudaDeviceGraphMemTrim(int);
cudaError_t cudaDeviceGetGraphMemAttribute(int, enum cudaGraphMemAttributeType, void *);
cudaError_t cudaDeviceSetGraphMemAttribute(int, enum cudaGraphMemAttributeType, void *);
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, struct cudaMemAllocNodeParams *);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *);
cudaError_t cudaDeviceDisablePeerAccess(int);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache);
cudaError_t cudaGetDeviceFlags(unsigned int *);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig);
cudaError_t cudaDeviceSetLimit(enum cudaLimit, size_t);
cudaError_t cudaDeviceGetLimit(size_t *, enum cudaLimit);
cudaError_t cudaDeviceCanAccessPeer(int *, int, int);
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *, int);
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2 /* as CUDA 12 does */
cudaError_t cudaChooseDevice(int *, const struct cudaDeviceProp *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaSetDeviceFlags(unsigned int);
cudaError_t cudaDriverGetVersion(int *);
cudaError_t cudaRuntimeGetVersion(int *);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned int);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *, unsigned int, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamGetPriority(cudaStream_t, int *);
cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaLaunchAttributeID, const cudaLaunchAttributeValue *);
cudaError_t cudaStreamGetAttribute(cudaStream_t, cudaLaunchAttributeID, cudaLaunchAttributeValue *);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned int *);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t = 0, unsigned int = cudaMemAttachSingle);
cudaError_t cudaStreamIsCapturing(cudaStream_t, enum cudaStreamCaptureStatus *);
cudaError_t cudaStreamGetId(cudaStream_t, unsigned long long *);
cudaError_t cudaStreamGetDevice(cudaStream_t, int *);
cudaError_t cudaGetDriverEntryPoint(const char *, void **, unsigned long long, enum cudaDriverEntryPointQueryResult *__r = nullptr);
cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **, unsigned int, unsigned long long, enum cudaDriverEntryPointQueryResult *__r = nullptr);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t, cudaStreamCallback_t, void *, unsigned int);
cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode = cudaStreamCaptureModeGlobal);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, enum cudaStreamCaptureStatus *, unsigned long long * = 0, cudaGraph_t * = 0, const cudaGraphNode_t ** = 0, size_t * = 0);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t *, size_t, unsigned int = 0);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t *, const void *, size_t, enum cudaStreamCaptureMode);
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *);
cudaError_t cudaGraphCreate(cudaGraph_t *, unsigned int);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphClone(cudaGraph_t *, cudaGraph_t);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *, cudaGraphNode_t, cudaGraph_t);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const struct cudaKernelNodeParams *);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const struct cudaMemcpy3DParms *);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const struct cudaMemsetParams *);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const struct cudaHostNodeParams *);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraph_t);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t);
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaEvent_t);
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaEvent_t);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraphNodeParams *);
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t, cudaGraphNodeParams *);
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *, cudaGraph_t, unsigned int = 0, unsigned int = 0);
cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, size_t);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, size_t);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t);
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t *, size_t *);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t, cudaGraphNode_t *, size_t *);
cudaError_t cudaGraphGetEdges(cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, size_t *);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t *, size_t *);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t, cudaGraphNode_t *, size_t *);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, enum cudaGraphNodeType *);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t, struct cudaKernelNodeParams *);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t, const struct cudaKernelNodeParams *);
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t, cudaLaunchAttributeID, const cudaLaunchAttributeValue *);
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t, const struct cudaMemsetParams *);
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t, const struct cudaMemcpy3DParms *);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t, void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t, const struct cudaHostNodeParams *);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t, cudaGraph_t *);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaKernelNodeParams *);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemsetParams *);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemcpy3DParms *);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t, cudaGraphNode_t, void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaHostNodeParams *);
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t, const char *, unsigned int);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void *);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned int);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t = 0, unsigned int = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaFuncSetCacheConfig(const void *, enum cudaFuncCache);
cudaError_t cudaFuncSetSharedMemConfig(const void *, enum cudaSharedMemConfig);
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *, const void *);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *, const void *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, const void *, int, size_t, unsigned int);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *, const void *, int, int);
cudaError_t cudaOccupancyMaxActiveClusters(int *, const void *, const cudaLaunchConfig_t *);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *, const void *, const cudaLaunchConfig_t *);
/* Of heddle's runtime: the largest block, up to a limit, that gives the most threads on a multiprocessor. */
cudaError_t __heddle_cuda_block_size(int *, int *, const void *, size_t, int);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t = 0, enum cudaMemcpyKind = cudaMemcpyHostToDevice);
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t = 0, enum cudaMemcpyKind = cudaMemcpyDeviceToHost);
cudaError_t cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t = 0, enum cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = 0);
cudaError_t cudaMemcpyFromSymbolAsync(void *, const void *, size_t, size_t = 0, enum cudaMemcpyKind = cudaMemcpyDeviceToHost, cudaStream_t = 0);
cudaError_t cudaGetSymbolAddress(void **, const void *);
cudaError_t cudaGetSymbolSize(size_t *, const void *);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, enum cudaChannelFormatKind);
/* These exist on the device too. */
__attribute__((host, device)) cudaError_t cudaDeviceSynchronize(void);
__attribute__((host, device)) cudaError_t cudaGetLastError(void);
__attribute__((host, device)) cudaError_t cudaGetDevice(int *);
}

/* The typed forms of the runtime's C++ interface. They are inlined without lines of their own, so that the return
   address of a call is a place in the user's code. */
#define __HEDDLE_API static __inline__ __attribute__((always_inline, nodebug))
template <class __T> __HEDDLE_API cudaError_t cudaMalloc(__T **__p, size_t __n) { return cudaMalloc((void **)__p, __n); }
#ifdef __CUDA__
template <class __T> __heddle_fn cudaError_t cudaMalloc(__T **__p, size_t __n) { return cudaMalloc((void **)__p, __n); }
#endif
__HEDDLE_API cudaError_t cudaMallocHost(void **__p, size_t __n, unsigned int __f) { return cudaHostAlloc(__p, __n, __f); }
template <class __T> __HEDDLE_API cudaError_t cudaMallocHost(__T **__p, size_t __n, unsigned int __f = 0) { return cudaMallocHost((void **)__p, __n, __f); }
template <class __T> __HEDDLE_API cudaError_t cudaGetDriverEntryPoint(const char *__n, __T **__p, unsigned long long __f, enum cudaDriverEntryPointQueryResult *__r = nullptr) { return cudaGetDriverEntryPoint(__n, (void **)__p, __f, __r); }
template <class __T> __HEDDLE_API cudaError_t cudaMallocManaged(__T **__p, size_t __n, unsigned int __f = cudaMemAttachGlobal) { return cudaMallocManaged((void **)__p, __n, __f); }
template <class __T> __HEDDLE_API cudaError_t cudaMallocPitch(__T **__p, size_t *pitch, size_t w, size_t __h) { return cudaMallocPitch((void **)__p, pitch, w, __h); }
template <class __T> __HEDDLE_API cudaError_t cudaMallocAsync(__T **__p, size_t __n, cudaStream_t __s) { return cudaMallocAsync((void **)__p, __n, __s); }
template <class __T> __HEDDLE_API cudaError_t cudaMallocAsync(__T **__p, size_t __n, cudaMemPool_t __m, cudaStream_t __s) { return cudaMallocFromPoolAsync((void **)__p, __n, __m, __s); }
template <class __T> __HEDDLE_API cudaError_t cudaMallocFromPoolAsync(__T **__p, size_t __n, cudaMemPool_t __m, cudaStream_t __s) { return cudaMallocFromPoolAsync((void **)__p, __n, __m, __s); }
template <class __T> __HEDDLE_API cudaError_t cudaHostAlloc(__T **__p, size_t __n, unsigned int __f) { return cudaHostAlloc((void **)__p, __n, __f); }
template <class __T> __HEDDLE_API cudaError_t cudaHostGetDevicePointer(__T **__d, void *__h, unsigned int __f) { return cudaHostGetDevicePointer((void **)__d, __h, __f); }
template <class __T> __HEDDLE_API cudaError_t cudaMemcpyToSymbol(const __T &__s, const void *__src, size_t __n, size_t off = 0, cudaMemcpyKind __k = cudaMemcpyHostToDevice) { return cudaMemcpyToSymbol((const void *)&__s, __src, __n, off, __k); }
template <class __T> __HEDDLE_API cudaError_t cudaMemcpyFromSymbol(void *__dst, const __T &__s, size_t __n, size_t off = 0, cudaMemcpyKind __k = cudaMemcpyDeviceToHost) { return cudaMemcpyFromSymbol(__dst, (const void *)&__s, __n, off, __k); }
template <class __T> __HEDDLE_API cudaError_t cudaGetSymbolAddress(void **__p, const __T &__s) { return cudaGetSymbolAddress(__p, (const void *)&__s); }
template <class __T> __HEDDLE_API cudaError_t cudaGetSymbolSize(size_t *__n, const __T &__s) { return cudaGetSymbolSize(__n, (const void *)&__s); }
template <class __T> __HEDDLE_API cudaError_t cudaFuncSetCacheConfig(__T *__f, cudaFuncCache __c) { return cudaFuncSetCacheConfig((const void *)__f, __c); }
template <class __T> __HEDDLE_API cudaError_t cudaFuncSetAttribute(__T *__f, cudaFuncAttribute __a, int __v) { return cudaFuncSetAttribute((const void *)__f, __a, __v); }
template <class __T> __HEDDLE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *__to, __T *__f) { return cudaGetFuncBySymbol(__to, (const void *)__f); }
template <class __T> __HEDDLE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *__a, __T *__f) { return cudaFuncGetAttributes(__a, (const void *)__f); }
template <class __T> __HEDDLE_API cudaError_t cudaLaunchKernel(__T *__f, dim3 __g, dim3 __b, void **args, size_t __n = 0, cudaStream_t __s = 0) { return cudaLaunchKernel((const void *)__f, __g, __b, args, __n, __s); }
template <class __T> __HEDDLE_API cudaError_t cudaLaunchCooperativeKernel(__T *__f, dim3 __g, dim3 __b, void **args, size_t __n = 0, cudaStream_t __s = 0) { return cudaLaunchCooperativeKernel((const void *)__f, __g, __b, args, __n, __s); }
template <class __T> __HEDDLE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *__n, __T __f, int __b, size_t __s) { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(__n, (const void *)__f, __b, __s); }
template <class __T> __HEDDLE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *__n, __T __f, int __b, size_t __s, unsigned int __flags) { return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(__n, (const void *)__f, __b, __s, __flags); }
template <class __T> __HEDDLE_API cudaError_t cudaOccupancyMaxActiveClusters(int *__n, __T *__f, const cudaLaunchConfig_t *__c) { return cudaOccupancyMaxActiveClusters(__n, (const void *)__f, __c); }
template <class __T> __HEDDLE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *__n, __T *__f, const cudaLaunchConfig_t *__c) { return cudaOccupancyMaxPotentialClusterSize(__n, (const void *)__f, __c); }
template <class __T> __HEDDLE_API cudaError_t cudaOccupancyMaxPotentialBlockSize(int *__g, int *__b, __T __f, size_t __s = 0, int __limit = 0) { return __heddle_cuda_block_size(__g, __b, (const void *)__f, __s, __limit); }
template <class __T> __HEDDLE_API cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *__g, int *__b, __T __f, size_t __s = 0, int __limit = 0, unsigned int = 0) { return __heddle_cuda_block_size(__g, __b, (const void *)__f, __s, __limit); }
template <class __T> __HEDDLE_API cudaError_t cudaMemcpyToSymbolAsync(const __T &__s, const void *__src, size_t __n, size_t __off = 0, cudaMemcpyKind __k = cudaMemcpyHostToDevice, cudaStream_t __st = 0) { return cudaMemcpyToSymbolAsync((const void *)&__s, __src, __n, __off, __k, __st); }
template <class __T> __HEDDLE_API cudaError_t cudaMemcpyFromSymbolAsync(void *__dst, const __T &__s, size_t __n, size_t __off = 0, cudaMemcpyKind __k = cudaMemcpyDeviceToHost, cudaStream_t __st = 0) { return cudaMemcpyFromSymbolAsync(__dst, (const void *)&__s, __n, __off, __k, __st); }
template <class... __A> __HEDDLE_API cudaError_t __heddle_launch(const cudaLaunchConfig_t *__c, void (*__f)(__A...), __A... __a) {
  void *__p[sizeof...(__a) + 1] = {(void *)&__a...};
  return cudaLaunchKernelExC(__c, (const void *)__f, __p);
}
template <class... __A, class... __B> __HEDDLE_API cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *__c, void (*__f)(__A...), __B &&...__b) { return __heddle_launch<__A...>(__c, __f, (__B &&)__b...); }
/* The forms of CUDA 11 and of CUDA 13. */
__HEDDLE_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t __e, cudaGraph_t __g, cudaGraphNode_t *__n, cudaGraphExecUpdateResult *__r) {
  cudaGraphExecUpdateResultInfo __i;
  cudaError_t __f = cudaGraphExecUpdate(__e, __g, &__i);
  if (__n) *__n = __i.errorNode;
  if (__r) *__r = __i.result;
  return __f;
}
__HEDDLE_API cudaError_t cudaMemAdvise(const void *__p, size_t __n, cudaMemoryAdvise __a, cudaMemLocation __l) { return cudaMemAdvise(__p, __n, __a, __l.type == cudaMemLocationTypeDevice ? __l.id : cudaCpuDeviceId); }
__HEDDLE_API cudaError_t cudaMemPrefetchAsync(const void *__p, size_t __n, cudaMemLocation __l, unsigned int, cudaStream_t __s = 0) { return cudaMemPrefetchAsync(__p, __n, __l.type == cudaMemLocationTypeDevice ? __l.id : cudaCpuDeviceId, __s); }
__HEDDLE_API cudaError_t cudaEventCreate(cudaEvent_t *__e, unsigned int __flags) { return cudaEventCreateWithFlags(__e, __flags); }
__HEDDLE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *__e, cudaGraph_t __g, unsigned long long __flags = 0) { return cudaGraphInstantiateWithFlags(__e, __g, __flags); }
__HEDDLE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *__e, cudaGraph_t __g, cudaGraphNode_t *, char *, size_t) { return cudaGraphInstantiateWithFlags(__e, __g, 0); }
/* The description of a channel holds the bits of each component. */
template <class __T> __HEDDLE_API cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef typename __heddle_mem<__T>::elem __E;
  int __bits = 8 * sizeof(__E), __n = sizeof(__T) / sizeof(__E);
  cudaChannelFormatKind __k = !__heddle_is<__E>::integral ? cudaChannelFormatKindFloat : (__E)-1 < (__E)0 ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
  return cudaCreateChannelDesc(__bits, __n > 1 ? __bits : 0, __n > 2 ? __bits : 0, __n > 3 ? __bits : 0, __k);
}
static __inline__ cudaPos make_cudaPos(size_t __x, size_t __y, size_t __z) { cudaPos __p = {__x, __y, __z}; return __p; }
static inline cudaExtent make_cudaExtent(size_t __w, size_t __h, size_t __d) { cudaExtent __e = {__w, __h, __d}; return __e; }
static inline cudaPitchedPtr make_cudaPitchedPtr(void *__p, size_t pitch, size_t x, size_t y) { cudaPitchedPtr __q = {__p, pitch, x, y}; return __q; }

#endif
