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
  X(is_capturing, (void *, int *), "cuStreamIsCapturing", "")                                    \
  OWN_OF_GRAPHS(X)
/* Graphs, since CUDA 10.0. Some of the older versions of these functions fill less of what they return. */
#define OWN_OF_GRAPHS(X)                                                                         \
  X(graph_clone, (void **, void *), "cuGraphClone", "")                                          \
  X(graph_destroy, (void *), "cuGraphDestroy", "")                                               \
  X(graph_nodes, (void *, void **, size_t *), "cuGraphGetNodes", "")                             \
  X(graph_edges, (void *, void **, void **, size_t *), "cuGraphGetEdges", "")                    \
  X(node_type, (void *, int *), "cuGraphNodeGetType", "")                                        \
  X(node_in_clone, (void **, void *, void *), "cuGraphNodeFindInClone", "")                      \
  X(kernel_node, (void *, struct kernel_node *), "cuGraphKernelNodeGetParams_v2", "cuGraphKernelNodeGetParams") \
  X(kernel_attribute, (void *, int, void *), "cuGraphKernelNodeGetAttribute", "")                \
  X(copy_node, (void *, struct copy *), "cuGraphMemcpyNodeGetParams", "")                        \
  X(memset_node, (void *, struct memset_node *), "cuGraphMemsetNodeGetParams", "")               \
  X(host_node, (void *, struct host_node *), "cuGraphHostNodeGetParams", "")                     \
  X(child_graph, (void *, void **), "cuGraphChildGraphNodeGetGraph", "")                         \
  X(recorded_event, (void *, void **), "cuGraphEventRecordNodeGetEvent", "")                     \
  X(awaited_event, (void *, void **), "cuGraphEventWaitNodeGetEvent", "")                        \
  X(launch_plain, (void), "cuLaunchKernel", "")                                                  \
  X(launch_config, (void), "cuLaunchKernelEx", "")                                               \
  X(copy, (const struct copy *, void *), "cuMemcpy3DAsync_v2", "cuMemcpy3DAsync")                \
  X(memset_2d_8, (deviceptr, size_t, unsigned char, size_t, size_t, void *), "cuMemsetD2D8Async", "") \
  X(memset_2d_16, (deviceptr, size_t, unsigned short, size_t, size_t, void *), "cuMemsetD2D16Async", "") \
  X(memset_2d_32, (deviceptr, size_t, unsigned, size_t, size_t, void *), "cuMemsetD2D32Async", "") \
  X(host_function, (void *, void *, void *), "cuLaunchHostFunc", "")                             \
  X(event_create, (void **, unsigned), "cuEventCreate", "")                                      \
  X(event_destroy, (void *), "cuEventDestroy_v2", "cuEventDestroy")                              \
  X(event_record, (void *, void *), "cuEventRecord", "")                                         \
  X(event_synchronize, (void *), "cuEventSynchronize", "")                                       \
  X(stream_wait, (void *, void *, unsigned), "cuStreamWaitEvent", "")

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
