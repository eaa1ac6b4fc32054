/* Force-included before every .cl file: the types and constants of OpenCL C 1.0 to 3.0, the work-item
   functions, barriers and fences. The other built-in functions are generated for each file
   (clbuiltin.go). clang's own opencl-c.h is not used. Sections are of "The OpenCL C
   Specification", version 3.0. */
#ifndef HEDDLE_OPENCL_BASE_H
#define HEDDLE_OPENCL_BASE_H
#pragma clang system_header
#pragma OPENCL EXTENSION cl_clang_storage_class_specifiers : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define __heddle_cl static __inline__ __attribute__((always_inline, overloadable))
/* 6.11: predefined macros. Devices of version 3.0 are assumed, with images and every feature that is
   supported here. */
#define __OPENCL_VERSION__ 300
#ifndef __IMAGE_SUPPORT__
#define __IMAGE_SUPPORT__ 1
#endif
#if __OPENCL_C_VERSION__ >= 300
#ifndef __opencl_c_atomic_order_acq_rel
#define __opencl_c_atomic_order_acq_rel 1
#endif
#ifndef __opencl_c_atomic_order_seq_cst
#define __opencl_c_atomic_order_seq_cst 1
#endif
#ifndef __opencl_c_atomic_scope_device
#define __opencl_c_atomic_scope_device 1
#endif
#ifndef __opencl_c_atomic_scope_all_devices
#define __opencl_c_atomic_scope_all_devices 1
#endif
#ifndef __opencl_c_work_group_collective_functions
#define __opencl_c_work_group_collective_functions 1
#endif
#endif

#define __HEDDLE_GENERIC (__OPENCL_C_VERSION__ >= 200 || defined(__OPENCL_CPP_VERSION__))

/* 6.3.1, 6.3.2: scalar and vector types. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define __HEDDLE_VECTORS(T)                             \
  typedef T T##2 __attribute__((ext_vector_type(2)));   \
  typedef T T##3 __attribute__((ext_vector_type(3)));   \
  typedef T T##4 __attribute__((ext_vector_type(4)));   \
  typedef T T##8 __attribute__((ext_vector_type(8)));   \
  typedef T T##16 __attribute__((ext_vector_type(16)));
__HEDDLE_VECTORS(char)
__HEDDLE_VECTORS(uchar)
__HEDDLE_VECTORS(short)
__HEDDLE_VECTORS(ushort)
__HEDDLE_VECTORS(int)
__HEDDLE_VECTORS(uint)
__HEDDLE_VECTORS(long)
__HEDDLE_VECTORS(ulong)
__HEDDLE_VECTORS(float)
__HEDDLE_VECTORS(double)
__HEDDLE_VECTORS(half)

#ifndef NULL
#define NULL ((void *)0)
#endif

/* 6.15.2.1, 6.15.3.1, 6.15.4.1: limits and constants. */
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-127 - 1)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define USHRT_MAX 65535
#define SHRT_MAX 32767
#define SHRT_MIN (-32767 - 1)
#define UINT_MAX 0xffffffff
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define ULONG_MAX 0xffffffffffffffffUL
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1)

#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP +38
#define FLT_MAX_EXP +128
#define FLT_MIN_10_EXP -37
#define FLT_MIN_EXP -125
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX_10_EXP +308
#define DBL_MAX_EXP +1024
#define DBL_MIN_10_EXP -307
#define DBL_MIN_EXP -1021
#define DBL_RADIX 2
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP +4
#define HALF_MAX_EXP +16
#define HALF_MIN_10_EXP -4
#define HALF_MIN_EXP -13
#define HALF_RADIX 2
#define HALF_MAX 0x1.ffcp15h
#define HALF_MIN 0x1.0p-14h
#define HALF_EPSILON 0x1.0p-10h

#define MAXFLOAT FLT_MAX
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MAX

#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.434294481903251827651
#define M_LN2 0.693147180559945309417
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_1_PI 0.318309886183790671538
#define M_2_PI 0.636619772367581343076
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.707106781186547524401
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f

#define kernel_exec(X, typen) kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))

/* Addresses as integers, and back. Those in PTX have 64 bits, also where pointers have 32 (claddress.go). */
#if __SIZEOF_POINTER__ == 8
#define __HEDDLE_ADDRESS(POINTER) ((ulong)(POINTER))
#define __HEDDLE_AT(TYPE, ADDRESS) ((TYPE)(ADDRESS))
#else
#define __HEDDLE_ADDRESS(POINTER) ({ ulong __a; __asm__("mov.u64 %0, %1;" : "=l"(__a) : "l"(POINTER)); __a; })
#define __HEDDLE_AT(TYPE, ADDRESS) ({ TYPE __p; __asm__("mov.u64 %0, %1;" : "=l"(__p) : "l"((ulong)(ADDRESS))); __p; })
#endif

/* 6.15.14: printf. The format is in the constant space, where vprintf expects a generic address; the
   result is 0, or -1 where it fails, which a proof does not exclude. */
int __heddle_vprintf(const char *__format, ...) __asm__("vprintf");
__heddle_cl const char *__heddle_format(__constant const char *__f) {
  const char *__r;
  __asm__("cvta.const.u64 %0, %1;" : "=l"(__r) : "l"(__f));
  return __r;
}
#define printf(FORMAT, ...) (__heddle_vprintf(__heddle_format(FORMAT), ##__VA_ARGS__) < 0 ? -1 : 0)

/* 6.13.14 of 2.0, 6.15.15: samplers and image formats. */
#define CLK_R 0x10B0
#define CLK_A 0x10B1
#define CLK_RG 0x10B2
#define CLK_RA 0x10B3
#define CLK_RGB 0x10B4
#define CLK_RGBA 0x10B5
#define CLK_BGRA 0x10B6
#define CLK_ARGB 0x10B7
#define CLK_INTENSITY 0x10B8
#define CLK_LUMINANCE 0x10B9
#define CLK_Rx 0x10BA
#define CLK_RGx 0x10BB
#define CLK_RGBx 0x10BC
#define CLK_DEPTH 0x10BD
#define CLK_sRGB 0x10BF
#define CLK_sRGBx 0x10C0
#define CLK_sRGBA 0x10C1
#define CLK_sBGRA 0x10C2
#define CLK_ABGR 0x10C3
#define CLK_SNORM_INT8 0x10D0
#define CLK_SNORM_INT16 0x10D1
#define CLK_UNORM_INT8 0x10D2
#define CLK_UNORM_INT16 0x10D3
#define CLK_UNORM_SHORT_565 0x10D4
#define CLK_UNORM_SHORT_555 0x10D5
#define CLK_UNORM_INT_101010 0x10D6
#define CLK_SIGNED_INT8 0x10D7
#define CLK_SIGNED_INT16 0x10D8
#define CLK_SIGNED_INT32 0x10D9
#define CLK_UNSIGNED_INT8 0x10DA
#define CLK_UNSIGNED_INT16 0x10DB
#define CLK_UNSIGNED_INT32 0x10DC
#define CLK_HALF_FLOAT 0x10DD
#define CLK_FLOAT 0x10DE
#define CLK_UNORM_INT24 0x10DF
#define CLK_UNORM_INT_101010_2 0x10E0
#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 2
#define CLK_ADDRESS_CLAMP 4
#define CLK_ADDRESS_REPEAT 6
#define CLK_ADDRESS_MIRRORED_REPEAT 8
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_NORMALIZED_COORDS_TRUE 1
#define CLK_FILTER_NEAREST 0x10
#define CLK_FILTER_LINEAR 0x20

__constant void *__translate_sampler_initializer(int __v) { return __HEDDLE_AT(__constant void *, (ulong)__v); }

#include "workitem.h"
#include "sync.h"

/* What follows in a preprocessed text is of the file (clVariants). */
typedef int __heddle_end_of_base;

#endif
