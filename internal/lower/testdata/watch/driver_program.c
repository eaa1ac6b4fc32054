/* A program that uses the driver: by its symbols (LINKED), by dlsym, or by cuGetProcAddress. */
#include "cuda.h"

#include <pthread.h>

#ifdef LINKED
int cuModuleLoadData(void **, const void *), cuModuleLoadFatBinary(void **, const void *), cuModuleLoad(void **, const char *);
int cuModuleGetFunction(void **, void *, const char *), cuMemAlloc_v2(void **, size_t), cuMemFree_v2(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuLaunchKernelEx(const driver_config *, void *, void **, void **), cuModuleUnload(void *), cuCtxSynchronize(void);
int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **), cuGraphLaunch(void *, void *);
int cuCtxDestroy_v2(void *), cuLibraryGetKernel(void **, void *, const char *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
#define F(NAME) NAME
#define V2(NAME) NAME##_v2
#else
static unsigned long long flags;
static void *function(const char *name, const char *with_version) {
  static int (*proc)(const char *, void **, int, unsigned long long, int *);
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY), *to = NULL;
  if (!getenv("BY_NUMBER")) return dlsym(driver, with_version);
  if (!proc) *(void **)&proc = dlsym(driver, "cuGetProcAddress_v2");
  return proc(name, &to, 12000, flags, NULL) ? NULL : to;
}
#define F(NAME) ((int (*)())function(#NAME, #NAME))
#define V2(NAME) ((int (*)())function(#NAME, #NAME "_v2"))
#endif

static const char ptx[] = ".version 7.5 // driver";
static const struct { uint32_t magic; uint16_t version, head; uint64_t size; char text[8]; } fatbin = {
    0xba55ed50, 1, 16, 8, "wrapped"};
static const struct wrapper binary = {0x466243b1, 1, &fatbin, NULL};

/* Loads a module in the way that the mode says. */
static int load(const char *mode, void **module) {
  static char elf[1 << 20];
  if (!strcmp(mode, "library"))
    return F(cuLibraryLoadData)(module, &binary, (int *)0, (void **)0, 0, (int *)0, (void **)0, 0);
  if (!strcmp(mode, "wrapper")) return F(cuModuleLoadFatBinary)(module, &binary);
  if (!strcmp(mode, "file")) {
    FILE *f = fopen("module.ptx", "w");
    fputs(".version 7.5 // file", f);
    fclose(f);
    return F(cuModuleLoad)(module, "module.ptx");
  }
  if (strcmp(mode, "machine")) return F(cuModuleLoadData)(module, ptx);
  FILE *f = fopen("/proc/self/exe", "r");
  fread(elf, 1, sizeof elf, f);
  fclose(f);
  return F(cuModuleLoadData)(module, elf);
}

static void *f;
static void *launch_some(void *p) {
  int n = 7;
  void *args[] = {&p, &n};
  for (int i = 0; i < 25; i++)
    if (F(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0, args, (void **)0)) abort();
  return NULL;
}
static int launch_from_threads(int *p) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, launch_some, p);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  void *module = NULL, *graph = NULL;
  int *p, n = 7, e;
  if (load(mode, &module)) return 1;
  if (!strcmp(mode, "library")) F(cuLibraryGetKernel)(&f, module, "fill"); /* which is launched as a function */
  else F(cuModuleGetFunction)(&f, module, !strcmp(mode, "fails") ? "fails" : "fill");
  V2(cuMemAlloc)((void **)&p, (size_t)16);
  void *args[] = {&p, &n};
#ifndef LINKED
  if (getenv("PER_THREAD")) flags = 2;
#endif
  if (!strcmp(mode, "extra")) {
    struct { int *p; int n; } buffer = {p, 9};
    size_t size = 12;
    void *extra[] = {(void *)1, &buffer, (void *)2, &size, NULL};
    e = F(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0, (void **)0, extra);
  } else if (!strcmp(mode, "config")) {
    attribute a[2] = {{.id = 2, .value.number = 1}, {.id = 4, .value.dim = {2, 1, 1}}};
    driver_config c = {{4, 1, 1}, {5, 1, 1}, 64, (void *)0x51, a, 2};
    e = F(cuLaunchKernelEx)(&c, f, args, (void **)0);
  } else if (!strcmp(mode, "threads")) {
    e = launch_from_threads(p);
  } else if (!strcmp(mode, "cooperative")) {
    e = F(cuLaunchCooperativeKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0, args);
  } else if (!strcmp(mode, "capture")) {
    V2(cuStreamBeginCapture)((void *)0x51, 0);
    F(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0x51, args, (void **)0); /* becomes part of the graph */
    e = F(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0x52, args, (void **)0); /* runs */
    F(cuStreamEndCapture)((void *)0x51, &graph);
    F(cuGraphLaunch)(graph, (void *)0x51);
    e |= F(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0x51, args, (void **)0); /* runs, and is watched */
  } else {
    e = F(cuLaunchKernel)(f, strcmp(mode, "invalid") ? 1 : 0, 1, 1, 1, 1, 1, 0, (void *)0, args, (void **)0);
  }
  if (!strcmp(mode, "reset")) {
    V2(cuCtxDestroy)((void *)0xc0);
    e |= F(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, (void *)0, args, (void **)0);
  }
  printf("error %d, value %d, then error %d\n", e, e ? 0 : *p, F(cuCtxSynchronize)());
  V2(cuMemFree)(p);
  F(cuModuleUnload)(module);
  return 0;
}
