/* The types and constants of the CUDA runtime API, as C and C++ read them: host code of the user, and heddle's
   own runtime (exec/), which is C. Values are those of the CUDA Runtime API reference. dim3 is declared before. */
#ifndef HEDDLE_RUNTIME_TYPES_H
#define HEDDLE_RUNTIME_TYPES_H

typedef __SIZE_TYPE__ size_t;

/* Each error with its value and the text of cudaGetErrorString. */
#define HEDDLE_CUDA_ERRORS(X)                                                                             \
  X(cudaSuccess, 0, "no error")                                                                           \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                         \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                        \
  X(cudaErrorInitializationError, 3, "initialization error")                                              \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                  \
  X(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")                \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                   \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                             \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                  \
  X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                              \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                          \
  X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                             \
  X(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                              \
  X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                  \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                             \
  X(cudaErrorAddressOfConstant, 22, "the address of constant memory cannot be taken")                     \
  X(cudaErrorTextureFetchFailed, 23, "a texture fetch failed")                                            \
  X(cudaErrorTextureNotBound, 24, "texture is not bound")                                                 \
  X(cudaErrorSynchronizationError, 25, "a synchronization operation failed")                              \
  X(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")               \
  X(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for 32-bit non float type")  \
  X(cudaErrorMixedDeviceExecution, 28, "device emulation and device execution cannot be mixed")           \
  X(cudaErrorNotYetImplemented, 31, "not implemented")                                                    \
  X(cudaErrorMemoryValueTooLarge, 32, "the emulated address is too large")                                \
  X(cudaErrorStubLibrary, 34, "the driver is a stub library")                                             \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")      \
  X(cudaErrorCallRequiresNewerDriver, 36, "the call requires a newer driver")                             \
  X(cudaErrorInvalidSurface, 37, "invalid surface reference")                                             \
  X(cudaErrorDuplicateVariableName, 43, "duplicate variable name")                                        \
  X(cudaErrorDuplicateTextureName, 44, "duplicate texture name")                                          \
  X(cudaErrorDuplicateSurfaceName, 45, "duplicate surface name")                                          \
  X(cudaErrorDevicesUnavailable, 46, "all devices are busy or unavailable")                               \
  X(cudaErrorIncompatibleDriverContext, 49, "the current context is incompatible with the runtime")       \
  X(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                      \
  X(cudaErrorPriorLaunchFailure, 53, "a previous launch failed")                                          \
  X(cudaErrorLaunchMaxDepthExceeded, 65, "a launch of the device would exceed the maximal depth")         \
  X(cudaErrorLaunchFileScopedTex, 66, "a kernel with textures at file scope cannot be launched by the device") \
  X(cudaErrorLaunchFileScopedSurf, 67, "a kernel with surfaces at file scope cannot be launched by the device") \
  X(cudaErrorSyncDepthExceeded, 68, "the depth of synchronization by the device is exceeded")             \
  X(cudaErrorLaunchPendingCountExceeded, 69, "too many launches of the device are pending")               \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                        \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                         \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                \
  X(cudaErrorDeviceNotLicensed, 102, "the device has no valid licence")                                   \
  X(cudaErrorSoftwareValidityNotEstablished, 103, "a self test of the device failed")                     \
  X(cudaErrorStartupFailure, 127, "the runtime could not start")                                          \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                   \
  X(cudaErrorDeviceUninitialized, 201, "there is no valid device context")                                \
  X(cudaErrorMapBufferObjectFailed, 205, "a resource could not be mapped")                                \
  X(cudaErrorUnmapBufferObjectFailed, 206, "a resource could not be unmapped")                            \
  X(cudaErrorArrayIsMapped, 207, "the array is mapped")                                                   \
  X(cudaErrorAlreadyMapped, 208, "the resource is mapped already")                                        \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")     \
  X(cudaErrorAlreadyAcquired, 210, "the resource is acquired already")                                    \
  X(cudaErrorNotMapped, 211, "the resource is not mapped")                                                \
  X(cudaErrorNotMappedAsArray, 212, "the resource is not mapped as an array")                             \
  X(cudaErrorNotMappedAsPointer, 213, "the resource is not mapped as a pointer")                          \
  X(cudaErrorECCUncorrectable, 214, "an ECC error could not be corrected")                                \
  X(cudaErrorUnsupportedLimit, 215, "the device does not support this limit")                             \
  X(cudaErrorDeviceAlreadyInUse, 216, "another thread uses the device exclusively")                       \
  X(cudaErrorPeerAccessUnsupported, 217, "the devices do not support peer access")                        \
  X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                             \
  X(cudaErrorInvalidGraphicsContext, 219, "invalid graphics context")                                     \
  X(cudaErrorNvlinkUncorrectable, 220, "an NVLink error could not be corrected")                          \
  X(cudaErrorJitCompilerNotFound, 221, "the PTX compiler was not found")                                  \
  X(cudaErrorUnsupportedPtxVersion, 222, "the PTX is of an unsupported version")                          \
  X(cudaErrorJitCompilationDisabled, 223, "the PTX compiler is disabled")                                 \
  X(cudaErrorUnsupportedExecAffinity, 224, "the device does not support this execution affinity")         \
  X(cudaErrorUnsupportedDevSideSync, 225, "cudaDeviceSynchronize is not supported on the device")         \
  X(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                        \
  X(cudaErrorFileNotFound, 301, "file not found")                                                         \
  X(cudaErrorSharedObjectSymbolNotFound, 302, "a symbol of a shared object was not found")                \
  X(cudaErrorSharedObjectInitFailed, 303, "a shared object could not be initialized")                     \
  X(cudaErrorOperatingSystem, 304, "a call of the operating system failed")                               \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                       \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                 \
  X(cudaErrorLossyQuery, 402, "the query would lose information")                                         \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                               \
  X(cudaErrorNotReady, 600, "device not ready")                                                           \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                             \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                        \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                               \
  X(cudaErrorLaunchIncompatibleTexturing, 703, "the launch has an incompatible texturing mode")           \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                             \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                               \
  X(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")                \
  X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                             \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                                 \
  X(cudaErrorTooManyPeers, 711, "the peer mappings are exhausted")                                        \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")   \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                                             \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                           \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                \
  X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")          \
  X(cudaErrorInvalidPc, 718, "invalid program counter")                                                   \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                            \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                     \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                                \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                \
  X(cudaErrorSystemNotReady, 802, "the system is not ready")                                              \
  X(cudaErrorSystemDriverMismatch, 803, "the versions of display and CUDA driver differ")                 \
  X(cudaErrorCompatNotSupportedOnDevice, 804, "the device does not support forward compatibility")        \
  X(cudaErrorMpsConnectionFailed, 805, "no connection to the MPS control daemon")                         \
  X(cudaErrorMpsRpcFailure, 806, "a call of the MPS server failed")                                       \
  X(cudaErrorMpsServerNotReady, 807, "the MPS server is not ready")                                       \
  X(cudaErrorMpsMaxClientsReached, 808, "the MPS server has its maximum of clients")                      \
  X(cudaErrorMpsMaxConnectionsReached, 809, "the MPS server has its maximum of connections")              \
  X(cudaErrorMpsClientTerminated, 810, "the MPS client was terminated")                                   \
  X(cudaErrorCdpNotSupported, 811, "the device does not support dynamic parallelism")                     \
  X(cudaErrorCdpVersionMismatch, 812, "the versions of dynamic parallelism differ")                       \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")           \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")    \
  X(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")  \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")         \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                            \
  X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")      \
  X(cudaErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing blocking stream") \
  X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream") \
  X(cudaErrorStreamCaptureWrongThread, 908, "attempt to terminate a thread-local capture sequence from another thread") \
  X(cudaErrorTimeout, 909, "a wait timed out")                                                            \
  X(cudaErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
  X(cudaErrorExternalDevice, 911, "an error of another device")                                           \
  X(cudaErrorInvalidClusterSize, 912, "the cluster is invalid")                                           \
  X(cudaErrorFunctionNotLoaded, 913, "the function is not loaded")                                        \
  X(cudaErrorInvalidResourceType, 914, "invalid type of resource")                                        \
  X(cudaErrorInvalidResourceConfiguration, 915, "invalid configuration of resources")                     \
  X(cudaErrorUnknown, 999, "unknown error")

#define HEDDLE_CUDA_ENUMERATOR(NAME, VALUE, TEXT) NAME = VALUE,
enum cudaError { HEDDLE_CUDA_ERRORS(HEDDLE_CUDA_ENUMERATOR) cudaErrorApiFailureBase = 10000 };
#undef HEDDLE_CUDA_ENUMERATOR
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaSharedCarveout { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeNonPortableClusterSizeAllowed = 14 };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation, cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
enum cudaFlushGPUDirectRDMAWritesOptions { cudaFlushGPUDirectRDMAWritesOptionHost = 1, cudaFlushGPUDirectRDMAWritesOptionMemOps = 2 };
enum cudaGPUDirectRDMAWritesOrdering { cudaGPUDirectRDMAWritesOrderingNone = 0, cudaGPUDirectRDMAWritesOrderingOwner = 100, cudaGPUDirectRDMAWritesOrderingAllDevices = 200 };
enum cudaDeviceNumaConfig { cudaDeviceNumaConfigNone, cudaDeviceNumaConfigNumaNode };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4, cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17, cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrMaxTexture1DWidth = 21, cudaDevAttrMaxTexture2DWidth = 22, cudaDevAttrMaxTexture2DHeight = 23,
  cudaDevAttrMaxTexture3DWidth = 24, cudaDevAttrMaxTexture3DHeight = 25, cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrMaxTexture2DLayeredWidth = 27, cudaDevAttrMaxTexture2DLayeredHeight = 28,
  cudaDevAttrMaxTexture2DLayeredLayers = 29, cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrMaxTexture1DLayeredWidth = 42, cudaDevAttrMaxTexture1DLayeredLayers = 43, cudaDevAttrPciDomainId = 50,
  cudaDevAttrCooperativeMultiDeviceLaunch = 96, cudaDevAttrVirtualMemoryManagementSupported = 102,
  cudaDevAttrHandleTypePosixFileDescriptorSupported = 103, cudaDevAttrHandleTypeWin32HandleSupported = 104,
  cudaDevAttrGenericCompressionSupported = 107,
  cudaDevAttrComputeMode = 20, cudaDevAttrConcurrentKernels = 31, cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33, cudaDevAttrPciDeviceId = 34, cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78, cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrManagedMemory = 83, cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrHostNativeAtomicSupported = 86, cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88, cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90, cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrHostRegisterSupported = 99, cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106, cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115, cudaDevAttrClusterLaunch = 120,
  cudaDevAttrMaxTexture2DGatherWidth = 45, cudaDevAttrMaxTexture2DGatherHeight = 46,
  cudaDevAttrMaxTexture3DWidthAlt = 47, cudaDevAttrMaxTexture3DHeightAlt = 48, cudaDevAttrMaxTexture3DDepthAlt = 49,
  cudaDevAttrTexturePitchAlignment = 51, cudaDevAttrMaxTextureCubemapWidth = 52,
  cudaDevAttrMaxTextureCubemapLayeredWidth = 53, cudaDevAttrMaxTextureCubemapLayeredLayers = 54,
  cudaDevAttrMaxSurface1DWidth = 55, cudaDevAttrMaxSurface2DWidth = 56, cudaDevAttrMaxSurface2DHeight = 57,
  cudaDevAttrMaxSurface3DWidth = 58, cudaDevAttrMaxSurface3DHeight = 59, cudaDevAttrMaxSurface3DDepth = 60,
  cudaDevAttrMaxSurface1DLayeredWidth = 61, cudaDevAttrMaxSurface1DLayeredLayers = 62,
  cudaDevAttrMaxSurface2DLayeredWidth = 63, cudaDevAttrMaxSurface2DLayeredHeight = 64,
  cudaDevAttrMaxSurface2DLayeredLayers = 65, cudaDevAttrMaxSurfaceCubemapWidth = 66,
  cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67, cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
  cudaDevAttrMaxTexture1DLinearWidth = 69, cudaDevAttrMaxTexture2DLinearWidth = 70,
  cudaDevAttrMaxTexture2DLinearHeight = 71, cudaDevAttrMaxTexture2DLinearPitch = 72,
  cudaDevAttrMaxTexture2DMipmappedWidth = 73, cudaDevAttrMaxTexture2DMipmappedHeight = 74,
  cudaDevAttrMaxTexture1DMipmappedWidth = 77, cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrCanFlushRemoteWrites = 98, cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrMaxPersistingL2CacheSize = 108, cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrSparseCudaArraySupported = 112, cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrTimelineSemaphoreInteropSupported = 114, cudaDevAttrGPUDirectRDMASupported = 116,
  cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117, cudaDevAttrGPUDirectRDMAWritesOrdering = 118,
  cudaDevAttrMemoryPoolSupportedHandleTypes = 119, cudaDevAttrDeferredMappingCudaArraySupported = 121,
  cudaDevAttrIpcEventSupport = 125, cudaDevAttrMemSyncDomainCount = 126, cudaDevAttrNumaConfig = 130,
  cudaDevAttrNumaId = 131, cudaDevAttrMpsEnabled = 133, cudaDevAttrHostNumaId = 134,
  cudaDevAttrHostNumaMemoryPoolsSupported = 142
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

typedef struct { char bytes[16]; } cudaUUID_t;
/* In the order of CUDA 12 (CUDA Runtime API, "cudaDeviceProp Struct Reference"): programs that nvcc has built use it. Up to
   reservedSharedMemPerBlock it is that of CUDA 11. */
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, reserved[63];
};
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout; };
struct cudaPointerAttributes { enum cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms { cudaArray_t srcArray; struct cudaPos srcPos; struct cudaPitchedPtr srcPtr; cudaArray_t dstArray; struct cudaPos dstPos; struct cudaPitchedPtr dstPtr; struct cudaExtent extent; enum cudaMemcpyKind kind; };
struct cudaChannelFormatDesc { int x, y, z, w; enum cudaChannelFormatKind f; };
#include "texture_types.h"
typedef enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf } cudaRoundMode;
typedef enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeAccessPolicyWindow = 1, cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3, cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8, cudaLaunchAttributeMemSyncDomainMap = 9, cudaLaunchAttributeMemSyncDomain = 10,
  cudaLaunchAttributePreferredClusterDimension = 11, cudaLaunchAttributeLaunchCompletionEvent = 12,
  cudaLaunchAttributeDeviceUpdatableKernelNode = 13, cudaLaunchAttributePreferredSharedMemoryCarveout = 14
} cudaLaunchAttributeID;
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow { void *base_ptr; size_t num_bytes; float hitRatio; enum cudaAccessProperty hitProp, missProp; };
enum cudaSynchronizationPolicy { cudaSyncPolicyAuto = 1, cudaSyncPolicySpin, cudaSyncPolicyYield, cudaSyncPolicyBlockingSync };
enum cudaClusterSchedulingPolicy { cudaClusterSchedulingPolicyDefault, cudaClusterSchedulingPolicySpread, cudaClusterSchedulingPolicyLoadBalancing };
typedef enum cudaLaunchMemSyncDomain { cudaLaunchMemSyncDomainDefault, cudaLaunchMemSyncDomainRemote } cudaLaunchMemSyncDomain;
typedef struct cudaLaunchMemSyncDomainMap_st { unsigned char default_, remote; } cudaLaunchMemSyncDomainMap;
typedef union cudaLaunchAttributeValue {
  char pad[64];
  struct cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative, priority, programmaticStreamSerializationAllowed;
  enum cudaSynchronizationPolicy syncPolicy;
  struct { unsigned int x, y, z; } clusterDim, preferredClusterDim;
  enum cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  struct { cudaEvent_t event; int flags, triggerAtBlockStart; } programmaticEvent;
  struct { cudaEvent_t event; int flags; } launchCompletionEvent;
  cudaLaunchMemSyncDomainMap memSyncDomainMap;
  cudaLaunchMemSyncDomain memSyncDomain;
  unsigned int sharedMemCarveout;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute { cudaLaunchAttributeID id; char pad[4]; cudaLaunchAttributeValue val; } cudaLaunchAttribute;
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttrID cudaLaunchAttributeID
#define cudaKernelNodeAttrValue cudaLaunchAttributeValue
typedef struct cudaLaunchConfig_st { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs; unsigned int numAttrs; } cudaLaunchConfig_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);
#include "pool_types.h"
#include "graph_types.h"

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventWaitDefault 0x00
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)

#endif
