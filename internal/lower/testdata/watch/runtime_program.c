/* A program as nvcc makes it, with one fat binary and the launch fill<<<2, 3>>>(p, 7). With HIDDEN it contains the
   runtime. */
#include "cuda.h"

unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
int __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMallocManaged(void **, size_t, unsigned), cudaMallocHost(void **, size_t);
void **__cudaRegisterFatBinary(void *);
int __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *);

static const struct { uint32_t magic; uint16_t version, head; uint64_t size; char text[8]; } fatbin = {
    0xba55ed50, 1, 16, 8, "runtime"};
#ifndef READONLY
#define READONLY
#endif
static READONLY struct wrapper binary __attribute__((section(".nvFatBinSegment"), used)) = {0x466243b1, 1, &fatbin, NULL};

__attribute__((noinline)) void stub(int *p, int n) {
  void *args[] = {&p, &n};
  dim3 grid, block;
  size_t shared;
  void *stream;
  if (!__cudaPopCallConfiguration(&grid, &block, &shared, &stream)) cudaLaunchKernel((void *)stub, grid, block, args, shared, stream);
}
__attribute__((constructor)) static void registration(void) {
  __cudaRegisterFunction(__cudaRegisterFatBinary((void *)&binary), (void *)stub, "fill", "fill", -1, 0, 0, 0, 0, 0);
}

/* The addresses of these functions are what the test expects as callers. */
__attribute__((noinline)) int launches(int *p, int n) {
  if (!__cudaPushCallConfiguration((dim3){2, 1, 1}, (dim3){3, 1, 1}, 0, NULL)) stub(p, n);
  return *p;
}
__attribute__((noinline)) int outer(int *p, int n) { return launches(p, n) + 1; }

int main(int argc, char **argv) {
  int *p, *managed, *pinned;
  if (argc > 1 && !strcmp(argv[1], "nothing")) return 0;
  if (argc > 1 && !strcmp(argv[1], "fork")) { /* before CUDA is used: it works in the child */
    int status;
    if (fork()) return wait(&status), status;
  }
  cudaMalloc((void **)&p, 16);
  cudaMallocManaged((void **)&managed, 32, 1);
  cudaMallocHost((void **)&pinned, 48);
  printf("%d\n", outer(p, 7));
  if (argc > 1 && !strcmp(argv[1], "late")) { /* after: it does not */
    int status;
    fflush(stdout);
    if (fork()) return wait(&status), status;
    printf("%d\n", outer(p, 8));
    fflush(stdout);
    _exit(0);
  }
  if (argc > 1 && !strcmp(argv[1], "again"))
    for (int i = 0; i < 50; i++, usleep(10000)) outer(p, i);
  cudaFree(p);
  printf("%p %p %p\n", (void *)outer, (void *)launches, (void *)stub);
  return 0;
}
