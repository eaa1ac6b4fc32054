/* A fake runtime, which finds the driver as NVIDIA's does: by cuGetProcAddress, which it finds by dlsym. API is hidden
   in programs that contain it. */
#include "cuda.h"

static int (*proc)(const char *, void **, int, unsigned long long, int *);
static void *driver(const char *name) {
  void *to = NULL;
  if (!proc) *(void **)&proc = dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuGetProcAddress_v2");
  if (proc(name, &to, 12000, 0, NULL)) abort();
  return to;
}
#define CALL(NAME, ...) ((int (*)())driver(#NAME))(__VA_ARGS__)

struct binary { const struct wrapper *w; void *library; };
static struct kernel { const void *stub; struct binary *b; const char *name; void *handle; } kernels[8];
static struct { dim3 grid, block; size_t shared; void *stream; } pushed;

API void **__cudaRegisterFatBinary(void *w) {
  struct binary *b = calloc(1, sizeof *b);
  b->w = w;
  return (void **)b;
}
API void __cudaRegisterFatBinaryEnd(void **h) { (void)h; }
API int __cudaRegisterFunction(void **h, const void *stub, char *d, const char *name, int n, void *a, void *b, void *c,
                               void *e, int *f) {
  struct kernel *k = kernels;
  (void)d, (void)n, (void)a, (void)b, (void)c, (void)e, (void)f;
  while (k->stub) k++;
  return *k = (struct kernel){stub, (struct binary *)h, name, NULL}, 0;
}
static void *find(const void *stub) {
  struct kernel *k = kernels;
  while (k->stub != stub) k++;
  if (!k->b->library && CALL(cuLibraryLoadData, &k->b->library, k->b->w, NULL, NULL, 0, NULL, NULL, 0)) abort();
  if (!k->handle && CALL(cuLibraryGetKernel, &k->handle, k->b->library, k->name)) abort();
  void *f = NULL;
  return CALL(cuKernelGetFunction, &f, k->handle) ? NULL : f;
}
#ifndef OLD /* CUDA 11.0 and newer */
API int cudaGetFuncBySymbol(void **to, const void *stub) { return *to = find(stub), 0; }
#endif
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
  pushed.grid = grid, pushed.block = block, pushed.shared = shared, pushed.stream = stream;
  return 0;
}
API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  return *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared, *(void **)stream = pushed.stream, 0;
}
API int cudaLaunchKernel(const void *stub, dim3 g, dim3 b, void **args, size_t shared, void *stream) {
  return CALL(cuLaunchKernel, find(stub), g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, args, NULL);
}
API int cudaMalloc(void **to, size_t n) { return CALL(cuMemAlloc, to, n); }
API int cudaFree(void *p) { return CALL(cuMemFree, p); }
API int cudaMallocManaged(void **to, size_t n, unsigned flags) { return CALL(cuMemAllocManaged, to, n, flags); }
API int cudaMallocHost(void **to, size_t n) { return CALL(cuMemAllocHost, to, n); }

/* Graphs, with both forms of the function that has two. */
API int cudaGraphInstantiate(void **to, void *g, void *error, char *log, size_t size) { return CALL(cuGraphInstantiate, to, g); }
API int cudaGraphInstantiateWithFlags(void **to, void *g, unsigned long long flags) { return CALL(cuGraphInstantiate, to, g); }
API int cudaGraphInstantiateWithParams(void **to, void *g, void *p) { return CALL(cuGraphInstantiate, to, g); }
API int cudaGraphLaunch(void *x, void *s) { return CALL(cuGraphLaunch, x, s); }
API int cudaGraphLaunch_ptsz(void *x, void *s) { return CALL(cuGraphLaunch_ptsz, x, s); }
API int cudaGraphExecDestroy(void *x) { return CALL(cuGraphExecDestroy, x); }
API int cudaGraphExecUpdate(void *x, void *g, void *info) { return g ? 0 : 910; }
API int cudaGraphKernelNodeSetParams(void *n, const void *k) { return CALL(cuGraphKernelNodeSetParams, n, k); }
API int cudaGraphExecKernelNodeSetParams(void *x, void *n, const void *k) { return 0; }
API int cudaGraphNodeSetEnabled(void *x, void *n, unsigned enabled) { return 0; }
API int cudaStreamBeginCapture(void *s, int mode) { return CALL(cuStreamBeginCapture, s, mode); }
API int cudaStreamEndCapture(void *s, void **g) { return CALL(cuStreamEndCapture, s, g); }
