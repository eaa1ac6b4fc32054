// How programs in OpenCL C are written.
#ifndef WG
#define WG 64
#endif
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_local_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_byte_addressable_store : enable
typedef float4 vec; typedef struct { float x, y; int n; } P; typedef union { float f; uint u; } FU;
inline float sq(float x) { return x * x; }
static inline int2 idx(void) { return (int2)(get_global_id(0), get_global_id(1)); }
float helper(__global const float *p, int i);
float helper(__global const float *p, int i) { return p[i]; }
void swp(__local int *a, __local int *b) { int t = *a; *a = *b; *b = t; }
inline void atomic_add_f(volatile __global float *a, float v) { FU o, n; do { o.f = *a; n.f = o.f + v; } while (atomic_cmpxchg((volatile __global uint *)a, o.u, n.u) != o.u); }
__kernel void a(__global float *p, const int n, P q, __constant float *c, const unsigned int w) { int i = get_global_id(0); if (i >= n) return; p[i] = sq(q.x) + helper(p, i) + c[0] + w; }
__kernel void b(__global int *p, __local int *s) { int l = get_local_id(0); s[l] = p[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
for (int o = WG / 2; o > 0; o >>= 1) { if (l < o) s[l] += s[l + o]; barrier(CLK_LOCAL_MEM_FENCE); } if (l == 0) p[get_group_id(0) * WG] = s[0]; }
__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void c(__global float *p) { atomic_add_f(p, 1.0f); }
__kernel void d(__global uchar4 *im, int w, int h) { int2 i = idx(); if (i.x < w && i.y < h) { uchar4 v = im[i.y * w + i.x]; float4 f = convert_float4(v) / 255.0f; im[i.y * w + i.x] = convert_uchar4_sat(f * 255.0f); } }
__kernel void e(__global ulong *x, __global long *y) { atom_add(x, 1UL); atom_xchg(y, 3L); }
__kernel void f(__global double *p) { p[get_global_id(0)] = sqrt(p[get_global_id(0)]) + 1.0; }
__kernel void g(__global half *p) { int i = get_global_id(0); vstore_half(vload_half(i, p) + 1, i, p); }
__kernel void h(__global int *p, uint seed) { uint x = seed + get_global_id(0); x ^= x << 13; x ^= x >> 17; p[get_global_id(0)] = x % 10u; int a[4] = {0}; a[x & 3] = 1; p[get_global_id(0)] += a[1]; }
__kernel void i(__global int *p, __global int *cnt) { if (p[get_global_id(0)] > 0) { int k = atomic_inc(cnt); p[k] = 1; } }
__kernel void j(const __global float *restrict a, __global float *restrict b, const float s) { size_t g = get_global_id(0); b[g] = mad(a[g], s, 1.f); }
kernel void k(global float4 *pos, global float4 *vel, float dt, local float4 *cache) { int i = get_global_id(0), l = get_local_id(0); float4 p = pos[i], acc = 0.0f; for (int t = 0; t < get_num_groups(0); t++) { cache[l] = pos[t * get_local_size(0) + l]; barrier(CLK_LOCAL_MEM_FENCE); for (int m = 0; m < get_local_size(0); m++) { float4 d = cache[m] - p; d.w = 0; float inv = rsqrt(dot(d, d) + 0.01f); acc += d * (inv * inv * inv); } barrier(CLK_LOCAL_MEM_FENCE); } vel[i] += acc * dt; }
__kernel void l(__global int *p) { switch (get_work_dim()) { case 1: p[get_global_id(0)] = 1; break; default: p[get_global_id(0) + get_global_size(0) * get_global_id(1)] = 2; } }
constant sampler_t smp = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
__kernel void m(__read_only image2d_t a, __write_only image2d_t b) { int2 i = (int2)(get_global_id(0), get_global_id(1)); float2 uv = convert_float2(i) / convert_float2(get_image_dim(a)); write_imagef(b, i, read_imagef(a, smp, uv)); }
