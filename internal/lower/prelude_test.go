package lower

import (
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// Sources that nvcc accepts, with what the PTX must contain. The reasons are in the CUDA C++
// Programming Guide, or in what NVIDIA's cuda_runtime.h includes and defines.
func TestAcceptedByNVCC(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		// driver_types.h includes <limits.h>, crt/math_functions.h includes <math.h>.
		{"limits and constants of C without #include", `__global__ void k(int *p, float *f, double *d) {
  p[0] = INT_MAX; p[1] = SHRT_MIN; f[0] = INFINITY; f[1] = NAN; d[0] = M_PI; d[1] = HUGE_VAL; }`,
			"2147483647"},
		{"and with #include", `#include <limits.h>
#include <math.h>
#include <float.h>
__global__ void k(int *p, float *f) { p[0] = INT_MAX; f[0] = INFINITY; f[1] = FLT_MAX; }`,
			"2147483647"},
		{"a user's own value", `#ifndef INFINITY
#error "cuda_runtime.h defines it"
#endif
#undef M_PI
#define M_PI 3
__global__ void k(int *p) { p[0] = M_PI; }`, ", 3;"},
		// ISO C++17 removed register; nvcc -std=c++17 warns.
		{"register", `__global__ void k(int *p) { register int x = p[1]; p[0] = x; }`, "st.global"},
		// As in headers that also compile as plain C++.
		{"fallback qualifiers", `#ifndef __NVCC__
#define __device__
#endif
__device__ int twice(int x) { return 2 * x; }
__global__ void k(int *p) { p[0] = twice(p[1]); }`, "st.global"},
		// NVIDIA's helper_cuda.h declares its functions if the guards of CUDA's headers are defined.
		{"helpers under the guard of the runtime", `#include <cuda_runtime.h>
#ifdef __DRIVER_TYPES_H__
static const char *nameOf(cudaError_t e) { return cudaGetErrorName(e); }
#endif
#ifdef __CUDA_RUNTIME_H__
template <typename T> void check(T r, const char *f, int line) { if (r) nameOf((cudaError_t)r); }
#define checked(x) check((x), __FILE__, __LINE__)
inline int fastest() {
  int n = 0, mode = -1, sms = 0;
  checked(cudaGetDeviceCount(&n));
  for (int i = 0; i < n; i++) {
    checked(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, i));
    checked(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, i));
    if (mode == cudaComputeModeProhibited) continue;
  }
  return n;
}
#else
#error "no runtime"
#endif
__global__ void k(int *p) { p[0] = 1; }
int main() { return fastest(); }`, "st.global"},
		// Cooperative groups: any trivially copyable type of up to 32 bytes can be shuffled.
		{"shuffles of structs in a tile", `#include <cooperative_groups.h>
namespace cg = cooperative_groups;
struct Pair { double key; int at; };
__global__ void k(float4 *v, Pair *q, short *s) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  v[threadIdx.x] = t.shfl_xor(v[threadIdx.x], 1);
  q[threadIdx.x] = t.shfl_down(q[threadIdx.x], 2);
  s[threadIdx.x] = cg::coalesced_threads().shfl(s[threadIdx.x], 0);
}`, "shfl.sync.bfly.b32"},
		// crt/common_functions.h and crt/math_functions.h include or declare these.
		{"C functions on the host without #include", `__global__ void k(float *p) { p[0] = sqrt(p[1]); }
int main(int argc, char **argv) {
  srand(7);
  int n = atoi(argv[1]) + rand();
  uint64_t bits = n;
  double d = sqrt(double(n)) + ceil(2.5 * n) + pow(d, 2.0);
  float f = fabsf(1.f - n) + expf(3.f) + fmaxf(1.f, f);
  time_t t = time(0);
  memset(&t, 0, sizeof t);
  printf("%f", d);
  k<<<n, 1>>>(0);
  return bits + f + t;
}`, "sqrt"},
		// CUDA C++ Programming Guide, "Cooperative Groups": barriers by number.
		{"numbered barriers", `__global__ void k(int *p) {
  __barrier_sync(1);
  __barrier_sync_count(2, 64);
  p[0] = 1;
}`, "barrier.sync %r2, %r3;"},
		// What libcu++ 3 uses of the driver API, and of the conversions of CUDA Math API.
		{"driver API of libcu++", `#include <cuda.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
decltype(cuGetProcAddress) *get;
CUmemoryPool pool(CUmemPoolProps *p, CUdevResource *r, cudaLaunchConfig_t *c) {
  CUmemoryPool out; CUmemPool_attribute a = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD; int n; void *f;
  CUdriverProcAddressQueryResult q;
  get("cuInit", &f, 12000, ::CU_GET_PROC_ADDRESS_DEFAULT, &q);
  cuMemPoolCreate(&out, p); cuMemPoolGetAttribute(out, a, &n);
  cuDeviceGetDevResource(0, r, CU_DEV_RESOURCE_TYPE_SM);
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault);
  return out;
}
__global__ void k(unsigned char *p, double d, __half_raw h, __nv_bfloat16_raw b) {
  p[0] = __nv_cvt_double_to_fp4(d, __NV_E2M1, cudaRoundNearest);
  p[1] = __nv_cvt_halfraw_to_fp6(h, __NV_E3M2, cudaRoundNearest);
  p[2] = __nv_cvt_bfloat16raw_to_fp6(b, __NV_E2M3, cudaRoundNearest);
  p[3] = __nv_cvt_bfloat16raw_to_e8m0(b, __NV_SATFINITE, cudaRoundPosInf);
}`, "st.global"},
		// CUDA C++ Programming Guide, "Atomic Functions": an order and a scope, the system by default.
		{"atomic functions with orders", `__global__ void k(int *p, float *f, long *l, int *out) {
  int e = 3;
  out[0] = __nv_atomic_load_n(p + 1, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store_n(p, 3, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_add(f, 1, __NV_ATOMIC_ACQ_REL);
  __nv_atomic_fetch_min(l, -1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  while (!__nv_atomic_compare_exchange_n(p, &e, 5, true, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE)) {}
  __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}`, "ld.acquire.gpu.b32|st.release.cta.b32|atom.acq_rel.sys.add.f32|atom.relaxed.gpu.min.s64|" +
			"atom.acquire.gpu.cas.b32|fence.release.gpu"},
		// nvcc takes alignas at any place among the specifiers.
		{"alignas behind __shared__", `struct alignas(16) V { float v[4]; };
__global__ void k(V *p) {
  __shared__ alignas(alignof(float4)) float a[4][8];
  alignas(8) __shared__ int b[2];
  __shared__ alignas(1024) V c[2];
  a[threadIdx.x][0] = 1; b[0] = 2; c[1] = p[0]; p[1] = c[0];
}`, ".shared .align 1024|.shared .align 16"},
		// cuda_fp16.h declares its operators for host and device: the negative is a half.
		{"negative half on the host", `#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T> T fill(int v) { return v % 3 ? -static_cast<T>(v) : static_cast<T>(v); }
__global__ void k(half *p, __nv_bfloat16 *q) { p[0] = -p[1]; q[0] = -q[1]; }
int main() { k<<<1, 1>>>(0, 0); return (float)fill<half>(5) + (float)fill<__nv_bfloat16>(4); }`,
			"st.global"},
		// CUDA's groups are in cooperative_groups::__v1, where libcu++ declares two of them.
		{"groups that are declared before", `namespace cooperative_groups {
namespace __v1 {
class thread_block;
template <unsigned int Size, typename Parent> class thread_block_tile;
}
using namespace __v1;
}
template <class G> inline constexpr int kind = 0;
template <> inline constexpr int kind<::cooperative_groups::thread_block> = 1;
template <class P> inline constexpr int kind<::cooperative_groups::thread_block_tile<32, P>> = 2;
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *p) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  auto t = cg::tiled_partition<32>(b);
  static_assert(kind<decltype(b)> == 1 && kind<decltype(t)> == 2);
  cg::memcpy_async(b, s, p, sizeof s);
  cg::wait(b);
  p[t.meta_group_rank()] = cg::reduce(t, s[b.thread_rank()], cg::plus<int>());
}`, "barrier.sync"},
		// cuda_fp16.hpp, cuda_bf16.hpp: the conversion to the raw type is there for volatile objects,
		// too, so that one can be copied. libcu++'s complex numbers of these types do so.
		{"copy of a volatile half", `#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T> __device__ T copy(const volatile T &v) { return v; }
__global__ void k(half *p, __nv_bfloat16 *q) { p[0] = copy(p[1]); q[0] = copy(q[1]); }`,
			"ld.volatile.global.u16"},
		{"memory for tiles", `#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *p) {
  __shared__ cg::block_tile_memory<256> memory;
  auto b = cg::this_thread_block(memory);
  auto t = cg::tiled_partition<32>(b);
  p[b.thread_rank()] = t.thread_rank();
  b.sync();
}`, "barrier.sync"},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			r := lowerSource(t, c.src, Options{Compiler: compilers(t)[0]})
			for want := range strings.SplitSeq(c.want, "|") {
				if !strings.Contains(string(r.PTX), want) || len(r.Omitted) > 0 {
					t.Errorf("want %s, omitted %v:\n%s", want, r.Omitted, r.PTX)
				}
			}
			for _, w := range r.Warnings {
				if !strings.Contains(w, "register") {
					t.Errorf("warning %q", w)
				}
			}
		})
	}
}
