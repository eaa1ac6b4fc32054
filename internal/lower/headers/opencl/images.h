/* Images (6.15.15). An image is a buffer of pixels of 16 bytes at (x, y, z), 2^15 by 2^15 of them in
   two dimensions, and 2^12 by 2^12 in each plane of three: the packing of its elements does not
   affect which accesses overlap. The size of an image is that of the launch in a run, and unknown to
   a proof. */
#ifndef HEDDLE_OPENCL_IMAGES_H
#define HEDDLE_OPENCL_IMAGES_H

/* The difference of the size of an image from that of the launch, for each dimension, which the host sets as far
   as a proof knows. Each image has its own, by the address of its pixels. */
extern __constant int __heddle_sizes[3][64];
__heddle_cl int __heddle_extent(ulong __base, int __d) { return (int)get_global_size(__d) + __heddle_sizes[__d][(__base >> 8) & 63]; }

/* The difference of its format from four channels of float, likewise. */
extern __constant int __heddle_formats[2][64];
__heddle_cl int __heddle_format_of(ulong __base, int __what) { return __heddle_formats[__what][(__base >> 8) & 63]; }

__heddle_cl ulong __heddle_pixel(int __c) { return (uint)__c; }
__heddle_cl ulong __heddle_pixel(int2 __c) { return (ulong)((uint)__c.x & 32767) | (ulong)((uint)__c.y & 32767) << 15; }
__heddle_cl ulong __heddle_pixel(int4 __c) {
  return (ulong)((uint)__c.x & 4095) | (ulong)((uint)__c.y & 4095) << 12 | (ulong)((uint)__c.z & 4095) << 24;
}

/* Samplers (OpenCL 1.2, 8.2; OpenCL C 3.0, 6.15.15.1). One that the source initializes is the sum of its constants;
   one that is an argument points to this sum, so that it is unknown to a proof, and has the contents of a buffer in a
   run. clang allows no conversion of a sampler: two declarations share a name. */
uint __heddle_sampler(sampler_t __s) __asm__("__heddle_sampler_bits");
__attribute__((always_inline)) uint __heddle_sampler_bits(__constant void *__s) {
  ulong __v = __HEDDLE_ADDRESS(__s);
  return __v < 4096 ? (uint)__v : *(__constant uint *)__s;
}

/* The pixels of one dimension that a read takes: lo with the weight 1 - part, and hi with part. They exist where
   in_lo and in_hi are set; the others have the color of the border. */
struct __heddle_axis { int lo, hi, in_lo, in_hi; float part; };
__heddle_cl struct __heddle_axis __heddle_no_axis(void) { return (struct __heddle_axis){0, 0, 1, 1, 0}; }

__heddle_cl int __heddle_between(int __i, int __last) { return __i < 0 || __last < 0 ? 0 : __i > __last ? __last : __i; }

/* Integer coordinates are not normalized and not filtered. */
__heddle_cl struct __heddle_axis __heddle_axis_of(int __c, uint __s, int __size, int __linear) {
  int __in = 1;
  if ((__s & 14) == CLK_ADDRESS_CLAMP_TO_EDGE) __c = __heddle_between(__c, __size - 1);
  if ((__s & 14) == CLK_ADDRESS_CLAMP) __in = __c >= 0 && __c < __size;
  return (struct __heddle_axis){__c, __c, __in, __in, 0};
}

__heddle_cl struct __heddle_axis __heddle_axis_of(float __c, uint __s, int __size, int __linear) {
  uint __mode = __s & 14;
  int __unit = __s & 1, __repeat = __unit && __mode == CLK_ADDRESS_REPEAT, __mirror = __unit && __mode == CLK_ADDRESS_MIRRORED_REPEAT;
  if (__repeat) __c -= __builtin_floorf(__c);
  if (__mirror) __c = __builtin_fabsf(__c - 2.0f * __builtin_rintf(0.5f * __c));
  if (__unit) __c *= (float)__size;
  if (__linear) __c -= 0.5f;
  float __f = __builtin_floorf(__c);
  struct __heddle_axis __r;
  __r.lo = (int)__builtin_fminf(__builtin_fmaxf(__f, -1e9f), 1e9f);
  __r.hi = __linear ? __r.lo + 1 : __r.lo;
  __r.part = __linear ? __c - __f : 0;
  __r.in_lo = __r.in_hi = 1;
  if (__repeat) {
    if (__r.lo < 0) __r.lo += __size;
    if (__r.lo > __size - 1) __r.lo -= __size;
    if (__r.hi > __size - 1) __r.hi -= __size;
  } else if (__mirror || __mode == CLK_ADDRESS_CLAMP_TO_EDGE) {
    __r.lo = __heddle_between(__r.lo, __size - 1);
    __r.hi = __heddle_between(__r.hi, __size - 1);
  } else if (__mode == CLK_ADDRESS_CLAMP) {
    __r.in_lo = __r.lo >= 0 && __r.lo < __size;
    __r.in_hi = __r.hi >= 0 && __r.hi < __size;
  }
  return __r;
}

/* A coordinate that selects an image of an array is rounded, and neither normalized nor filtered. */
__heddle_cl struct __heddle_axis __heddle_layer_of(int __c, int __size) {
  __c = __heddle_between(__c, __size - 1);
  return (struct __heddle_axis){__c, __c, 1, 1, 0};
}
__heddle_cl struct __heddle_axis __heddle_layer_of(float __c, int __size) {
  return __heddle_layer_of((int)__builtin_fminf(__builtin_fmaxf(__builtin_rintf(__c), -1e9f), 1e9f), __size);
}

/* The color of the border is zero, with an alpha of 1 where the format has none (OpenCL C 3.0, table of
   6.15.15.1). */
__heddle_cl int __heddle_opaque(ulong __base) {
  int __order = CLK_RGBA + __heddle_format_of(__base, 1);
  return __order == CLK_R || __order == CLK_RG || __order == CLK_RGB || __order == CLK_LUMINANCE || __order == CLK_sRGB;
}
#define __HEDDLE_BORDER(T)                                        \
  __heddle_cl T##4 __heddle_border(ulong __base, T##4 *__as) {    \
    T##4 __r = (T##4)(0);                                         \
    if (__heddle_opaque(__base)) __r.w = (T)1;                    \
    return __r;                                                   \
  }
__HEDDLE_BORDER(float)
__HEDDLE_BORDER(half)
__HEDDLE_BORDER(int)
__HEDDLE_BORDER(uint)
__heddle_cl float __heddle_border(ulong __base, float *__as) { return 0; }

/* The pixel at P, or the border; and the weighted sum of those around a place. */
#define __HEDDLE_TEXEL(V, X, Y, Z, P)                                                                       \
  (__x.in_##X & __y.in_##Y & __z.in_##Z ? *__HEDDLE_AT(__global V *, __base + 16 * __heddle_pixel(P(__x.X, __y.Y, __z.Z))) \
                                        : __heddle_border(__base, (__private V *)0))
#define __HEDDLE_1D(X, Y, Z) (X)
#define __HEDDLE_2D(X, Y, Z) ((int2)(X, Y))
#define __HEDDLE_3D(X, Y, Z) ((int4)(X, Y, Z, 0))
#define __HEDDLE_WEIGHTED(V, T, X, Y, Z, P, W) __HEDDLE_TEXEL(V, X, Y, Z, P) * (T)(W)
#define __HEDDLE_SUM_X(V, T, Y, Z, P, W)                                             \
  __r += __HEDDLE_WEIGHTED(V, T, lo, Y, Z, P, (1 - __x.part) * W);                   \
  if (__x.part != 0) __r += __HEDDLE_WEIGHTED(V, T, hi, Y, Z, P, __x.part * W);
#define __HEDDLE_SUM_Y(V, T, Z, P, W)                                                \
  __HEDDLE_SUM_X(V, T, lo, Z, P, (1 - __y.part) * W)                                 \
  if (__y.part != 0) { __HEDDLE_SUM_X(V, T, hi, Z, P, __y.part * W) }
#define __HEDDLE_AXES ulong __base, struct __heddle_axis __x, struct __heddle_axis __y, struct __heddle_axis __z
#define __HEDDLE_TAKE(V, T, P)                                                       \
  __heddle_cl V __heddle_filtered##P(V *__as, __HEDDLE_AXES) {                       \
    if (__x.part == 0 && __y.part == 0 && __z.part == 0) return __HEDDLE_TEXEL(V, lo, lo, lo, P); \
    V __r = (V)(0);                                                                  \
    __HEDDLE_SUM_Y(V, T, lo, P, (1 - __z.part))                                      \
    if (__z.part != 0) { __HEDDLE_SUM_Y(V, T, hi, P, __z.part) }                     \
    return __r;                                                                      \
  }
/* Filtering of integers is undefined. */
#define __HEDDLE_NEAREST(V, P) \
  __heddle_cl V __heddle_filtered##P(V *__as, __HEDDLE_AXES) { return __HEDDLE_TEXEL(V, lo, lo, lo, P); }
#define __HEDDLE_TAKES(P)                  \
  __HEDDLE_TAKE(float4, float, P)          \
  __HEDDLE_TAKE(half4, half, P)            \
  __HEDDLE_TAKE(float, float, P)           \
  __HEDDLE_NEAREST(int4, P)                \
  __HEDDLE_NEAREST(uint4, P)
__HEDDLE_TAKES(__HEDDLE_1D)
__HEDDLE_TAKES(__HEDDLE_2D)
__HEDDLE_TAKES(__HEDDLE_3D)

/* The axes of each kind of image. */
#define __HEDDLE_AXIS(C, D) __heddle_axis_of(C, __bits, __heddle_extent(__base, D), __linear)
#define __HEDDLE_LAYER(C, D) __heddle_layer_of(C, __heddle_extent(__base, D))
#define __HEDDLE_AXES_image1d_t __HEDDLE_AXIS(__c, 0), __heddle_no_axis(), __heddle_no_axis()
#define __HEDDLE_AXES_image1d_buffer_t __HEDDLE_AXES_image1d_t
#define __HEDDLE_AXES_image1d_array_t __HEDDLE_AXIS(__c.x, 0), __HEDDLE_LAYER(__c.y, 2), __heddle_no_axis()
#define __HEDDLE_AXES_image2d_t __HEDDLE_AXIS(__c.x, 0), __HEDDLE_AXIS(__c.y, 1), __heddle_no_axis()
#define __HEDDLE_AXES_image2d_depth_t __HEDDLE_AXES_image2d_t
#define __HEDDLE_AXES_image2d_array_t __HEDDLE_AXIS(__c.x, 0), __HEDDLE_AXIS(__c.y, 1), __HEDDLE_LAYER(__c.z, 2)
#define __HEDDLE_AXES_image2d_array_depth_t __HEDDLE_AXES_image2d_array_t
#define __HEDDLE_AXES_image3d_t __HEDDLE_AXIS(__c.x, 0), __HEDDLE_AXIS(__c.y, 1), __HEDDLE_AXIS(__c.z, 2)
#define __HEDDLE_PACKED_int __HEDDLE_1D
#define __HEDDLE_PACKED_int2 __HEDDLE_2D
#define __HEDDLE_PACKED_int4 __HEDDLE_3D
#define __HEDDLE_JOINED(A, B) A##B
#define __HEDDLE_FILTERED(P) __HEDDLE_JOINED(__heddle_filtered, P)

#define __HEDDLE_SAMPLED(ACCESS, IMAGE, F, V, C, CI)                                                   \
  __heddle_cl V read_image##F(ACCESS IMAGE __i, sampler_t __s, C __c) {                                \
    uint __bits = __heddle_sampler(__s);                                                               \
    int __linear = (__bits & 0x30) == CLK_FILTER_LINEAR;                                               \
    ulong __base = __heddle_base(__i);                                                                 \
    return __HEDDLE_FILTERED(__HEDDLE_PACKED_##CI)((__private V *)0, __base, __HEDDLE_AXES_##IMAGE);   \
  }

#define __HEDDLE_IMAGE_READ(ACCESS, IMAGE, F, T, CI)                                                   \
  __heddle_cl T##4 read_image##F(ACCESS IMAGE __i, CI __c) {                                           \
    return *__HEDDLE_AT(__global T##4 *, __heddle_base(__i) + 16 * __heddle_pixel(__c));                          \
  }
#define __HEDDLE_IMAGE_SAMPLE(ACCESS, IMAGE, F, T, CI, CF)                                             \
  __HEDDLE_SAMPLED(ACCESS, IMAGE, F, T##4, CI, CI)                                                     \
  __HEDDLE_SAMPLED(ACCESS, IMAGE, F, T##4, CF, CI)
#define __HEDDLE_IMAGE_WRITE(ACCESS, IMAGE, F, T, CI)                                                  \
  __heddle_cl void write_image##F(ACCESS IMAGE __i, CI __c, T##4 __v) {                                \
    *__HEDDLE_AT(__global T##4 *, __heddle_base(__i) + 16 * __heddle_pixel(__c)) = __v;                           \
  }

#define __HEDDLE_IMAGE_ACCESS(ACCESS, IMAGE, CI, CF)                                                   \
  __heddle_cl ulong __heddle_base(ACCESS IMAGE __i) {                                                  \
    ulong __r;                                                                                         \
    __asm__("mov.u64 %0, %1;" : "=l"(__r) : "l"(__i));                                                 \
    return __r;                                                                                        \
  }                                                                                                    \
  __heddle_cl int get_image_width(ACCESS IMAGE __i) { return __heddle_extent(__heddle_base(__i), 0); } \
  __heddle_cl int get_image_height(ACCESS IMAGE __i) { return __heddle_extent(__heddle_base(__i), 1); } \
  __heddle_cl int get_image_depth(ACCESS IMAGE __i) { return __heddle_extent(__heddle_base(__i), 2); } \
  __heddle_cl size_t get_image_array_size(ACCESS IMAGE __i) { return __heddle_extent(__heddle_base(__i), 2); } \
  __heddle_cl int get_image_channel_data_type(ACCESS IMAGE __i) { return CLK_FLOAT + __heddle_format_of(__heddle_base(__i), 0); } \
  __heddle_cl int get_image_channel_order(ACCESS IMAGE __i) { return CLK_RGBA + __heddle_format_of(__heddle_base(__i), 1); }
#define __HEDDLE_IMAGE_READABLE(ACCESS, IMAGE, CI, CF)                                                 \
  __HEDDLE_IMAGE_READ(ACCESS, IMAGE, f, float, CI)                                                     \
  __HEDDLE_IMAGE_READ(ACCESS, IMAGE, h, half, CI)                                                      \
  __HEDDLE_IMAGE_READ(ACCESS, IMAGE, i, int, CI)                                                       \
  __HEDDLE_IMAGE_READ(ACCESS, IMAGE, ui, uint, CI)
#define __HEDDLE_IMAGE_WRITABLE(ACCESS, IMAGE, CI, CF)                                                 \
  __HEDDLE_IMAGE_WRITE(ACCESS, IMAGE, f, float, CI)                                                    \
  __HEDDLE_IMAGE_WRITE(ACCESS, IMAGE, h, half, CI)                                                     \
  __HEDDLE_IMAGE_WRITE(ACCESS, IMAGE, i, int, CI)                                                      \
  __HEDDLE_IMAGE_WRITE(ACCESS, IMAGE, ui, uint, CI)
#define __HEDDLE_IMAGE(IMAGE, CI, CF)                                                                  \
  __HEDDLE_IMAGE_ACCESS(read_only, IMAGE, CI, CF)                                                      \
  __HEDDLE_IMAGE_ACCESS(write_only, IMAGE, CI, CF)                                                     \
  __HEDDLE_IMAGE_READABLE(read_only, IMAGE, CI, CF)                                                    \
  __HEDDLE_IMAGE_SAMPLE(read_only, IMAGE, f, float, CI, CF)                                            \
  __HEDDLE_IMAGE_SAMPLE(read_only, IMAGE, h, half, CI, CF)                                             \
  __HEDDLE_IMAGE_SAMPLE(read_only, IMAGE, i, int, CI, CF)                                              \
  __HEDDLE_IMAGE_SAMPLE(read_only, IMAGE, ui, uint, CI, CF)                                            \
  __HEDDLE_IMAGE_WRITABLE(write_only, IMAGE, CI, CF)

__HEDDLE_IMAGE(image1d_t, int, float)
__HEDDLE_IMAGE(image1d_buffer_t, int, float)
__HEDDLE_IMAGE(image1d_array_t, int2, float2)
__HEDDLE_IMAGE(image2d_t, int2, float2)
__HEDDLE_IMAGE(image2d_array_t, int4, float4)
__HEDDLE_IMAGE(image3d_t, int4, float4)

/* A depth image has pixels of one component (6.15.15.2). */
#define __HEDDLE_DEPTH_READ(ACCESS, IMAGE, CI) \
  __heddle_cl float read_imagef(ACCESS IMAGE __i, CI __c) { return *__HEDDLE_AT(__global float *, __heddle_base(__i) + 16 * __heddle_pixel(__c)); }
#define __HEDDLE_DEPTH_SAMPLE(IMAGE, CI, CF) \
  __HEDDLE_SAMPLED(read_only, IMAGE, f, float, CI, CI) \
  __HEDDLE_SAMPLED(read_only, IMAGE, f, float, CF, CI)
#define __HEDDLE_DEPTH_WRITE(ACCESS, IMAGE, CI) \
  __heddle_cl void write_imagef(ACCESS IMAGE __i, CI __c, float __v) { *__HEDDLE_AT(__global float *, __heddle_base(__i) + 16 * __heddle_pixel(__c)) = __v; }
#define __HEDDLE_DEPTH(IMAGE, CI, CF)         \
  __HEDDLE_IMAGE_ACCESS(read_only, IMAGE, CI, CF)  \
  __HEDDLE_IMAGE_ACCESS(write_only, IMAGE, CI, CF) \
  __HEDDLE_DEPTH_READ(read_only, IMAGE, CI)   \
  __HEDDLE_DEPTH_SAMPLE(IMAGE, CI, CF)        \
  __HEDDLE_DEPTH_WRITE(write_only, IMAGE, CI)
__HEDDLE_DEPTH(image2d_depth_t, int2, float2)
__HEDDLE_DEPTH(image2d_array_depth_t, int4, float4)

#if __HEDDLE_GENERIC
#define __HEDDLE_DEPTH_RW(IMAGE, CI, CF)           \
  __HEDDLE_IMAGE_ACCESS(read_write, IMAGE, CI, CF) \
  __HEDDLE_DEPTH_READ(read_write, IMAGE, CI)       \
  __HEDDLE_DEPTH_WRITE(read_write, IMAGE, CI)
__HEDDLE_DEPTH_RW(image2d_depth_t, int2, float2)
__HEDDLE_DEPTH_RW(image2d_array_depth_t, int4, float4)
#define __HEDDLE_IMAGE_RW(IMAGE, CI, CF)                 \
  __HEDDLE_IMAGE_ACCESS(read_write, IMAGE, CI, CF)       \
  __HEDDLE_IMAGE_READABLE(read_write, IMAGE, CI, CF)     \
  __HEDDLE_IMAGE_WRITABLE(read_write, IMAGE, CI, CF)
__HEDDLE_IMAGE_RW(image1d_t, int, float)
__HEDDLE_IMAGE_RW(image1d_buffer_t, int, float)
__HEDDLE_IMAGE_RW(image1d_array_t, int2, float2)
__HEDDLE_IMAGE_RW(image2d_t, int2, float2)
__HEDDLE_IMAGE_RW(image2d_array_t, int4, float4)
__HEDDLE_IMAGE_RW(image3d_t, int4, float4)
#endif

#define __HEDDLE_DIM(ACCESS, IMAGE) \
  __heddle_cl int2 get_image_dim(ACCESS IMAGE __i) { return (int2)(get_image_width(__i), get_image_height(__i)); }
#define __HEDDLE_DIM3(ACCESS, IMAGE) \
  __heddle_cl int4 get_image_dim(ACCESS IMAGE __i) { return (int4)(get_image_width(__i), get_image_height(__i), get_image_depth(__i), 0); }
#define __HEDDLE_DIMS(ACCESS)                \
  __HEDDLE_DIM(ACCESS, image2d_t)            \
  __HEDDLE_DIM(ACCESS, image2d_array_t)      \
  __HEDDLE_DIM(ACCESS, image2d_depth_t)      \
  __HEDDLE_DIM(ACCESS, image2d_array_depth_t)\
  __HEDDLE_DIM3(ACCESS, image3d_t)
__HEDDLE_DIMS(read_only)
__HEDDLE_DIMS(write_only)
#if __HEDDLE_GENERIC
__HEDDLE_DIMS(read_write)
#endif

#endif
