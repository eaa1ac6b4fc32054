// The driver API: a module from PTX text, a variable of it, and a kernel that is launched with its
// parameters in both forms, as pointers to each and as one buffer.
#include <cstdio>
#include <cuda.h>
#include <vector>

// y[i] = scale * x[i] + y[i]
static const char *text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .f32 scale = 0f40000000;
.visible .entry axpy(.param .u64 px, .param .u64 py, .param .u32 pn) {
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [px];
  ld.param.u64 %rd2, [py];
  ld.param.u32 %r1, [pn];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra DONE;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.f32 %f1, [%rd1];
  ld.global.f32 %f2, [%rd2];
  ld.global.f32 %f3, [scale];
  fma.rn.f32 %f2, %f1, %f3, %f2;
  st.global.f32 [%rd2], %f2;
DONE:
  ret;
}
)";

#define OK(CALL)                                     \
  do {                                               \
    CUresult e_ = (CALL);                            \
    if (e_ != CUDA_SUCCESS) {                        \
      const char *name;                              \
      cuGetErrorName(e_, &name);                     \
      printf("%s: %s\n", #CALL, name);               \
      return 1;                                      \
    }                                                \
  } while (0)

int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction axpy;
  CUdeviceptr x, y, scale;
  size_t bytes;
  CUresult early = cuDeviceGet(&device, 0);
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  CUresult outside = cuMemAlloc(&x, 4);
  OK(cuCtxCreate(&context, 0, device));
  OK(cuModuleLoadData(&module, text));
  OK(cuModuleGetFunction(&axpy, module, "axpy"));
  OK(cuModuleGetGlobal(&scale, &bytes, module, "scale"));

  int n = 1000, wrong = 0;
  std::vector<float> a(n), b(n), got(n);
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 3 * i;
  OK(cuMemAlloc(&x, n * sizeof(float)));
  OK(cuMemAlloc(&y, n * sizeof(float)));
  OK(cuMemcpyHtoD(x, a.data(), n * sizeof(float)));
  OK(cuMemcpyHtoD(y, b.data(), n * sizeof(float)));
  void *each[] = {&x, &y, &n};
  OK(cuLaunchKernel(axpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, each, nullptr));

  float four = 4;
  OK(cuMemcpyHtoD(scale, &four, sizeof four));
  struct { CUdeviceptr x, y; int n; } all = {x, y, n};
  size_t size = sizeof all;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(axpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  OK(cuMemcpyDtoH(got.data(), y, n * sizeof(float)));
  for (int i = 0; i < n; i++) wrong += got[i] != 4 * a[i] + (2 * a[i] + b[i]);

  OK(cuMemsetD32(y, 0x40490fdb, n));
  OK(cuMemcpyDtoH(got.data(), y, n * sizeof(float)));
  for (int i = 0; i < n; i++) wrong += got[i] != 3.14159274f;

  CUfunction none;
  const char *first, *second, *third;
  cuGetErrorName(early, &first);
  cuGetErrorName(outside, &second);
  cuGetErrorName(cuModuleGetFunction(&none, (CUmodule)1, "axpy"), &third);
  printf("%d wrong; %s, %s, %s\n", wrong, first, second, third);
  OK(cuMemFree(x));
  OK(cuMemFree(y));
  OK(cuModuleUnload(module));
  OK(cuCtxDestroy(context));
  return wrong != 0;
}
