// Built-in functions of OpenCL C 2.0.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define K(NAME, ...) __kernel void NAME(__global int *p, __global float *f, __global uint *u, __global double *d, int n) { int t = get_global_id(0); __VA_ARGS__ }
K(v1, int2 a = (int2)(1, n); int3 b = (int3)(a, 3); int4 c = (int4)(a, a); int8 e = (int8)(c, c); int16 g = (int16)(e, e); p[t] = a.x + b.z + c.w + e.s7 + g.sf + g.sA + c.lo.x + c.hi.y + e.even.s1 + e.odd.s2 + c.xyz.y + c.wzyx.x + g.s0123.w;)
K(v2, float4 v = vload4(t, f); vstore4(v, t, f); float3 w = vload3(t, f); float2 x = vload2(t, f); float8 y = vload8(t, f); float16 z = vload16(t, f); f[t] = w.x + x.y + y.s3 + z.sf;)
K(v3, vstore3((float3)(1,2,3), t, f); vstore2((int2)(1,2), t, p); )
K(v4, vstore8((float8)(1), t, f); vstore16((uint16)(1), t, u);)
K(v5, float4 a = (float4)(1); a.xz = (float2)(2, 3); a.s1 = 4; a.hi = a.lo; f[t] = a.x + dot(a, a) + length(a) + distance(a, a); float4 c = cross(a, a); f[t] += normalize(c).x + fast_length(a) + fast_normalize(a).x + fast_distance(a, a);)
K(h1, float x = vload_half(t, (__global half*)f); f[t] = x; )
K(h2, float4 x = vload_half4(t, (__global half*)f); f[t] = x.w; float3 y = vload_half3(t, (__global half*)f); float4 z = vloada_half4(t, (__global half*)f); f[t] += y.x + z.x + vload_half16(t, (__global half*)f).s0; )
K(h3, vstore_half(1.0f, t, (__global half*)f); vstore_half_rte(1.0f, t, (__global half*)p); vstore_half_rtz(1.0f, t, (__global half*)u); )
K(h4, vstore_half4((float4)(1), t, (__global half*)f); vstorea_half4_rtp((float4)(1), t, (__global half*)p); vstore_half2_rtn((float2)(1), t, (__global half*)u); vstorea_half8((float8)(1), t, (__global half*)d); )
K(h5, half x = (half)n; half4 y = (half4)(x); f[t] = x + y.x + sqrt(x); )
K(aw, __local int s[64]; event_t e = async_work_group_copy(s, p, 64, 0); wait_group_events(1, &e); u[t] = s[get_local_id(0)]; )
K(aw2, __local int s[64]; s[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(p + get_group_id(0) * 64, s, 64, 0); wait_group_events(1, &e); )
K(aws, __local int s[64]; event_t e = async_work_group_strided_copy(s, p, 64, 2, 0); wait_group_events(1, &e); u[t] = s[get_local_id(0)]; prefetch(p, 4); )
K(awv, __local float4 s[64]; event_t e = async_work_group_copy(s, (__global float4*)f, 64, 0); wait_group_events(1, &e); u[t] = s[get_local_id(0)].x; )
K(sel, int4 a = (int4)(1, 2, 3, 4); int4 m = a > (int4)(2); p[t] = select(a, a + 1, m).x + any(m) + all(m) + select(1, 2, n) + bitselect(1, 2, 3); float4 q = select((float4)(1), (float4)(2), m); f[t] = q.x; )
K(shuf, int4 a = (int4)(1, 2, 3, 4); uint4 m = (uint4)(3, 2, 1, 0); p[t] = shuffle(a, m).x + shuffle2(a, a, m).y; int8 w = shuffle2(a, a, (uint8)(0, 1, 2, 3, 4, 5, 6, 7)); p[t] += w.s7; p[t] += vec_step(int3); )
K(as1, p[t] = as_int(f[t]) + as_uchar4(n).x + as_int2(d[t]).y; f[t] = as_float(n); d[t] = as_double((long)n); p[t] += as_short2(n).x; p[t] += as_int4((float4)(1)).x; p[t] += as_char(( uchar)n); )
K(cv1, p[t] = convert_int(f[t]) + convert_int_rte(f[t]) + convert_int_rtp(f[t]) + convert_int_rtn(f[t]) + convert_int_rtz(f[t]) + convert_int_sat(f[t]) + convert_uchar_sat(n) + convert_uchar_sat_rte(f[t]) + convert_char4_sat((int4)(n)).x + convert_short8_sat_rtz((float8)(1)).s3; f[t] = convert_float(n) + convert_float4((uchar4)(1)).x + convert_float_rtz(n) + convert_float3((int3)(1)).z; d[t] = convert_double(n); u[t] = convert_uint4_sat_rtn((float4)(-1)).x; p[t] += convert_long_sat(f[t]) + convert_ulong_sat_rte(d[t]) + convert_half(f[t]); )
K(at1, atomic_add(p, 1); atomic_sub(p, 1); atomic_inc(p); atomic_dec(p); atomic_xchg(p, 1); atomic_cmpxchg(p, 1, 2); atomic_min(p, 1); atomic_max(p, 1); atomic_and(p, 1); atomic_or(p, 1); atomic_xor(p, 1); atomic_xchg(f, 1.0f); atom_add(u, 1u); atom_inc(u); atom_cmpxchg(u, 1u, 2u);)
K(at2, volatile __global atomic_int *a = (volatile __global atomic_int*)p; atomic_fetch_add(a, 1); atomic_fetch_sub_explicit(a, 1, memory_order_relaxed); atomic_store(a, 1); int q = atomic_load(a); int e = 1; atomic_compare_exchange_strong(a, &e, 2); atomic_compare_exchange_weak_explicit(a, &e, 2, memory_order_acq_rel, memory_order_relaxed, memory_scope_device); atomic_exchange(a, 2); atomic_fetch_min(a, 1); atomic_fetch_max_explicit(a, 1, memory_order_relaxed, memory_scope_work_group); atomic_fetch_or(a, 1); atomic_fetch_xor(a, 1); atomic_fetch_and(a, 1); u[t] = q; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);)
K(at3, volatile __global atomic_flag *a = (volatile __global atomic_flag*)p; bool b = atomic_flag_test_and_set(a); atomic_flag_clear(a); u[t] = b;)
K(at4, __local atomic_int s; if (!get_local_id(0)) atomic_init(&s, 0); barrier(CLK_LOCAL_MEM_FENCE); atomic_fetch_add_explicit(&s, 1, memory_order_relaxed, memory_scope_work_group); work_group_barrier(CLK_LOCAL_MEM_FENCE); p[t] = atomic_load(&s);)
K(wg1, p[t] = work_group_all(n) + work_group_any(n);)
K(sg1, p[t] = get_sub_group_size() + get_max_sub_group_size() + get_num_sub_groups() + get_sub_group_id() + get_sub_group_local_id() + get_enqueued_num_sub_groups(); sub_group_barrier(CLK_LOCAL_MEM_FENCE);)
K(sg2, p[t] = sub_group_all(n) + sub_group_any(n) + sub_group_broadcast(n, 0) + sub_group_reduce_add(n) + sub_group_scan_inclusive_add(n) + sub_group_scan_exclusive_max(n); f[t] = sub_group_reduce_max(f[t]);)
K(sg3, p[t] = sub_group_shuffle(n, 1u) + sub_group_shuffle_xor(n, 1u) + sub_group_shuffle_up(n, 1u) + sub_group_shuffle_down(n, 1u) + sub_group_ballot(n).x + sub_group_elect();)
K(sg5, p[t] = intel_sub_group_shuffle(n, 1u) + intel_sub_group_shuffle_xor(n, 1u);)
K(wi, p[t] = get_global_size(0) + get_local_size(0) + get_num_groups(0) + get_group_id(0) + get_local_id(1) + get_global_offset(0) + get_work_dim() + get_enqueued_local_size(0) + get_local_linear_id() ; u[get_global_linear_id()] = 1;)
K(ma, f[t] = sin(f[t]) + native_sin(f[t]) + half_cos(f[t]) + mad(f[t], 2, 3) + fma(f[t], 1.0f, 2.0f) + clamp(f[t], 0.0f, 1.0f) + mix(f[t], 1.0f, 0.5f) + step(0.5f, f[t]) + smoothstep(0.0f, 1.0f, f[t]) + sign(f[t]) + degrees(f[t]) + radians(f[t]) + maxmag(f[t], 1.0f) + rootn(f[t], 2) + pown(f[t], 2) + powr(f[t], 2.0f) + native_recip(f[t]) + rsqrt(f[t]) + sinpi(f[t]) + exp10(f[t]) + nan(3u) + M_PI_F + MAXFLOAT + INFINITY + HUGE_VALF; float fr; int e; f[t] += fract(f[t], &fr) + frexp(f[t], &e) + modf(f[t], &fr) + sincos(f[t], &fr) + remquo(f[t], 2.0f, &e) + lgamma_r(f[t], &e) + ldexp(f[t], 3);)
K(ma4, float4 v = vload4(t, f); v = sin(v) + native_exp(v) + clamp(v, 0.0f, 1.0f) + fmax(v, 1.0f) + mix(v, v, 0.5f) + pow(v, v) + fabs(v) + floor(v) + step(v, v) + fmin(v, v) + max(v, 1.0f) + sqrt(v); f[t] = v.x; int4 q; v = frexp(v, &q); p[t] = q.x + isnan(v).x + isequal(v, v).y + signbit(v).z + isless(1.0f, 2.0f);)
K(in, p[t] = mad24(n, 2, 3) + mul24(n, 2) + mul_hi(n, 3) + mad_hi(n, 2, 3) + mad_sat(n, 2, 3) + add_sat(n, 1) + sub_sat(n, 1) + hadd(n, 1) + rhadd(n, 1) + abs(n) + abs_diff(n, 3) + clz(n) + ctz(n) + popcount(n) + rotate(n, 3) + upsample((short)n, (ushort)3) + max(n, 2) + min(n, 3) + clamp(n, 1, 2) + INT_MAX + CHAR_BIT; p[t] += add_sat((char)n, (char)1) + popcount((int4)(n)).x;)
K(pf, printf("%d %f %v4f %s\n", n, f[0], (float4)(1), "x"); p[t] = 1;)
K(fence, p[t] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); read_mem_fence(CLK_LOCAL_MEM_FENCE); write_mem_fence(CLK_GLOBAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);)
K(lb, __local float s[64]; s[get_local_id(0)] = f[t]; barrier(CLK_LOCAL_MEM_FENCE); f[t] = s[63 - get_local_id(0)]; )
K(priv, __private int a[4] = {1, 2, 3, 4}; int *q = a; p[t] = q[n & 3]; const __constant int *cc = 0; __constant char *str = "abc"; p[t] += str[1];)
K(gen, int *q = p; q[t] = 1; __global int *g = to_global(q); p[t] = g != 0; p[t] += get_fence(q) == CLK_GLOBAL_MEM_FENCE;)
__constant int ctab[4] = {1, 2, 3, 4};
struct S { int a; float4 b; };
typedef struct __attribute__((packed)) { char a; int b; } PS;
K(cc, p[t] = ctab[t & 3]; struct S s = {1, (float4)(2)}; p[t] += s.b.x; PS q; q.b = 3; p[t] += q.b + sizeof(PS);)
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) __attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(64,1,1))) void at(__global int *p, __local int *s, __constant float *c) { s[get_local_id(0)] = c[get_local_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[63 - get_local_id(0)]; }
K(unr, __attribute__((opencl_unroll_hint(4))) for (int i = 0; i < 8; i++) p[t] += i;
)
