/* The device, errors and whatever else has no state. */

#define NAME(SYMBOL, VALUE, TEXT) case VALUE: return #SYMBOL;
#define TEXT(SYMBOL, VALUE, TEXT) case VALUE: return TEXT;
const char *cudaGetErrorName(cudaError_t e) {
  switch ((int)e) {
    HEDDLE_CUDA_ERRORS(NAME)
  }
  return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t e) {
  switch ((int)e) {
    HEDDLE_CUDA_ERRORS(TEXT)
  }
  return "unrecognized error code";
}

/* The error of the context stays; others are forgotten by cudaGetLastError. */
cudaError_t cudaPeekAtLastError(void) {
  if (server.fd >= 0 && server.context != cudaSuccess) return server.context;
  return last_error;
}
cudaError_t cudaGetLastError(void) {
  cudaError_t e = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return e;
}

static cudaError_t device_exists(int device) {
  ENTER();
  return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceCount(int *n) {
  ENTER();
  if (!n) return fail(cudaErrorInvalidValue);
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device_exists(device); }
cudaError_t cudaGetDevice(int *device) {
  ENTER();
  if (!device) return fail(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *p) { return (void)p, cudaGetDevice(device); }
cudaError_t cudaSetDeviceFlags(unsigned int flags) { return (void)flags, device_exists(0); }
cudaError_t cudaGetDeviceFlags(unsigned int *flags) { return *flags = cudaDeviceMapHost, device_exists(0); }

static cudaError_t version(int *to) {
  if (!to) return fail(cudaErrorInvalidValue);
  *to = 12090; // CUDART_VERSION and CUDA_VERSION of the headers
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *to) { return version(to); }
cudaError_t cudaRuntimeGetVersion(int *to) { return version(to); }

/* A host that waits for what a running kernel writes may wait for the end of the kernel, and races of the two are not
   found. So concurrentManagedAccess is 0, as on devices before Pascal. */
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device) {
  cudaError_t e = device_exists(device);
  if (e != cudaSuccess) return e;
  if (!p) return fail(cudaErrorInvalidValue);
  const struct heddle_gpu *g = &server.gpu;
  *p = (struct cudaDeviceProp){
      .totalGlobalMem = g->memory, .sharedMemPerBlock = g->shared_block, .regsPerBlock = 65536, .warpSize = 32,
      .memPitch = 0x7fffffff, .maxThreadsPerBlock = 1024, .maxThreadsDim = {1024, 1024, 64},
      .maxGridSize = {0x7fffffff, 65535, 65535}, .clockRate = (int)g->clock_khz, .totalConstMem = 65536,
      .major = (int)g->major, .minor = (int)g->minor, .textureAlignment = 512, .texturePitchAlignment = 32,
      .deviceOverlap = 1, .multiProcessorCount = (int)g->sms, .canMapHostMemory = 1, .concurrentKernels = 1,
      .maxTexture1D = 131072, .maxTexture2D = {131072, 65536}, .maxTexture3D = {16384, 16384, 16384},
      .surfaceAlignment = 512, .ECCEnabled = 1, .pciBusID = 1, .asyncEngineCount = 3, .unifiedAddressing = 1,
      .memoryClockRate = (int)g->memory_clock_khz, .memoryBusWidth = (int)g->bus_bits, .l2CacheSize = (int)g->l2,
      .maxThreadsPerMultiProcessor = (int)g->threads_sm, .streamPrioritiesSupported = 1,
      .globalL1CacheSupported = 1, .localL1CacheSupported = 1, .sharedMemPerMultiprocessor = g->shared_sm,
      .regsPerMultiprocessor = 65536, .managedMemory = 1, .singleToDoublePrecisionPerfRatio = 2,
      .computePreemptionSupported = 1, .cooperativeLaunch = 1,
      .sharedMemPerBlockOptin = g->shared_optin, .maxBlocksPerMultiProcessor = (int)g->blocks_sm,
      .reservedSharedMemPerBlock = 1024, .memoryPoolsSupported = 1, .hostRegisterSupported = 1,
      .persistingL2CacheMaxSize = g->major >= 8 ? (int)(g->l2 / 4 * 3) : 0,
      .accessPolicyMaxWindowSize = g->major >= 8 ? 128 << 20 : 0, .clusterLaunch = g->major >= 9};
  memcpy(p->name, g->name, sizeof g->name);
  return cudaSuccess;
}
/* That of CUDA 11, for programs that nvcc has built. In CUDA 13 the name means another structure, and in a program with
   NVIDIA's static runtime nothing tells the two apart but the names of other functions (preload.c). */
static int properties_unknown;
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
  struct cudaDeviceProp all;
  if (properties_unknown) return (cudaError_t)heddle_unsupported("cudaGetDeviceProperties of CUDA 11 or 13");
  cudaError_t e = cudaGetDeviceProperties_v2(&all, device);
  if (e == cudaSuccess && !p) return fail(cudaErrorInvalidValue);
  if (e == cudaSuccess) memcpy(p, &all, offsetof(struct cudaDeviceProp, hostRegisterSupported));
  return e;
}

/* The value of an attribute, by the property of the same meaning. Limits of textures and surfaces are those of the CUDA
   C++ Programming Guide ("Technical Specifications per Compute Capability"). */
enum { UNKNOWN_ATTRIBUTE = -2 };
static long attribute(const struct cudaDeviceProp *p, enum cudaDeviceAttr a) {
  switch (a) {
  case cudaDevAttrMaxThreadsPerBlock: return p->maxThreadsPerBlock;
  case cudaDevAttrMaxBlockDimX: return p->maxThreadsDim[0];
  case cudaDevAttrMaxBlockDimY: return p->maxThreadsDim[1];
  case cudaDevAttrMaxBlockDimZ: return p->maxThreadsDim[2];
  case cudaDevAttrMaxGridDimX: return p->maxGridSize[0];
  case cudaDevAttrMaxGridDimY: return p->maxGridSize[1];
  case cudaDevAttrMaxGridDimZ: return p->maxGridSize[2];
  case cudaDevAttrMaxSharedMemoryPerBlock: return (long)p->sharedMemPerBlock;
  case cudaDevAttrTotalConstantMemory: return (long)p->totalConstMem;
  case cudaDevAttrWarpSize: return 32;
  case cudaDevAttrMaxPitch: return (long)p->memPitch;
  case cudaDevAttrMaxRegistersPerBlock: return p->regsPerBlock;
  case cudaDevAttrClockRate: return p->clockRate;
  case cudaDevAttrTextureAlignment: return (long)p->textureAlignment;
  case cudaDevAttrMultiProcessorCount: return p->multiProcessorCount;
  case cudaDevAttrKernelExecTimeout: case cudaDevAttrIntegrated: case cudaDevAttrComputeMode:
  case cudaDevAttrTccDriver: case cudaDevAttrIsMultiGpuBoard: case cudaDevAttrHostNativeAtomicSupported:
  case cudaDevAttrConcurrentManagedAccess: case cudaDevAttrPageableMemoryAccess: case cudaDevAttrCanUseHostPointerForRegisteredMem:
  case cudaDevAttrPciDeviceId:
  case cudaDevAttrPciDomainId: case cudaDevAttrCooperativeMultiDeviceLaunch:
  case cudaDevAttrHandleTypePosixFileDescriptorSupported:
  case cudaDevAttrHandleTypeWin32HandleSupported:
  case cudaDevAttrMultiGpuBoardGroupID: case cudaDevAttrCanFlushRemoteWrites:
  case cudaDevAttrPageableMemoryAccessUsesHostPageTables: case cudaDevAttrSparseCudaArraySupported:
  case cudaDevAttrHostRegisterReadOnlySupported: case cudaDevAttrTimelineSemaphoreInteropSupported:
  case cudaDevAttrGPUDirectRDMASupported: case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
  case cudaDevAttrGPUDirectRDMAWritesOrdering: case cudaDevAttrMemoryPoolSupportedHandleTypes:
  case cudaDevAttrDeferredMappingCudaArraySupported: case cudaDevAttrIpcEventSupport: case cudaDevAttrNumaConfig:
  case cudaDevAttrMpsEnabled: case cudaDevAttrHostNumaMemoryPoolsSupported:
  case cudaDevAttrDirectManagedMemAccessFromHost: return 0;
  case cudaDevAttrNumaId: case cudaDevAttrHostNumaId: return -1; /* there are no NUMA nodes */
  case cudaDevAttrGpuOverlap: case cudaDevAttrCanMapHostMemory: case cudaDevAttrConcurrentKernels:
  case cudaDevAttrEccEnabled: case cudaDevAttrUnifiedAddressing: case cudaDevAttrStreamPrioritiesSupported:
  case cudaDevAttrGlobalL1CacheSupported: case cudaDevAttrLocalL1CacheSupported: case cudaDevAttrManagedMemory:
  case cudaDevAttrComputePreemptionSupported:
  case cudaDevAttrCooperativeLaunch: case cudaDevAttrPciBusId: case cudaDevAttrHostRegisterSupported:
  case cudaDevAttrMemoryPoolsSupported: case cudaDevAttrVirtualMemoryManagementSupported: return 1;
  case cudaDevAttrGenericCompressionSupported: return p->major >= 8;
  case cudaDevAttrMemoryClockRate: return p->memoryClockRate;
  case cudaDevAttrGlobalMemoryBusWidth: return p->memoryBusWidth;
  case cudaDevAttrL2CacheSize: return p->l2CacheSize;
  case cudaDevAttrMaxThreadsPerMultiProcessor: return p->maxThreadsPerMultiProcessor;
  case cudaDevAttrAsyncEngineCount: return p->asyncEngineCount;
  case cudaDevAttrComputeCapabilityMajor: return p->major;
  case cudaDevAttrComputeCapabilityMinor: return p->minor;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return (long)p->sharedMemPerMultiprocessor;
  case cudaDevAttrMaxRegistersPerMultiprocessor: return p->regsPerMultiprocessor;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio: return p->singleToDoublePrecisionPerfRatio;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (long)p->sharedMemPerBlockOptin;
  case cudaDevAttrMaxBlocksPerMultiprocessor: return p->maxBlocksPerMultiProcessor;
  case cudaDevAttrReservedSharedMemoryPerBlock: return 1024;
  case cudaDevAttrClusterLaunch: return p->clusterLaunch;
  case cudaDevAttrMaxTexture1DWidth: return p->maxTexture1D;
  case cudaDevAttrMaxTexture2DWidth: return p->maxTexture2D[0];
  case cudaDevAttrMaxTexture2DHeight: return p->maxTexture2D[1];
  case cudaDevAttrMaxTexture3DWidth: case cudaDevAttrMaxTexture3DHeight: case cudaDevAttrMaxTexture3DDepth:
    return p->maxTexture3D[0];
  case cudaDevAttrMaxTexture2DLayeredWidth: case cudaDevAttrMaxTexture2DLayeredHeight:
  case cudaDevAttrMaxTexture1DLayeredWidth: return 32768;
  case cudaDevAttrMaxTexture2DLayeredLayers: case cudaDevAttrMaxTexture1DLayeredLayers: return 2048;
  case cudaDevAttrSurfaceAlignment: return (long)p->surfaceAlignment;
  case cudaDevAttrTexturePitchAlignment: return (long)p->texturePitchAlignment;
  case cudaDevAttrMaxTexture2DGatherWidth: case cudaDevAttrMaxTexture2DGatherHeight:
  case cudaDevAttrMaxTextureCubemapWidth: case cudaDevAttrMaxTextureCubemapLayeredWidth:
  case cudaDevAttrMaxSurface1DWidth: case cudaDevAttrMaxSurface1DLayeredWidth:
  case cudaDevAttrMaxSurface2DLayeredWidth: case cudaDevAttrMaxSurface2DLayeredHeight:
  case cudaDevAttrMaxSurfaceCubemapWidth: case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
  case cudaDevAttrMaxTexture1DMipmappedWidth: case cudaDevAttrMaxTexture2DMipmappedWidth:
  case cudaDevAttrMaxTexture2DMipmappedHeight: case cudaDevAttrMaxTexture3DDepthAlt: return 32768;
  case cudaDevAttrMaxTexture3DWidthAlt: case cudaDevAttrMaxTexture3DHeightAlt: return 8192;
  case cudaDevAttrMaxSurface1DLayeredLayers: case cudaDevAttrMaxSurface2DLayeredLayers: return 2048;
  case cudaDevAttrMaxTextureCubemapLayeredLayers: case cudaDevAttrMaxSurfaceCubemapLayeredLayers: return 2046;
  case cudaDevAttrMaxSurface2DWidth: case cudaDevAttrMaxTexture2DLinearWidth: return 131072;
  case cudaDevAttrMaxSurface2DHeight: return 65536;
  case cudaDevAttrMaxSurface3DWidth: case cudaDevAttrMaxSurface3DHeight: case cudaDevAttrMaxSurface3DDepth:
    return 16384;
  case cudaDevAttrMaxTexture1DLinearWidth: return 1 << 28;
  case cudaDevAttrMaxTexture2DLinearHeight: return 65000;
  case cudaDevAttrMaxTexture2DLinearPitch: return 2097120;
  case cudaDevAttrMaxPersistingL2CacheSize: return p->persistingL2CacheMaxSize;
  case cudaDevAttrMaxAccessPolicyWindowSize: return p->accessPolicyMaxWindowSize;
  case cudaDevAttrMemSyncDomainCount: return p->major >= 9 ? 4 : 1;
  }
  return UNKNOWN_ATTRIBUTE;
}

cudaError_t cudaDeviceGetAttribute(int *to, enum cudaDeviceAttr a, int device) {
  struct cudaDeviceProp p;
  cudaError_t e = cudaGetDeviceProperties_v2(&p, device);
  if (e != cudaSuccess) return e;
  long v = attribute(&p, a);
  if (!to) return fail(cudaErrorInvalidValue);
  if (v == UNKNOWN_ATTRIBUTE) return (cudaError_t)heddle_unsupported("cudaDeviceGetAttribute of this attribute");
  *to = (int)v;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  ENTER();
  if (forbidden_in_capture() != cudaSuccess) return fail(cudaErrorStreamCaptureUnsupported);
  cudaError_t e = finish();
  note_order((struct heddle_order){.what = HEDDLE_ORDER_SYNC_ALL});
  return fail(e);
}
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceReset(void) {
  pthread_once(&once, set_up);
  if (server.fd < 0) return cudaSuccess; /* there is no context */
  cudaError_t e = ask(HEDDLE_OP_RESET, NULL, 0, NULL, 0);
  forget_allocations();
  last_error = cudaSuccess;
  return fail(e);
}
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }

/* Settings without effect on results. */
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache c) { return (void)c, device_exists(0); }
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache c) { return (void)c, device_exists(0); }
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *c) { return *c = cudaFuncCachePreferNone, device_exists(0); }
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig c) { return (void)c, device_exists(0); }
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *c) {
  return *c = cudaSharedMemBankSizeFourByte, device_exists(0);
}
cudaError_t cudaCtxResetPersistingL2Cache(void) { return device_exists(0); }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

static size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
cudaError_t cudaDeviceSetLimit(enum cudaLimit which, size_t value) {
  ENTER();
  if ((unsigned)which > cudaLimitPersistingL2CacheSize) return fail(cudaErrorInvalidValue);
  limits[which] = value;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit which) {
  ENTER();
  if (!value || (unsigned)which > cudaLimitPersistingL2CacheSize) return fail(cudaErrorInvalidValue);
  *value = limits[which];
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return device_exists(0);
}
cudaError_t cudaDeviceGetPCIBusId(char *to, int n, int device) {
  cudaError_t e = device_exists(device);
  if (e == cudaSuccess) snprintf(to, (size_t)n, "0000:01:00.0");
  return e;
}
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) { return (void)id, cudaGetDevice(device); }

/* There is one device, which is nobody's peer. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  cudaError_t e = device_exists(device);
  if (e == cudaSuccess) e = device_exists(peer);
  if (e == cudaSuccess) *can = 0;
  return e;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  ENTER();
  return (void)peer, (void)flags, fail(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  ENTER();
  return (void)peer, fail(cudaErrorPeerAccessNotEnabled);
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
  return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
