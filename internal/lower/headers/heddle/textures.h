/* Textures and surfaces: declared only, so that a call is reported as unsupported where a kernel makes it,
   and the other kernels of the file are checked. Texture references (texture<>) are gone since CUDA 12. */
#ifndef HEDDLE_TEXTURES_H
#define HEDDLE_TEXTURES_H

enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaTextureAddressMode { cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2, cudaAddressModeBorder = 3 };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2

#define __HEDDLE_TEXTURE(NAME, ...)                                                             \
  template <typename __T> __attribute__((device)) __T NAME(cudaTextureObject_t, __VA_ARGS__);   \
  template <typename __T> __attribute__((device)) void NAME(__T *, cudaTextureObject_t, __VA_ARGS__);
__HEDDLE_TEXTURE(tex1Dfetch, int)
__HEDDLE_TEXTURE(tex1D, float)
__HEDDLE_TEXTURE(tex2D, float, float)
__HEDDLE_TEXTURE(tex3D, float, float, float)
__HEDDLE_TEXTURE(tex1DLayered, float, int)
__HEDDLE_TEXTURE(tex2DLayered, float, float, int)
__HEDDLE_TEXTURE(tex1DLod, float, float)
__HEDDLE_TEXTURE(tex2DLod, float, float, float)
__HEDDLE_TEXTURE(tex2Dgather, float, float, int = 0)

/* x counts bytes. */
#define __HEDDLE_SURFACE(DIM, ...)                                                                                                           \
  template <typename __T> __attribute__((device)) __T surf##DIM##read(cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <typename __T> __attribute__((device)) void surf##DIM##read(__T *, cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <typename __T> __attribute__((device)) void surf##DIM##write(__T, cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
__HEDDLE_SURFACE(1D, int)
__HEDDLE_SURFACE(2D, int, int)
__HEDDLE_SURFACE(3D, int, int, int)

#endif
