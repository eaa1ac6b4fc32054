/* The names that NVIDIA's cuda.h gives functions of the driver by macros, for programs that were compiled with it. The
   functions of CUDA 11 and 12 with these versions have the parameters of ours. */
#define ALIAS(NAME) extern __typeof__(NAME) NAME##_v2 __attribute__((alias(#NAME)));
ALIAS(cuDeviceTotalMem) ALIAS(cuModuleGetGlobal) ALIAS(cuMemGetInfo) ALIAS(cuMemAlloc)
ALIAS(cuMemAllocPitch) ALIAS(cuMemFree) ALIAS(cuMemGetAddressRange) ALIAS(cuMemAllocHost)
ALIAS(cuMemHostGetDevicePointer) ALIAS(cuMemHostRegister) ALIAS(cuMemcpyHtoD) ALIAS(cuMemcpyDtoH)
ALIAS(cuMemcpyDtoD) ALIAS(cuMemcpyHtoA) ALIAS(cuMemcpyAtoH) ALIAS(cuMemcpy2D)
ALIAS(cuMemcpy2DUnaligned) ALIAS(cuMemcpy3D) ALIAS(cuMemcpyHtoDAsync) ALIAS(cuMemcpyDtoHAsync)
ALIAS(cuMemcpyDtoDAsync) ALIAS(cuMemcpy2DAsync) ALIAS(cuMemcpy3DAsync) ALIAS(cuMemsetD8)
ALIAS(cuMemsetD16) ALIAS(cuMemsetD32) ALIAS(cuMemsetD2D8) ALIAS(cuMemsetD2D16)
ALIAS(cuMemsetD2D32) ALIAS(cuArrayCreate) ALIAS(cuArray3DCreate) ALIAS(cuCtxDestroy)
ALIAS(cuCtxPopCurrent) ALIAS(cuCtxPushCurrent) ALIAS(cuStreamDestroy) ALIAS(cuEventDestroy)
ALIAS(cuLinkCreate) ALIAS(cuLinkAddData) ALIAS(cuDevicePrimaryCtxRelease) ALIAS(cuDevicePrimaryCtxReset)
ALIAS(cuDevicePrimaryCtxSetFlags)
#undef ALIAS

/* cuda.h makes cuCtxCreate one of these: that of CUDA 13 has parameters that say more than heddle can do. */
CUresult cuCtxCreate_v2(CUcontext *to, unsigned int flags, CUdevice d) {
  return __heddle_cu_create_context(to, flags, d);
}
CUresult cuCtxCreate_v4(CUcontext *to, const CUctxCreateParams *p, unsigned int flags, CUdevice d) {
  if (p && (p->numExecAffinityParams || p->cigParams))
    return driver_error((cudaError_t)heddle_unsupported("cuCtxCreate with parameters"));
  return __heddle_cu_create_context(to, flags, d);
}
CUresult cuCtxCreate_v3(CUcontext *to, void *affinity, int n, unsigned int flags, CUdevice d) {
  if (affinity && n) return driver_error((cudaError_t)heddle_unsupported("cuCtxCreate with parameters"));
  return __heddle_cu_create_context(to, flags, d);
}
