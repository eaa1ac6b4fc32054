/* The functions that the library takes: as symbols that precede those of CUDA's libraries, and by the functions that
   give programs, and NVIDIA's runtime, addresses of functions by their names. */

/* All names, the older versions of a function before the newer ones. */
#define NAMES(X)                                                                                                      \
  X(__cudaRegisterFatBinary) X(__cudaPushCallConfiguration) X(__cudaPopCallConfiguration)                             \
  X(cudaLaunchKernel) X(cudaLaunchKernel_ptsz) X(cudaLaunchKernelExC) X(cudaLaunchKernelExC_ptsz)                     \
  X(cudaLaunchCooperativeKernel) X(cudaLaunchCooperativeKernel_ptsz) X(cudaGraphLaunch) X(cudaGraphLaunch_ptsz)       \
  X(cudaGraphInstantiate) X(cudaGraphInstantiateWithFlags) X(cudaGraphInstantiateWithParams)                          \
  X(cudaGraphInstantiateWithParams_ptsz) X(cudaGraphExecDestroy) X(cudaGraphExecUpdate)                               \
  X(cudaGraphExecKernelNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams) X(cudaGraphExecMemsetNodeSetParams)         \
  X(cudaGraphExecHostNodeSetParams) X(cudaGraphExecNodeSetParams) X(cudaGraphExecEventRecordNodeSetEvent)             \
  X(cudaGraphExecEventWaitNodeSetEvent) X(cudaGraphExecMemcpyNodeSetParams1D)                                         \
  X(cudaGraphExecMemcpyNodeSetParamsToSymbol) X(cudaGraphExecMemcpyNodeSetParamsFromSymbol)                           \
  X(cudaGraphExecChildGraphNodeSetParams) X(cudaGraphNodeSetEnabled)                                                  \
  X(cudaStreamBeginCapture) X(cudaStreamBeginCapture_ptsz) X(cudaStreamBeginCaptureToGraph)                           \
  X(cudaStreamBeginCaptureToGraph_ptsz) X(cudaStreamEndCapture) X(cudaStreamEndCapture_ptsz)                          \
  X(cudaMalloc) X(cudaMallocManaged) X(cudaMallocAsync) X(cudaMallocAsync_ptsz) X(cudaMallocFromPoolAsync)            \
  X(cudaMallocFromPoolAsync_ptsz) X(cudaMallocPitch) X(cudaMallocHost) X(cudaHostAlloc)                               \
  X(cudaFree) X(cudaFreeAsync) X(cudaFreeAsync_ptsz) X(cudaFreeHost) X(cudaDeviceReset)                               \
  X(cuModuleLoad) X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleLoadFatBinary) X(cuLibraryLoadData)             \
  X(cuLibraryLoadFromFile) X(cuModuleGetFunction) X(cuLibraryGetKernel) X(cuKernelGetFunction) X(cuLibraryGetModule)  \
  X(cuModuleUnload) X(cuLibraryUnload)                                                                                \
  X(cuLaunchKernel) X(cuLaunchKernel_ptsz) X(cuLaunchKernelEx) X(cuLaunchKernelEx_ptsz) X(cuLaunchCooperativeKernel)  \
  X(cuLaunchCooperativeKernel_ptsz) X(cuGraphLaunch) X(cuGraphLaunch_ptsz)                                            \
  X(cuStreamBeginCapture) X(cuStreamBeginCapture_ptsz) X(cuStreamBeginCapture_v2) X(cuStreamBeginCapture_v2_ptsz)     \
  X(cuStreamBeginCaptureToGraph) X(cuStreamBeginCaptureToGraph_ptsz) X(cuStreamEndCapture) X(cuStreamEndCapture_ptsz) \
  X(cuMemAlloc) X(cuMemAlloc_v2) X(cuMemAllocManaged) X(cuMemAllocAsync) X(cuMemAllocAsync_ptsz)                      \
  X(cuMemAllocFromPoolAsync) X(cuMemAllocFromPoolAsync_ptsz) X(cuMemAllocPitch) X(cuMemAllocPitch_v2)                 \
  X(cuMemHostAlloc) X(cuMemAllocHost) X(cuMemAllocHost_v2) X(cuMemFree) X(cuMemFree_v2) X(cuMemFreeAsync)             \
  X(cuMemFreeAsync_ptsz) X(cuMemFreeHost)                                                                             \
  X(cuCtxDestroy) X(cuCtxDestroy_v2) X(cuDevicePrimaryCtxReset) X(cuDevicePrimaryCtxReset_v2)                         \
  X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxRelease_v2) X(cuGetProcAddress) X(cuGetProcAddress_v2)

#define ENTRY(NAME) ENTRY_##NAME,
enum { NAMES(ENTRY) ENTRIES };
#undef ENTRY
static struct entry { const char *name; void *wrapper, *real; } entries[ENTRIES];

static void *real_of(int entry) {
  struct entry *e = &entries[entry];
  void *real = __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);
  if (!real && (real = find_real(e->name, 1))) __atomic_store_n(&e->real, real, __ATOMIC_RELEASE);
  return real;
}
#define REAL(NAME) ((__typeof__(&NAME))real_of(ENTRY_##NAME))
/* Calls the function that the program would have called without this library. */
#define FORWARD(NAME, ...) (REAL(NAME) ? REAL(NAME)(__VA_ARGS__) : ERROR_NOT_INITIALIZED)
/* The same, for a function that is handled here: what it calls itself is not. */
#define INSIDE(E, NAME, ...)        \
  do {                              \
    depth++;                        \
    E = FORWARD(NAME, __VA_ARGS__); \
    depth--;                        \
  } while (0)

/* Images. */
EXPORT void **__cudaRegisterFatBinary(void *binary) {
  struct loading l = loading_of(binary, 1);
  void **(*real)(void *);
  *(void **)&real = real_of(ENTRY___cudaRegisterFatBinary);
  return real ? real((void *)(uintptr_t)l.now) : NULL;
}

/* A replaced image that the driver does not take is loaded as it was. */
#define LOAD(E, LIBRARY, TO, CODE, CALL)                                                  \
  struct loading l = loading_of(CODE, 0);                                                 \
  const void *code = l.now;                                                               \
  result E = CALL;                                                                        \
  if (E && l.image && l.image->replaced && (code = l.original) != l.now) E = CALL;        \
  if (!E && (TO)) {                                                                       \
    lock();                                                                               \
    note_owner(*(TO), LIBRARY, l.image);                                                  \
    unlock();                                                                             \
  }

EXPORT result cuModuleLoadData(void **to, const void *image) {
  LOAD(e, 0, to, image, FORWARD(cuModuleLoadData, to, code))
  return e;
}
EXPORT result cuModuleLoadFatBinary(void **to, const void *image) {
  LOAD(e, 0, to, image, FORWARD(cuModuleLoadFatBinary, to, code))
  return e;
}
EXPORT result cuModuleLoadDataEx(void **to, const void *image, unsigned n, int *options, void **values) {
  LOAD(e, 0, to, image, FORWARD(cuModuleLoadDataEx, to, code, n, options, values))
  return e;
}
EXPORT result cuLibraryLoadData(void **to, const void *image, int *jit, void **jit_values, unsigned n, int *options,
                                void **values, unsigned m) {
  LOAD(e, 1, to, image, FORWARD(cuLibraryLoadData, to, code, jit, jit_values, n, options, values, m))
  return e;
}
/* A file is loaded from memory if heddle replaces it. */
EXPORT result cuModuleLoad(void **to, const char *name) {
  void *text = depth ? NULL : read_image(name);
  struct image *m = text ? watch_image(text, 0) : NULL;
  free(text);
  result e = m && m->replaced ? FORWARD(cuModuleLoadData, to, m->replaced) : ERROR_NOT_FOUND;
  if (e) e = FORWARD(cuModuleLoad, to, name);
  if (!e && to) {
    lock();
    note_owner(*to, 0, m);
    unlock();
  }
  return e;
}
EXPORT result cuLibraryLoadFromFile(void **to, const char *name, int *jit, void **jit_values, unsigned n, int *options,
                                    void **values, unsigned k) {
  void *text = depth ? NULL : read_image(name);
  struct image *m = text ? watch_image(text, 0) : NULL;
  free(text);
  result e = m && m->replaced ? FORWARD(cuLibraryLoadData, to, m->replaced, jit, jit_values, n, options, values, k)
                              : ERROR_NOT_FOUND;
  if (e) e = FORWARD(cuLibraryLoadFromFile, to, name, jit, jit_values, n, options, values, k);
  if (!e && to) {
    lock();
    note_owner(*to, 1, m);
    unlock();
  }
  return e;
}

/* Functions, also those that the runtime asks for. */
EXPORT result cuModuleGetFunction(void **to, void *module, const char *name) {
  result e = FORWARD(cuModuleGetFunction, to, module, name);
  if (!e && to) function_found(*to, module, NULL, name);
  return e;
}
EXPORT result cuLibraryGetKernel(void **to, void *library, const char *name) {
  result e = FORWARD(cuLibraryGetKernel, to, library, name);
  if (!e && to) function_found(*to, NULL, library, name);
  return e;
}
EXPORT result cuKernelGetFunction(void **to, void *kernel) {
  result e = FORWARD(cuKernelGetFunction, to, kernel);
  if (!e && to && load_driver()) function_of_kernel(*to, kernel);
  return e;
}
EXPORT result cuLibraryGetModule(void **to, void *library) {
  result e = FORWARD(cuLibraryGetModule, to, library);
  if (e || !to) return e;
  lock();
  struct owner *o = find_owner(library, 1), *m = find_owner(*to, 0);
  if (o && (!m || m->image != o->image)) note_owner(*to, 0, o->image);
  unlock();
  return e;
}
EXPORT result cuModuleUnload(void *module) {
  forget_owner(module, 0);
  return FORWARD(cuModuleUnload, module);
}
EXPORT result cuLibraryUnload(void *library) {
  forget_owner(library, 1);
  return FORWARD(cuLibraryUnload, library);
}

/* Launches. */
#define LAUNCH(NAME, PER_THREAD)                                                                                     \
  EXPORT result NAME(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,          \
                     unsigned shared, void *stream, void **args, void **extra) {                                     \
    struct launch l = {.form = DRIVER_PLAIN, .real = real_of(ENTRY_##NAME), .function = f, .grid = {gx, gy, gz},     \
                       .block = {bx, by, bz}, .cluster = {1, 1, 1}, .shared = shared, .stream = stream,              \
                       .per_thread = PER_THREAD, .args = args, .extra = extra, .caller = CALLER};                    \
    return launch(&l);                                                                                               \
  }
LAUNCH(cuLaunchKernel, 0)
LAUNCH(cuLaunchKernel_ptsz, 1)
#undef LAUNCH
#define LAUNCH(NAME, PER_THREAD)                                                                                     \
  EXPORT result NAME(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,          \
                     unsigned shared, void *stream, void **args) {                                                   \
    struct launch l = {.form = DRIVER_COOPERATIVE, .real = real_of(ENTRY_##NAME), .function = f,                     \
                       .grid = {gx, gy, gz}, .block = {bx, by, bz}, .cluster = {1, 1, 1}, .shared = shared,          \
                       .stream = stream, .per_thread = PER_THREAD, .flags = 1, .args = args, .caller = CALLER};      \
    return launch(&l);                                                                                               \
  }
LAUNCH(cuLaunchCooperativeKernel, 0)
LAUNCH(cuLaunchCooperativeKernel_ptsz, 1)
#undef LAUNCH
#define LAUNCH(NAME, PER_THREAD)                                                                                     \
  EXPORT result NAME(const driver_config *c, void *f, void **args, void **extra) {                                   \
    return launch_driver_config(real_of(ENTRY_##NAME), c, f, args, extra, PER_THREAD, CALLER);                       \
  }
LAUNCH(cuLaunchKernelEx, 0)
LAUNCH(cuLaunchKernelEx_ptsz, 1)
#undef LAUNCH
#define LAUNCH(NAME, PER_THREAD, FLAGS)                                                                              \
  EXPORT result NAME(void *f, dim3 grid, dim3 block, void **args, size_t shared, void *stream) {                     \
    struct launch l = {.form = RUNTIME_PLAIN, .real = real_of(ENTRY_##NAME), .function = f, .grid = grid,            \
                       .block = block, .cluster = {1, 1, 1}, .shared = shared, .stream = stream,                     \
                       .per_thread = PER_THREAD, .flags = FLAGS, .args = args, .caller = CALLER};                    \
    return launch(&l);                                                                                               \
  }
LAUNCH(cudaLaunchKernel, 0, 0)
LAUNCH(cudaLaunchKernel_ptsz, 1, 0)
LAUNCH(cudaLaunchCooperativeKernel, 0, 1)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, 1, 1)
#undef LAUNCH
#define LAUNCH(NAME, PER_THREAD)                                                                                     \
  EXPORT result NAME(const runtime_config *c, void *f, void **args) {                                                \
    return launch_runtime_config(real_of(ENTRY_##NAME), c, f, args, PER_THREAD, CALLER);                             \
  }
LAUNCH(cudaLaunchKernelExC, 0)
LAUNCH(cudaLaunchKernelExC_ptsz, 1)
#undef LAUNCH
#define LAUNCH(NAME) \
  EXPORT result NAME(void *graph, void *stream) { return launch_driver_graph(real_of(ENTRY_##NAME), graph, stream); }
LAUNCH(cuGraphLaunch)
LAUNCH(cuGraphLaunch_ptsz)
#undef LAUNCH
#define LAUNCH(NAME, PER_THREAD)                                                         \
  EXPORT result NAME(void *graph, void *stream) {                                        \
    return launch_graph(real_of(ENTRY_##NAME), graph, stream, PER_THREAD, CALLER);       \
  }
LAUNCH(cudaGraphLaunch, 0)
LAUNCH(cudaGraphLaunch_ptsz, 1)
#undef LAUNCH

/* Executable graphs. Before CUDA 12, cudaGraphInstantiate had five parameters and cudaGraphExecUpdate four. Newer ones do
   not read those that they do not have. */
EXPORT result cudaGraphInstantiate(void **to, void *graph, uintptr_t flags, void *log, size_t size) {
  result e;
  INSIDE(e, cudaGraphInstantiate, to, graph, flags, log, size);
  instantiated(e, to, graph, flags < 16 ? flags : 0); /* before CUDA 12 it is a pointer */
  return e;
}
EXPORT result cudaGraphInstantiateWithFlags(void **to, void *graph, unsigned long long flags) {
  result e;
  INSIDE(e, cudaGraphInstantiateWithFlags, to, graph, flags);
  instantiated(e, to, graph, flags);
  return e;
}
#define INSTANTIATE(NAME)                                               \
  EXPORT result NAME(void **to, void *graph, unsigned long long *p) {   \
    result e;                                                           \
    INSIDE(e, NAME, to, graph, p);                                      \
    instantiated(e, to, graph, p ? *p : 0); /* flags are its first */   \
    return e;                                                           \
  }
INSTANTIATE(cudaGraphInstantiateWithParams)
INSTANTIATE(cudaGraphInstantiateWithParams_ptsz)
#undef INSTANTIATE
EXPORT result cudaGraphExecDestroy(void *x) {
  end_executable(x);
  return FORWARD(cudaGraphExecDestroy, x);
}
EXPORT result cudaGraphExecUpdate(void *x, void *graph, void *info, void *more) {
  result e;
  INSIDE(e, cudaGraphExecUpdate, x, graph, info, more);
  updated(e, x, graph);
  return e;
}

/* New parameters of a node, which the clone's node gets, too, by the function with the parameters SETS. */
#define SET(NAME, OF_NODE, PARAMETERS, SETS, ...)         \
  EXPORT result NAME PARAMETERS {                         \
    result e, (*set) SETS = NULL;                         \
    INSIDE(e, NAME, x, n, __VA_ARGS__);                   \
    void *own = changed_node(e, x, n);                    \
    *(void **)&set = own ? find_real(OF_NODE, 0) : NULL;  \
    depth++;                                              \
    int failed = own && (!set || set(own, __VA_ARGS__));  \
    depth--;                                              \
    if (failed) changed(x, CHANGED);                      \
    return e;                                             \
  }
#define SET_PARAMETERS(KIND) \
  SET(cudaGraphExec##KIND##SetParams, "cudaGraph" #KIND "SetParams", (void *x, void *n, void *p), (void *, void *), p)
SET_PARAMETERS(KernelNode)
SET_PARAMETERS(MemcpyNode)
SET_PARAMETERS(MemsetNode)
SET_PARAMETERS(HostNode)
SET_PARAMETERS(Node)
#undef SET_PARAMETERS
SET(cudaGraphExecEventRecordNodeSetEvent, "cudaGraphEventRecordNodeSetEvent", (void *x, void *n, void *event),
    (void *, void *), event)
SET(cudaGraphExecEventWaitNodeSetEvent, "cudaGraphEventWaitNodeSetEvent", (void *x, void *n, void *event),
    (void *, void *), event)
SET(cudaGraphExecMemcpyNodeSetParams1D, "cudaGraphMemcpyNodeSetParams1D",
    (void *x, void *n, void *to, void *from, size_t size, int kind), (void *, void *, void *, size_t, int), to, from,
    size, kind)
#define SET_SYMBOL(NAME)                                                                      \
  SET(cudaGraphExecMemcpyNodeSetParams##NAME, "cudaGraphMemcpyNodeSetParams" #NAME,           \
      (void *x, void *n, void *to, void *from, size_t size, size_t at, int kind),             \
      (void *, void *, void *, size_t, size_t, int), to, from, size, at, kind)
SET_SYMBOL(ToSymbol)
SET_SYMBOL(FromSymbol)
#undef SET_SYMBOL
#undef SET
EXPORT result cudaGraphExecChildGraphNodeSetParams(void *x, void *n, void *graph) {
  result e;
  INSIDE(e, cudaGraphExecChildGraphNodeSetParams, x, n, graph);
  if (!e) changed(x, CHANGED);
  return e;
}
EXPORT result cudaGraphNodeSetEnabled(void *x, void *n, unsigned enabled) {
  result e;
  INSIDE(e, cudaGraphNodeSetEnabled, x, n, enabled);
  if (!e && !enabled) changed(x, "has nodes that were disabled");
  return e;
}

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
  unsigned (*real)(dim3, dim3, size_t, void *);
  *(void **)&real = real_of(ENTRY___cudaPushCallConfiguration);
  unsigned e = real ? real(grid, block, shared, stream) : ERROR_NOT_INITIALIZED;
  if (!e) push_configuration(CALLER);
  return e;
}
EXPORT result __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  result e = FORWARD(__cudaPopCallConfiguration, grid, block, shared, stream);
  if (!e) pop_configuration();
  return e;
}

/* Captures. One must not begin while a launch is watched, since its synchronizations would make the capture invalid. */
#define BEGIN(PER_THREAD, NAME, ...)                                                \
  result e;                                                                         \
  int first = !depth;                                                               \
  if (first) pthread_mutex_lock(&launching);                                        \
  INSIDE(e, NAME, __VA_ARGS__);                                                     \
  if (!e && first) capture_began(!stream && PER_THREAD ? PER_THREAD_STREAM : stream); \
  if (first) pthread_mutex_unlock(&launching);                                      \
  return e;
#define CAPTURE(NAME, PER_THREAD) \
  EXPORT result NAME(void *stream, int mode) { BEGIN(PER_THREAD, NAME, stream, mode) }
CAPTURE(cudaStreamBeginCapture, 0)
CAPTURE(cudaStreamBeginCapture_ptsz, 1)
CAPTURE(cuStreamBeginCapture, 0)
CAPTURE(cuStreamBeginCapture_ptsz, 1)
CAPTURE(cuStreamBeginCapture_v2, 0)
CAPTURE(cuStreamBeginCapture_v2_ptsz, 1)
#undef CAPTURE
#define CAPTURE(NAME, PER_THREAD)                                                                            \
  EXPORT result NAME(void *stream, void *graph, const void *nodes, const void *edges, size_t n, int mode) { \
    BEGIN(PER_THREAD, NAME, stream, graph, nodes, edges, n, mode)                                            \
  }
CAPTURE(cudaStreamBeginCaptureToGraph, 0)
CAPTURE(cudaStreamBeginCaptureToGraph_ptsz, 1)
CAPTURE(cuStreamBeginCaptureToGraph, 0)
CAPTURE(cuStreamBeginCaptureToGraph_ptsz, 1)
#undef CAPTURE
#undef BEGIN
#define CAPTURE(NAME, PER_THREAD)                 \
  EXPORT result NAME(void *stream, void **graph) { \
    result e;                                     \
    INSIDE(e, NAME, stream, graph);               \
    if (!depth) capture_ended(stream, PER_THREAD); \
    return e;                                     \
  }
CAPTURE(cudaStreamEndCapture, 0)
CAPTURE(cudaStreamEndCapture_ptsz, 1)
CAPTURE(cuStreamEndCapture, 0)
CAPTURE(cuStreamEndCapture_ptsz, 1)
#undef CAPTURE

/* Allocations. A pointer is read only after a call that has succeeded. */
#define ALLOCATE(NAME, KIND, SIZE, PARAMETERS, ...)                                                           \
  EXPORT result NAME PARAMETERS {                                                                             \
    result e;                                                                                                 \
    INSIDE(e, NAME, __VA_ARGS__);                                                                             \
    if (!e && !depth && to) allocated(e, *to, SIZE, HEDDLE_WATCH_KIND_##KIND, CALLER);                        \
    return e;                                                                                                 \
  }
ALLOCATE(cudaMalloc, DEVICE, n, (void **to, size_t n), to, n)
ALLOCATE(cudaMallocManaged, MANAGED, n, (void **to, size_t n, unsigned flags), to, n, flags)
ALLOCATE(cudaMallocAsync, DEVICE, n, (void **to, size_t n, void *stream), to, n, stream)
ALLOCATE(cudaMallocAsync_ptsz, DEVICE, n, (void **to, size_t n, void *stream), to, n, stream)
ALLOCATE(cudaMallocFromPoolAsync, DEVICE, n, (void **to, size_t n, void *pool, void *stream), to, n, pool, stream)
ALLOCATE(cudaMallocFromPoolAsync_ptsz, DEVICE, n, (void **to, size_t n, void *pool, void *stream), to, n, pool, stream)
ALLOCATE(cudaMallocPitch, DEVICE, *pitch * height, (void **to, size_t *pitch, size_t width, size_t height), to, pitch,
         width, height)
ALLOCATE(cudaMallocHost, PINNED, n, (void **to, size_t n), to, n)
ALLOCATE(cudaHostAlloc, PINNED, n, (void **to, size_t n, unsigned flags), to, n, flags)
ALLOCATE(cuMemAlloc, DEVICE, n, (void **to, size_t n), to, n)
ALLOCATE(cuMemAlloc_v2, DEVICE, n, (void **to, size_t n), to, n)
ALLOCATE(cuMemAllocManaged, MANAGED, n, (void **to, size_t n, unsigned flags), to, n, flags)
ALLOCATE(cuMemAllocAsync, DEVICE, n, (void **to, size_t n, void *stream), to, n, stream)
ALLOCATE(cuMemAllocAsync_ptsz, DEVICE, n, (void **to, size_t n, void *stream), to, n, stream)
ALLOCATE(cuMemAllocFromPoolAsync, DEVICE, n, (void **to, size_t n, void *pool, void *stream), to, n, pool, stream)
ALLOCATE(cuMemAllocFromPoolAsync_ptsz, DEVICE, n, (void **to, size_t n, void *pool, void *stream), to, n, pool, stream)
ALLOCATE(cuMemAllocPitch, DEVICE, *pitch * height,
         (void **to, size_t *pitch, size_t width, size_t height, unsigned element), to, pitch, width, height, element)
ALLOCATE(cuMemAllocPitch_v2, DEVICE, *pitch * height,
         (void **to, size_t *pitch, size_t width, size_t height, unsigned element), to, pitch, width, height, element)
ALLOCATE(cuMemHostAlloc, PINNED, n, (void **to, size_t n, unsigned flags), to, n, flags)
ALLOCATE(cuMemAllocHost, PINNED, n, (void **to, size_t n), to, n)
ALLOCATE(cuMemAllocHost_v2, PINNED, n, (void **to, size_t n), to, n)

#define FREE(NAME, PARAMETERS, ...)    \
  EXPORT result NAME PARAMETERS {      \
    result e;                          \
    if (!depth) freed(p, CALLER);      \
    INSIDE(e, NAME, __VA_ARGS__);      \
    return e;                          \
  }
FREE(cudaFree, (void *p), p)
FREE(cudaFreeAsync, (void *p, void *stream), p, stream)
FREE(cudaFreeAsync_ptsz, (void *p, void *stream), p, stream)
FREE(cudaFreeHost, (void *p), p)
FREE(cuMemFree, (void *p), p)
FREE(cuMemFree_v2, (void *p), p)
FREE(cuMemFreeAsync, (void *p, void *stream), p, stream)
FREE(cuMemFreeAsync_ptsz, (void *p, void *stream), p, stream)
FREE(cuMemFreeHost, (void *p), p)

/* Ends of contexts. */
EXPORT result cudaDeviceReset(void) { return end_context(real_of(ENTRY_cudaDeviceReset), NULL, -1, 1); }
EXPORT result cuDevicePrimaryCtxReset(int d) { return end_context(real_of(ENTRY_cuDevicePrimaryCtxReset), NULL, d, 1); }
EXPORT result cuDevicePrimaryCtxReset_v2(int d) {
  return end_context(real_of(ENTRY_cuDevicePrimaryCtxReset_v2), NULL, d, 1);
}
EXPORT result cuCtxDestroy(void *c) {
  return c ? end_context(real_of(ENTRY_cuCtxDestroy), c, -1, 0) : FORWARD(cuCtxDestroy, c);
}
EXPORT result cuCtxDestroy_v2(void *c) {
  return c ? end_context(real_of(ENTRY_cuCtxDestroy_v2), c, -1, 0) : FORWARD(cuCtxDestroy_v2, c);
}
EXPORT result cuDevicePrimaryCtxRelease(int d) { return release_primary(REAL(cuDevicePrimaryCtxRelease), d); }
EXPORT result cuDevicePrimaryCtxRelease_v2(int d) { return release_primary(REAL(cuDevicePrimaryCtxRelease_v2), d); }

/* Addresses of functions by their names. */

/* Returns what to give for a function that was found, of which real is the address: the one that it would replace, if
   that is not yet the address of another. */
static void *wrapper_of(int entry, void *real) {
  struct entry *e = &entries[entry];
  void *none = NULL;
  if (real == e->wrapper || __atomic_compare_exchange_n(&e->real, &none, real, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
      none == real)
    return e->wrapper;
  return real;
}

static int entry_of(const char *name) {
  int i = 0;
  while (i < ENTRIES && strcmp(entries[i].name, name)) i++;
  return i;
}

/* The length of a name without what says its version and its default stream. */
static size_t base_length(const char *name) {
  size_t n = strlen(name);
  if (n > 5 && !strcmp(name + n - 5, "_ptsz")) n -= 5;
  if (n > 3 && name[n - 3] == '_' && name[n - 2] == 'v') n -= 3;
  return n;
}

/* What cuGetProcAddress gives for a name: it returns the version of the function that the caller's CUDA has. */
static void *proc_address(const char *name, void *real, int version, unsigned long long flags) {
  size_t n = base_length(name);
  void *library = driver_library(0);
  int found = ENTRIES;
  for (int i = 0; i < ENTRIES; i++) {
    const char *other = entries[i].name;
    if (base_length(other) != n || strncmp(other, name, n)) continue;
    if (real == entries[i].wrapper) return real;
    if (library && real_dlsym(library, other) == real) return wrapper_of(i, real);
    int per_thread = strlen(other) > 5 && !strcmp(other + strlen(other) - 5, "_ptsz");
    if (per_thread && !(flags & 2)) continue; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
    if (i == ENTRY_cuGetProcAddress_v2 && version < 12000) continue;
    if (found < ENTRIES && !per_thread && flags & 2 && strstr(entries[found].name, "_ptsz")) continue;
    found = i;
  }
  return found < ENTRIES ? wrapper_of(found, real) : real;
}

/* The first of the two has four parameters in NVIDIA's driver, which does not see the fifth. */
#define PROC_ADDRESS(NAME)                                                                        \
  EXPORT result NAME(const char *name, void **to, int version, unsigned long long flags, void *status) { \
    result e = FORWARD(NAME, name, to, version, flags, status);                                   \
    if (!e && name && to && *to) *to = proc_address(name, *to, version, flags);                   \
    return e;                                                                                     \
  }
PROC_ADDRESS(cuGetProcAddress)
PROC_ADDRESS(cuGetProcAddress_v2)

#define ENTRY(NAME) {#NAME, (void *)NAME, NULL},
static struct entry entries[ENTRIES] = {NAMES(ENTRY)};
#undef ENTRY

/* Whether a program without this library would find a function in the global scope. */
static int exists(int entry) {
  return real_dlsym(RTLD_NEXT, entries[entry].name) || (of_runtime(entries[entry].name) ? runtime_library()
                                                                                       : driver_library(0));
}

/* What RTLD_NEXT and RTLD_DEFAULT mean depends on the caller: the C library must see its return address. */
EXPORT void *dlsym(void *restrict handle, const char *restrict name) {
  dlsym_function *real = find_dlsym();
  if (strncmp(name, "cu", 2) && strncmp(name, "__cuda", 6))
    __attribute__((musttail)) return real(handle, name);
  int entry = entry_of(name);
  if (entry < ENTRIES && handle == RTLD_DEFAULT && !exists(entry)) return NULL;
  if (entry == ENTRIES || handle == RTLD_NEXT || handle == RTLD_DEFAULT)
    __attribute__((musttail)) return real(handle, name);
  void *found = real(handle, name);
  if (!found || (found == entries[entry].wrapper && !exists(entry))) return NULL;
  return wrapper_of(entry, found);
}
