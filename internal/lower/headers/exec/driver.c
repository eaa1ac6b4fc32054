/* The driver API, by the functions of the runtime: its handles are theirs. All contexts share one memory, as all
   allocations of a process do on devices with unified addressing; what a destroyed context leaves is not freed. */
#include "../heddle/driver_types.h"

/* The error of the driver API for one of the runtime: the same number where both have it. */
static CUresult driver_error(cudaError_t e) {
  switch ((int)e) {
  case cudaErrorInvalidConfiguration: case cudaErrorInvalidPitchValue: case cudaErrorInvalidDevicePointer:
  case cudaErrorInvalidChannelDescriptor: case cudaErrorInvalidMemcpyDirection: case cudaErrorInvalidFilterSetting:
  case cudaErrorInvalidNormSetting: case cudaErrorInvalidHostPointer: case cudaErrorMissingConfiguration:
    return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol: case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NOT_FOUND;
  }
  return (CUresult)e;
}

struct CUctx_st { unsigned int flags; CUdevice device; struct CUctx_st *next; };

static struct CUctx_st primary_context;
static struct CUctx_st *contexts;
static int driver_ready, primary_retained;
static _Thread_local CUcontext current_contexts[16];
static _Thread_local int current_count;

static int context_exists(CUcontext c) {
  lock();
  struct CUctx_st *p = contexts;
  while (p && p != c) p = p->next;
  unlock();
  return p || c == &primary_context;
}

/* The current context. Functions of the runtime use the primary one, which a program may not have named. */
static CUcontext current_context(void) {
  if (current_count) return current_contexts[current_count - 1];
  return primary_current ? &primary_context : NULL;
}

/* The context of a stream that is created now; functions of the runtime create theirs in the primary one. */
static CUcontext creators_context(void) {
  CUcontext c = current_context();
  return c ? c : &primary_context;
}

/* Runs a function of the runtime for a function of the driver API, which does not set the runtime's last error. */
#define DRIVER(CALL)                                                          \
  do {                                                                        \
    if (!driver_ready && server.fd < 0) return CUDA_ERROR_NOT_INITIALIZED;    \
    cudaError_t kept_ = last_error;                                           \
    in_driver++;                                                              \
    cudaError_t e_ = (CALL);                                                  \
    in_driver--;                                                              \
    last_error = kept_;                                                       \
    return driver_error(e_);                                                  \
  } while (0)
#define IN_CONTEXT()                                                          \
  do {                                                                        \
    if (!driver_ready && server.fd < 0) return CUDA_ERROR_NOT_INITIALIZED;    \
    CUcontext c_ = current_context();                                         \
    if (!c_ || !context_exists(c_)) return CUDA_ERROR_INVALID_CONTEXT;        \
  } while (0)
#define CONTEXT(CALL)                                                         \
  do {                                                                        \
    IN_CONTEXT();                                                             \
    DRIVER(CALL);                                                             \
  } while (0)
/* Whether a stream belongs to a context: those that a program has created do, the default streams are of the current
   one. Work in such a stream needs no current context. That is what libcu++ relies on (cuda::stream, memory pools). */
static int of_context(CUstream s) { return s && s != CU_STREAM_LEGACY && s != CU_STREAM_PER_THREAD; }
#define STREAM(S, CALL)                                                       \
  do {                                                                        \
    if (!of_context(S)) IN_CONTEXT();                                         \
    DRIVER(CALL);                                                             \
  } while (0)
#define POINTER(P) ((void *)(uintptr_t)(P))

CUresult cuInit(unsigned int flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  in_driver++;
  cudaError_t e = heddle_enter();
  in_driver--;
  driver_ready = 1;
  return driver_error(e);
}
CUresult cuDriverGetVersion(int *to) { return driver_error(version(to)); }

#define DRIVER_NAME(SYMBOL, VALUE, TEXT) case VALUE: *to = #SYMBOL; return CUDA_SUCCESS;
#define DRIVER_TEXT(SYMBOL, VALUE, TEXT) case VALUE: *to = TEXT; return CUDA_SUCCESS;
CUresult cuGetErrorName(CUresult e, const char **to) {
  switch ((int)e) { HEDDLE_DRIVER_ERRORS(DRIVER_NAME) }
  *to = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult e, const char **to) {
  switch ((int)e) { HEDDLE_DRIVER_ERRORS(DRIVER_TEXT) }
  *to = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

/* Devices. */
static cudaError_t device_of(CUdevice *to, int n) {
  if (!to) return cudaErrorInvalidValue;
  cudaError_t e = device_exists(n);
  if (e == cudaSuccess) *to = n;
  return e;
}
CUresult cuDeviceGet(CUdevice *to, int n) { DRIVER(device_of(to, n)); }
CUresult cuDeviceGetCount(int *n) { DRIVER(cudaGetDeviceCount(n)); }
static cudaError_t name_of_device(char *to, int n, CUdevice d) {
  cudaError_t e = device_exists(d);
  if (e == cudaSuccess && (!to || n <= 0)) e = cudaErrorInvalidValue;
  if (e == cudaSuccess) snprintf(to, (size_t)n, "%s", server.gpu.name);
  return e;
}
CUresult cuDeviceGetName(char *to, int n, CUdevice d) { DRIVER(name_of_device(to, n, d)); }
static cudaError_t uuid_of_device(CUuuid *to, CUdevice d) {
  struct cudaDeviceProp p;
  cudaError_t e = cudaGetDeviceProperties_v2(&p, d);
  if (e == cudaSuccess) memcpy(to, &p.uuid, sizeof *to);
  return e;
}
CUresult cuDeviceGetUuid(CUuuid *to, CUdevice d) { DRIVER(uuid_of_device(to, d)); }
CUresult cuDeviceGetUuid_v2(CUuuid *to, CUdevice d) { DRIVER(uuid_of_device(to, d)); }
static cudaError_t memory_of_device(size_t *to, CUdevice d) {
  cudaError_t e = device_exists(d);
  if (e == cudaSuccess) *to = server.gpu.memory;
  return e;
}
CUresult cuDeviceTotalMem(size_t *to, CUdevice d) { DRIVER(memory_of_device(to, d)); }
CUresult cuDeviceGetAttribute(int *to, CUdevice_attribute a, CUdevice d) {
  DRIVER(cudaDeviceGetAttribute(to, (enum cudaDeviceAttr)a, d));
}
static cudaError_t capability_of(int *major, int *minor, CUdevice d) {
  cudaError_t e = device_exists(d);
  if (e == cudaSuccess) *major = (int)server.gpu.major, *minor = (int)server.gpu.minor;
  return e;
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice d) { DRIVER(capability_of(major, minor, d)); }
CUresult cuDeviceCanAccessPeer(int *can, CUdevice d, CUdevice peer) { DRIVER(cudaDeviceCanAccessPeer(can, d, peer)); }
CUresult cuDeviceGetPCIBusId(char *to, int n, CUdevice d) { DRIVER(cudaDeviceGetPCIBusId(to, n, d)); }

/* Contexts. */
CUresult __heddle_cu_create_context(CUcontext *to, unsigned int flags, CUdevice d) {
  if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED;
  if (d) return CUDA_ERROR_INVALID_DEVICE;
  if (!to || flags & ~(unsigned)CU_CTX_FLAGS_MASK || current_count == 16) return CUDA_ERROR_INVALID_VALUE;
  struct CUctx_st *c = need(calloc(1, sizeof *c));
  c->flags = flags;
  lock();
  c->next = contexts, contexts = c;
  unlock();
  current_contexts[current_count++] = *to = c;
  return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext c) {
  if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED;
  lock();
  struct CUctx_st **p = &contexts;
  while (*p && *p != c) p = &(*p)->next;
  int found = c && *p;
  if (found) *p = c->next; /* not freed: a thread may have it as its current one */
  unlock();
  if (!found) return CUDA_ERROR_INVALID_CONTEXT;
  finish();
  if (current_count && current_contexts[current_count - 1] == c) current_count--;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext c) {
  if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED;
  if (!c || !context_exists(c)) return CUDA_ERROR_INVALID_CONTEXT;
  if (current_count == 16) return CUDA_ERROR_INVALID_VALUE;
  current_contexts[current_count++] = c;
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *to) {
  if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED;
  if (!current_count) return CUDA_ERROR_INVALID_CONTEXT;
  CUcontext c = current_contexts[--current_count];
  if (to) *to = c;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext c) {
  if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED;
  if (c && !context_exists(c)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!c) {
    if (current_count) current_count--;
  } else {
    if (!current_count) current_count = 1;
    current_contexts[current_count - 1] = c;
  }
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *to) {
  if (!driver_ready && server.fd < 0) return CUDA_ERROR_NOT_INITIALIZED;
  if (!to) return CUDA_ERROR_INVALID_VALUE;
  *to = current_context();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *to) { CONTEXT(device_of(to, 0)); }
CUresult cuCtxGetFlags(unsigned int *to) {
  IN_CONTEXT();
  *to = current_context()->flags;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext c, unsigned int *to) {
  if (c && !context_exists(c)) return CUDA_ERROR_INVALID_CONTEXT;
  *to = 12000;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize(void) { CONTEXT(cudaDeviceSynchronize()); }
CUresult cuCtxSetLimit(CUlimit l, size_t n) { CONTEXT(cudaDeviceSetLimit((enum cudaLimit)l, n)); }
CUresult cuCtxGetLimit(size_t *n, CUlimit l) { CONTEXT(cudaDeviceGetLimit(n, (enum cudaLimit)l)); }
CUresult cuCtxSetCacheConfig(CUfunc_cache c) { CONTEXT(cudaDeviceSetCacheConfig((enum cudaFuncCache)c)); }
CUresult cuCtxGetCacheConfig(CUfunc_cache *c) { CONTEXT(cudaDeviceGetCacheConfig((enum cudaFuncCache *)c)); }
CUresult cuCtxSetSharedMemConfig(CUsharedconfig c) {
  CONTEXT(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)c));
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *c) {
  CONTEXT(cudaDeviceGetSharedMemConfig((enum cudaSharedMemConfig *)c));
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  CONTEXT(cudaDeviceGetStreamPriorityRange(least, greatest));
}
CUresult cuCtxEnablePeerAccess(CUcontext c, unsigned int flags) {
  return (void)flags, context_exists(c) ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxDisablePeerAccess(CUcontext c) {
  return context_exists(c) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *to, CUdevice d) {
  if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED;
  if (d) return CUDA_ERROR_INVALID_DEVICE;
  if (!to) return CUDA_ERROR_INVALID_VALUE;
  primary_retained++;
  *to = &primary_context;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
  if (d) return CUDA_ERROR_INVALID_DEVICE;
  if (!primary_retained) return CUDA_ERROR_INVALID_CONTEXT;
  primary_retained--;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned int flags) {
  if (d) return CUDA_ERROR_INVALID_DEVICE;
  primary_context.flags = flags;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned int *flags, int *active) {
  if (d) return CUDA_ERROR_INVALID_DEVICE;
  *flags = primary_context.flags, *active = primary_retained > 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice d) { return d ? CUDA_ERROR_INVALID_DEVICE : driver_error(cudaDeviceReset()); }

/* Modules: PTX text, or a fat binary with PTX in it. */
struct CUmod_st { uint32_t id; struct CUmod_st *next; };
struct CUfunc_st { struct kernel kernel; struct CUfunc_st *next; };

static struct CUmod_st *loaded_modules;
static struct CUfunc_st *functions;

static cudaError_t load_module(CUmodule *to, const void *image) {
  ENTER();
  if (!to || !image) return cudaErrorInvalidValue;
  if (!memcmp(image, "\177ELF", 4)) {
    heddle_unsupported("cuModuleLoadData of machine code (a cubin); use PTX");
    return cudaErrorNoKernelImageForDevice;
  }
  size_t n = image_size(image);
  void *copy = need(malloc(n + 1));
  memcpy(copy, image, n);
  ((char *)copy)[n] = 0;
  struct CUmod_st *m = need(malloc(sizeof *m));
  lock();
  modules = need(realloc(modules, (module_count + 1) * sizeof *modules));
  modules[module_count] = (struct module){copy, n, 0};
  m->id = module_count++;
  send_module(m->id);
  m->next = loaded_modules, loaded_modules = m;
  unlock();
  struct part p = {&m->id, sizeof m->id};
  cudaError_t e = ask(HEDDLE_OP_LOADED, &p, 1, NULL, 0);
  if (e == cudaSuccess) *to = m;
  return e;
}
static cudaError_t load_file(CUmodule *to, const char *name) {
  FILE *f = name ? fopen(name, "rb") : NULL;
  if (!f) return cudaErrorFileNotFound;
  size_t n = 0, room = 1 << 16;
  char *text = need(malloc(room));
  for (size_t k; (k = fread(text + n, 1, room - n - 1, f)) > 0;)
    if ((n += k) == room - 1) text = need(realloc(text, room *= 2));
  fclose(f);
  text[n] = 0;
  cudaError_t e = n < 4 ? cudaErrorInvalidKernelImage : load_module(to, text);
  free(text);
  return e;
}
CUresult cuModuleLoad(CUmodule *to, const char *name) { CONTEXT(load_file(to, name)); }
CUresult cuModuleLoadData(CUmodule *to, const void *image) { CONTEXT(load_module(to, image)); }
CUresult cuModuleLoadFatBinary(CUmodule *to, const void *image) { CONTEXT(load_module(to, image)); }
/* Options say how machine code is made, of which there is none; the logs that they ask for are empty. */
CUresult cuModuleLoadDataEx(CUmodule *to, const void *image, unsigned int n, CUjit_option *options, void **values) {
  for (unsigned int i = 0; i < n && options && values; i++)
    if ((options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER) && values[i])
      *(char *)values[i] = 0;
  CONTEXT(load_module(to, image));
}
static int module_exists(CUmodule m) {
  struct CUmod_st *p = loaded_modules;
  while (p && p != m) p = p->next;
  return p != NULL;
}
/* The module stays with heddle: a launch that was requested may need it. */
CUresult cuModuleUnload(CUmodule m) {
  IN_CONTEXT();
  lock();
  struct CUmod_st **p = &loaded_modules;
  while (*p && *p != m) p = &(*p)->next;
  int found = *p != NULL;
  if (found) *p = m->next;
  unlock();
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
static cudaError_t function_named(CUfunction *to, uint32_t module, const char *name) {
  struct CUfunc_st *f = functions;
  while (f && (f->kernel.module != module || strcmp(f->kernel.name, name))) f = f->next;
  if (!f) {
    f = need(calloc(1, sizeof *f));
    f->kernel.host = f, f->kernel.module = module, f->kernel.name = need(strdup(name));
    f->kernel.dynamic_shared = 48 << 10;
    lock();
    ask_kernel(&f->kernel);
    if (f->kernel.failure == cudaSuccess) {
      add_kernel(&f->kernel);
      f->next = functions, functions = f;
    }
    unlock();
    if (f->kernel.failure != cudaSuccess) return cudaErrorSymbolNotFound;
  }
  *to = f;
  return cudaSuccess;
}
static cudaError_t function_of(CUfunction *to, CUmodule m, const char *name) {
  if (!to || !name) return cudaErrorInvalidValue;
  if (!module_exists(m)) return cudaErrorInvalidResourceHandle;
  return function_named(to, m->id, name);
}
/* The function of a kernel that the program has registered. */
cudaError_t cudaGetFuncBySymbol(CUfunction *to, const void *host) {
  ENTER();
  struct kernel *k;
  cudaError_t e = get_kernel(host, &k);
  if (e != cudaSuccess) return e;
  return fail(to ? function_named(to, k->module, k->name) : cudaErrorInvalidValue);
}
CUresult cuModuleGetFunction(CUfunction *to, CUmodule m, const char *name) { CONTEXT(function_of(to, m, name)); }
static int function_exists(CUfunction f) {
  struct CUfunc_st *p = functions;
  while (p && p != f) p = p->next;
  return p != NULL;
}
CUresult cuFuncGetName(const char **to, CUfunction f) {
  IN_CONTEXT();
  if (!to) return CUDA_ERROR_INVALID_VALUE;
  if (!function_exists(f)) return CUDA_ERROR_INVALID_HANDLE;
  *to = f->kernel.name;
  return CUDA_SUCCESS;
}
/* The module of a function. That of a kernel which the program has registered is one that it has not loaded itself. */
static cudaError_t module_of(CUmodule *to, CUfunction f) {
  if (!to) return cudaErrorInvalidValue;
  if (!function_exists(f)) return cudaErrorInvalidResourceHandle;
  lock();
  struct CUmod_st *m = loaded_modules;
  while (m && m->id != f->kernel.module) m = m->next;
  if (!m) {
    m = need(malloc(sizeof *m));
    m->id = f->kernel.module, m->next = loaded_modules, loaded_modules = m;
  }
  unlock();
  *to = m;
  return cudaSuccess;
}
CUresult cuFuncGetModule(CUmodule *to, CUfunction f) { CONTEXT(module_of(to, f)); }
static cudaError_t global_of(CUdeviceptr *to, size_t *size, CUmodule m, const char *name) {
  if (!name) return cudaErrorInvalidValue;
  if (!module_exists(m)) return cudaErrorInvalidResourceHandle;
  struct { uint32_t module, zero; } head = {m->id, 0};
  struct part p[2] = {{&head, sizeof head}, {name, strlen(name)}};
  uint64_t reply[2] = {0, 0};
  cudaError_t e = ask(HEDDLE_OP_SYMBOL, p, 2, reply, sizeof reply);
  struct allocation a;
  if (e != cudaSuccess) return e;
  if (!find_allocation(POINTER(reply[0]), &a)) note_allocation(reply[0], reply[1], HEDDLE_KIND_VARIABLE);
  if (to) *to = reply[0];
  if (size) *size = reply[1];
  return cudaSuccess;
}
CUresult cuModuleGetGlobal(CUdeviceptr *to, size_t *size, CUmodule m, const char *name) {
  CONTEXT(global_of(to, size, m, name));
}

/* The linker: one input, which is the result. */
struct CUlinkState_st { char *image; size_t size; int inputs; };
CUresult cuLinkCreate(unsigned int n, CUjit_option *options, void **values, CUlinkState *to) {
  IN_CONTEXT();
  (void)n, (void)options, (void)values;
  *to = need(calloc(1, sizeof **to));
  return CUDA_SUCCESS;
}
CUresult cuLinkAddData(CUlinkState s, CUjitInputType type, void *data, size_t size, const char *name, unsigned int n,
                       CUjit_option *options, void **values) {
  IN_CONTEXT();
  (void)name, (void)n, (void)options, (void)values;
  if (!s || !data) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_JIT_INPUT_PTX || s->inputs++) return driver_error((cudaError_t)heddle_unsupported("cuLinkAddData of several inputs, or of anything but PTX"));
  s->image = need(malloc(size + 1));
  memcpy(s->image, data, size);
  s->image[size] = 0, s->size = size;
  return CUDA_SUCCESS;
}
CUresult cuLinkComplete(CUlinkState s, void **image, size_t *size) {
  IN_CONTEXT();
  if (!s || !s->image) return CUDA_ERROR_INVALID_VALUE;
  *image = s->image;
  if (size) *size = s->size;
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState s) {
  if (s) free(s->image);
  free(s);
  return CUDA_SUCCESS;
}

/* Kernels. */
static cudaError_t attribute_of(int *to, CUfunction_attribute a, CUfunction f) {
  struct cudaFuncAttributes v;
  if (!to || !function_exists(f)) return cudaErrorInvalidResourceHandle;
  cudaError_t e = cudaFuncGetAttributes(&v, f);
  if (e != cudaSuccess) return e;
  switch ((int)a) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *to = v.maxThreadsPerBlock; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *to = (int)v.sharedSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *to = (int)v.constSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *to = (int)v.localSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *to = v.numRegs; break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: *to = v.ptxVersion; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *to = v.binaryVersion; break;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *to = v.cacheModeCA; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *to = v.maxDynamicSharedSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *to = v.preferredShmemCarveout; break;
  default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
CUresult cuFuncGetAttribute(int *to, CUfunction_attribute a, CUfunction f) { CONTEXT(attribute_of(to, a, f)); }
#define KERNEL(F, CALL) CONTEXT(function_exists(F) ? (CALL) : cudaErrorInvalidResourceHandle)
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) {
  KERNEL(f, cudaFuncSetAttribute(f, (enum cudaFuncAttribute)a, value));
}
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache c) { KERNEL(f, cudaFuncSetCacheConfig(f, (enum cudaFuncCache)c)); }
CUresult cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig c) {
  KERNEL(f, cudaFuncSetSharedMemConfig(f, (enum cudaSharedMemConfig)c));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t shared) {
  KERNEL(f, cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, CUfunction f, int threads, size_t shared,
                                                              unsigned int flags) {
  KERNEL(f, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, f, threads, shared, flags));
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize size, size_t shared,
                                          int limit) {
  if (size) return driver_error((cudaError_t)heddle_unsupported("cuOccupancyMaxPotentialBlockSize with a function"));
  KERNEL(f, __heddle_cuda_block_size(grid, block, f, shared, limit));
}

/* The buffer with all parameters that extra names, or NULL. */
static cudaError_t parameter_buffer(void **extra, const void **buffer, size_t *size) {
  *buffer = NULL;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) *buffer = extra[1];
    else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) *size = *(size_t *)extra[1];
    else return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
static cudaError_t launch_function(CUfunction f, struct shape s, void **args, void **extra) {
  if (!function_exists(f)) return cudaErrorInvalidResourceHandle;
  if (args && extra) return cudaErrorInvalidValue;
  cudaError_t e = parameter_buffer(extra, &s.buffer, &s.buffer_size);
  return e == cudaSuccess ? launch(f, &s, args) : e;
}
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by,
                        unsigned int bz, unsigned int shared, CUstream s, void **args, void **extra) {
  struct stack stack;
  WALK(&stack);
  struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, shared, s, 0, CALLER, NULL, 0, &stack};
  CONTEXT(launch_function(f, shape, args, extra));
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                   unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **args) {
  struct stack stack;
  WALK(&stack);
  struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, shared, s, 1, CALLER, NULL, 0, &stack};
  CONTEXT(launch_function(f, shape, args, NULL));
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra) {
  if (!c) return CUDA_ERROR_INVALID_VALUE;
  struct stack stack;
  WALK(&stack);
  struct shape s = {{c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, {1, 1, 1},
                    c->sharedMemBytes, c->hStream, 0, CALLER, NULL, 0, &stack};
  _Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "attributes of launches");
  cudaError_t e = launch_attributes(&s, (const cudaLaunchAttribute *)c->attrs, c->numAttrs);
  if (e != cudaSuccess) return driver_error(e);
  CONTEXT(launch_function(f, s, args, extra));
}

/* Memory. */
CUresult cuMemGetInfo(size_t *available, size_t *total) { CONTEXT(cudaMemGetInfo(available, total)); }
static cudaError_t driver_allocate(void **to, size_t n, uint32_t kind, uint64_t caller) {
  return n ? allocate(to, n, kind, caller) : cudaErrorInvalidValue;
}
CUresult cuMemAlloc(CUdeviceptr *to, size_t n) { CONTEXT(driver_allocate((void **)to, n, HEDDLE_KIND_DEVICE, CALLER)); }
static cudaError_t driver_pitch(CUdeviceptr *to, size_t *pitch, size_t width, size_t height, uint64_t caller) {
  if (!pitch || !width || !height) return cudaErrorInvalidValue;
  *pitch = pitch_of(width);
  return allocate((void **)to, *pitch * height, HEDDLE_KIND_DEVICE, caller);
}
CUresult cuMemAllocPitch(CUdeviceptr *to, size_t *pitch, size_t width, size_t height, unsigned int element) {
  (void)element;
  CONTEXT(driver_pitch(to, pitch, width, height, CALLER));
}
CUresult cuMemAllocManaged(CUdeviceptr *to, size_t n, unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  CONTEXT(driver_allocate((void **)to, n, HEDDLE_KIND_MANAGED, CALLER));
}
CUresult cuMemAllocHost(void **to, size_t n) { CONTEXT(driver_allocate(to, n, HEDDLE_KIND_PINNED, CALLER)); }
CUresult cuMemHostAlloc(void **to, size_t n, unsigned int flags) {
  (void)flags;
  CONTEXT(driver_allocate(to, n, HEDDLE_KIND_PINNED, CALLER));
}
CUresult cuMemAllocAsync(CUdeviceptr *to, size_t n, CUstream s) { STREAM(s, allocate_from(current_pool, (void **)to, n, s, CALLER)); }
CUresult cuMemFree(CUdeviceptr p) { CONTEXT(release(POINTER(p), 0, CALLER, NULL)); }
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) { STREAM(s, release(POINTER(p), 0, CALLER, &HOW(s, 1))); }
CUresult cuMemFreeHost(void *p) { CONTEXT(release(p, 1, CALLER, NULL)); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *to, void *p, unsigned int flags) {
  CONTEXT(cudaHostGetDevicePointer((void **)to, p, flags));
}
CUresult cuMemHostGetFlags(unsigned int *flags, void *p) { CONTEXT(cudaHostGetFlags(flags, p)); }
CUresult cuMemHostRegister(void *p, size_t n, unsigned int flags) { CONTEXT(cudaHostRegister(p, n, flags)); }
CUresult cuMemHostUnregister(void *p) { CONTEXT(cudaHostUnregister(p)); }
static cudaError_t range_of(CUdeviceptr *base, size_t *size, CUdeviceptr p) {
  struct allocation a;
  if (!find_allocation(POINTER(p), &a)) return (cudaError_t)CUDA_ERROR_NOT_FOUND;
  if (base) *base = a.addr;
  if (size) *size = a.size;
  return cudaSuccess;
}
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr p) { CONTEXT(range_of(base, size, p)); }
static cudaError_t pointer_attribute(void *to, CUpointer_attribute what, CUdeviceptr p) {
  struct allocation a;
  if (!to || !find_allocation(POINTER(p), &a)) return cudaErrorInvalidValue;
  switch ((int)what) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)to = current_context(); break;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)to = a.kind == HEDDLE_KIND_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    break;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)to = p; break;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (a.kind == HEDDLE_KIND_DEVICE || a.kind == HEDDLE_KIND_VARIABLE) return cudaErrorInvalidValue;
    *(void **)to = POINTER(p);
    break;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)to = a.kind == HEDDLE_KIND_MANAGED; break;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)to = 0; break;
  default: return (cudaError_t)heddle_unsupported("cuPointerGetAttribute of this attribute");
  }
  return cudaSuccess;
}
CUresult cuPointerGetAttribute(void *to, CUpointer_attribute what, CUdeviceptr p) {
  CONTEXT(pointer_attribute(to, what, p));
}
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *what, void **to, CUdeviceptr p) {
  for (unsigned int i = 0; i < n; i++) {
    CUresult e = cuPointerGetAttribute(to[i], what[i], p);
    if (e != CUDA_SUCCESS) return e;
  }
  return CUDA_SUCCESS;
}

/* Memory pools are those of the runtime, whose structures and numbers are the same. */
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *to, CUdevice d) { DRIVER(cudaDeviceGetDefaultMemPool(to, d)); }
CUresult cuDeviceGetMemPool(CUmemoryPool *to, CUdevice d) { DRIVER(cudaDeviceGetMemPool(to, d)); }
CUresult cuDeviceSetMemPool(CUdevice d, CUmemoryPool pool) { DRIVER(cudaDeviceSetMemPool(d, pool)); }
CUresult cuMemPoolCreate(CUmemoryPool *to, const CUmemPoolProps *p) {
  DRIVER(cudaMemPoolCreate(to, (const struct cudaMemPoolProps *)p));
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) { DRIVER(cudaMemPoolDestroy(pool)); }
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute what, void *value) {
  DRIVER(cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)what, value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute what, void *value) {
  DRIVER(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)what, value));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t n) { DRIVER(cudaMemPoolTrimTo(pool, n)); }
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t n) {
  DRIVER(cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)list, n));
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags *to, CUmemoryPool pool, CUmemLocation *at) {
  DRIVER(cudaMemPoolGetAccess((enum cudaMemAccessFlags *)to, pool, (struct cudaMemLocation *)at));
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *to, size_t n, CUmemoryPool pool, CUstream s) {
  STREAM(s, allocate_from(pool, (void **)to, n, s, CALLER));
}
CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t n, CUdevice d, CUstream s) {
  STREAM(s, cudaMemPrefetchAsync(POINTER(p), n, d, s));
}
CUresult cuMemAdvise(CUdeviceptr p, size_t n, CUmem_advise a, CUdevice d) {
  CONTEXT(cudaMemAdvise(POINTER(p), n, (enum cudaMemoryAdvise)a, d));
}

/* Copies. */
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) {
  CONTEXT(copy(POINTER(to), POINTER(from), n, cudaMemcpyDefault, HOW(0, 0)));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  STREAM(s, copy(POINTER(to), POINTER(from), n, cudaMemcpyDefault, HOW(s, 1)));
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n) {
  CONTEXT(copy(POINTER(to), from, n, cudaMemcpyHostToDevice, HOW(0, 0)));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n, CUstream s) {
  STREAM(s, copy(POINTER(to), from, n, cudaMemcpyHostToDevice, HOW(s, 1)));
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n) {
  CONTEXT(copy(to, POINTER(from), n, cudaMemcpyDeviceToHost, HOW(0, 0)));
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream s) {
  STREAM(s, copy(to, POINTER(from), n, cudaMemcpyDeviceToHost, HOW(s, 1)));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n) {
  CONTEXT(copy(POINTER(to), POINTER(from), n, cudaMemcpyDeviceToDevice, HOW(0, 0)));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  STREAM(s, copy(POINTER(to), POINTER(from), n, cudaMemcpyDeviceToDevice, HOW(s, 1)));
}
CUresult cuMemcpyHtoA(CUarray a, size_t x, const void *from, size_t n) {
  CONTEXT(run_of_rows(a, x, 0, POINTER(from), n, 1, cudaMemcpyHostToDevice, HOW(0, 0)));
}
CUresult cuMemcpyAtoH(void *to, CUarray a, size_t x, size_t n) {
  CONTEXT(run_of_rows(a, x, 0, to, n, 0, cudaMemcpyDeviceToHost, HOW(0, 0)));
}

/* One side of a copy in three dimensions, in bytes. */
static struct rows driver_side(CUmemorytype t, const void *host, CUdeviceptr device, CUarray a, size_t x, size_t y,
                               size_t z, size_t pitch, size_t height, struct cudaExtent e) {
  if (t == CU_MEMORYTYPE_ARRAY) {
    struct rows r = rows_of(a, x, y, e.width, e.height);
    size_t depth = r.p ? at_least_one(a->extent.depth) : 0;
    if (!r.p || z > depth || e.depth > depth - z) return (struct rows){0};
    r.p += z * r.slice;
    return r;
  }
  char *p = t == CU_MEMORYTYPE_HOST ? POINTER(host) : POINTER(device);
  if (!pitch) pitch = e.width + x;
  size_t slice = pitch * (height ? height : e.height);
  return (struct rows){p ? p + z * slice + y * pitch + x : NULL, pitch, slice};
}
static cudaError_t driver_copy(const CUDA_MEMCPY3D *c, struct how how) {
  if (!c) return cudaErrorInvalidValue;
  struct cudaExtent e = {c->WidthInBytes, c->Height, c->Depth};
  return array_copy(driver_side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY, c->dstZ,
                                c->dstPitch, c->dstHeight, e),
                    driver_side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY, c->srcZ,
                                c->srcPitch, c->srcHeight, e),
                    e, cudaMemcpyDefault, how);
}
static cudaError_t driver_copy_2d(const CUDA_MEMCPY2D *c, struct how how) {
  if (!c) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D d = {.srcXInBytes = c->srcXInBytes, .srcY = c->srcY, .srcMemoryType = c->srcMemoryType,
                     .srcHost = c->srcHost, .srcDevice = c->srcDevice, .srcArray = c->srcArray, .srcPitch = c->srcPitch,
                     .dstXInBytes = c->dstXInBytes, .dstY = c->dstY, .dstMemoryType = c->dstMemoryType,
                     .dstHost = c->dstHost, .dstDevice = c->dstDevice, .dstArray = c->dstArray, .dstPitch = c->dstPitch,
                     .WidthInBytes = c->WidthInBytes, .Height = c->Height, .Depth = 1};
  return driver_copy(&d, how);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *c) { CONTEXT(driver_copy_2d(c, HOW(0, 0))); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) { CONTEXT(driver_copy_2d(c, HOW(0, 0))); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream s) { STREAM(s, driver_copy_2d(c, HOW(s, 1))); }
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *c) { CONTEXT(driver_copy(c, HOW(0, 0))); }
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream s) { STREAM(s, driver_copy(c, HOW(s, 1))); }

/* A memset of n elements of a size in each of some rows. */
static cudaError_t driver_set(CUdeviceptr p, size_t pitch, unsigned value, size_t size, size_t n, size_t rows,
                              struct how how) {
  if (p % size || pitch % size) return cudaErrorInvalidValue;
  return set_elements((struct rows){POINTER(p), pitch ? pitch : n * size, 0}, value, size,
                      (struct cudaExtent){n * size, rows, 1}, how);
}
CUresult cuMemsetD8(CUdeviceptr p, unsigned char v, size_t n) { CONTEXT(driver_set(p, 0, v, 1, n, 1, HOW(0, 0))); }
CUresult cuMemsetD16(CUdeviceptr p, unsigned short v, size_t n) { CONTEXT(driver_set(p, 0, v, 2, n, 1, HOW(0, 0))); }
CUresult cuMemsetD32(CUdeviceptr p, unsigned int v, size_t n) { CONTEXT(driver_set(p, 0, v, 4, n, 1, HOW(0, 0))); }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) {
  STREAM(s, driver_set(p, 0, v, 1, n, 1, HOW(s, 1)));
}
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t n, CUstream s) {
  STREAM(s, driver_set(p, 0, v, 2, n, 1, HOW(s, 1)));
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int v, size_t n, CUstream s) {
  STREAM(s, driver_set(p, 0, v, 4, n, 1, HOW(s, 1)));
}
CUresult cuMemsetD2D8(CUdeviceptr p, size_t pitch, unsigned char v, size_t width, size_t height) {
  CONTEXT(driver_set(p, pitch, v, 1, width, height, HOW(0, 0)));
}
CUresult cuMemsetD2D16(CUdeviceptr p, size_t pitch, unsigned short v, size_t width, size_t height) {
  CONTEXT(driver_set(p, pitch, v, 2, width, height, HOW(0, 0)));
}
CUresult cuMemsetD2D32(CUdeviceptr p, size_t pitch, unsigned int v, size_t width, size_t height) {
  CONTEXT(driver_set(p, pitch, v, 4, width, height, HOW(0, 0)));
}
CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char v, size_t width, size_t height, CUstream s) {
  STREAM(s, driver_set(p, pitch, v, 1, width, height, HOW(s, 1)));
}
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short v, size_t width, size_t height, CUstream s) {
  STREAM(s, driver_set(p, pitch, v, 2, width, height, HOW(s, 1)));
}
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned int v, size_t width, size_t height, CUstream s) {
  STREAM(s, driver_set(p, pitch, v, 4, width, height, HOW(s, 1)));
}

/* Arrays and their objects. */
static int channel_desc(struct cudaChannelFormatDesc *to, CUarray_format f, unsigned int n) {
  int bits = f == CU_AD_FORMAT_UNSIGNED_INT8 || f == CU_AD_FORMAT_SIGNED_INT8 ? 8
             : f == CU_AD_FORMAT_UNSIGNED_INT32 || f == CU_AD_FORMAT_SIGNED_INT32 || f == CU_AD_FORMAT_FLOAT ? 32 : 16;
  enum cudaChannelFormatKind k = f >= CU_AD_FORMAT_HALF ? cudaChannelFormatKindFloat
                                 : f >= CU_AD_FORMAT_SIGNED_INT8 ? cudaChannelFormatKindSigned
                                                                 : cudaChannelFormatKindUnsigned;
  *to = (struct cudaChannelFormatDesc){bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, k};
  return n == 1 || n == 2 || n == 4;
}
static cudaError_t driver_array(CUarray *to, const CUDA_ARRAY3D_DESCRIPTOR *d, uint64_t caller) {
  struct cudaChannelFormatDesc c;
  if (!d || !channel_desc(&c, d->Format, d->NumChannels)) return cudaErrorInvalidValue;
  return make_array(to, &c, (struct cudaExtent){d->Width, d->Height, d->Depth}, d->Flags, caller);
}
static cudaError_t driver_array_2d(CUarray *to, const CUDA_ARRAY_DESCRIPTOR *d, uint64_t caller) {
  if (!d) return cudaErrorInvalidValue;
  return driver_array(to, &(CUDA_ARRAY3D_DESCRIPTOR){d->Width, d->Height, 0, d->Format, d->NumChannels, 0}, caller);
}
CUresult cuArrayCreate(CUarray *to, const CUDA_ARRAY_DESCRIPTOR *d) { CONTEXT(driver_array_2d(to, d, CALLER)); }
CUresult cuArray3DCreate(CUarray *to, const CUDA_ARRAY3D_DESCRIPTOR *d) { CONTEXT(driver_array(to, d, CALLER)); }
CUresult cuArrayDestroy(CUarray a) { CONTEXT(cudaFreeArray(a)); }
static cudaError_t driver_mipmap(CUmipmappedArray *to, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels, uint64_t caller) {
  struct cudaChannelFormatDesc c;
  if (!d || !channel_desc(&c, d->Format, d->NumChannels)) return cudaErrorInvalidValue;
  return make_mipmap(to, &c, (struct cudaExtent){d->Width, d->Height, d->Depth}, levels, d->Flags, caller);
}
CUresult cuMipmappedArrayCreate(CUmipmappedArray *to, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels) {
  CONTEXT(driver_mipmap(to, d, levels, CALLER));
}
CUresult cuMipmappedArrayGetLevel(CUarray *to, CUmipmappedArray m, unsigned int level) {
  CONTEXT(cudaGetMipmappedArrayLevel(to, m, level));
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray m) { CONTEXT(cudaFreeMipmappedArray(m)); }

static int runtime_resource(struct cudaResourceDesc *to, const CUDA_RESOURCE_DESC *r) {
  *to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)r->resType};
  switch ((int)r->resType) {
  case CU_RESOURCE_TYPE_ARRAY: to->res.array.array = r->res.array.hArray; return 1;
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: to->res.mipmap.mipmap = r->res.mipmap.hMipmappedArray; return 1;
  case CU_RESOURCE_TYPE_LINEAR:
    to->res.linear.devPtr = POINTER(r->res.linear.devPtr), to->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
    return channel_desc(&to->res.linear.desc, r->res.linear.format, r->res.linear.numChannels);
  case CU_RESOURCE_TYPE_PITCH2D:
    to->res.pitch2D.devPtr = POINTER(r->res.pitch2D.devPtr), to->res.pitch2D.width = r->res.pitch2D.width;
    to->res.pitch2D.height = r->res.pitch2D.height, to->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
    return channel_desc(&to->res.pitch2D.desc, r->res.pitch2D.format, r->res.pitch2D.numChannels);
  }
  return 1;
}
static cudaError_t driver_texture(CUtexObject *to, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                                  const CUDA_RESOURCE_VIEW_DESC *v) {
  struct cudaResourceDesc resource;
  if (!r || !t || !runtime_resource(&resource, r)) return cudaErrorInvalidValue;
  struct cudaTextureDesc texture = {.filterMode = (enum cudaTextureFilterMode)t->filterMode,
                                    .readMode = t->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                                                   : cudaReadModeNormalizedFloat,
                                    .sRGB = !!(t->flags & CU_TRSF_SRGB),
                                    .normalizedCoords = !!(t->flags & CU_TRSF_NORMALIZED_COORDINATES),
                                    .maxAnisotropy = t->maxAnisotropy,
                                    .mipmapFilterMode = (enum cudaTextureFilterMode)t->mipmapFilterMode,
                                    .mipmapLevelBias = t->mipmapLevelBias,
                                    .minMipmapLevelClamp = t->minMipmapLevelClamp,
                                    .maxMipmapLevelClamp = t->maxMipmapLevelClamp};
  /* Integers of 32 bits are never fractions (CUDA Driver API, CU_TRSF_READ_AS_INTEGER). */
  struct cudaChannelFormatDesc d = {0};
  if (r->resType == CU_RESOURCE_TYPE_ARRAY && array_exists(resource.res.array.array)) d = resource.res.array.array->desc;
  else if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && mipmap_exists(resource.res.mipmap.mipmap))
    d = resource.res.mipmap.mipmap->level[0]->desc;
  else if (r->resType == CU_RESOURCE_TYPE_LINEAR) d = resource.res.linear.desc;
  else if (r->resType == CU_RESOURCE_TYPE_PITCH2D) d = resource.res.pitch2D.desc;
  if (v && v->format > CU_RES_VIEW_FORMAT_NONE && v->format < CU_RES_VIEW_FORMAT_UNSIGNED_BC1) d = view_format(v->format);
  if (d.x == 32) texture.readMode = cudaReadModeElementType;
  for (int i = 0; i < 3; i++) texture.addressMode[i] = (enum cudaTextureAddressMode)t->addressMode[i];
  memcpy(texture.borderColor, t->borderColor, sizeof texture.borderColor);
  return cudaCreateTextureObject(to, &resource, &texture, (const struct cudaResourceViewDesc *)(const void *)v);
}
CUresult cuTexObjectCreate(CUtexObject *to, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                           const CUDA_RESOURCE_VIEW_DESC *v) {
  CONTEXT(driver_texture(to, r, t, v));
}
CUresult cuTexObjectDestroy(CUtexObject t) { CONTEXT(cudaDestroyTextureObject(t)); }
static cudaError_t driver_surface(CUsurfObject *to, const CUDA_RESOURCE_DESC *r) {
  struct cudaResourceDesc resource;
  if (!r || !runtime_resource(&resource, r)) return cudaErrorInvalidValue;
  return cudaCreateSurfaceObject(to, &resource);
}
CUresult cuSurfObjectCreate(CUsurfObject *to, const CUDA_RESOURCE_DESC *r) { CONTEXT(driver_surface(to, r)); }
CUresult cuSurfObjectDestroy(CUsurfObject s) { CONTEXT(cudaDestroySurfaceObject(s)); }
static CUresult no_references(const char *name) {
  IN_CONTEXT();
  return driver_error((cudaError_t)heddle_unsupported(name));
}
CUresult cuModuleGetTexRef(CUtexref *to, CUmodule m, const char *name) {
  return (void)to, (void)m, (void)name, no_references("cuModuleGetTexRef");
}
CUresult cuModuleGetSurfRef(CUsurfref *to, CUmodule m, const char *name) {
  return (void)to, (void)m, (void)name, no_references("cuModuleGetSurfRef");
}

/* Streams and events. */
CUresult cuStreamCreateWithPriority(CUstream *to, unsigned int flags, int priority) {
  CONTEXT(create_stream(to, flags, priority, CALLER));
}
CUresult cuStreamCreate(CUstream *to, unsigned int flags) { CONTEXT(create_stream(to, flags, 0, CALLER)); }
CUresult cuStreamDestroy(CUstream s) { STREAM(s, cudaStreamDestroy(s)); }
CUresult cuStreamSynchronize(CUstream s) { STREAM(s, cudaStreamSynchronize(s)); }
CUresult cuStreamQuery(CUstream s) { STREAM(s, cudaStreamQuery(s)); }
CUresult cuStreamGetFlags(CUstream s, unsigned int *to) { STREAM(s, cudaStreamGetFlags(s, to)); }
CUresult cuStreamGetPriority(CUstream s, int *to) { STREAM(s, cudaStreamGetPriority(s, to)); }
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *to) {
  STREAM(s, cudaStreamIsCapturing(s, (enum cudaStreamCaptureStatus *)to));
}
CUresult cuStreamGetId(CUstream s, unsigned long long *to) { STREAM(s, cudaStreamGetId(s, to)); }
CUresult cuStreamGetDevice(CUstream s, CUdevice *to) { STREAM(s, cudaStreamGetDevice(s, to)); }
CUresult cuStreamGetCtx(CUstream s, CUcontext *to) {
  if (!of_context(s)) IN_CONTEXT();
  if (check_stream(s) != cudaSuccess || !to) return CUDA_ERROR_INVALID_VALUE;
  *to = of_context(s) ? s->context : current_context();
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) { STREAM(s, cudaStreamWaitEvent(s, e, flags)); }
CUresult cuStreamAddCallback(CUstream s, CUstreamCallback f, void *data, unsigned int flags) {
  STREAM(s, cudaStreamAddCallback(s, (cudaStreamCallback_t)f, data, flags));
}
CUresult cuLaunchHostFunc(CUstream s, CUhostFn f, void *data) { STREAM(s, cudaLaunchHostFunc(s, f, data)); }
CUresult cuEventCreate(CUevent *to, unsigned int flags) { CONTEXT(cudaEventCreateWithFlags(to, flags)); }
CUresult cuEventDestroy(CUevent e) { DRIVER(cudaEventDestroy(e)); }
CUresult cuEventRecord(CUevent e, CUstream s) { STREAM(s, cudaEventRecord(e, s)); }
CUresult cuEventSynchronize(CUevent e) { DRIVER(cudaEventSynchronize(e)); }
CUresult cuEventQuery(CUevent e) { DRIVER(cudaEventQuery(e)); }
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) { DRIVER(cudaEventElapsedTime(ms, a, b)); }

/* Graphs, as the library that watches programs on a GPU reads them (gpu/graphs.c). */
CUresult cuGraphClone(CUgraph *to, CUgraph g) { DRIVER(cudaGraphClone(to, g)); }
CUresult cuGraphDestroy(CUgraph g) { DRIVER(cudaGraphDestroy(g)); }
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *to, size_t *n) { DRIVER(cudaGraphGetNodes(g, to, n)); }
CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) {
  DRIVER(cudaGraphGetEdges(g, from, to, n));
}
CUresult cuGraphNodeFindInClone(CUgraphNode *to, CUgraphNode n, CUgraph g) { DRIVER(cudaGraphNodeFindInClone(to, n, g)); }
CUresult cuGraphNodeGetType(CUgraphNode n, enum cudaGraphNodeType *to) { DRIVER(cudaGraphNodeGetType(n, to)); }
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode n, CUgraph *to) { DRIVER(cudaGraphChildGraphNodeGetGraph(n, to)); }

#define NODE(N, TYPE) if (!node_exists(N) || (N)->type != cudaGraphNodeType##TYPE || !to) return CUDA_ERROR_INVALID_VALUE
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS *to) {
  NODE(n, Kernel);
  const struct shape *s = &n->shape;
  *to = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = s->grid.x, .gridDimY = s->grid.y, .gridDimZ = s->grid.z,
                                  .blockDimX = s->block.x, .blockDimY = s->block.y, .blockDimZ = s->block.z,
                                  .sharedMemBytes = (unsigned)s->shared, .kernelParams = n->args};
  DRIVER(cudaGetFuncBySymbol(&to->func, n->function));
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode n, CUkernelNodeAttrID id, CUkernelNodeAttrValue *to) {
  NODE(n, Kernel);
  *to = (CUkernelNodeAttrValue){0};
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) to->cooperative = n->shape.cooperative;
  else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) memcpy(&to->clusterDim, &n->shape.cluster, sizeof n->shape.cluster);
  else return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode n, CUDA_MEMCPY3D *to) {
  NODE(n, Memcpy);
  *to = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = (uintptr_t)n->from.p,
                        .srcPitch = n->from.pitch, .srcHeight = n->from.slice / n->from.pitch,
                        .dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = (uintptr_t)n->to.p, .dstPitch = n->to.pitch,
                        .dstHeight = n->to.slice / n->to.pitch, .WidthInBytes = n->extent.width,
                        .Height = n->extent.height, .Depth = n->extent.depth};
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode n, struct cudaMemsetParams *to) {
  NODE(n, Memset);
  *to = (struct cudaMemsetParams){n->to.p, n->to.pitch, n->value, (unsigned)n->element, n->extent.width / n->element,
                                  n->extent.height};
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeGetParams(CUgraphNode n, struct cudaHostNodeParams *to) {
  NODE(n, Host);
  *to = (struct cudaHostNodeParams){n->host, n->data};
  return CUDA_SUCCESS;
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode n, CUevent *to) {
  NODE(n, EventRecord);
  *to = n->event;
  return CUDA_SUCCESS;
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode n, CUevent *to) {
  NODE(n, WaitEvent);
  *to = n->event;
  return CUDA_SUCCESS;
}
#undef NODE

CUresult cuProfilerStart(void) { return CUDA_SUCCESS; }
CUresult cuProfilerStop(void) { return CUDA_SUCCESS; }

/* A function of the driver API by its name without a version. There is one version of each here. */
static void *driver_function(const char *name) {
  char plain[128];
  size_t n = name ? strlen(name) : 0;
  if (n < 3 || n >= sizeof plain || strncmp(name, "cu", 2) || !strncmp(name, "cuda", 4)) return NULL;
  memcpy(plain, name, n + 1);
  if (n > 3 && plain[n - 3] == '_' && plain[n - 2] == 'v') plain[n - 3] = 0;
  if (!strcmp(plain, "cuCtxCreate")) return (void *)__heddle_cu_create_context;
  void *to = dlsym(RTLD_DEFAULT, name);
  return to ? to : dlsym(RTLD_DEFAULT, plain);
}
CUresult cuGetProcAddress(const char *name, void **to, int version, unsigned long long flags,
                          CUdriverProcAddressQueryResult *result) {
  if (!name || !to) return CUDA_ERROR_INVALID_VALUE;
  *to = driver_function(name);
  if (result) *result = *to ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *to ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuGetProcAddress_v2(const char *name, void **to, int version, unsigned long long flags,
                             CUdriverProcAddressQueryResult *result) {
  return cuGetProcAddress(name, to, version, flags, result);
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **to, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
  if (!name || !to) return fail(cudaErrorInvalidValue);
  *to = driver_function(name);
  if (result) *result = *to ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **to, unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
  return cudaGetDriverEntryPoint(name, to, flags, result);
}

#ifndef HEDDLE_SHARED
/* What a program loads as NVIDIA's driver or runtime is this runtime, which is part of the program: libcu++ asks
   libcuda.so.1 for cuGetProcAddress. The linker puts __wrap_dlopen in the place of dlopen in what it links (--wrap), and
   the shared runtime needs none of this, since it has these names. */
__attribute__((weak)) void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags) {
  static const char *const ours[] = {"libcuda.so", "libcudart.so", "libnvrtc.so"};
  for (size_t i = 0; name && i < sizeof ours / sizeof *ours; i++) {
    size_t n = strlen(ours[i]);
    if (!strncmp(name, ours[i], n) && (!name[n] || name[n] == '.')) return __real_dlopen(NULL, flags);
  }
  return __real_dlopen(name, flags);
}
#endif
