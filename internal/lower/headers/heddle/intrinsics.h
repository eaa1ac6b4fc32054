/* Integer, type-casting and floating-point intrinsics (CUDA Math API), by the PTX instruction that each is
   defined as, or by plain C++ that means the same. */
#ifndef HEDDLE_INTRINSICS_H
#define HEDDLE_INTRINSICS_H

/* Function with one, two or three operands that is one instruction. */
#define __HEDDLE_1(NAME, R, RC, T, TC, PTX) \
  __heddle_fn R NAME(T __a) { R __r; asm(PTX " %0, %1;" : "=" RC(__r) : TC(__a)); return __r; }
#define __HEDDLE_2(NAME, R, RC, T, TC, PTX) \
  __heddle_fn R NAME(T __a, T __b) { R __r; asm(PTX " %0, %1, %2;" : "=" RC(__r) : TC(__a), TC(__b)); return __r; }
#define __HEDDLE_3(NAME, R, RC, T, TC, PTX) \
  __heddle_fn R NAME(T __a, T __b, T __c) { R __r; asm(PTX " %0, %1, %2, %3;" : "=" RC(__r) : TC(__a), TC(__b), TC(__c)); return __r; }

/* Integers. */
__heddle_fn int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__heddle_fn int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
__heddle_fn int __popc(unsigned int x) { return __builtin_popcount(x); }
__heddle_fn int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__heddle_fn int __ffs(int x) { return __builtin_ffs(x); }
__heddle_fn int __ffsll(long long x) { return __builtin_ffsll(x); }
__heddle_fn unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
__heddle_fn unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
__HEDDLE_3(__heddle_prmt, unsigned int, "r", unsigned int, "r", "prmt.b32")
/* Three bits of each selector count; prmt.b32 takes a fourth one, for the sign. */
__heddle_fn unsigned int __byte_perm(unsigned int __a, unsigned int __b, unsigned int __s) { return __heddle_prmt(__a, __b, __s & 0x7777); }
__HEDDLE_3(__funnelshift_l, unsigned int, "r", unsigned int, "r", "shf.l.wrap.b32")
__HEDDLE_3(__funnelshift_lc, unsigned int, "r", unsigned int, "r", "shf.l.clamp.b32")
__HEDDLE_3(__funnelshift_r, unsigned int, "r", unsigned int, "r", "shf.r.wrap.b32")
__HEDDLE_3(__funnelshift_rc, unsigned int, "r", unsigned int, "r", "shf.r.clamp.b32")
__HEDDLE_2(__mul24, int, "r", int, "r", "mul24.lo.s32")
__HEDDLE_2(__umul24, unsigned int, "r", unsigned int, "r", "mul24.lo.u32")
__HEDDLE_2(__mulhi, int, "r", int, "r", "mul.hi.s32")
__HEDDLE_2(__umulhi, unsigned int, "r", unsigned int, "r", "mul.hi.u32")
__HEDDLE_2(__mul64hi, long long, "l", long long, "l", "mul.hi.s64")
__HEDDLE_2(__umul64hi, unsigned long long, "l", unsigned long long, "l", "mul.hi.u64")
__heddle_fn unsigned int __sad(int __a, int __b, unsigned int __c) {
  unsigned int __r;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(__r) : "r"(__a), "r"(__b), "r"(__c));
  return __r;
}
__HEDDLE_3(__usad, unsigned int, "r", unsigned int, "r", "sad.u32")
__heddle_fn int __hadd(int __a, int __b) { return (int)(((long long)__a + __b) >> 1); }
__heddle_fn int __rhadd(int __a, int __b) { return (int)(((long long)__a + __b + 1) >> 1); }
__heddle_fn unsigned int __uhadd(unsigned int __a, unsigned int __b) { return (unsigned int)(((unsigned long long)__a + __b) >> 1); }
__heddle_fn unsigned int __urhadd(unsigned int __a, unsigned int __b) { return (unsigned int)(((unsigned long long)__a + __b + 1) >> 1); }
__heddle_fn unsigned int __fns(unsigned int __mask, unsigned int __base, int __offset) {
  unsigned int __r;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(__r) : "r"(__mask), "r"(__base), "r"(__offset));
  return __r;
}
__HEDDLE_3(__dp4a, int, "r", int, "r", "dp4a.s32.s32")
__HEDDLE_3(__dp4a, unsigned int, "r", unsigned int, "r", "dp4a.u32.u32")
__HEDDLE_3(__dp2a_lo, int, "r", int, "r", "dp2a.lo.s32.s32")
__HEDDLE_3(__dp2a_lo, unsigned int, "r", unsigned int, "r", "dp2a.lo.u32.u32")
__HEDDLE_3(__dp2a_hi, int, "r", int, "r", "dp2a.hi.s32.s32")
__HEDDLE_3(__dp2a_hi, unsigned int, "r", unsigned int, "r", "dp2a.hi.u32.u32")

/* Casts. */
__heddle_fn float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__heddle_fn float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
__heddle_fn int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__heddle_fn unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
__heddle_fn double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__heddle_fn long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__heddle_fn int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
__heddle_fn int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
__heddle_fn double __hiloint2double(int __hi, int __lo) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)__hi << 32 | (unsigned)__lo);
}

/* Conversions in the four rounding modes. To integer: rni, rzi, rpi, rmi. */
#define __HEDDLE_F2I(NAME, R, RC, T, TC, D, S)                    \
  __HEDDLE_1(NAME##_rn, R, RC, T, TC, "cvt.rni." D "." S)         \
  __HEDDLE_1(NAME##_rz, R, RC, T, TC, "cvt.rzi." D "." S)         \
  __HEDDLE_1(NAME##_ru, R, RC, T, TC, "cvt.rpi." D "." S)         \
  __HEDDLE_1(NAME##_rd, R, RC, T, TC, "cvt.rmi." D "." S)
#define __HEDDLE_I2F(NAME, R, RC, T, TC, D, S)                    \
  __HEDDLE_1(NAME##_rn, R, RC, T, TC, "cvt.rn." D "." S)          \
  __HEDDLE_1(NAME##_rz, R, RC, T, TC, "cvt.rz." D "." S)          \
  __HEDDLE_1(NAME##_ru, R, RC, T, TC, "cvt.rp." D "." S)          \
  __HEDDLE_1(NAME##_rd, R, RC, T, TC, "cvt.rm." D "." S)
__HEDDLE_F2I(__float2int, int, "r", float, "f", "s32", "f32")
__HEDDLE_F2I(__float2uint, unsigned int, "r", float, "f", "u32", "f32")
__HEDDLE_F2I(__float2ll, long long, "l", float, "f", "s64", "f32")
__HEDDLE_F2I(__float2ull, unsigned long long, "l", float, "f", "u64", "f32")
__HEDDLE_F2I(__double2int, int, "r", double, "d", "s32", "f64")
__HEDDLE_F2I(__double2uint, unsigned int, "r", double, "d", "u32", "f64")
__HEDDLE_F2I(__double2ll, long long, "l", double, "d", "s64", "f64")
__HEDDLE_F2I(__double2ull, unsigned long long, "l", double, "d", "u64", "f64")
__HEDDLE_I2F(__int2float, float, "f", int, "r", "f32", "s32")
__HEDDLE_I2F(__uint2float, float, "f", unsigned int, "r", "f32", "u32")
__HEDDLE_I2F(__ll2float, float, "f", long long, "l", "f32", "s64")
__HEDDLE_I2F(__ull2float, float, "f", unsigned long long, "l", "f32", "u64")
__HEDDLE_I2F(__ll2double, double, "d", long long, "l", "f64", "s64")
__HEDDLE_I2F(__ull2double, double, "d", unsigned long long, "l", "f64", "u64")
__HEDDLE_I2F(__double2float, float, "f", double, "d", "f32", "f64")
__heddle_fn double __int2double_rn(int x) { return x; }
__heddle_fn double __uint2double_rn(unsigned int x) { return x; }

/* Arithmetic that is never contracted, in the four rounding modes. */
#define __HEDDLE_ROUND(M, S)                                                        \
  __HEDDLE_2(__fadd_##M, float, "f", float, "f", "add." S ".f32")                   \
  __HEDDLE_2(__fsub_##M, float, "f", float, "f", "sub." S ".f32")                   \
  __HEDDLE_2(__fmul_##M, float, "f", float, "f", "mul." S ".f32")                   \
  __HEDDLE_2(__fdiv_##M, float, "f", float, "f", "div." S ".f32")                   \
  __HEDDLE_3(__fmaf_##M, float, "f", float, "f", "fma." S ".f32")                   \
  __HEDDLE_1(__frcp_##M, float, "f", float, "f", "rcp." S ".f32")                   \
  __HEDDLE_1(__fsqrt_##M, float, "f", float, "f", "sqrt." S ".f32")                 \
  __HEDDLE_2(__dadd_##M, double, "d", double, "d", "add." S ".f64")                 \
  __HEDDLE_2(__dsub_##M, double, "d", double, "d", "sub." S ".f64")                 \
  __HEDDLE_2(__dmul_##M, double, "d", double, "d", "mul." S ".f64")                 \
  __HEDDLE_2(__ddiv_##M, double, "d", double, "d", "div." S ".f64")                 \
  __HEDDLE_3(__fma_##M, double, "d", double, "d", "fma." S ".f64")                  \
  __HEDDLE_1(__drcp_##M, double, "d", double, "d", "rcp." S ".f64")                 \
  __HEDDLE_1(__dsqrt_##M, double, "d", double, "d", "sqrt." S ".f64")
__HEDDLE_ROUND(rn, "rn")
__HEDDLE_ROUND(rz, "rz")
__HEDDLE_ROUND(ru, "rp")
__HEDDLE_ROUND(rd, "rm")

/* Fast single-precision functions: the approximate instructions. */
__HEDDLE_1(__sinf, float, "f", float, "f", "sin.approx.f32")
__HEDDLE_1(__cosf, float, "f", float, "f", "cos.approx.f32")
__HEDDLE_1(__heddle_ex2, float, "f", float, "f", "ex2.approx.f32")
__HEDDLE_1(__heddle_lg2, float, "f", float, "f", "lg2.approx.f32")
__HEDDLE_1(__frsqrt_rn, float, "f", float, "f", "rsqrt.approx.f32")
__HEDDLE_2(__fdividef, float, "f", float, "f", "div.approx.f32")
__HEDDLE_1(__saturatef, float, "f", float, "f", "cvt.sat.f32.f32")
__heddle_fn float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
__heddle_fn void __sincosf(float x, float *__s, float *__c) { *__s = __sinf(x); *__c = __cosf(x); }
__heddle_fn float __expf(float x) { return __heddle_ex2(x * 1.4426950408889634f); }
__heddle_fn float __exp10f(float x) { return __heddle_ex2(x * 3.3219280948873623f); }
__heddle_fn float __log2f(float x) { return __heddle_lg2(x); }
__heddle_fn float __logf(float x) { return __heddle_lg2(x) * 0.6931471805599453f; }
__heddle_fn float __log10f(float x) { return __heddle_lg2(x) * 0.30102999566398120f; }
__heddle_fn float __powf(float x, float y) { return __heddle_ex2(y * __heddle_lg2(x)); }

/* Clocks (PTX ISA 10.23, 10.24). */
__heddle_fn long long clock64() { long long __r; asm volatile("mov.u64 %0, %%clock64;" : "=l"(__r)::"memory"); return __r; }
__heddle_fn long __heddle_clock() { int __r; asm volatile("mov.u32 %0, %%clock;" : "=r"(__r)::"memory"); return __r; }

/* A trigger for a profiler: no access, no order. */
__heddle_fn void __prof_trigger(int) {}
#define __assume(x) __builtin_assume(x)

#endif
