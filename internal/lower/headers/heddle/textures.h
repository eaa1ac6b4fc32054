/* Textures and surfaces: the object API, and texture references as they were up to CUDA 11. Each function is
   one PTX instruction (PTX ISA 9.7.10, 9.7.11) on a 64-bit handle. Results are converted from the 32-bit
   elements that the instruction returns. */
#ifndef HEDDLE_TEXTURES_H
#define HEDDLE_TEXTURES_H

/* CUDA 12 has no texture references: the names belong to a file that uses them in another way. */
#ifdef __HEDDLE_OWN_TEXTURES
#define texture __heddle_texture
#define surface __heddle_surface
#endif

/* A texture reference is a file-scope object without a qualifier; clang's attribute makes it one of the
   device, and its value there a handle. */
struct textureReference {
  int normalized;
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureAddressMode addressMode[3];
  struct cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
};
template <class __T, int __texType = cudaTextureType1D, enum cudaTextureReadMode __mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {};
struct surfaceReference { struct cudaChannelFormatDesc channelDesc; };
template <class __T, int __dim = 1> struct __attribute__((device_builtin_surface_type)) surface : public surfaceReference {};

template <typename __H> __heddle_fn unsigned long long __heddle_handle(__H __t) {
  unsigned long long __h;
  __builtin_memcpy(&__h, &__t, sizeof __h);
  return __h;
}

/* The type that a texture of T gives: T itself, or floats of as many components. */
template <typename __T, int __n, bool = __heddle_is<__T>::object> struct __heddle_texel { typedef float normalized; };
template <typename __T> struct __heddle_texel<__T, 2, true> { typedef float2 normalized; };
template <typename __T> struct __heddle_texel<__T, 4, true> { typedef float4 normalized; };
template <typename __T, enum cudaTextureReadMode> struct __heddle_fetched { typedef __T type; };
template <typename __T> struct __heddle_fetched<__T, cudaReadModeNormalizedFloat> {
  typedef typename __heddle_texel<__T, __heddle_mem<__T>::__n>::normalized type;
};

/* Fills a scalar or vector of 1, 2 or 4 components from four elements. */
template <typename __T, typename __E> __heddle_fn __T __heddle_compose(__E __x, __E __y, __E __z, __E __w) {
  typedef typename __heddle_mem<__T>::elem __C;
  __T __v;
  __C __c[4] = {(__C)__x, (__C)__y, (__C)__z, (__C)__w};
  __builtin_memcpy(&__v, __c, sizeof __v);
  return __v;
}
template <typename __A, typename __B> struct __heddle_same_type { enum { value = 0 }; };
template <typename __A> struct __heddle_same_type<__A, __A> { enum { value = 1 }; };

/* OP is the instruction up to its vector, COORD the type of its coordinates, REST the operands after the
   handle %4 with their constraints. */
#define __HEDDLE_TEX_ASM(OP, COORD, TEXT, ...)                                                                  \
  if constexpr (__heddle_same_type<typename __heddle_mem<__T>::elem, float>::value) {                           \
    float __r[4];                                                                                               \
    asm(OP ".v4.f32." COORD " {%0, %1, %2, %3}, [%4, " TEXT ";"                                                 \
        : "=f"(__r[0]), "=f"(__r[1]), "=f"(__r[2]), "=f"(__r[3]) : "l"(__h), __VA_ARGS__);                      \
    return __heddle_compose<__T>(__r[0], __r[1], __r[2], __r[3]);                                               \
  } else {                                                                                                      \
    unsigned int __r[4];                                                                                        \
    asm(OP ".v4.u32." COORD " {%0, %1, %2, %3}, [%4, " TEXT ";"                                                 \
        : "=r"(__r[0]), "=r"(__r[1]), "=r"(__r[2]), "=r"(__r[3]) : "l"(__h), __VA_ARGS__);                      \
    return __heddle_compose<__T>(__r[0], __r[1], __r[2], __r[3]);                                               \
  }

#define __HEDDLE_ARGS(...) __VA_ARGS__
/* One function in its four forms: value, the same with a note of whether the texels exist, which they do as there are no
   sparse arrays, pointer to the result, and on a reference of dimension DIM. */
#define __HEDDLE_TEXTURE(NAME, DIM, PARAMS, NAMES, OP, COORD, TEXT, ...)                                         \
  template <typename __T> __heddle_fn __T NAME(cudaTextureObject_t __h, __HEDDLE_ARGS PARAMS) {                 \
    __HEDDLE_TEX_ASM(OP, COORD, TEXT, __VA_ARGS__)                                                              \
  }                                                                                                             \
  template <typename __T> __heddle_fn __T NAME(cudaTextureObject_t __h, __HEDDLE_ARGS PARAMS, bool *__exist) {  \
    *__exist = true;                                                                                            \
    return NAME<__T>(__h, __HEDDLE_ARGS NAMES);                                                                 \
  }                                                                                                             \
  template <typename __T> __heddle_fn void NAME(__T *__to, cudaTextureObject_t __h, __HEDDLE_ARGS PARAMS) {     \
    *__to = NAME<__T>(__h, __HEDDLE_ARGS NAMES);                                                                \
  }                                                                                                             \
  template <typename __T, enum cudaTextureReadMode __m>                                                         \
  __heddle_fn typename __heddle_fetched<__T, __m>::type NAME(texture<__T, DIM, __m> __t, __HEDDLE_ARGS PARAMS) { \
    return NAME<typename __heddle_fetched<__T, __m>::type>((cudaTextureObject_t)__heddle_handle(__t), __HEDDLE_ARGS NAMES); \
  }
__HEDDLE_TEXTURE(tex1Dfetch, 1, (int __x), (__x), "tex.1d", "s32", "{%5}]", "r"(__x))
__HEDDLE_TEXTURE(tex1D, 1, (float __x), (__x), "tex.1d", "f32", "{%5}]", "f"(__x))
__HEDDLE_TEXTURE(tex2D, 2, (float __x, float __y), (__x, __y), "tex.2d", "f32", "{%5, %6}]", "f"(__x), "f"(__y))
__HEDDLE_TEXTURE(tex3D, 3, (float __x, float __y, float __z), (__x, __y, __z), "tex.3d", "f32", "{%5, %6, %7, %7}]", "f"(__x), "f"(__y), "f"(__z))
__HEDDLE_TEXTURE(texCubemap, 0x0C, (float __x, float __y, float __z), (__x, __y, __z), "tex.cube", "f32", "{%5, %6, %7, %7}]", "f"(__x), "f"(__y), "f"(__z))
__HEDDLE_TEXTURE(tex1DLayered, 0xF1, (float __x, int __layer), (__x, __layer), "tex.a1d", "f32", "{%5, %6}]", "r"(__layer), "f"(__x))
__HEDDLE_TEXTURE(tex2DLayered, 0xF2, (float __x, float __y, int __layer), (__x, __y, __layer), "tex.a2d", "f32", "{%5, %6, %7, %7}]", "r"(__layer), "f"(__x), "f"(__y))
__HEDDLE_TEXTURE(tex1DLod, 1, (float __x, float __l), (__x, __l), "tex.level.1d", "f32", "{%5}], %6", "f"(__x), "f"(__l))
__HEDDLE_TEXTURE(tex2DLod, 2, (float __x, float __y, float __l), (__x, __y, __l), "tex.level.2d", "f32", "{%5, %6}], %7", "f"(__x), "f"(__y), "f"(__l))
__HEDDLE_TEXTURE(tex3DLod, 3, (float __x, float __y, float __z, float __l), (__x, __y, __z, __l), "tex.level.3d", "f32", "{%5, %6, %7, %7}], %8", "f"(__x), "f"(__y), "f"(__z), "f"(__l))
__HEDDLE_TEXTURE(texCubemapLayered, 0xFC, (float __x, float __y, float __z, int __layer), (__x, __y, __z, __layer), "tex.acube", "f32", "{%5, %6, %7, %8}]", "r"(__layer), "f"(__x), "f"(__y), "f"(__z))
__HEDDLE_TEXTURE(texCubemapLod, 0x0C, (float __x, float __y, float __z, float __l), (__x, __y, __z, __l), "tex.level.cube", "f32", "{%5, %6, %7, %7}], %8", "f"(__x), "f"(__y), "f"(__z), "f"(__l))
__HEDDLE_TEXTURE(tex1DLayeredLod, 0xF1, (float __x, int __layer, float __l), (__x, __layer, __l), "tex.level.a1d", "f32", "{%5, %6}], %7", "r"(__layer), "f"(__x), "f"(__l))
__HEDDLE_TEXTURE(tex2DLayeredLod, 0xF2, (float __x, float __y, int __layer, float __l), (__x, __y, __layer, __l), "tex.level.a2d", "f32", "{%5, %6, %7, %7}], %8", "r"(__layer), "f"(__x), "f"(__y), "f"(__l))
__HEDDLE_TEXTURE(tex1DGrad, 1, (float __x, float __dx, float __dy), (__x, __dx, __dy), "tex.grad.1d", "f32", "{%5}], {%6}, {%7}", "f"(__x), "f"(__dx), "f"(__dy))
__HEDDLE_TEXTURE(tex3DGrad, 3, (float __x, float __y, float __z, float4 __dx, float4 __dy), (__x, __y, __z, __dx, __dy), "tex.grad.3d", "f32", "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", "f"(__x), "f"(__y), "f"(__z), "f"(__dx.x), "f"(__dx.y), "f"(__dx.z), "f"(__dy.x), "f"(__dy.y), "f"(__dy.z))
__HEDDLE_TEXTURE(tex2DGrad, 2, (float __x, float __y, float2 __dx, float2 __dy), (__x, __y, __dx, __dy), "tex.grad.2d", "f32", "{%5, %6}], {%7, %8}, {%9, %10}", "f"(__x), "f"(__y), "f"(__dx.x), "f"(__dx.y), "f"(__dy.x), "f"(__dy.y))
__HEDDLE_TEXTURE(tex1DLayeredGrad, 0xF1, (float __x, int __layer, float __dx, float __dy), (__x, __layer, __dx, __dy), "tex.grad.a1d", "f32", "{%5, %6}], {%7}, {%8}", "r"(__layer), "f"(__x), "f"(__dx), "f"(__dy))
__HEDDLE_TEXTURE(tex2DLayeredGrad, 0xF2, (float __x, float __y, int __layer, float2 __dx, float2 __dy), (__x, __y, __layer, __dx, __dy), "tex.grad.a2d", "f32", "{%5, %6, %7, %7}], {%8, %9}, {%10, %11}", "r"(__layer), "f"(__x), "f"(__y), "f"(__dx.x), "f"(__dx.y), "f"(__dy.x), "f"(__dy.y))
__HEDDLE_TEXTURE(texCubemapGrad, 0x0C, (float __x, float __y, float __z, float4 __dx, float4 __dy), (__x, __y, __z, __dx, __dy), "tex.grad.cube", "f32", "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", "f"(__x), "f"(__y), "f"(__z), "f"(__dx.x), "f"(__dx.y), "f"(__dx.z), "f"(__dy.x), "f"(__dy.y), "f"(__dy.z))
__HEDDLE_TEXTURE(texCubemapLayeredLod, 0xFC, (float __x, float __y, float __z, int __layer, float __l), (__x, __y, __z, __layer, __l), "tex.level.acube", "f32", "{%5, %6, %7, %8}], %9", "r"(__layer), "f"(__x), "f"(__y), "f"(__z), "f"(__l))
__HEDDLE_TEXTURE(texCubemapLayeredGrad, 0xFC, (float __x, float __y, float __z, int __layer, float4 __dx, float4 __dy), (__x, __y, __z, __layer, __dx, __dy), "tex.grad.acube", "f32", "{%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14}", "r"(__layer), "f"(__x), "f"(__y), "f"(__z), "f"(__dx.x), "f"(__dx.y), "f"(__dx.z), "f"(__dy.x), "f"(__dy.y), "f"(__dy.z))

/* Four texels' component comp (PTX ISA 9.7.10.4). */
template <typename __T> __heddle_fn __T tex2Dgather(cudaTextureObject_t __h, float __x, float __y, int __comp = 0) {
  switch (__comp) {
  case 1: __HEDDLE_TEX_ASM("tld4.g.2d", "f32", "{%5, %6}]", "f"(__x), "f"(__y))
  case 2: __HEDDLE_TEX_ASM("tld4.b.2d", "f32", "{%5, %6}]", "f"(__x), "f"(__y))
  case 3: __HEDDLE_TEX_ASM("tld4.a.2d", "f32", "{%5, %6}]", "f"(__x), "f"(__y))
  }
  __HEDDLE_TEX_ASM("tld4.r.2d", "f32", "{%5, %6}]", "f"(__x), "f"(__y))
}

template <typename __T> __heddle_fn __T tex2Dgather(cudaTextureObject_t __h, float __x, float __y, bool *__exist, int __comp = 0) {
  *__exist = true;
  return tex2Dgather<__T>(__h, __x, __y, __comp);
}

/* Surfaces: x counts bytes. Elements move as raw bits; a vector is one instruction for each component, which
   is the same access for other threads. */
#define __HEDDLE_SURF_CASE(SIZE, B, REG, C, ...)                             \
  if constexpr (sizeof(__E) == SIZE) {                                       \
    REG __b;                                                                 \
    __VA_ARGS__                                                              \
  }
#define __HEDDLE_SULD1(MODE, DIM, B, C, COORDS, ...) asm volatile("suld.b." DIM "." B "." MODE " %0, [%1, " COORDS "];" : "=" C(__b) : "l"(__h), __VA_ARGS__ : "memory");
#define __HEDDLE_SUST1(MODE, DIM, B, C, COORDS, ...) asm volatile("sust.b." DIM "." B "." MODE " [%0, " COORDS "], %1;" ::"l"(__h), C(__b), __VA_ARGS__ : "memory");
#define __HEDDLE_SULD(DIM, B, C, COORDS, ...)                                \
  if (__mode == cudaBoundaryModeTrap) { __HEDDLE_SULD1("trap", DIM, B, C, COORDS, __VA_ARGS__) } \
  else if (__mode == cudaBoundaryModeClamp) { __HEDDLE_SULD1("clamp", DIM, B, C, COORDS, __VA_ARGS__) } \
  else { __HEDDLE_SULD1("zero", DIM, B, C, COORDS, __VA_ARGS__) }            \
  __c[__i] = (unsigned long long)__b;
#define __HEDDLE_SUST(DIM, B, C, COORDS, ...)                                \
  if (__mode == cudaBoundaryModeTrap) { __HEDDLE_SUST1("trap", DIM, B, C, COORDS, __VA_ARGS__) } \
  else if (__mode == cudaBoundaryModeClamp) { __HEDDLE_SUST1("clamp", DIM, B, C, COORDS, __VA_ARGS__) } \
  else { __HEDDLE_SUST1("zero", DIM, B, C, COORDS, __VA_ARGS__) }
#define __HEDDLE_SURFACE(NAME, PDIM, PARAMS, NAMES, DIM, LD, ST, ...)                                                            \
  template <typename __T> __heddle_fn __T NAME##read(cudaSurfaceObject_t __h, __HEDDLE_ARGS PARAMS, cudaSurfaceBoundaryMode __mode = cudaBoundaryModeTrap) { \
    typedef typename __heddle_mem<__T>::elem __E;                                                                                \
    unsigned long long __c[__heddle_mem<__T>::__n];                                                                              \
    for (int __i = 0; __i < __heddle_mem<__T>::__n; __i++, __x += sizeof(__E)) {                                                 \
      __HEDDLE_SURF_CASE(1, "b8", unsigned short, "h", __HEDDLE_SULD(DIM, "b8", "h", LD, __VA_ARGS__))                           \
      __HEDDLE_SURF_CASE(2, "b16", unsigned short, "h", __HEDDLE_SULD(DIM, "b16", "h", LD, __VA_ARGS__))                         \
      __HEDDLE_SURF_CASE(4, "b32", unsigned int, "r", __HEDDLE_SULD(DIM, "b32", "r", LD, __VA_ARGS__))                           \
      __HEDDLE_SURF_CASE(8, "b64", unsigned long long, "l", __HEDDLE_SULD(DIM, "b64", "l", LD, __VA_ARGS__))                     \
    }                                                                                                                            \
    __T __v;                                                                                                                     \
    for (int __i = 0; __i < __heddle_mem<__T>::__n; __i++) __builtin_memcpy((char *)&__v + __i * sizeof(__E), &__c[__i], sizeof(__E)); \
    return __v;                                                                                                                  \
  }                                                                                                                              \
  template <typename __T> __heddle_fn void NAME##read(__T *__to, cudaSurfaceObject_t __h, __HEDDLE_ARGS PARAMS, cudaSurfaceBoundaryMode __mode = cudaBoundaryModeTrap) { \
    *__to = NAME##read<__T>(__h, __HEDDLE_ARGS NAMES, __mode);                                                                   \
  }                                                                                                                              \
  template <typename __T> __heddle_fn void NAME##write(__T __v, cudaSurfaceObject_t __h, __HEDDLE_ARGS PARAMS, cudaSurfaceBoundaryMode __mode = cudaBoundaryModeTrap) { \
    typedef typename __heddle_mem<__T>::elem __E;                                                                                \
    for (int __i = 0; __i < __heddle_mem<__T>::__n; __i++, __x += sizeof(__E)) {                                                 \
      unsigned long long __e = 0;                                                                                                \
      __builtin_memcpy(&__e, (char *)&__v + __i * sizeof(__E), sizeof(__E));                                                     \
      __HEDDLE_SURF_CASE(1, "b8", unsigned short, "h", __b = (unsigned short)__e; __HEDDLE_SUST(DIM, "b8", "h", ST, __VA_ARGS__)) \
      __HEDDLE_SURF_CASE(2, "b16", unsigned short, "h", __b = (unsigned short)__e; __HEDDLE_SUST(DIM, "b16", "h", ST, __VA_ARGS__)) \
      __HEDDLE_SURF_CASE(4, "b32", unsigned int, "r", __b = (unsigned int)__e; __HEDDLE_SUST(DIM, "b32", "r", ST, __VA_ARGS__))  \
      __HEDDLE_SURF_CASE(8, "b64", unsigned long long, "l", __b = __e; __HEDDLE_SUST(DIM, "b64", "l", ST, __VA_ARGS__))          \
    }                                                                                                                            \
  }                                                                                                                              \
  template <typename __T, typename __S> __heddle_fn __T NAME##read(surface<__S, PDIM> __s, __HEDDLE_ARGS PARAMS, cudaSurfaceBoundaryMode __mode = cudaBoundaryModeTrap) { \
    return NAME##read<__T>((cudaSurfaceObject_t)__heddle_handle(__s), __HEDDLE_ARGS NAMES, __mode);                              \
  }                                                                                                                              \
  template <typename __T, typename __S> __heddle_fn void NAME##read(__T *__to, surface<__S, PDIM> __s, __HEDDLE_ARGS PARAMS, cudaSurfaceBoundaryMode __mode = cudaBoundaryModeTrap) { \
    *__to = NAME##read<__T>((cudaSurfaceObject_t)__heddle_handle(__s), __HEDDLE_ARGS NAMES, __mode);                             \
  }                                                                                                                              \
  template <typename __T, typename __S> __heddle_fn void NAME##write(__T __v, surface<__S, PDIM> __s, __HEDDLE_ARGS PARAMS, cudaSurfaceBoundaryMode __mode = cudaBoundaryModeTrap) { \
    NAME##write(__v, (cudaSurfaceObject_t)__heddle_handle(__s), __HEDDLE_ARGS NAMES, __mode);                                    \
  }
__HEDDLE_SURFACE(surf1D, 1, (int __x), (__x), "1d", "{%2}", "{%2}", "r"(__x))
__HEDDLE_SURFACE(surf2D, 2, (int __x, int __y), (__x, __y), "2d", "{%2, %3}", "{%2, %3}", "r"(__x), "r"(__y))
__HEDDLE_SURFACE(surf1DLayered, 0xF1, (int __x, int __l), (__x, __l), "a1d", "{%2, %3}", "{%2, %3}", "r"(__l), "r"(__x))
__HEDDLE_SURFACE(surf2DLayered, 0xF2, (int __x, int __y, int __l), (__x, __y, __l), "a2d", "{%2, %3, %4, %4}", "{%2, %3, %4, %4}", "r"(__l), "r"(__x), "r"(__y))
/* The faces of cubes are layers (PTX ISA 9.7.11). */
__HEDDLE_SURFACE(surfCubemap, 0x0C, (int __x, int __y, int __f), (__x, __y, __f), "a2d", "{%2, %3, %4, %4}", "{%2, %3, %4, %4}", "r"(__f), "r"(__x), "r"(__y))
__HEDDLE_SURFACE(surfCubemapLayered, 0xFC, (int __x, int __y, int __f), (__x, __y, __f), "a2d", "{%2, %3, %4, %4}", "{%2, %3, %4, %4}", "r"(__f), "r"(__x), "r"(__y))
__HEDDLE_SURFACE(surf3D, 3, (int __x, int __y, int __z), (__x, __y, __z), "3d", "{%2, %3, %4, %4}", "{%2, %3, %4, %4}", "r"(__x), "r"(__y), "r"(__z))

#ifdef __HEDDLE_OWN_TEXTURES
#undef texture
#undef surface
#endif

#endif
