// How programs declare kernels, variables and launches.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
#include <memory>
#include <string>
#include <map>
#include <thread>
#include <mutex>
#include <chrono>
#include <random>
#include <fstream>
#include <sstream>
#include <iostream>
#include <functional>
#include <cuda_fp16.h>
template <class T, int N> struct Vec { T v[N]; __host__ __device__ T &operator[](int i) { return v[i]; } __host__ __device__ constexpr int size() const { return N; } };
template <class T> __device__ T gvar;
template <class T> struct SharedMemory { __device__ inline operator T *() { extern __shared__ int __smem[]; return (T *)__smem; } };
template <> struct SharedMemory<double> { __device__ inline operator double *() { extern __shared__ double __smem_d[]; return (double *)__smem_d; } };
struct NoCtor { int a, b; };
struct Ct { int a; __device__ Ct() {} __device__ Ct(int x) : a(x) {} };
struct Big { int v[2000]; };
template <class... T> __global__ void vark(int *p, T... x) { p[threadIdx.x + blockIdx.x * blockDim.x] = (int(x) + ... + 0); }
template <template <class> class C, class T> __global__ void ttk(C<T> c, T *p) { p[threadIdx.x + blockIdx.x * blockDim.x] = c.x; }
template <class T> struct Cc { T x; };
__global__ void bigk(Big b, int *p) { p[threadIdx.x + blockIdx.x * blockDim.x] = b.v[threadIdx.x]; }
__global__ void defk(int *p, int n = 3) { p[threadIdx.x + blockIdx.x * blockDim.x] = n; }
static __global__ void statk(int *p) { p[threadIdx.x + blockIdx.x * blockDim.x] = 1; }
namespace a { namespace b { __global__ void nsk(int *p) { p[threadIdx.x + blockIdx.x * blockDim.x] = 1; } } }
inline namespace v1 { __device__ int inl(int x) { return x; } }
struct Holder { static __global__ void memk(int *p); __device__ static int sm(int x) { return x; } };
__device__ __forceinline__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ __constant__ int dc[4] = {1, 2, 3, 4};
__device__ int ga[4] = {1, 2}; __device__ float gf = 3.f; __device__ NoCtor gs = {1, 2};
constexpr __device__ int cd = 4; __device__ constexpr float cdf[3] = {1, 2, 3};
enum Color { RED, GREEN }; typedef enum { X1, X2 } EE;
#define CUDA_CALL(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
__device__ unsigned long long atomicMaxD(double *a, double v) { unsigned long long *p = (unsigned long long *)a, old = *p, as; do { as = old; old = atomicCAS(p, as, __double_as_longlong(fmax(v, __longlong_as_double(as)))); } while (as != old); return old; }
void inst() { int *p = 0; vark<<<2, 64>>>(p, 1, 2.f); ttk<<<2, 64>>>(Cc<int>{1}, p); bigk<<<2, 64>>>(Big(), p); defk<<<2, 64>>>(p); statk<<<2, 64>>>(p); a::b::nsk<<<2, 64>>>(p);
 cudaLaunchConfig_t c = {0}; c.gridDim = 2; c.blockDim = 64; cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = 2; c.attrs = at; c.numAttrs = 1; cudaLaunchKernelEx(&c, defk, p, 3); void *args[] = {&p}; cudaLaunchKernel((void *)statk, dim3(2), dim3(64), args, 0, 0); cudaLaunchCooperativeKernel((void *)statk, dim3(2), dim3(64), args);
 cudaGraph_t g; cudaGraphExec_t ge; cudaStream_t s; cudaStreamCreate(&s); cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); statk<<<2, 64, 0, s>>>(p); cudaStreamEndCapture(s, &g); cudaGraphInstantiate(&ge, g, 0); cudaGraphLaunch(ge, s); cudaOccupancyMaxPotentialBlockSize((int*)p, (int*)p, statk); cudaFuncSetCacheConfig(statk, cudaFuncCachePreferL1); cudaMemPrefetchAsync(p, 4, 0); cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, 0); cudaStreamAttachMemAsync(s, p); cudaMemcpy3DParms mp = {0}; cudaMemcpy3D(&mp); cudaIpcMemHandle_t ih; cudaIpcGetMemHandle(&ih, p); cudaPointerAttributes pa; cudaPointerGetAttributes(&pa, p); cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20); }
#define ARGS int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n
#define INDEX int t = threadIdx.x + blockIdx.x * blockDim.x
__global__ void tvar(ARGS) { INDEX; gvar<int> = 3; p[t] = gvar<int>; }
__global__ void tvar2(ARGS) { INDEX; p[t] = gvar<int> + gvar<long>; }
__global__ void smt(ARGS) { INDEX; int *s = SharedMemory<int>(); s[threadIdx.x] = n; __syncthreads(); p[t] = s[63 - threadIdx.x]; double *q = SharedMemory<double>();  }
__global__ void shs(ARGS) { INDEX; __shared__ NoCtor s[64]; s[threadIdx.x].a = n; __syncthreads(); p[t] = s[63 - threadIdx.x].a; __shared__ Vec<float, 3> vv;  }
__global__ void shc(ARGS) { INDEX; __shared__ Ct s; if (!threadIdx.x) s.a = 3; __syncthreads(); p[t] = s.a; }
__global__ void vec(ARGS) { INDEX; Vec<int, 4> a; a[n & 3] = 3; p[t] = a[1] + a.size();  }
__global__ void opov(ARGS) { INDEX; float4 a = ((float4*)f)[t] + make_float4(1, 2, 3, 4); ((float4*)f)[t] = a; }
__global__ void glob(ARGS) { INDEX; p[t] = ga[t & 3] + gf + gs.b + dc[t & 3] + cd + cdf[t % 3]; }
__global__ void stat(ARGS) { INDEX; static int cnt; if (t == 0) cnt = 1; p[t] = 1; static __shared__ int ss[64]; ss[threadIdx.x] = 2; }
__global__ void enm(ARGS) { INDEX; p[t] = RED + X2 + (int)GREEN; Color c = (Color)n; switch (c) { case RED: p[t] = 2; break; default:; } }
__global__ void mems(ARGS) { INDEX; p[t] = Holder::sm(n) + inl(n); }
__global__ void pf(ARGS) { INDEX; printf("%d %u %ld %llu %f %g %e %x %c %p %5.2f %-3d %%\n", n, 1u, 2l, 3ull, 1.0, 2.0, 3.0, 4, 'c', p, 1.0, n); p[t] = 1; }
__global__ void pf0(ARGS) { INDEX; printf("x\n"); p[t] = 1; }
__global__ void atd(ARGS) { INDEX; atomicMaxD(d, 1.0); }
__global__ void atall(ARGS) { INDEX; atomicAdd(p, 1); atomicAdd(f, 1.f); atomicAdd(d, 1.0); atomicAdd(ull, 1ull); atomicSub(p, 1); atomicExch(f, 1.f); atomicMin(l, 3ll); atomicMax(ull, 3ull); atomicInc(u, 3); atomicDec(u, 3); atomicCAS(p, 1, 2); atomicAnd(ull, 3ull); atomicOr(u, 3u); atomicXor(p, 3); atomicAdd_block(p, 1); atomicAdd_system(p, 1); atomicCAS_system(ull, 1ull, 2ull); atomicAdd((unsigned*)u, 3u); }
__global__ void atf(ARGS) { INDEX; atomicMin((int*)f, __float_as_int(1.f)); atomicCAS((unsigned short*)p, (unsigned short)1, (unsigned short)2);  }
__global__ void bnt(ARGS) { INDEX; p[t] = __builtin_nontemporal_load(p + t); __builtin_nontemporal_store(3, p + t); }
__global__ void vol(ARGS) { INDEX; volatile int *v = p; v[t] = 1; p[t] = v[t]; volatile __shared__ int s[64]; s[threadIdx.x] = 1; }
__global__ void wred(ARGS) { INDEX; int v = n; for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o); if ((threadIdx.x & 31) == 0) p[t] = v; }
__global__ void cpxl(ARGS) { INDEX; for (int i = t; i < n; i += gridDim.x * blockDim.x) f[i] = i; }
__global__ void ldgp(ARGS) { INDEX; const float4 *q = reinterpret_cast<const float4*>(f); float4 v = __ldg(q + t); d[t] = v.x + v.w; }
__global__ void restr(ARGS) { INDEX; int *__restrict__ a = p; const int *__restrict__ b = (int*)u; a[t] = b[t]; }
__global__ void hostf(ARGS) { INDEX; p[t] = __float2int_rn(f[t]) + __double2int_rz(d[t]) + (int)rintf(f[t]) + __float_as_int(1.f);  }
__global__ void dbl(ARGS) { INDEX; d[t] = __dadd_rn(d[t], 1.0) + __fma_rn(1.0, 2.0, 3.0) + __dsqrt_rn(d[t]) + __drcp_rn(d[t]) + __ddiv_rn(1.0, d[t]); }
__global__ void fst(ARGS) { INDEX; f[t] = __sinf(f[t]) + __cosf(f[t]) + __expf(f[t]) + __logf(f[t]) + __powf(f[t], 2.f) + __fdividef(f[t], 2.f) + __fsqrt_rn(f[t]) + __frsqrt_rn(f[t]) + __saturatef(f[t]) + __tanf(f[t]) + __log2f(f[t]) + __log10f(f[t]) + __exp10f(f[t]); }
__global__ void lmask(ARGS) { INDEX; unsigned m = __ballot_sync(~0u, n > 3); int r = __popc(m & ((1u << (threadIdx.x & 31)) - 1)); p[t] = r + __ffs(m) + (31 - __clz(m)); }
