/* Function and variable qualifiers. The attributes are clang's own (clang: AttributeReference, CUDA). */
#ifndef HEDDLE_QUALIFIERS_H
#define HEDDLE_QUALIFIERS_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __algnC _Alignas /* takes the place of alignas behind __shared__ (lower/devicecode.go) */
#define __constant__ __attribute__((constant))
/* Managed memory is global memory to a kernel; clang has the attribute only for HIP. */
#define __managed__ __attribute__((device))
#define __grid_constant__ __attribute__((annotate("heddle.grid_constant"))) /* lower/gridconstant.go */
/* The size of a cluster, and of a block: annotations that the lowering reads. */
#define __cluster_dims__(...) __HEDDLE_SHAPE("heddle.cluster", __VA_ARGS__, 1, 1, )
#define __block_size__(BLOCK, ...) __HEDDLE_BLOCK BLOCK __VA_OPT__(__cluster_dims__ __VA_ARGS__)
#define __HEDDLE_BLOCK(...) __HEDDLE_SHAPE("heddle.block", __VA_ARGS__, 1, 1, )
#define __HEDDLE_SHAPE(NAME, X, Y, Z, ...) __attribute__((annotate(NAME, X, Y, Z)))
#define __maxnreg__(...)
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
/* clang treats __noinline__ as a keyword even inside __attribute__, where libstdc++ uses it. */
#if __clang_major__ < 15
#define __noinline__ __attribute__((noinline))
/* The components of a scalar or vector type. */
template <typename __T, bool = __heddle_is<__T>::object> struct __heddle_mem {
  typedef __T elem;
  enum { __n = 1 };
};
template <typename __T> struct __heddle_mem<__T, true> {
  typedef decltype(__T::x) elem;
  enum { __n = sizeof(__T) / sizeof(elem) };
};

#endif
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __nv_pure__
#define CUDARTAPI
#define CUDART_CB
#define __specialization_static static
#define __nv_nodiscard

/* The qualifiers of device functions in these headers. */
#define __heddle_fn static __inline__ __attribute__((device, always_inline))
#define __heddle_member __attribute__((device, always_inline))
#define __heddle_hd_member __attribute__((host, device, always_inline))
#define __heddle_host static __inline__ __attribute__((host))
#define __heddle_hd static __inline__ __attribute__((host, device, always_inline))

/* Traits for our templates, held in enumerators: clang 14 cannot mangle a type trait in a signature. */
template <typename __T> struct __heddle_is {
  enum { integral = __is_integral(__T), arithmetic = __is_arithmetic(__T), object = __is_class(__T) };
};
template <bool, typename __T> struct __heddle_if {};
template <typename __T> struct __heddle_if<true, __T> { typedef __T type; };

/* The components of a scalar or vector type. */
template <typename __T, bool = __heddle_is<__T>::object> struct __heddle_mem {
  typedef __T elem;
  enum { __n = 1 };
};
template <typename __T> struct __heddle_mem<__T, true> {
  typedef decltype(__T::x) elem;
  enum { __n = sizeof(__T) / sizeof(elem) };
};

#endif
