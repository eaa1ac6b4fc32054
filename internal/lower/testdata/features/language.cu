// What nvcc compiles without an #include: constants, macros, C and math functions, vector types.
#define ARGS int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n
#define INDEX int t = threadIdx.x + blockIdx.x * blockDim.x
__global__ void imax(ARGS) { INDEX; p[t] = INT_MAX + INT_MIN + UINT_MAX; }
__global__ void fmax_(ARGS) { INDEX; f[t] = FLT_MAX + FLT_MIN + FLT_EPSILON; }
__global__ void inf(ARGS) { INDEX; f[t] = INFINITY; }
__global__ void nan_(ARGS) { INDEX; f[t] = NAN + nanf(""); d[t] = nan(""); }
__global__ void hugeval(ARGS) { INDEX; f[t] = HUGE_VALF; d[t] = HUGE_VAL; }
__global__ void mpi(ARGS) { INDEX; d[t] = M_PI + M_E + M_SQRT2 + M_PI_2; }
__global__ void nvcc(ARGS) {
INDEX;
#ifdef __NVCC__
p[t]=1;
#else
#error x
#endif
}
__global__ void cudacc(ARGS) {
INDEX;
#ifdef __CUDACC__
p[t]=1;
#else
#error no cudacc
#endif
}
__global__ void ver(ARGS) { INDEX; p[t]=__CUDACC_VER_MAJOR__*10+__CUDACC_VER_MINOR__+__CUDACC_VER_BUILD__; }
extern __shared__ char aligned_as_by_nvcc[];
__global__ void dynamic_alignment(ARGS) {
  INDEX; __shared__ char c[3]; c[t % 3] = 1; p[t]=((int4 *)aligned_as_by_nvcc)[t].x;
}
template <class V, class F = bool> struct guided { V value; F flag; };
template <class V, class F = bool> guided(V, F) -> guided<V, F>;
__global__ void guide(ARGS) { INDEX; constexpr auto a = guided{3, false}; p[t]=a.value; }
template <class T> __host__ __device__ int guided_value(T v) { auto a = guided{v, false}; return a.value; }
__global__ void guide_both(ARGS) { INDEX; p[t]=guided_value(t); }
#ifdef __CUDACC_EXTENDED_LAMBDA__
template <class F> __device__ int applied(F f) {
  static_assert(!__nv_is_extended_device_lambda_closure_type(F) ||
                __nv_is_extended_device_lambda_with_preserved_return_type(F), "");
  return f(2);
}
__global__ void extended(ARGS) { INDEX; p[t]=applied([=] __device__ (int x) { return x + t; }); }
#endif
__global__ void arch(ARGS) { INDEX; p[t]=__CUDA_ARCH__; }
__global__ void archm(ARGS) {
INDEX;
#if defined(__CUDACC_RTC__)
#error rtc
#endif
p[t]=1;
}
__global__ void rth(ARGS) {
INDEX;
#ifndef __CUDA_RUNTIME_H__
#error x
#endif
p[t]=0;
}
__global__ void reg(ARGS) { INDEX; register int i = n; p[t] = i; }
__global__ void sizet(ARGS) { INDEX; size_t s = n; uint32_t q = 3; uint8_t r = 2; ptrdiff_t z = 1; p[t] = s + q + r + z; intptr_t h = 4; uintptr_t hh = (uintptr_t)p; p[t] += h + hh; }
__global__ void uint_(ARGS) { INDEX; uint a = 1; ushort b = 2; ulong c = 3; p[t] = a + b + c; }
__global__ void memcp(ARGS) { INDEX; memcpy(p + t, u + t, 4); memset(l + t, 0, 8); memmove(p+t,u+t,4); p[t] += memcmp(u,l,4); }
__global__ void stdmax(ARGS) { INDEX; p[t] = std::max(n, 3) + std::min(n, 4); }
__global__ void fmaxes(ARGS) { INDEX; f[t] = fmax(f[t], 1.0f) + max(1.0f, f[t]) + fmin(f[t], 3.f); }
__global__ void abs_(ARGS) { INDEX; f[t] = abs(f[t]) + fabs(f[t]) + std::abs(f[t]); l[t] = llabs(l[t]) + labs(3L) + abs(l[t]); }
__global__ void sinc(ARGS) { INDEX; float s, c; sincosf(f[t], &s, &c); float a, b; sincospif(f[t], &a, &b); f[t] = s + c + a + b; double x, y; sincos(d[t], &x, &y); d[t] = x + y; sincospi(d[t], &x, &y); d[t] += x + y; }
__global__ void mathf(ARGS) { INDEX; f[t] = sinpif(f[t]) + cospif(f[t]) + rcbrtf(f[t]) + erfinvf(f[t]) + erfcinvf(f[t]) + erfcxf(f[t]) + normcdff(f[t]) + normcdfinvf(f[t]) + j0f(f[t]) + j1f(f[t]) + jnf(2, f[t]) + y0f(f[t]) + y1f(f[t]) + ynf(2, f[t]) + cyl_bessel_i0f(f[t]) + cyl_bessel_i1f(f[t]); }
__global__ void mathd(ARGS) { INDEX; d[t] = sinpi(d[t]) + cospi(d[t]) + rcbrt(d[t]) + erfinv(d[t]) + erfcinv(d[t]) + erfcx(d[t]) + normcdf(d[t]) + normcdfinv(d[t]) + j0(d[t]) + j1(d[t]) + jn(2, d[t]) + y0(d[t]) + y1(d[t]) + yn(2, d[t]) + cyl_bessel_i0(d[t]) + cyl_bessel_i1(d[t]); }
__global__ void mathn(ARGS) { INDEX; f[t] = norm3df(f[t], 1, 2) + norm4df(f[t], 1, 2, 3) + rnorm3df(f[t], 1, 2) + rnorm4df(f[t], 1, 2, 3) + normf(3, f) + rnormf(3, f) + rhypotf(f[t], 1); d[t] = norm3d(d[t], 1, 2) + norm4d(d[t], 1, 2, 3) + rnorm3d(d[t], 1, 2) + rnorm4d(d[t], 1, 2, 3) + norm(3, d) + rnorm(3, d) + rhypot(d[t], 1); }
__global__ void mathm(ARGS) { INDEX; int e; f[t] = frexpf(f[t], &e) + ldexpf(f[t], 2) + scalbnf(f[t], 3) + scalblnf(f[t], 3L) + logbf(f[t]) + ilogbf(f[t]) + nextafterf(f[t], 1) + remquof(f[t], 3, &e) + fdimf(f[t], 2) + fdividef(f[t], 3); float ip; f[t] += modff(f[t], &ip) + ip + lrintf(f[t]) + llrintf(f[t]) + lroundf(f[t]) + llroundf(f[t]) + nearbyintf(f[t]) + truncf(f[t]) + exp10f(f[t]); }
__global__ void mathx(ARGS) { INDEX; d[t] = exp10(d[t]) + trunc(d[t]) + nearbyint(d[t]) + lrint(d[t]) + logb(d[t]) + ilogb(d[t]) + scalbn(d[t], 2) + cbrt(d[t]) + asinh(d[t]) + acosh(d[t]) + atanh(d[t]) + fdim(d[t], 1) + nextafter(d[t], 2) + copysign(d[t], -1.0) + max(d[t], 1.0) + rsqrt(d[t]); }
__global__ void dimx(ARGS) { INDEX; dim3 g = gridDim; uint3 q = blockIdx; p[t] = g.x * q.y + warpSize; }
__global__ void shadow(ARGS) { INDEX; float4 v = {1, 2, 3, 4}; float4 w = v; w.x += 1; ((float4 *)f)[t] = w; longlong4 z = make_longlong4(1, 2, 3, 4); ((longlong4 *)l)[t] = z; double4 q = make_double4(1, 2, 3, 4); ((double4 *)d)[t] = q; ulonglong2 zz = make_ulonglong2(1, 2); ((ulonglong2 *)l)[t] = zz; char3 c3 = make_char3(1, 2, 3); p[t] = c3.x;  }
