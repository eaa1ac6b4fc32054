// Small floats, SIMD and integer intrinsics, loads and stores, the device heap, warps, addresses, pragmas.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
#include <mma.h>
#include <cuda_pipeline.h>
#include <new>
#include <assert.h>
using namespace nvcuda;
__constant__ float cf[64];
__managed__ int mg[64];
__device__ int dg[64];
struct Obj { int a; __device__ Obj(int x) : a(x) {} __device__ ~Obj() {} };
struct Base { __device__ virtual int go(int x) = 0; __device__ virtual ~Base() {} };
struct Der : Base { __device__ int go(int x) override { return x + 1; } };
#define ARGS int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n
#define INDEX int t = threadIdx.x + blockIdx.x * blockDim.x
__global__ void fp8(ARGS) { INDEX; __nv_fp8_e4m3 a(f[t]); __nv_fp8_e5m2 b(f[t]); f[t] = float(a) + float(b);  }
__global__ void fp8b(ARGS) { INDEX; __nv_fp8x2_e4m3 a(make_float2(1, 2)); __nv_fp8x4_e5m2 b(make_float4(1, 2, 3, 4)); float2 x = (float2)a; float4 y = (float4)b; f[t] = x.x + y.w; }
__global__ void fp8c(ARGS) { INDEX; __nv_fp8_storage_t s = __nv_cvt_float_to_fp8(f[t], __NV_SATFINITE, __NV_E4M3); __half_raw h = __nv_cvt_fp8_to_halfraw(s, __NV_E4M3); f[t] = __half2float(h); __nv_fp8x2_storage_t s2 = __nv_cvt_float2_to_fp8x2(make_float2(1, 2), __NV_NOSAT, __NV_E5M2); __half2_raw h2 = __nv_cvt_fp8x2_to_halfraw2(s2, __NV_E5M2); half2 hh = h2; p[t] = __low2float(hh); __nv_fp8_storage_t s3 = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3); s3 = __nv_cvt_double_to_fp8(1.0, __NV_SATFINITE, __NV_E4M3); __nv_bfloat16_raw br = __float2bfloat16(1.f); s3 = __nv_cvt_bfloat16raw_to_fp8(br, __NV_SATFINITE, __NV_E4M3); s2 = __nv_cvt_halfraw2_to_fp8x2(h2, __NV_SATFINITE, __NV_E4M3); __nv_bfloat162_raw br2 = __float2bfloat162_rn(1.f); s2 = __nv_cvt_bfloat16raw2_to_fp8x2(br2, __NV_SATFINITE, __NV_E4M3); s2 = __nv_cvt_double2_to_fp8x2(make_double2(1, 2), __NV_SATFINITE, __NV_E4M3); }
__global__ void fp8d(ARGS) { INDEX; __nv_fp8_e4m3 a(__float2half(1.f)), b(__float2bfloat16(1.f)), c(1.0), e((int)3), g(3u), k; k.__x = 3; a = k; half h = half(a); __nv_bfloat16 q = __nv_bfloat16(b); f[t] = __half2float(h) + float(q) + (int)c + (float)e + double(g); if (a) p[t] = 1; }
__global__ void fp8e(ARGS) { INDEX; __nv_fp8_e8m0 a; a.__x = 127; f[t] = float(a); __nv_fp8_storage_t z = __nv_cvt_float_to_e8m0(2.f, __NV_SATFINITE, cudaRoundPosInf); p[t] = z; __nv_bfloat16_raw r = __nv_cvt_e8m0_to_bf16raw(z);  }
__global__ void fp6(ARGS) { INDEX; __nv_fp6_e2m3 a(f[t]); __nv_fp6_e3m2 b(f[t]); f[t] = float(a) + float(b); __nv_fp6_storage_t s = __nv_cvt_float_to_fp6(f[t], __NV_E2M3, cudaRoundNearest); __nv_fp6x2_e2m3 a2(make_float2(1, 2)); __nv_fp6x4_e3m2 b4(make_float4(1, 2, 3, 4)); f[t] += ((float2)a2).x + ((float4)b4).y; __half_raw h = __nv_cvt_fp6_to_halfraw(s, __NV_E2M3); p[t] = h.x; }
__global__ void fp4(ARGS) { INDEX; __nv_fp4_e2m1 a(f[t]); f[t] = float(a); __nv_fp4_storage_t s = __nv_cvt_float_to_fp4(f[t], __NV_E2M1, cudaRoundNearest); __nv_fp4x2_e2m1 a2(make_float2(1, 2)); __nv_fp4x4_e2m1 a4(make_float4(1, 2, 3, 4)); f[t] += ((float2)a2).x + ((float4)a4).y; __half_raw h = __nv_cvt_fp4_to_halfraw(s, __NV_E2M1); __half2_raw h2 = __nv_cvt_fp4x2_to_halfraw2(a2.__x, __NV_E2M1); p[t] = h.x + h2.x; }
__global__ void dp(ARGS) { INDEX; p[t] = __dp4a(n, 2, 3) + __dp4a(1u, 2u, 3u) + __dp2a_lo(1, 2, 3) + __dp2a_hi(1, 2, 3) + __dp2a_hi(1u, 2u, 3u) + __dp4a(make_uchar4(1, 2, 3, 4), make_uchar4(1, 2, 3, 4), 1u) + __dp2a_hi(make_ushort2(1, 2), make_uchar4(1, 2, 3, 4), 3u); }
__global__ void simd1(ARGS) { INDEX; u[t] = __vadd2(n, 3) + __vadd4(n, 3) + __vabs2(n) + __vabs4(n) + __vabsss2(n) + __vabsss4(n) + __vaddss2(n, 1) + __vaddss4(n, 1) + __vaddus2(n, 1) + __vaddus4(n, 1) + __vabsdiffs2(n, 1) + __vabsdiffs4(n, 1) + __vabsdiffu2(n, 1) + __vabsdiffu4(n, 1) + __vavgs2(n, 1) + __vavgs4(n, 1) + __vavgu2(n, 1) + __vavgu4(n, 1) + __vhaddu2(n, 1) + __vhaddu4(n, 1); }
__global__ void simd2(ARGS) { INDEX; u[t] = __vcmpeq2(n, 1) + __vcmpeq4(n, 1) + __vcmpges2(n, 1) + __vcmpges4(n, 1) + __vcmpgeu2(n, 1) + __vcmpgeu4(n, 1) + __vcmpgts2(n, 1) + __vcmpgtu4(n, 1) + __vcmples2(n, 1) + __vcmpleu4(n, 1) + __vcmplts2(n, 1) + __vcmpltu4(n, 1) + __vcmpne2(n, 1) + __vcmpne4(n, 1) + __vmaxs2(n, 1) + __vmaxs4(n, 1) + __vmaxu2(n, 1) + __vmaxu4(n, 1) + __vmins2(n, 1) + __vmins4(n, 1) + __vminu2(n, 1) + __vminu4(n, 1) + __vneg2(n) + __vneg4(n) + __vnegss2(n) + __vnegss4(n); }
__global__ void simd3(ARGS) { INDEX; u[t] = __vsads2(n, 1) + __vsads4(n, 1) + __vsadu2(n, 1) + __vsadu4(n, 1) + __vseteq2(n, 1) + __vseteq4(n, 1) + __vsetges2(n, 1) + __vsetgeu4(n, 1) + __vsetgts2(n, 1) + __vsetgtu4(n, 1) + __vsetles2(n, 1) + __vsetleu4(n, 1) + __vsetlts2(n, 1) + __vsetltu4(n, 1) + __vsetne2(n, 1) + __vsetne4(n, 1) + __vsub2(n, 1) + __vsub4(n, 1) + __vsubss2(n, 1) + __vsubss4(n, 1) + __vsubus2(n, 1) + __vsubus4(n, 1); }
__global__ void simd4(ARGS) { INDEX; p[t] = __vimax3_s32(n, 1, 2) + __vimin3_s32(n, 1, 2) + __vimax3_u32(n, 1, 2) + __vimax3_s16x2(n, 1, 2) + __vimax_s32_relu(n, 2) + __vimin_s16x2_relu(n, 2) + __vimax3_s32_relu(n, 1, 2) + __viaddmax_s32(n, 1, 2) + __viaddmin_s32(n, 1, 2) + __viaddmax_s16x2(n, 1, 2) + __viaddmax_s32_relu(n, 1, 2) + __viaddmin_u32(n, 1, 2); bool q; p[t] += __vibmax_s32(n, 1, &q) + __vibmin_u32(n, 1, &q) + q; bool q2; u[t] = __vibmax_s16x2(n, 3, &q, &q2); }
__global__ void ints(ARGS) { INDEX; p[t] = __hadd(n, 3) + __rhadd(n, 3) + __uhadd(3u, 4u) + __urhadd(3u, 4u) + __sad(1, 2, 3u) + __usad(1u, 2u, 3u) + __mul24(1, 2) + __umul24(1u, 2u) + __mulhi(1, 2) + __umulhi(1u, 2u) + __mul64hi(1, 2) + __umul64hi(1, 2) + __clzll(l[t]) + __ffsll(l[t]) + __popcll(ull[t]) + __brevll(ull[t]) + __fns(n, 0, 1) + __funnelshift_lc(1, 2, 3) + __funnelshift_rc(1, 2, 3); }
__global__ void nslp(ARGS) { INDEX; __nanosleep(20); p[t] = 1; }
__global__ void ldst(ARGS) { INDEX; p[t] = __ldcg(p + t) + __ldca(p + t) + __ldcs(p + t) + __ldlu(p + t) + __ldcv(p + t); __stwb(p + t, 1); __stcg(p + t, 2); __stcs(p + t, 3); __stwt(p + t, 4); }
__global__ void ldst2(ARGS) { INDEX; float4 v = __ldcg((float4*)f + t); v = __ldcs((float4*)f + t); __stcs((float4*)f + t, v); double2 w = __ldcg((double2*)d + t); __stcg((double2*)d + t, w); longlong2 z = __ldcs((longlong2*)l + t); __stwt((longlong2*)l + t, z);  }
__global__ void ldst3(ARGS) { INDEX; char4 v = __ldg((char4*)p + t); short4 s = __ldg((short4*)u + t); uchar2 c = __ldg((uchar2*)l + t); char cc = __ldg((char*)ull + t); long lg = __ldg((long*)ull + t); f[t] = v.x + s.y + c.x + cc + lg; signed char sc = __ldg((signed char*)ull + t); unsigned long ul = __ldcs((unsigned long*)ull + t); float2 f2 = __ldg((float2*)d + t); f[t] += sc + ul + f2.x; ulonglong2 q = __ldg((ulonglong2*)ull + t); }
__global__ void heap(ARGS) { INDEX; int *q = (int*)malloc(sizeof(int) * 4); if (q) { q[0] = n; p[t] = q[0]; free(q); } }
__global__ void newd(ARGS) { INDEX; Obj *o = new Obj(n); p[t] = o->a; delete o; int *a = new int[4]; a[1] = 2; p[t] += a[1]; delete[] a; }
__global__ void pnew(ARGS) { INDEX; __shared__ char buf[64 * sizeof(Obj)]; Obj *o = new (buf + threadIdx.x * sizeof(Obj)) Obj(n); p[t] = o->a; o->~Obj(); }
__global__ void virt(ARGS) { INDEX; Der q; Base *b = &q; p[t] = b->go(n); }
__global__ void virtn(ARGS) { INDEX; Base *b = new Der; p[t] = b->go(n); delete b; }
__global__ void allocac(ARGS) { INDEX; int *q = (int*)alloca(16); q[0] = n; q[t & 3] = 4; p[t] = q[0]; }
__global__ void allocav(ARGS) { INDEX; int *q = (int*)alloca(4 * (t + 1)); for (int i = 0; i <= t; i++) q[i] = i; p[t] = q[t]; }
__global__ void allocab(ARGS) { INDEX; int *q = (int*)__builtin_alloca(64); q[t & 15] = n; p[t] = q[3]; }
__global__ void vla(ARGS) { INDEX; extern __shared__ int sm[]; sm[threadIdx.x] = n; __syncthreads(); p[t] = sm[63 - threadIdx.x]; }
__global__ void asserts(ARGS) { INDEX; assert(n > -10000000); p[t] = 1; }
__global__ void printfs(ARGS) { INDEX; printf("%d %s %f\n", n, "x", 1.0); p[t] = 1; }
__global__ void trapk(ARGS) { INDEX; if (n == 12345) __trap(); if (n == 12346) __brkpt(); p[t] = 1; }
__global__ void clk(ARGS) { INDEX; l[t] = clock64() + clock(); unsigned long long g; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g)); ull[t] = g; }
__global__ void preds(ARGS) { INDEX; __shared__ int s; int lc = 3; p[t] = __isShared(&s) + __isGlobal(p) + __isLocal(&lc) + __isConstant(cf) + __isGridConstant(p); }
__global__ void cvta(ARGS) { INDEX; __shared__ int s[64]; size_t a = __cvta_generic_to_shared(s + threadIdx.x); *(int*)__cvta_shared_to_generic(a) = 1; size_t g = __cvta_generic_to_global(p + t); *(int*)__cvta_global_to_generic(g) = 3; size_t c = __cvta_generic_to_constant(cf); f[t] = *(float*)__cvta_constant_to_generic(c); int lc = 1; *(int*)__cvta_local_to_generic(__cvta_generic_to_local(&lc)) = 2; u[t] = lc; }
__global__ void cvtag(ARGS) { INDEX; __shared__ int s[64]; unsigned a = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]); asm volatile("st.shared.u32 [%0], %1;" :: "r"(a), "r"(n)); int r; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(a)); p[t] = r; }
__global__ void pipe(ARGS) { INDEX; __shared__ int s[64]; __pipeline_memcpy_async(&s[threadIdx.x], p + t, 4); __pipeline_commit(); __pipeline_wait_prior(0); u[t] = s[threadIdx.x]; }
__global__ void pipeb(ARGS) { INDEX; __shared__ int s[64]; __shared__ __mbarrier_t bar; if (!threadIdx.x) __mbarrier_init(&bar, 64); __syncthreads(); __pipeline_memcpy_async(&s[threadIdx.x], p + t, 4); __pipeline_arrive_on(&bar); __mbarrier_token_t tok = __mbarrier_arrive(&bar); while (!__mbarrier_test_wait(&bar, tok)); u[t] = s[63 - threadIdx.x]; }
__global__ void redux(ARGS) { INDEX; p[t] = __reduce_add_sync(~0u, n) + __reduce_min_sync(~0u, n) + __reduce_max_sync(~0u, n); u[t] = __reduce_add_sync(~0u, 1u) + __reduce_and_sync(~0u, 1u) + __reduce_or_sync(~0u, 1u) + __reduce_xor_sync(~0u, 1u) + __reduce_min_sync(~0u, 1u); }
__global__ void match(ARGS) { INDEX; int q; p[t] = __match_any_sync(~0u, n) + __match_all_sync(~0u, n, &q) + __match_any_sync(~0u, f[t]) + __match_any_sync(~0u, d[t]) + __match_all_sync(~0u, ull[t], &q) + q; }
__global__ void shfls(ARGS) { INDEX; p[t] = __shfl_sync(~0u, n, 0) + __shfl_up_sync(~0u, n, 1) + __shfl_down_sync(~0u, n, 1) + __shfl_xor_sync(~0u, n, 1); f[t] = __shfl_sync(~0u, f[t], 0); d[t] = __shfl_sync(~0u, d[t], 0); l[t] = __shfl_sync(~0u, l[t], 0); u[t] = __shfl_sync(~0u, u[t], 0); long ll = __shfl_sync(~0u, 3L, 1); unsigned long ul = __shfl_xor_sync(~0u, 3UL, 1); }
__global__ void actm(ARGS) { INDEX; p[t] = __activemask() + __ballot_sync(__activemask(), n) + __all_sync(~0u, n) + __any_sync(~0u, n); }
__global__ void lanem(ARGS) { INDEX; unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); p[t] = r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); p[t] += r; asm("mov.u32 %0, %%smid;" : "=r"(r)); p[t] += r; asm("mov.u32 %0, %%warpid;" : "=r"(r)); p[t] += r; asm("mov.u32 %0, %%nsmid;" : "=r"(r)); p[t] += r; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r)); p[t] += r;  }
__global__ void mgd(ARGS) { INDEX; mg[t & 63] = 1;  }
__global__ void sync3(ARGS) { INDEX; p[t] = __syncthreads_count(n) + __syncthreads_and(n) + __syncthreads_or(n); __syncwarp(); __threadfence(); __threadfence_block(); __threadfence_system(); }
__global__ void unroll(ARGS) {
INDEX;
#pragma unroll 4
for (int i = 0; i < 8; i++) p[t] += i;
#pragma unroll 2 + 1
for (int i = 0; i < 8; i++) p[t] += i;
}
__global__ void unroll2(ARGS) {
INDEX;
constexpr int K = 4;
#pragma unroll K
for (int i = 0; i < 8; i++) p[t] += i;
#pragma unroll (K * 2)
for (int i = 0; i < 8; i++) p[t] += i;
#pragma unroll
for (int i = 0; i < 8; i++) p[t] += i;
#pragma nounroll
for (int i = 0; i < 8; i++) p[t] += i;
_Pragma("unroll") for (int i = 0; i < 8; i++) p[t] += i;
}
__global__ void assume(ARGS) { INDEX; __assume(n > 3); __builtin_assume(n > 2); int *q = (int*)__builtin_assume_aligned(p, 16); q[t] = 1; if (n < 0) __builtin_unreachable(); if (__builtin_expect(n, 1)) q[t] = 2; if (n == 99) __builtin_trap(); }
