// Images and samplers of OpenCL C.
__constant sampler_t S0 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
const sampler_t S1 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
#define t get_global_id(0)
__kernel void i1(read_only image1d_t a, __global float4 *f) { f[t] = read_imagef(a, S0, (int)t) + read_imagef(a, (int)t) + read_imagef(a, S1, 0.5f); f[t].x += get_image_width(a); }
__kernel void i2(read_only image2d_t a, __global float4 *f) { f[t] = read_imagef(a, S0, (int2)(t, 0)) + read_imagef(a, S1, (float2)(0.5f, t)) + convert_float4(read_imagei(a, S0, (int2)(t, 0))) + convert_float4(read_imageui(a, S0, (int2)(t, 0))); f[t].x += get_image_width(a) + get_image_height(a) + get_image_dim(a).x + get_image_channel_order(a) + get_image_channel_data_type(a); }
__kernel void i3(read_only image3d_t a, __global float4 *f) { f[t] = read_imagef(a, S0, (int4)(t, 0, 0, 0)) + read_imagef(a, S1, (float4)(0.5f, t, 0, 0)); f[t].x += get_image_depth(a); }
__kernel void i1a(read_only image1d_array_t a, read_only image2d_array_t b, __global float4 *f) { f[t] = read_imagef(a, S0, (int2)(t, 0)) + read_imagef(b, S0, (int4)(t, 0, 1, 0)); f[t].x += get_image_array_size(a); }
__kernel void i1b(read_only image1d_buffer_t a, write_only image1d_buffer_t b, __global float4 *f) { f[t] = read_imagef(a, (int)t); write_imagef(b, (int)t, (float4)(1)); }
__kernel void w2(write_only image2d_t a, int n) { write_imagef(a, (int2)(t, 0), (float4)(1)); write_imagei(a, (int2)(t, 1), (int4)(1)); write_imageui(a, (int2)(t, 2), (uint4)(1)); }
__kernel void w2r(write_only image2d_t a) { write_imagef(a, (int2)(t / 2, 0), (float4)(t)); }
__kernel void w3(write_only image1d_t a, write_only image2d_array_t b, write_only image1d_array_t c) { write_imagef(a, (int)t, (float4)(1)); write_imagef(b, (int4)(t, 0, 0, 0), (float4)(1)); write_imagef(c, (int2)(t, 0), (float4)(1)); }
__kernel void depth(read_only image2d_depth_t a, __global float *f) { f[t] = read_imagef(a, S0, (int2)(t, 0)); }
__kernel void smp(read_only image2d_t a, sampler_t s, __global float4 *f) { f[t] = read_imagef(a, s, (float2)(t, 0)); const sampler_t q = CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR | CLK_NORMALIZED_COORDS_TRUE; f[t] += read_imagef(a, q, (float2)(0.3f, 0)); }
__kernel void half_(read_only image2d_t a, __global half4 *f) { f[t] = read_imageh(a, S0, (int2)(t, 0)); }
