// A kernel that is compiled at run time, with NVRTC and the driver API; then a text with an error,
// whose message the program prints.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

static const char *text = R"(
extern "C" __global__ void reverse(int *data) {
  __shared__ int s[SIZE];
  s[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = s[SIZE - 1 - threadIdx.x];
}
)";

int main() {
  nvrtcProgram program;
  const char *options[] = {"--gpu-architecture=compute_80", "-DSIZE=64"};
  nvrtcCreateProgram(&program, text, "reverse.cu", 0, nullptr, nullptr);
  nvrtcResult r = nvrtcCompileProgram(program, 2, options);
  if (r != NVRTC_SUCCESS) {
    size_t n;
    nvrtcGetProgramLogSize(program, &n);
    std::string log(n, 0);
    nvrtcGetProgramLog(program, &log[0]);
    printf("%s: %s\n", nvrtcGetErrorString(r), log.c_str());
    return 1;
  }
  size_t size;
  nvrtcGetPTXSize(program, &size);
  std::vector<char> ptx(size);
  nvrtcGetPTX(program, ptx.data());
  nvrtcDestroyProgram(&program);

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction reverse;
  CUdeviceptr data;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, 0, device);
  cuModuleLoadData(&module, ptx.data());
  cuModuleGetFunction(&reverse, module, "reverse");
  std::vector<int> v(64);
  for (int i = 0; i < 64; i++) v[i] = i * i;
  cuMemAlloc(&data, 64 * sizeof(int));
  cuMemcpyHtoD(data, v.data(), 64 * sizeof(int));
  void *args[] = {&data};
  cuLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr);
  cuMemcpyDtoH(v.data(), data, 64 * sizeof(int));
  int wrong = 0;
  for (int i = 0; i < 64; i++) wrong += v[i] != (63 - i) * (63 - i);
  cuMemFree(data);
  cuModuleUnload(module);
  cuCtxDestroy(context);

  nvrtcCreateProgram(&program, "extern \"C\" __global__ void k() { missing(); }", "bad.cu", 0, nullptr, nullptr);
  r = nvrtcCompileProgram(program, 0, nullptr);
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, 0);
  nvrtcGetProgramLog(program, &log[0]);
  printf("%d wrong; %s, %s\n", wrong, nvrtcGetErrorString(r),
         strstr(log.c_str(), "use of undeclared identifier 'missing'") ? "with a message" : log.c_str());
  nvrtcDestroyProgram(&program);
  return wrong != 0;
}
