/* Images (6.15.15). An image is a buffer of pixels of 16 bytes at (x, y, z), 2^15 by 2^15 of them in
   two dimensions, and 2^12 by 2^12 in each plane of three: the packing of its elements does not
   affect which accesses overlap. A read through a sampler reads the pixel that the coordinates name,
   without wrapping or filtering; the size of an image is that of the launch in a run, and unknown to
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

__heddle_cl int __heddle_coord(float __c) { return (int)__c; }
__heddle_cl int2 __heddle_coord(float2 __c) { return __builtin_convertvector(__c, int2); }
__heddle_cl int4 __heddle_coord(float4 __c) { return __builtin_convertvector(__c, int4); }
__heddle_cl ulong __heddle_pixel(int __c) { return (uint)__c; }
__heddle_cl ulong __heddle_pixel(int2 __c) { return (ulong)((uint)__c.x & 32767) | (ulong)((uint)__c.y & 32767) << 15; }
__heddle_cl ulong __heddle_pixel(int4 __c) {
  return (ulong)((uint)__c.x & 4095) | (ulong)((uint)__c.y & 4095) << 12 | (ulong)((uint)__c.z & 4095) << 24;
}

#define __HEDDLE_IMAGE_READ(ACCESS, IMAGE, F, T, CI)                                                   \
  __heddle_cl T##4 read_image##F(ACCESS IMAGE __i, CI __c) {                                           \
    return *(__global T##4 *)(__heddle_base(__i) + 16 * __heddle_pixel(__c));                          \
  }
#define __HEDDLE_IMAGE_SAMPLE(ACCESS, IMAGE, F, T, CI, CF)                                             \
  __heddle_cl T##4 read_image##F(ACCESS IMAGE __i, sampler_t __s, CI __c) { return read_image##F(__i, __c); } \
  __heddle_cl T##4 read_image##F(ACCESS IMAGE __i, sampler_t __s, CF __c) { return read_image##F(__i, __heddle_coord(__c)); }
#define __HEDDLE_IMAGE_WRITE(ACCESS, IMAGE, F, T, CI)                                                  \
  __heddle_cl void write_image##F(ACCESS IMAGE __i, CI __c, T##4 __v) {                                \
    *(__global T##4 *)(__heddle_base(__i) + 16 * __heddle_pixel(__c)) = __v;                           \
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
  __heddle_cl float read_imagef(ACCESS IMAGE __i, CI __c) { return *(__global float *)(__heddle_base(__i) + 16 * __heddle_pixel(__c)); }
#define __HEDDLE_DEPTH_SAMPLE(IMAGE, CI, CF) \
  __heddle_cl float read_imagef(read_only IMAGE __i, sampler_t __s, CI __c) { return read_imagef(__i, __c); } \
  __heddle_cl float read_imagef(read_only IMAGE __i, sampler_t __s, CF __c) { return read_imagef(__i, __heddle_coord(__c)); }
#define __HEDDLE_DEPTH_WRITE(ACCESS, IMAGE, CI) \
  __heddle_cl void write_imagef(ACCESS IMAGE __i, CI __c, float __v) { *(__global float *)(__heddle_base(__i) + 16 * __heddle_pixel(__c)) = __v; }
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
