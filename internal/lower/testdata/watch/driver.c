/* A fake libcuda.so.1. Device memory is the process's. It writes each call that can change something to the file
   FAKE_LOG, and has two kernels: fill(int *p, int n) stores n, and fails(int *p, int n) makes an error that stays. */
#include "cuda.h"

#include <stdarg.h>

static FILE *out;
static int sticky, captured;
static void *device_of_stream[4];
#define LOG write_log
static void write_log(const char *form, ...) {
  va_list v;
  if (!out) out = fopen(getenv("FAKE_LOG"), "a");
  va_start(v, form);
  vfprintf(out, form, v);
  va_end(v);
  fputc('\n', out), fflush(out);
}
#define ALIVE() if (sticky) return sticky
static int fails(const char *name) { return getenv("FAKE_FAIL") && !strcmp(getenv("FAKE_FAIL"), name); }

struct module { char text[256]; deviceptr device, host; int counter; };
struct function { struct module *module; char name[64]; };
struct kernel { struct module *module; char name[64]; struct function *function; };

/* A module's text is what is in its image. */
static int load(struct module **to, const void *image, const char *by) {
  ALIVE();
  const unsigned char *p = image;
  struct wrapper w;
  memcpy(&w, p, sizeof w);
  if (w.magic == 0x466243b1) p = w.data;
  uint16_t head = 0;
  uint64_t size = 255;
  if (p[0] == 0x50 && p[1] == 0xed) memcpy(&head, p + 6, 2), memcpy(&size, p + 8, 8);
  struct module *m = calloc(1, sizeof *m);
  snprintf(m->text, sizeof m->text, "%.*s", (int)size, (const char *)p + head);
  if (!memcmp(p, "\177ELF", 4)) strcpy(m->text, "ELF");
  LOG("%s %s", by, m->text);
  if (!strncmp(m->text, "instrumented", 12) && fails("instrumented")) return 218;
  *to = m;
  return 0;
}
API int cuInit(unsigned flags) { return flags ? 1 : 0; }
API int cuModuleLoadData(struct module **to, const void *image) { return load(to, image, "cuModuleLoadData"); }
API int cuModuleLoadDataEx(struct module **to, const void *image, unsigned n, int *o, void **v) {
  return (void)n, (void)o, (void)v, load(to, image, "cuModuleLoadDataEx");
}
API int cuModuleLoadFatBinary(struct module **to, const void *image) { return load(to, image, "cuModuleLoadFatBinary"); }
API int cuModuleLoad(struct module **to, const char *name) { return (void)to, LOG("cuModuleLoad %s", name), 301; }
API int cuLibraryLoadData(struct module **to, const void *image, int *a, void **b, unsigned n, int *c, void **d, unsigned m) {
  return (void)a, (void)b, (void)n, (void)c, (void)d, (void)m, load(to, image, "cuLibraryLoadData");
}
API int cuModuleUnload(struct module *m) { return LOG("cuModuleUnload"), free(m), 0; }
API int cuModuleGetFunction(struct function **to, struct module *m, const char *name) {
  *to = calloc(1, sizeof **to);
  (*to)->module = m;
  strcpy((*to)->name, name);
  return 0;
}
API int cuLibraryGetKernel(struct kernel **to, struct module *m, const char *name) {
  *to = calloc(1, sizeof **to);
  (*to)->module = m;
  strcpy((*to)->name, name);
  return cuModuleGetFunction(&(*to)->function, m, name);
}
API int cuKernelGetFunction(struct function **to, struct kernel *k) { return *to = k->function, 0; }
API int cuLibraryGetModule(struct module **to, struct module *m) { return *to = m, 0; }
API int cuFuncGetModule(struct module **to, struct function *f) { return *to = f->module, 0; }
API int cuFuncGetName(const char **to, struct function *f) { return *to = f->name, 0; }
API int cuModuleGetGlobal_v2(deviceptr *to, size_t *size, struct module *m, const char *name) {
  void *p = NULL;
  *size = 8;
  if (!strcmp(name, "counter")) p = &m->counter, *size = 4;
  if (!strncmp(m->text, "instrumented", 12) && !strcmp(name, "heddle_log_device")) p = &m->device;
  if (!strncmp(m->text, "instrumented", 12) && !strcmp(name, "heddle_log_host")) p = &m->host;
  return *to = (deviceptr)(uintptr_t)p, p ? 0 : 500;
}
API int cuCtxGetCurrent(void **to) { return *to = (void *)0xc0, 0; }
API int cuCtxGetDevice(int *to) {
  static int n; /* with FAKE_DEVICES another one at each launch */
  return *to = getenv("FAKE_DEVICES") ? n++ : 0, 0;
}
API int cuCtxSynchronize(void) { return LOG("cuCtxSynchronize"), sticky; }
API int cuCtxDestroy_v2(void *c) { return LOG("cuCtxDestroy_v2 %p", c), 0; }
API int cuMemAlloc_v2(void **to, size_t n) {
  ALIVE();
  LOG("cuMemAlloc_v2 %zu", n);
  return *to = malloc(n), 0;
}
API int cuMemFree_v2(void *p) { return LOG("cuMemFree_v2"), free(p), 0; }
API int cuMemAllocManaged(void **to, size_t n, unsigned flags) {
  return (void)flags, LOG("cuMemAllocManaged %zu", n), *to = malloc(n), 0;
}
API int cuMemAllocHost_v2(void **to, size_t n) { return LOG("cuMemAllocHost_v2 %zu", n), *to = malloc(n), 0; }
API int cuMemHostAlloc(void **to, size_t n, unsigned flags) {
  return LOG("cuMemHostAlloc %zu %u", n, flags), *to = malloc(n), 0;
}
API int cuMemAllocPitch_v2(void **to, size_t *pitch, size_t w, size_t h, unsigned e) {
  return (void)e, LOG("cuMemAllocPitch_v2 %zu %zu", w, h), *pitch = 512, *to = malloc(512 * h), 0;
}
API int cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
  return (void)p, LOG("cuMemHostRegister_v2 %zu %u", n, flags), fails("cuMemHostRegister_v2") ? 801 : 0;
}
API int cuMemHostUnregister(void *p) { return (void)p, LOG("cuMemHostUnregister"), 0; }
API int cuMemHostGetDevicePointer_v2(void **to, void *p, unsigned f) {
  return (void)f, LOG("cuMemHostGetDevicePointer_v2"), *to = p, 0;
}
API int cuMemsetD8_v2(void *p, unsigned char c, size_t n) { return LOG("cuMemsetD8_v2 %d %zu", c, n), memset(p, c, n), 0; }
API int cuMemcpyHtoD_v2(void *to, const void *p, size_t n) {
  deviceptr v = 0;
  ALIVE();
  memcpy(&v, p, n < 8 ? n : 8);
  LOG("cuMemcpyHtoD_v2 %zu %s", n, v ? "set" : "zero");
  return memcpy(to, p, n), 0;
}
API int cuMemcpyDtoH_v2(void *to, const void *p, size_t n) {
  ALIVE();
  return LOG("cuMemcpyDtoH_v2 %zu", n), memcpy(to, p, n), 0;
}

/* Streams of which each call has its own number. */
API int cuStreamIsCapturing(void *s, int *to) { return *to = captured && s == device_of_stream[0], 0; }
API int cuStreamBeginCapture_v2(void *s, int mode) {
  return (void)mode, LOG("cuStreamBeginCapture_v2"), device_of_stream[0] = s, captured = 1, 0;
}
API int cuStreamEndCapture(void *s, void **graph) { return (void)s, LOG("cuStreamEndCapture"), *graph = (void *)0x67, captured = 0; }
API int cuGraphLaunch(void *g, void *s) { return (void)g, (void)s, LOG("cuGraphLaunch"), 0; }
API int cuGraphLaunch_ptsz(void *g, void *s) { return LOG("per thread"), cuGraphLaunch(g, s); }

static int run(void *handle, unsigned gx, void *s, int *p, int n) {
  struct function *f = handle;
  ALIVE();
  LOG("launch %s of %s on %p%s", f->name, f->module->text, s, f->module->device ? ", logging" : "");
  if (!gx) return 9;
  if (!strcmp(f->name, "fails")) return sticky = 700, 0;
  if (captured && s == device_of_stream[0]) return 0;
  *p = n;
  if (f->module->device) { /* what a kernel would log */
    memset((void *)(uintptr_t)f->module->device, 'D', 8);
    memset((char *)(uintptr_t)f->module->host + 64, 'H', 8);
    if (getenv("FAKE_WAIT")) /* for space in the queues, until they are closed */
      while (!*(volatile uint32_t *)(uintptr_t)(f->module->host + 8)) usleep(1000);
  }
  return 0;
}
API int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, void *s, void **args, void **extra) {
  (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared;
  if (!extra) return run(f, gx, s, *(int **)args[0], *(int *)args[1]);
  char *buffer = extra[1];
  return run(f, gx, s, *(int **)buffer, *(int *)(buffer + 8));
}
API int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, void *s, void **args, void **extra) {
  return LOG("per thread"), cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, args, extra);
}
API int cuLaunchKernelEx(const driver_config *c, void *f, void **args, void **extra) {
  for (unsigned i = 0; i < c->n; i++) LOG("attribute %u %d", c->attributes[i].id, c->attributes[i].value.number);
  return cuLaunchKernel(f, c->grid[0], 1, 1, 1, 1, 1, 0, c->stream, args, extra);
}
API int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                  unsigned shared, void *s, void **args) {
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, args, NULL);
}

/* Graphs. What a node executes is in data, as the functions that give its parameters return it. */
struct kernel_params { void *function; dim3 grid, block; unsigned shared; void **args, **extra; void *kernel, *context; };
struct node { int type; struct node *origin; struct graph *child; char data[256]; int *p, n, attributes[16]; void *args[2]; };
struct graph { struct node *nodes[16], *from[16], *to[16]; size_t n, edges; };
struct executable { struct graph *graph; };

/* A kernel's parameters are copied, as in the real driver. */
static void set_kernel(struct node *n, const struct kernel_params *k) {
  struct kernel_params own = *k;
  n->p = *(int **)k->args[0], n->n = *(int *)k->args[1];
  n->args[0] = &n->p, n->args[1] = &n->n;
  own.args = n->args;
  memcpy(n->data, &own, sizeof own);
}
API struct graph *fake_graph(void) { return calloc(1, sizeof(struct graph)); }
API struct node *fake_node(struct graph *g, int type, const void *data, size_t size) {
  struct node *n = g->nodes[g->n++] = calloc(1, sizeof *n);
  n->type = type;
  if (type == 0) set_kernel(n, data);
  else if (type == 4) n->child = (struct graph *)data;
  else memcpy(n->data, data, size);
  return n;
}
API void fake_edge(struct graph *g, struct node *from, struct node *to) { g->from[g->edges] = from, g->to[g->edges++] = to; }
API void fake_attribute(struct node *n, int id, int value) { n->attributes[id] = value; }

API int cuGraphClone(struct graph **to, struct graph *g) {
  *to = fake_graph();
  **to = *g;
  for (size_t i = 0; i < g->n; i++) {
    struct node *c = (*to)->nodes[i] = malloc(sizeof *c);
    if (g->nodes[i]->type >= 10) return 801; /* CUDA_ERROR_NOT_SUPPORTED */
    *c = *g->nodes[i];
    c->origin = g->nodes[i];
    if (c->type == 0) set_kernel(c, (struct kernel_params *)c->data);
    if (c->type == 4) cuGraphClone(&c->child, c->child);
    for (size_t k = 0; k < g->edges; k++) {
      if (g->from[k] == g->nodes[i]) (*to)->from[k] = c;
      if (g->to[k] == g->nodes[i]) (*to)->to[k] = c;
    }
  }
  return 0;
}
/* What was destroyed must not be used. */
API int cuGraphDestroy(struct graph *g) {
  for (size_t i = 0; i < g->n; i++) memset(g->nodes[i], 0xdd, sizeof *g->nodes[i]);
  return memset(g, 0xdd, sizeof *g), 0;
}
API int cuGraphGetNodes(struct graph *g, struct node **to, size_t *n) {
  if (to) memcpy(to, g->nodes, *n * sizeof *to);
  return *n = g->n, 0;
}
API int cuGraphGetEdges(struct graph *g, struct node **from, struct node **to, size_t *n) {
  if (fails("cuGraphGetEdges")) return 918; /* CUDA_ERROR_LOSSY_QUERY */
  if (from) memcpy(from, g->from, *n * sizeof *from), memcpy(to, g->to, *n * sizeof *to);
  return *n = g->edges, 0;
}
API int cuGraphNodeGetType(struct node *n, int *to) { return *to = n->type, 0; }
API int cuGraphNodeFindInClone(struct node **to, struct node *n, struct graph *g) {
  for (size_t i = 0; i < g->n; i++)
    if (g->nodes[i]->origin == n) return *to = g->nodes[i], 0;
  return 1;
}
API int cuGraphKernelNodeGetParams_v2(struct node *n, void *to) { return memcpy(to, n->data, sizeof(struct kernel_params)), 0; }
API int cuGraphKernelNodeGetAttribute(struct node *n, int id, int *to) { return memset(to, 0, 64), *to = n->attributes[id], 0; }
API int cuGraphMemcpyNodeGetParams(struct node *n, void *to) { return memcpy(to, n->data, 200), 0; }
API int cuGraphMemsetNodeGetParams(struct node *n, void *to) { return memcpy(to, n->data, 40), 0; }
API int cuGraphHostNodeGetParams(struct node *n, void *to) { return memcpy(to, n->data, 16), 0; }
API int cuGraphChildGraphNodeGetGraph(struct node *n, struct graph **to) { return *to = n->child, 0; }
API int cuGraphEventRecordNodeGetEvent(struct node *n, void **to) { return memcpy(to, n->data, 8), 0; }
API int cuGraphEventWaitNodeGetEvent(struct node *n, void **to) { return memcpy(to, n->data, 8), 0; }
API int cuGraphInstantiate(struct executable **to, struct graph *g) { return *to = calloc(1, sizeof **to), 0; }
API int cuGraphExecDestroy(struct executable *x) { return LOG("cuGraphExecDestroy"), memset(x, 0xdd, sizeof *x), free(x), 0; }
API int cuGraphKernelNodeSetParams(struct node *n, const void *k) { return set_kernel(n, k), 0; }

API int cuMemcpy3DAsync_v2(const uint64_t *c, void *s) {
  int right = 1;
  for (uint64_t i = 0; i < 25; i++) right &= c[i] == i;
  return LOG("cuMemcpy3DAsync_v2 %s on %p", right ? "of 200 bytes" : "of something else", s), 0;
}
#define MEMSET(NAME, T) \
  API int NAME(deviceptr to, size_t pitch, T v, size_t w, size_t h, void *s) { \
    return LOG(#NAME " %#llx pitch %zu value %#x of %zu by %zu on %p", to, pitch, v, w, h, s), 0; \
  }
MEMSET(cuMemsetD2D8Async, unsigned char)
MEMSET(cuMemsetD2D16Async, unsigned short)
MEMSET(cuMemsetD2D32Async, unsigned)
API int cuLaunchHostFunc(void *s, void (*f)(void *), void *data) { return LOG("cuLaunchHostFunc on %p", s), f(data), 0; }
API int cuEventCreate(void **to, unsigned flags) { return *to = (void *)0xe0, flags != 2; }
API int cuEventDestroy_v2(void *e) { return LOG("cuEventDestroy_v2 %p", e), 0; }
API int cuEventRecord(void *e, void *s) { return LOG("cuEventRecord %p on %p", e, s), 0; }
API int cuEventSynchronize(void *e) { return LOG("cuEventSynchronize %p", e), 0; }
API int cuStreamWaitEvent(void *s, void *e, unsigned flags) { return (void)flags, LOG("cuStreamWaitEvent %p by %p", e, s), 0; }

/* The real one knows by the number which version of a function a program has been compiled for. */
API int cuGetProcAddress_v2(const char *name, void **to, int version, unsigned long long flags, int *status) {
  char newer[128];
  *to = NULL;
  if (status) *status = 0;
  snprintf(newer, sizeof newer, "%s_ptsz", name);
  if (flags & 2) *to = dlsym(RTLD_DEFAULT, newer); /* an unrelated use of dlsym, which must go on */
  void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (flags & 2) *to = dlsym(self, newer);
  snprintf(newer, sizeof newer, "%s_v2", name);
  if (!*to && version >= 3020) *to = dlsym(self, newer);
  if (!*to) *to = dlsym(self, name);
  return *to ? 0 : 500;
}
API int cuGetProcAddress(const char *name, void **to, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, to, version, flags, NULL);
}
