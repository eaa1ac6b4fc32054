/* The functions of the driver and the runtime that the program would call without this library. */

typedef void *dlsym_function(void *, const char *);

static dlsym_function *find_dlsym(void) {
  static dlsym_function *found;
  if (!found) {
    const char *versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}; /* the last is that of aarch64 */
    for (int i = 0; i < 3 && !found; i++) found = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    if (!found) { /* any dlsym that this library exports would call itself */
      fputs("heddle: the C library has no dlsym\n", stderr);
      abort();
    }
  }
  return found;
}

static void *real_dlsym(void *handle, const char *name) { return find_dlsym()(handle, name); }

/* The driver. With load it is loaded if the program has not done so. */
static void *driver_library(int load) {
  static void *handle;
  if (!handle) handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!handle && load) handle = dlopen("libcuda.so.1", RTLD_LAZY);
  return handle;
}

/* The runtime, if it is loaded outside the global scope, where RTLD_NEXT does not find it. */
static void *runtime_library(void) {
  static const char *names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"};
  static void *handle;
  for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
    handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
  return handle;
}

static int of_runtime(const char *name) { return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6); }

static void *find_real(const char *name, int load) {
  void *to = real_dlsym(RTLD_NEXT, name), *library;
  if (to) return to;
  library = of_runtime(name) ? runtime_library() : driver_library(load);
  return library ? real_dlsym(library, name) : NULL;
}

/* What this library calls itself. Of functions with versions, the newest one with these parameters comes first. */
#define OWN(X)                                                                                   \
  X(ctx_synchronize, (void), "cuCtxSynchronize", "")                                             \
  X(ctx_get_current, (void **), "cuCtxGetCurrent", "")                                           \
  X(ctx_get_device, (int *), "cuCtxGetDevice", "")                                               \
  X(primary_state, (int, unsigned *, int *), "cuDevicePrimaryCtxGetState", "")                   \
  X(mem_alloc, (deviceptr *, size_t), "cuMemAlloc_v2", "cuMemAlloc")                             \
  X(host_register, (void *, size_t, unsigned), "cuMemHostRegister_v2", "cuMemHostRegister")      \
  X(host_unregister, (void *), "cuMemHostUnregister", "")                                        \
  X(host_pointer, (deviceptr *, void *, unsigned), "cuMemHostGetDevicePointer_v2", "cuMemHostGetDevicePointer") \
  X(host_alloc, (void **, size_t, unsigned), "cuMemHostAlloc", "")                               \
  X(memset8, (deviceptr, unsigned char, size_t), "cuMemsetD8_v2", "cuMemsetD8")                  \
  X(to_device, (deviceptr, const void *, size_t), "cuMemcpyHtoD_v2", "cuMemcpyHtoD")             \
  X(to_host, (void *, deviceptr, size_t), "cuMemcpyDtoH_v2", "cuMemcpyDtoH")                     \
  X(get_global, (deviceptr *, size_t *, void *, const char *), "cuModuleGetGlobal_v2", "cuModuleGetGlobal") \
  X(func_module, (void **, void *), "cuFuncGetModule", "")                                       \
  X(func_name, (const char **, void *), "cuFuncGetName", "")                                     \
  X(kernel_function, (void **, void *), "cuKernelGetFunction", "")                               \
  X(library_module, (void **, void *), "cuLibraryGetModule", "")                                 \
  X(is_capturing, (void *, int *), "cuStreamIsCapturing", "")

#define FIELD(NAME, PARAMETERS, FIRST, SECOND) result (*NAME) PARAMETERS;
static struct { OWN(FIELD) } cu;
#undef FIELD

/* Returns whether the driver has all that watching needs. Names can be asked of newer drivers only. */
static int load_driver(void) {
  static int state; /* 1: complete, 2: not */
  int known = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  if (known) return known == 1;
  void *library = driver_library(1);
  if (!library) return 0;
#define FIND(NAME, PARAMETERS, FIRST, SECOND)                                                         \
  void *NAME##_at = real_dlsym(library, FIRST);                                                       \
  if (!NAME##_at && *SECOND) NAME##_at = real_dlsym(library, SECOND);                                 \
  *(void **)&cu.NAME = NAME##_at;
  OWN(FIND)
#undef FIND
  int complete = cu.ctx_synchronize && cu.ctx_get_current && cu.ctx_get_device && cu.mem_alloc && cu.host_pointer &&
                 cu.host_alloc && cu.memset8 && cu.to_device && cu.to_host && cu.get_global;
  __atomic_store_n(&state, complete ? 1 : 2, __ATOMIC_RELEASE);
  return complete;
}
