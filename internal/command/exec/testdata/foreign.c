/* A program as nvcc makes it, with its host code in C: a fat binary with PTX, which is registered before main, a managed
   variable, which the host reaches through a pointer, and launches by cudaLaunchKernel. image.h has the bytes of the fat
   binary. The offsets are those of struct cudaDeviceProp in CUDA 12, whose first 728 bytes are that of CUDA 11. */
#include <stdio.h>
#include <string.h>

typedef struct { unsigned x, y, z; } dim3;
void **__cudaRegisterFatBinary(const void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *size);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int external, size_t size,
                              int constant, int global);
char __cudaInitModule(void **handle);
int cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, void *stream);
int cudaDeviceSynchronize(void);
int cudaGetDeviceProperties(void *to, int device);
#ifndef OLD
int cudaGetDeviceProperties_v2(void *to, int device);
#endif

__attribute__((section(".nv_fatbin"), aligned(8))) static const unsigned char image[] = {
#include "image.h"
};
static const struct { int magic, version; const void *data; void *file; } wrapper
    __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, image, 0};

static void **handle;
static int *counter;
static void bump(int n) { (void)n; }

__attribute__((constructor)) static void register_all(void) {
  handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, (void *)bump, "bump", "bump", -1, 0, 0, 0, 0, 0);
  __cudaRegisterManagedVar(handle, (void **)&counter, 0, "counter", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
}

int main(void) {
  static unsigned char old[1040];
  int n = 5, sms = 0;
  void *args[] = {&n};
  __cudaInitModule(handle);
  *counter = 40;
  int e = cudaLaunchKernel((void *)bump, (dim3){2, 1, 1}, (dim3){32, 1, 1}, args, 0, 0);
  if (!e) e = cudaDeviceSynchronize();
  printf("error %d, counter %d\n", e, *counter);
  memset(old, 0x5a, sizeof old);
  e = cudaGetDeviceProperties(old, 0);
  memcpy(&sms, old + 388, 4);
  printf("error %d, %d multiprocessors, then %#x\n", e, sms, old[728]);
#ifndef OLD
  memset(old, 0x5a, sizeof old);
  e = cudaGetDeviceProperties_v2(old, 0);
  memcpy(&sms, old + 388, 4);
  printf("error %d, %d multiprocessors, %#x, then %#x\n", e, sms, old[1031], old[1032]);
#endif
  return 0;
}
