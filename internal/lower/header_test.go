package lower

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Code that CUDA programmers write, with the PTX that it means by the CUDA C++ Programming Guide or
// the PTX ISA. Each source is the body of a kernel with parameters int *p, unsigned *u, long long
// *l, unsigned long long *ull, float *f, double *d, int n. The PTX must match the patterns in want,
// and none of those in no.
var headerCases = []struct {
	name string
	src  string
	want []string
	no   []string
}{
	{name: "thread indices", src: `p[0] = threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z + blockDim.x + blockDim.y + blockDim.z + gridDim.x + gridDim.y + gridDim.z;`,
		want: []string{`%tid\.x`, `%tid\.y`, `%tid\.z`, `%ctaid\.x`, `%ctaid\.y`, `%ctaid\.z`, `%ntid\.x`,
			`%ntid\.y`, `%ntid\.z`, `%nctaid\.x`, `%nctaid\.y`, `%nctaid\.z`}},
	{name: "indices as values", src: `dim3 a = blockDim; uint3 b = threadIdx; p[0] = a.x + b.y;`,
		want: []string{`%ntid\.x`, `%tid\.y`}},
	{name: "warpSize", src: `int a[warpSize]; a[0] = n; p[0] = a[0] + warpSize;`,
		want: []string{`add\.s32 .*32`}},
	// PTX ISA 9.7.13.1
	{name: "__syncthreads", src: `__syncthreads();`,
		want: []string{`bar(rier)?\.sync(\.aligned)?\s+0;`}},
	{name: "__syncthreads_count", src: `p[0] = __syncthreads_count(n);`,
		want: []string{`bar\.red\.popc\.u32`}},
	{name: "__syncthreads_and", src: `p[0] = __syncthreads_and(n);`,
		want: []string{`bar\.red\.and\.pred`}},
	{name: "__syncthreads_or", src: `p[0] = __syncthreads_or(n);`,
		want: []string{`bar\.red\.or\.pred`}},
	// PTX ISA 9.7.13.2, 9.7.13.4
	{name: "__syncwarp", src: `__syncwarp(); __syncwarp(0xff);`, want: []string{`bar\.warp\.sync`}},
	{name: "fences", src: `__threadfence_block(); __threadfence(); __threadfence_system();`,
		want: []string{`membar\.cta;`, `membar\.gl;`, `membar\.sys;`}, no: []string{`fence\.acq_rel`}},
	// PTX ISA 9.7.13.5: without .sem and .scope, .relaxed.gpu
	{name: "atomicAdd", src: `atomicAdd(p, 1); atomicAdd(u, 1u); atomicAdd(ull, 1ull); atomicAdd(f, 1.f); atomicAdd(d, 1.0);`,
		want: []string{`atom\.global\.add\.u32`, `atom\.global\.add\.u64`, `atom\.global\.add\.f32`,
			`atom\.global\.add\.f64`}, no: []string{`\.cta`, `\.sys`, `acq`, `fence`, `membar`}},
	{name: "atomics in shared memory",
		src:  `__shared__ int s[4]; atomicAdd(s, 1); atomicMax(s + 1, n);`,
		want: []string{`atom\.shared\.add\.u32`, `atom\.shared\.max\.s32`}},
	{name: "atomic scopes", src: `atomicAdd_block(p, 1); atomicAdd_system(p, 1); atomicCAS_block(p, 1, 2); atomicExch_system(ull, 3ull);`,
		want: []string{`atom\.cta\.add\.s32`, `atom\.sys\.add\.s32`, `atom\.cta\.cas\.b32`,
			`atom\.sys\.exch\.b64`}},
	{name: "other atomics", src: `atomicSub(p, 1); atomicMin(p, 1); atomicMax(u, 1u); atomicMin(l, 1ll); atomicAnd(p, 1); atomicOr(u, 1u); atomicXor(ull, 1ull); atomicInc(u, 5u); atomicDec(u, 5u); atomicExch(f, 1.f);`,
		want: []string{`min\.s32`, `max\.u32`, `min\.s64`, `and\.b32`, `or\.b32`, `xor\.b64`, `inc\.u32`,
			`dec\.u32`, `exch\.b32`}},
	{name: "atomicCAS widths", src: `atomicCAS(p, 1, 2); atomicCAS(ull, 1ull, 2ull); atomicCAS((unsigned short *)p, (unsigned short)1, (unsigned short)2);`,
		want: []string{`atom\.global\.cas\.b32`, `atom\.global\.cas\.b64`, `atom\.gpu\.cas\.b16`}},
	// PTX ISA 9.7.9.6: c = ((32 - width) << 8) | clamp
	{name: "shuffles", src: `p[0] = __shfl_sync(~0u, n, 3) + __shfl_up_sync(~0u, n, 1) + __shfl_down_sync(~0u, n, 2, 16) + __shfl_xor_sync(~0u, n, 4);`,
		want: []string{`shfl\.sync\.idx\.b32`, `shfl\.sync\.up\.b32`, `shfl\.sync\.down\.b32`,
			`shfl\.sync\.bfly\.b32`, `4127`}},
	{name: "shuffles of wide types",
		src:  `d[0] = __shfl_down_sync(~0u, d[1], 1); l[0] = __shfl_sync(~0u, l[1], 0); f[0] = __shfl_xor_sync(~0u, f[1], 1);`,
		want: []string{`shfl\.sync\.down`, `shfl\.sync\.idx`, `shfl\.sync\.bfly`}},
	{name: "old shuffles and votes",
		src: `p[0] = __shfl_down(n, 1) + __any(n) + __all(n) + __ballot(n);`,
		want: []string{`activemask\.b32`, `shfl\.sync\.down`, `vote\.sync\.any`, `vote\.sync\.all`,
			`vote\.sync\.ballot`}},
	{name: "votes", src: `p[0] = __any_sync(~0u, n) + __all_sync(~0u, n) + __ballot_sync(~0u, n) + __activemask();`,
		want: []string{`vote\.sync\.any\.pred`, `vote\.sync\.all\.pred`, `vote\.sync\.ballot\.b32`,
			`activemask\.b32`}},
	{name: "match", src: `int q; p[0] = __match_any_sync(~0u, n) + __match_all_sync(~0u, l[0], &q); p[1] = q;`,
		want: []string{`match\.any\.sync\.b32`, `match\.all\.sync\.b64`}},
	{name: "redux", src: `p[0] = __reduce_add_sync(~0u, n) + __reduce_max_sync(~0u, n); u[0] = __reduce_xor_sync(~0u, u[1]);`,
		want: []string{`redux\.sync\.add\.s32`, `redux\.sync\.max\.s32`, `redux\.sync\.xor\.b32`}},
	{name: "__ldg", src: `p[0] = __ldg(p + 1); float4 v = __ldg((const float4 *)f); f[0] = v.x + v.w; d[0] = __ldg(d + 1);`,
		want: []string{`ld\.global\.nc\.b32`, `ld\.global\.nc\.v4\.b32`, `ld\.global\.nc\.b64`}},
	{name: "cache operators", src: `p[0] = __ldcg(p + 1) + __ldca(p + 2) + __ldcs(p + 3); __stcg(p + 4, n); __stwt(p + 5, n);`,
		want: []string{`ld\.global\.cg\.b32`, `ld\.global\.ca\.b32`, `ld\.global\.cs\.b32`,
			`st\.global\.cg\.b32`, `st\.global\.wt\.b32`}},
	{name: "clocks", src: `l[0] = clock64() + (long long)clock();`, want: []string{`%clock64`, `%clock;`}},
	{name: "printf", src: `printf("%d %f\n", n, f[0]);`, want: []string{`vprintf`}},
	{name: "assert", src: `assert(n > 3);`, want: []string{`__assertfail`}},
	{name: "device heap", src: `int *q = (int *)malloc(16); q[0] = n; free(q); float *r = new float[4]; r[0] = 1; delete[] r;`, want: []string{`malloc`, `free`}},
	{name: "memcpy and memset", src: `int a[4]; memcpy(a, p, sizeof a); p[9] = a[n & 3]; memset(u, 0, 16);`, want: []string{`ld\.global`, `st\.global`}},
	{name: "vector types", src: `float4 v = make_float4(1, 2, 3, n); ((float4 *)f)[0] = v; int2 i = make_int2(n, 2); p[3] = i.x + i.y; uchar4 c = make_uchar4(1, 2, 3, 4); u[0] = c.w; double2 e = {1.0, 2.0}; d[0] = e.y;`,
		want: []string{`st\.global`}},
	{name: "helper_math operators",
		src:  `float3 a = make_float3(f[0], f[1], f[2]), b = cross(a, normalize(a)) * 2.0f + a; b += a; f[3] = dot(a, b) + length(b) + clamp(b.x, 0.0f, 1.0f);`,
		want: []string{`rsqrt\.approx\.f32`, `sqrt\.rn\.f32`}},
	{name: "single-precision instructions",
		src: `f[0] = sqrtf(f[1]) + fmaf(f[1], f[2], f[3]) + __sinf(f[4]) + __expf(f[5]) + rsqrtf(f[6]) + __fdividef(f[7], f[8]) + fminf(f[1], f[2]) + fabsf(f[3]) + floorf(f[4]) + rintf(f[5]);`,
		want: []string{`sqrt\.rn\.f32`, `fma\.rn\.f32`, `sin\.approx\.f32`, `ex2\.approx\.f32`,
			`rsqrt\.approx\.f32`, `div\.approx\.f32`, `min\.f32`, `abs\.f32`, `cvt\.rmi\.f32\.f32`,
			`cvt\.rni\.f32\.f32`}},
	{name: "rounding intrinsics",
		src: `f[0] = __fadd_rn(f[1], f[2]) + __fmul_rz(f[1], f[2]) + __frcp_ru(f[3]) + __fsqrt_rd(f[4]) + __fdiv_rn(f[1], f[2]); d[0] = __dadd_rn(d[1], d[2]) + __fma_rz(d[1], d[2], d[3]);`,
		want: []string{`add\.rn\.f32`, `mul\.rz\.f32`, `rcp\.rp\.f32`, `sqrt\.rm\.f32`, `div\.rn\.f32`,
			`add\.rn\.f64`, `fma\.rz\.f64`}},
	{name: "conversions", src: `p[0] = __float2int_rn(f[0]) + __float2int_rz(f[0]) + __double2int_ru(d[0]); f[1] = __int2float_rd(n); u[0] = __float_as_uint(f[2]); f[3] = __int_as_float(n); l[0] = __double_as_longlong(d[1]); d[2] = __hiloint2double(n, 3);`,
		want: []string{`cvt\.rni\.s32\.f32`, `cvt\.rzi\.s32\.f32`, `cvt\.rpi\.s32\.f64`,
			`cvt\.rm\.f32\.s32`}},
	{name: "integer intrinsics", src: `p[0] = __clz(n) + __popc(n) + __ffs(n) + __mul24(n, 3) + __mulhi(n, 5); u[0] = __brev(u[1]) + __byte_perm(u[1], u[2], 0x3210) + __funnelshift_l(u[1], u[2], 3) + __umulhi(u[1], u[2]) + __sad(n, 2, 3) + __dp4a(u[1], u[2], u[3]);`,
		want: []string{`clz\.b32`, `popc\.b32`, `mul24\.lo\.s32`, `mul\.hi\.s32`, `brev\.b32`,
			`prmt\.b32`, `shf\.l\.wrap\.b32`, `mul\.hi\.u32`, `sad\.s32`, `dp4a\.u32\.u32`}},
	{name: "min, max, abs", src: `p[0] = min(n, 3) + max(n, 4) + abs(n); f[0] = min(f[1], f[2]) + max(f[3], 1.0f) + abs(f[4]); d[0] = max(d[1], 2.0) + min(f[1], d[3]); u[0] = min(u[1], 7u);`,
		want: []string{`min\.f32|min\.NaN`, `max\.f64`}},
	{name: "single-precision functions",
		src:  `f[0] = sinf(f[1]) + cosf(f[1]) + tanf(f[1]) + expf(f[1]) + logf(f[1]) + powf(f[1], f[2]) + exp2f(f[1]) + log2f(f[1]) + log10f(f[1]) + atan2f(f[1], f[2]) + asinf(f[1]) + tanhf(f[1]) + erff(f[1]) + fmodf(f[1], f[2]) + cbrtf(f[1]) + hypotf(f[1], f[2]) + roundf(f[1]) + copysignf(f[1], f[2]);`,
		want: []string{`sin\.approx\.f32`, `cos\.approx\.f32`, `lg2\.approx\.f32`}},
	{name: "double-precision functions",
		src:  `d[0] = sin(d[1]) + cos(d[1]) + tan(d[1]) + exp(d[1]) + log(d[1]) + pow(d[1], d[2]) + sqrt(d[1]) + atan2(d[1], d[2]) + acos(d[1]) + sinh(d[1]) + erfc(d[1]) + tgamma(d[1]) + lgamma(d[1]) + fmod(d[1], d[2]) + remainder(d[1], d[2]) + log1p(d[1]) + expm1(d[1]) + round(d[1]) + floor(d[1]) + fma(d[1], d[2], d[3]);`,
		want: []string{`sqrt\.rn\.f64`, `fma\.rn\.f64`}},
	{name: "overloads and std", src: `f[0] = sin(f[1]) + std::exp(f[2]) + std::sqrt(f[3]) + pow(f[4], 2.0f) + std::fabs(f[5]); d[0] = sqrt(n) + pow(d[1], 2) + std::sin(d[2]) + std::abs(d[3]); p[0] = std::abs(n) + std::isnan(f[1]) + isinf(d[1]);`,
		want: []string{`sqrt\.rn\.f32`, `sqrt\.rn\.f64`}},
	{name: "launch bounds and inlining", src: `p[0] = inlined(n) + kept(n);`,
		want: []string{`call`, `kept`}, no: []string{`inlined`}},
	{name: "inlined __restrict__", src: `restricted(p, p + n);`,
		want: []string{`ld\.global\.u32`, `st\.global\.u32`}, no: []string{`call`, `ld\.global\.nc`}},
	// PTX ISA 9.7.9.25.3; CUDA C++ Programming Guide, "Pipeline Primitives Interface"
	{name: "pipeline primitives",
		src: `__shared__ float4 s[64]; __pipeline_memcpy_async(s, f, 16, 4); __pipeline_memcpy_async(s + 1, f, 8); __pipeline_commit(); __pipeline_wait_prior(2);`,
		want: []string{`cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16, `,
			`cp\.async\.ca\.shared\.global \[%r\d+\], \[%rd\d+\], 8, `, `cp\.async\.commit_group;`,
			`cp\.async\.wait_group 2;`},
		no: []string{`wait_group [013-9]`, `trap`}},
	{name: "constant and managed memory", src: `p[0] = table[n] + counter; counter = 3;`,
		want: []string{`ld\.const\.u32`, `ld\.global\.u32`, `st\.global\.u32`}},
	{name: "dynamic shared memory",
		src:  `extern __shared__ int dyn[]; dyn[threadIdx.x] = n; p[0] = dyn[1];`,
		want: []string{`st\.shared\.u32`, `ld\.shared\.u32`}},
	{name: "inline assembly", src: `asm volatile("bar.sync 1, 64;" ::: "memory"); asm volatile("// heddle.point 7" ::: "memory"); unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); u[0] = r;`,
		want: []string{`bar\.sync 1, 64;`, `// heddle\.point 7`, `%laneid`}},
	{name: "address spaces", src: `__shared__ int s[2]; p[0] = __isShared(s) + __isGlobal(p) + (int)__cvta_generic_to_shared(s);`, want: []string{`isspacep\.shared`, `isspacep\.global`, `cvta\.to\.shared`}},
	{name: "nanosleep and trap", src: `__nanosleep(100); if (n == 77) __trap();`,
		want: []string{`nanosleep\.u32`, `trap;`}},
	{name: "math constants", src: `f[0] = CUDART_PI_F + CUDART_INF_F; d[0] = CUDART_PI;`,
		want: []string{`st\.global\.[fub]64`}},
	// Libraries ask this way whether a type has a member; nothing calls the function.
	{name: "variadic function that only chooses",
		src:  `p[0] = sizeof(has_x<int>(0)) + sizeof(has_x<int2>(0));`,
		want: []string{`st\.global\.u32`}, no: []string{`call`}},
	// An allocation function as an argument of a template (Thrust).
	{name: "address of a runtime function", src: `p[0] = n * (int)sizeof(HostAllocator);`,
		want: []string{`st\.global\.[ubs]32`}},
	// Thrust 1 tests these guards, and includes cuda_occupancy.h.
	{name: "include guards of CUDA", src: `p[0] = GUARDS * n;`, want: []string{`st\.global\.[ubs]32`}},
	{name: "complex numbers",
		src: `cuDoubleComplex z = cuCdiv(make_cuDoubleComplex(d[0], d[1]), make_cuDoubleComplex(n, 1));
			d[2] = cuCabs(z); f[0] = cuCrealf(cuCmulf(cuComplexDoubleToFloat(z), make_cuComplex(f[1], f[2])));`,
		want: []string{`st\.global\.[fub]64`, `st\.global\.[fub]32`}, no: []string{`call`}},
	// What nvcc's cuda_runtime.h brings without an #include.
	{name: "float.h, alloca, assert, utility", src: `assert(n < 100); int *q = (int *)alloca(n * 4);
			q[0] = 1; int *r = std::move(q); f[0] = FLT_MAX; d[0] = DBL_EPSILON + DBL_MAX; p[0] = r[0];`,
		want: []string{`__assertfail`, `st\.global\.[fub]32`, `st\.global\.[fub]64`}},
	{name: "versions of CUDA 12.9", src: `p[0] = __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10;
			p[1] = CUDART_VERSION; p[2] = CUDA_VERSION;`, want: []string{`\b12090;`}, no: []string{`%r2`}},
	{name: "packed products", src: `p[0] = __dp4a(make_char4(n, 2, 3, 4), make_char4(1, 2, n, 4), n);
			p[1] = __dp2a_lo(make_short2(n, 2), make_char4(1, 2, 3, 4), n); __prof_trigger(1);`,
		want: []string{`dp4a\.s32\.s32`, `dp2a\.lo\.s32\.s32`}},
	// CUDA C++ Programming Guide, atomicAdd: the addition of each element is atomic.
	{name: "atomicAdd of vectors",
		src:  `f[0] = atomicAdd((float4 *)f, make_float4(1, 2, 3, 4)).w; atomicAdd((float2 *)f, make_float2(1, 2));`,
		want: []string{`(atom[^;]*add\.f32[^}]*){6}`}},
	{name: "reductions that one member stores", src: `namespace cg = cooperative_groups;
			auto t = cg::tiled_partition<32>(cg::this_thread_block());
			cg::reduce_store_async(t, p, n, cg::plus<int>());
			cg::reduce_update_async(t, *(cuda::atomic<int> *)l, n, cg::less<int>());`,
		want: []string{`shfl\.sync`, `st\.global\.[ubs]32`, `atom\.relaxed[^;]*min\.s32`}},
	// CUDA C++ Programming Guide, "inclusive_scan and exclusive_scan": the update is atomic.
	{name: "scans that update", src: `namespace cg = cooperative_groups;
			auto t = cg::tiled_partition<32>(cg::this_thread_block());
			static_assert(decltype(t)::size() == 32, "");
			cuda::atomic_ref<int, cuda::thread_scope_device> r(p[0]);
			p[1] = cg::exclusive_scan_update(t, r, n) + cg::inclusive_scan_update(t, r, n, cg::plus<int>());`,
		want: []string{`(atom\.relaxed[^}]*){2}`}},
	{name: "experimental groups", src: `namespace cg = cooperative_groups;
			__shared__ cg::experimental::block_tile_memory<4, 128> m;
			cg::experimental::tiled_partition<64>(cg::experimental::this_thread_block(m)).sync();`,
		want: []string{`barrier\.sync\s+%r\d+, %r\d+`}},
	{name: "min and max without a header", src: `p[0] = std::max(n, 3) + std::min(n, 7);`,
		want: []string{`setp`}},
	// PTX ISA 9.7.13.15, 9.7.9.25.3.3
	{name: "mbarrier primitives", src: `__shared__ __mbarrier_t b; __mbarrier_init(&b, 32); __pipeline_arrive_on(&b);
			__mbarrier_token_t t = __mbarrier_arrive(&b); while (!__mbarrier_test_wait(&b, t)) {}
			p[0] = __mbarrier_token_pending_count(t); __mbarrier_inval(&b);`,
		want: []string{`mbarrier\.init\.shared\.b64`, `cp\.async\.mbarrier\.arrive\.shared\.b64`,
			`mbarrier\.arrive\.shared\.b64`, `mbarrier\.test_wait\.shared\.b64`,
			`mbarrier\.pending_count\.b64`, `mbarrier\.inval\.shared\.b64`}},
	{name: "addresses of constants", src: `p[0] = *(int *)__cvta_constant_to_generic(__cvta_generic_to_constant(table + n));`,
		want: []string{`cvta\.to\.const`, `cvta\.const`}},
	// PTX ISA 9.7.10.3: tex.grad and tex.level of layers and cubes.
	{name: "levels and gradients of layers and cubes", src: `float2 g = make_float2(f[1], f[2]);
			float4 h = make_float4(1, 2, 3, 4); cudaTextureObject_t t = ull[0];
			f[0] = tex1DLayeredGrad<float>(t, 1, 2, 3, 4) + tex2DLayeredGrad<float>(t, 1, 2, 3, g, g) +
				texCubemapGrad<float>(t, 1, 2, 3, h, h) + texCubemapLayeredLod<float>(t, 1, 2, 3, 4, 0) +
				texCubemapLayeredGrad<float>(t, 1, 2, 3, 4, h, h);`,
		want: []string{`tex\.grad\.a1d`, `tex\.grad\.a2d`, `tex\.grad\.cube`, `tex\.level\.acube`,
			`tex\.grad\.acube`}},
	{name: "split barrier of a block", src: `auto b = cooperative_groups::this_thread_block();
			auto token = b.barrier_arrive(); p[0] = n; b.barrier_wait(std::move(token));`,
		want: []string{`bar(rier)?\.sync`}},
	{name: "warp-level lambda and template",
		src:  `auto g = [&](int i) { return i * n; }; p[0] = twice<int>(g(3));`,
		want: []string{`st\.global\.u32`}, no: []string{`call`}},
}

// Headers of CUDA that contain parts of others.
var partHeaders = strings.Fields(`channel_descriptor common_functions cuda_device_runtime_api
	cuda_surface_types cuda_texture_types device_double_functions driver_functions host_config
	sm_20_intrinsics sm_32_atomic_functions sm_32_intrinsics sm_35_atomic_functions sm_61_intrinsics
	surface_functions surface_indirect_functions surface_types texture_fetch_functions
	texture_indirect_functions texture_types curand_philox4x32_x curand_uniform curand_normal
	curand_normal_static curand_globals curand_poisson curand_lognormal curand_discrete
	curand_discrete2 curand_mrg32k3a curand_mtgp32 curand_mtgp32_kernel curand_precalc`)

// TestPartHeaders: a file with all of them, and names that they have, compiles without a warning.
func TestPartHeaders(t *testing.T) {
	text := "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
	for _, h := range partHeaders {
		text += "#include <" + h + ".h>\n"
	}
	text += `__global__ void k(curandStatePhilox4_32_10_t *s, float *f, nv_half2 *h, nv_bfloat162 *b) {
	*f = curand_uniform(s) + curand_normal(s) + __dp4a(1, 2, 3) + __half2float(h->x) + __bfloat162float(b->x);
}
int main() { nv_half h; nv_bfloat16 b; cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); }
`
	in := Input{Name: "k.cu", Content: []byte(text), Lang: CUDA}
	results, err := Lower(t.Context(), in, Options{NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; len(r.Warnings) > 0 || len(r.Omitted) > 0 || len(r.Kernels) != 1 {
		t.Errorf("%q, %v, %v", r.Warnings, r.Omitted, r.Kernels)
	}
}

const headerPrologue = `#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <cuComplex.h>
#include <cuda_occupancy.h>
#include <cuda/atomic>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <math_constants.h>
#include <cuda_pipeline.h>
#include "helper_math.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
#include <math.h>
#include <cmath>
#include <stdint.h>
#include <limits.h>
#include <float.h>
__device__ __forceinline__ int inlined(int x) { return x * 3; }
__device__ __noinline__ int kept(int x) { return x * 5; }
__device__ __forceinline__ void restricted(int *__restrict__ a, const int *__restrict__ b) { *a = *b; }
__constant__ int table[16];
#if defined(__HOST_DEFINES_H__) && defined(__DRIVER_TYPES_H__) && defined(__CUDA_RUNTIME_H__)
#define GUARDS 1
#endif
__managed__ int counter;
template <typename T> __host__ __device__ T twice(T x) { return x + x; }
template <typename T> __host__ __device__ char has_x(decltype(T::x) *);
template <typename T> __host__ __device__ short has_x(...);
template <cudaError_t (*)(void **, size_t)> struct allocator { int i; };
typedef allocator<cudaMallocHost> HostAllocator;
`

func TestHeaders(t *testing.T) {
	var src strings.Builder
	src.WriteString(headerPrologue)
	for i, c := range headerCases {
		fmt.Fprintf(
			&src, "namespace n%d { __global__ void __launch_bounds__(256) k(int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n) { %s } }\n", i, c.src)
	}
	check := func(t *testing.T, opt Options) {
		r := lowerSource(t, src.String(), opt)
		if len(r.Warnings) != 0 {
			t.Errorf("warnings: %q", r.Warnings)
		}
		kernels := entries(r.PTX)
		for i, c := range headerCases {
			t.Run(c.name, func(t *testing.T) {
				body := kernels[fmt.Sprintf("n%d", i)]
				for _, w := range c.want {
					if !regexp.MustCompile(w).MatchString(body) {
						t.Errorf("PTX has no %s\n%s", w, body)
					}
				}
				for _, w := range c.no {
					if regexp.MustCompile(w).MatchString(body) {
						t.Errorf("PTX has %s\n%s", w, body)
					}
				}
			})
		}
	}
	eachCompiler(t, func(t *testing.T, compiler string) {
		t.Run("system headers", func(t *testing.T) { check(t, Options{Compiler: compiler}) })
		// -nostdlibinc leaves clang's own headers only, as on a machine without a C library's.
		t.Run("own headers", func(t *testing.T) {
			check(t,
				Options{Compiler: compiler, Args: []string{"-nostdlibinc"}})
		})
	})
}

// Typical host code type-checks without the system's headers and without the CUDA SDK.
func TestHostAPI(t *testing.T) {
	src := `#include <cuda_runtime.h>
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <string>
#include <iostream>
#include <iomanip>
#include <algorithm>
#include <numeric>
#include <limits>
#include <type_traits>
#include <new>
#include <ctime>
#include <cstring>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
__constant__ float coef[4];
template <typename T, int N> __global__ void scale(T *p, T v) { p[threadIdx.x] *= v * N; }
int main(int argc, char **argv) {
  std::vector<float> h(64, 1.0f);
  float *d, c[4] = {1, 2, 3, 4}, ms;
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  std::cout << prop.name << " " << std::setw(4) << prop.multiProcessorCount << std::endl;
  CHECK(cudaMalloc(&d, h.size() * sizeof(float)));
  CHECK(cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(coef, c, sizeof c));
  cudaStream_t s;
  cudaEvent_t a, b;
  CHECK(cudaStreamCreate(&s));
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a, s);
  dim3 grid(2, 1), block = 32;
  scale<float, 3><<<grid, block, 0, s>>>(d, 2.0f);
  scale<float, 3><<<1, 64>>>(d, sqrtf(2.0f));
  cudaEventRecord(b, s);
  cudaEventSynchronize(b);
  cudaEventElapsedTime(&ms, a, b);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  int blocks;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float, 3>, 64, 0);
  cudaFuncSetAttribute(scale<float, 3>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  std::string name = std::string("x") + std::to_string(blocks);
  printf("%s %f %d\n", name.c_str(), std::sqrt(2.0), std::max(1, 2));
  float sum = std::accumulate(h.begin(), h.end(), 0.0f);
  std::fill(h.begin(), h.end(), std::numeric_limits<float>::max());
  cudaFree(d);
  return sum > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
`
	eachCompiler(t, func(t *testing.T, compiler string) {
		for _, args := range [][]string{nil, {"-nostdlibinc"}} {
			r := lowerSource(t, src, Options{Compiler: compiler, Args: args})
			if len(r.Kernels) != 1 || len(r.Warnings) != 0 {
				t.Errorf("args %v: kernels %v, warnings %q", args, r.Kernels, r.Warnings)
			}
		}
	})
}
