/* The built-in vector types with the sizes and alignments of the CUDA C++ Programming Guide (B.3.1,
   "char, short, int, long, longlong, float, double"), and their make_ functions. */
#ifndef HEDDLE_VECTOR_TYPES_H
#define HEDDLE_VECTOR_TYPES_H

struct char1 { signed char x; };
struct __attribute__((aligned(2))) char2 { signed char x, y; };
struct char3 { signed char x, y, z; };
struct __attribute__((aligned(4))) char4 { signed char x, y, z, w; };
struct uchar1 { unsigned char x; };
struct __attribute__((aligned(2))) uchar2 { unsigned char x, y; };
struct uchar3 { unsigned char x, y, z; };
struct __attribute__((aligned(4))) uchar4 { unsigned char x, y, z, w; };
struct short1 { short x; };
struct __attribute__((aligned(4))) short2 { short x, y; };
struct short3 { short x, y, z; };
struct __attribute__((aligned(8))) short4 { short x, y, z, w; };
struct ushort1 { unsigned short x; };
struct __attribute__((aligned(4))) ushort2 { unsigned short x, y; };
struct ushort3 { unsigned short x, y, z; };
struct __attribute__((aligned(8))) ushort4 { unsigned short x, y, z, w; };
struct int1 { int x; };
struct __attribute__((aligned(8))) int2 { int x, y; };
struct int3 { int x, y, z; };
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
struct uint1 { unsigned int x; };
struct __attribute__((aligned(8))) uint2 { unsigned int x, y; };
struct uint3 { unsigned int x, y, z; };
struct __attribute__((aligned(16))) uint4 { unsigned int x, y, z, w; };
struct long1 { long x; };
struct __attribute__((aligned(2 * sizeof(long) > 16 ? 16 : 2 * sizeof(long)))) long2 { long x, y; };
struct long3 { long x, y, z; };
struct __attribute__((aligned(4 * sizeof(long) > 16 ? 16 : 4 * sizeof(long)))) long4 { long x, y, z, w; };
struct ulong1 { unsigned long x; };
struct __attribute__((aligned(2 * sizeof(long) > 16 ? 16 : 2 * sizeof(long)))) ulong2 { unsigned long x, y; };
struct ulong3 { unsigned long x, y, z; };
struct __attribute__((aligned(4 * sizeof(long) > 16 ? 16 : 4 * sizeof(long)))) ulong4 { unsigned long x, y, z, w; };
struct longlong1 { long long x; };
struct __attribute__((aligned(16))) longlong2 { long long x, y; };
struct longlong3 { long long x, y, z; };
struct __attribute__((aligned(16))) longlong4 { long long x, y, z, w; };
struct ulonglong1 { unsigned long long x; };
struct __attribute__((aligned(16))) ulonglong2 { unsigned long long x, y; };
struct ulonglong3 { unsigned long long x, y, z; };
struct __attribute__((aligned(16))) ulonglong4 { unsigned long long x, y, z, w; };
struct float1 { float x; };
struct __attribute__((aligned(8))) float2 { float x, y; };
struct float3 { float x, y, z; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct double1 { double x; };
struct __attribute__((aligned(16))) double2 { double x, y; };
struct double3 { double x, y, z; };
struct __attribute__((aligned(16))) double4 { double x, y, z, w; };

__heddle_hd char1 make_char1(signed char x) { char1 __v = {x}; return __v; }
__heddle_hd char2 make_char2(signed char x, signed char y) { char2 __v = {x, y}; return __v; }
__heddle_hd char3 make_char3(signed char x, signed char y, signed char z) { char3 __v = {x, y, z}; return __v; }
__heddle_hd char4 make_char4(signed char x, signed char y, signed char z, signed char w) { char4 __v = {x, y, z, w}; return __v; }
__heddle_hd uchar1 make_uchar1(unsigned char x) { uchar1 __v = {x}; return __v; }
__heddle_hd uchar2 make_uchar2(unsigned char x, unsigned char y) { uchar2 __v = {x, y}; return __v; }
__heddle_hd uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { uchar3 __v = {x, y, z}; return __v; }
__heddle_hd uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { uchar4 __v = {x, y, z, w}; return __v; }
__heddle_hd short1 make_short1(short x) { short1 __v = {x}; return __v; }
__heddle_hd short2 make_short2(short x, short y) { short2 __v = {x, y}; return __v; }
__heddle_hd short3 make_short3(short x, short y, short z) { short3 __v = {x, y, z}; return __v; }
__heddle_hd short4 make_short4(short x, short y, short z, short w) { short4 __v = {x, y, z, w}; return __v; }
__heddle_hd ushort1 make_ushort1(unsigned short x) { ushort1 __v = {x}; return __v; }
__heddle_hd ushort2 make_ushort2(unsigned short x, unsigned short y) { ushort2 __v = {x, y}; return __v; }
__heddle_hd ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { ushort3 __v = {x, y, z}; return __v; }
__heddle_hd ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) { ushort4 __v = {x, y, z, w}; return __v; }
__heddle_hd int1 make_int1(int x) { int1 __v = {x}; return __v; }
__heddle_hd int2 make_int2(int x, int y) { int2 __v = {x, y}; return __v; }
__heddle_hd int3 make_int3(int x, int y, int z) { int3 __v = {x, y, z}; return __v; }
__heddle_hd int4 make_int4(int x, int y, int z, int w) { int4 __v = {x, y, z, w}; return __v; }
__heddle_hd uint1 make_uint1(unsigned int x) { uint1 __v = {x}; return __v; }
__heddle_hd uint2 make_uint2(unsigned int x, unsigned int y) { uint2 __v = {x, y}; return __v; }
__heddle_hd uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { uint3 __v = {x, y, z}; return __v; }
__heddle_hd uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { uint4 __v = {x, y, z, w}; return __v; }
__heddle_hd long1 make_long1(long x) { long1 __v = {x}; return __v; }
__heddle_hd long2 make_long2(long x, long y) { long2 __v = {x, y}; return __v; }
__heddle_hd long3 make_long3(long x, long y, long z) { long3 __v = {x, y, z}; return __v; }
__heddle_hd long4 make_long4(long x, long y, long z, long w) { long4 __v = {x, y, z, w}; return __v; }
__heddle_hd ulong1 make_ulong1(unsigned long x) { ulong1 __v = {x}; return __v; }
__heddle_hd ulong2 make_ulong2(unsigned long x, unsigned long y) { ulong2 __v = {x, y}; return __v; }
__heddle_hd ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { ulong3 __v = {x, y, z}; return __v; }
__heddle_hd ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) { ulong4 __v = {x, y, z, w}; return __v; }
__heddle_hd longlong1 make_longlong1(long long x) { longlong1 __v = {x}; return __v; }
__heddle_hd longlong2 make_longlong2(long long x, long long y) { longlong2 __v = {x, y}; return __v; }
__heddle_hd longlong3 make_longlong3(long long x, long long y, long long z) { longlong3 __v = {x, y, z}; return __v; }
__heddle_hd longlong4 make_longlong4(long long x, long long y, long long z, long long w) { longlong4 __v = {x, y, z, w}; return __v; }
__heddle_hd ulonglong1 make_ulonglong1(unsigned long long x) { ulonglong1 __v = {x}; return __v; }
__heddle_hd ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { ulonglong2 __v = {x, y}; return __v; }
__heddle_hd ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) { ulonglong3 __v = {x, y, z}; return __v; }
__heddle_hd ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z, unsigned long long w) { ulonglong4 __v = {x, y, z, w}; return __v; }
__heddle_hd float1 make_float1(float x) { float1 __v = {x}; return __v; }
__heddle_hd float2 make_float2(float x, float y) { float2 __v = {x, y}; return __v; }
__heddle_hd float3 make_float3(float x, float y, float z) { float3 __v = {x, y, z}; return __v; }
__heddle_hd float4 make_float4(float x, float y, float z, float w) { float4 __v = {x, y, z, w}; return __v; }
__heddle_hd double1 make_double1(double x) { double1 __v = {x}; return __v; }
__heddle_hd double2 make_double2(double x, double y) { double2 __v = {x, y}; return __v; }
__heddle_hd double3 make_double3(double x, double y, double z) { double3 __v = {x, y, z}; return __v; }
__heddle_hd double4 make_double4(double x, double y, double z, double w) { double4 __v = {x, y, z, w}; return __v; }

struct dim3 {
  unsigned int x, y, z;
  __attribute__((host, device)) constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  __attribute__((host, device)) constexpr dim3(uint3 __v) : x(__v.x), y(__v.y), z(__v.z) {}
  __attribute__((host, device)) constexpr operator uint3() const { return uint3{x, y, z}; }
};
typedef struct dim3 dim3;

#endif
