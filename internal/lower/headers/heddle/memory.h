/* Loads and stores with cache operators (CUDA C++ Programming Guide, "Read-Only Data Cache Load Function",
   "Load/Store Functions Using Cache Hints"). They address global memory. A load through the read-only
   cache is still a read: it races with a write. */
#ifndef HEDDLE_MEMORY_H
#define HEDDLE_MEMORY_H

#define __HEDDLE_GLOBAL(T, p) ((__attribute__((address_space(1))) T *)(p))

#define __HEDDLE_LD(NAME, OP, T, PT, C, R)                                                          \
  __heddle_fn T NAME(const T *p) {                                                                  \
    R r;                                                                                            \
    asm volatile("ld." OP "." PT " %0, [%1];" : "=" C(r) : "l"(__HEDDLE_GLOBAL(const T, p)));       \
    return (T)r;                                                                                    \
  }
#define __HEDDLE_LD_V2(NAME, OP, T, PT, C, R)                                                       \
  __heddle_fn T NAME(const T *p) {                                                                  \
    R x, y;                                                                                         \
    asm volatile("ld." OP ".v2." PT " {%0, %1}, [%2];" : "=" C(x), "=" C(y) : "l"(__HEDDLE_GLOBAL(const T, p))); \
    T v;                                                                                            \
    v.x = x, v.y = y;                                                                               \
    return v;                                                                                       \
  }
#define __HEDDLE_LD_V4(NAME, OP, T, PT, C, R)                                                       \
  __heddle_fn T NAME(const T *p) {                                                                  \
    R x, y, z, w;                                                                                   \
    asm volatile("ld." OP ".v4." PT " {%0, %1, %2, %3}, [%4];"                                      \
                 : "=" C(x), "=" C(y), "=" C(z), "=" C(w) : "l"(__HEDDLE_GLOBAL(const T, p)));      \
    T v;                                                                                            \
    v.x = x, v.y = y, v.z = z, v.w = w;                                                             \
    return v;                                                                                       \
  }
#define __HEDDLE_ST(NAME, OP, T, PT, C, R)                                                          \
  __heddle_fn void NAME(T *p, T v) {                                                                \
    asm volatile("st." OP "." PT " [%0], %1;" ::"l"(__HEDDLE_GLOBAL(T, p)), C((R)v) : "memory");    \
  }
#define __HEDDLE_ST_V2(NAME, OP, T, PT, C, R)                                                       \
  __heddle_fn void NAME(T *p, T v) {                                                                \
    asm volatile("st." OP ".v2." PT " [%0], {%1, %2};" ::"l"(__HEDDLE_GLOBAL(T, p)), C((R)v.x), C((R)v.y) : "memory"); \
  }
#define __HEDDLE_ST_V4(NAME, OP, T, PT, C, R)                                                       \
  __heddle_fn void NAME(T *p, T v) {                                                                \
    asm volatile("st." OP ".v4." PT " [%0], {%1, %2, %3, %4};" ::"l"(__HEDDLE_GLOBAL(T, p)),        \
                 C((R)v.x), C((R)v.y), C((R)v.z), C((R)v.w) : "memory");                            \
  }

/* All types of one function. LD is __HEDDLE_LD or __HEDDLE_ST. */
#define __HEDDLE_MEM(LD, NAME, OP) \
  LD(NAME, OP, char, "s8", "r", int) \
  LD(NAME, OP, signed char, "s8", "r", int) \
  LD(NAME, OP, unsigned char, "u8", "r", unsigned int) \
  LD(NAME, OP, short, "s16", "h", short) \
  LD(NAME, OP, unsigned short, "u16", "h", unsigned short) \
  LD(NAME, OP, int, "s32", "r", int) \
  LD(NAME, OP, unsigned int, "u32", "r", unsigned int) \
  LD(NAME, OP, long, "s64", "l", long) \
  LD(NAME, OP, unsigned long, "u64", "l", unsigned long) \
  LD(NAME, OP, long long, "s64", "l", long long) \
  LD(NAME, OP, unsigned long long, "u64", "l", unsigned long long) \
  LD(NAME, OP, float, "f32", "f", float) \
  LD(NAME, OP, double, "f64", "d", double) \
  LD##_V2(NAME, OP, char2, "s8", "r", int) \
  LD##_V4(NAME, OP, char4, "s8", "r", int) \
  LD##_V2(NAME, OP, uchar2, "u8", "r", unsigned int) \
  LD##_V4(NAME, OP, uchar4, "u8", "r", unsigned int) \
  LD##_V2(NAME, OP, short2, "s16", "h", short) \
  LD##_V4(NAME, OP, short4, "s16", "h", short) \
  LD##_V2(NAME, OP, ushort2, "u16", "h", unsigned short) \
  LD##_V4(NAME, OP, ushort4, "u16", "h", unsigned short) \
  LD##_V2(NAME, OP, int2, "s32", "r", int) \
  LD##_V4(NAME, OP, int4, "s32", "r", int) \
  LD##_V2(NAME, OP, uint2, "u32", "r", unsigned int) \
  LD##_V4(NAME, OP, uint4, "u32", "r", unsigned int) \
  LD##_V2(NAME, OP, longlong2, "s64", "l", long long) \
  LD##_V2(NAME, OP, ulonglong2, "u64", "l", unsigned long long) \
  LD##_V2(NAME, OP, float2, "f32", "f", float) \
  LD##_V4(NAME, OP, float4, "f32", "f", float) \
  LD##_V2(NAME, OP, double2, "f64", "d", double)

__HEDDLE_MEM(__HEDDLE_LD, __ldg, "global.nc")
__HEDDLE_MEM(__HEDDLE_LD, __ldca, "global.ca")
__HEDDLE_MEM(__HEDDLE_LD, __ldcg, "global.cg")
__HEDDLE_MEM(__HEDDLE_LD, __ldcs, "global.cs")
__HEDDLE_MEM(__HEDDLE_LD, __ldlu, "global.lu")
__HEDDLE_MEM(__HEDDLE_LD, __ldcv, "global.cv")
__HEDDLE_MEM(__HEDDLE_ST, __stwb, "global.wb")
__HEDDLE_MEM(__HEDDLE_ST, __stcg, "global.cg")
__HEDDLE_MEM(__HEDDLE_ST, __stcs, "global.cs")
__HEDDLE_MEM(__HEDDLE_ST, __stwt, "global.wt")

/* Address spaces of generic pointers (PTX ISA 9.7.9.19, 9.7.9.20). */
#define __HEDDLE_ISSPACE(NAME, SPACE)                                                                      \
  __heddle_fn unsigned int NAME(const void *p) {                                                           \
    unsigned int r;                                                                                        \
    asm("{\n\t.reg .pred p1;\n\tisspacep." SPACE " p1, %1;\n\tselp.u32 %0, 1, 0, p1;\n\t}" : "=r"(r) : "l"(p)); \
    return r;                                                                                              \
  }
__HEDDLE_ISSPACE(__isGlobal, "global")
__HEDDLE_ISSPACE(__isShared, "shared")
__HEDDLE_ISSPACE(__isConstant, "const")
__HEDDLE_ISSPACE(__isLocal, "local")

#define __HEDDLE_CVTA(SPACE)                                                        \
  __heddle_fn __SIZE_TYPE__ __cvta_generic_to_##SPACE(const void *p) {              \
    __SIZE_TYPE__ r;                                                                \
    asm("cvta.to." #SPACE ".u64 %0, %1;" : "=l"(r) : "l"(p));                       \
    return r;                                                                       \
  }                                                                                 \
  __heddle_fn void *__cvta_##SPACE##_to_generic(__SIZE_TYPE__ raw) {                \
    void *r;                                                                        \
    asm("cvta." #SPACE ".u64 %0, %1;" : "=l"(r) : "l"(raw));                        \
    return r;                                                                       \
  }
__HEDDLE_CVTA(global)
__HEDDLE_CVTA(shared)
__HEDDLE_CVTA(local)

#endif
