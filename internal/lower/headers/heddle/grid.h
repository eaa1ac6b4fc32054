/* Launches of kernels by kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). clang rejects K<<<...>>>(...)
   in device code, and heddle rewrites it to __heddle_grid<decltype(K), K>(...)(...) (lower/gridlaunch.go) and
   includes this file. The parameters go into a buffer, at the offsets that PTX gives them. */
#ifndef HEDDLE_GRID_H
#define HEDDLE_GRID_H

#pragma clang system_header

/* An object in shared memory: its constructor and its destructor are not called (lower/sharedobject.go). */
template <typename __T> union __heddle_object {
  __T value;
  __attribute__((device)) __heddle_object() {}
  __attribute__((device)) ~__heddle_object() {}
};

/* What device code that launches kernels prints about errors. */
extern "C" {
__attribute__((device)) inline const char *cudaGetErrorString(cudaError_t __e) {
  switch (__e) {
#define __HEDDLE_TEXT(NAME, NUMBER, TEXT) case NUMBER: return TEXT;
    HEDDLE_CUDA_ERRORS(__HEDDLE_TEXT)
#undef __HEDDLE_TEXT
  default: return "unrecognized error code";
  }
}
__attribute__((device)) inline const char *cudaGetErrorName(cudaError_t __e) {
  switch (__e) {
#define __HEDDLE_NAME(NAME, NUMBER, TEXT) case NUMBER: return #NAME;
    HEDDLE_CUDA_ERRORS(__HEDDLE_NAME)
#undef __HEDDLE_NAME
  default: return "unrecognized error code";
  }
}
}

/* The address of a kernel. Only a constant expression may name a kernel in device code. */
template <typename __F, __F *__k> struct __heddle_kernel {
  static __attribute__((device)) const void *const address;
};
template <typename __F, __F *__k>
__attribute__((device)) const void *const __heddle_kernel<__F, __k>::address = (const void *)__k;

/* The type of an argument by value, from which template arguments of a kernel are deduced. */
template <typename __T> struct __heddle_passed { typedef __T type; };
template <typename __T> struct __heddle_passed<__T &> { typedef __T type; };
template <typename __T> struct __heddle_passed<__T &&> { typedef __T type; };
template <typename __T> struct __heddle_passed<const __T> { typedef __T type; };
template <typename __T> struct __heddle_passed<const __T &> { typedef __T type; };
template <typename __T, decltype(sizeof(0)) __n> struct __heddle_passed<__T[__n]> { typedef __T *type; };
template <typename __T, decltype(sizeof(0)) __n> struct __heddle_passed<__T (&)[__n]> { typedef __T *type; };

/* Stores parameters behind the first at bytes of a buffer. */
__heddle_fn void __heddle_store(char *, size_t) {}
template <typename __T, typename... __P>
__heddle_fn void __heddle_store(char *__to, size_t __at, const __T &__v, const __P &...__rest) {
  __at = (__at + alignof(__T) - 1) / alignof(__T) * alignof(__T);
  __builtin_memcpy(__builtin_assume_aligned(__to + __at, alignof(__T)), &__v, sizeof(__T));
  __heddle_store(__to, __at + sizeof(__T), __rest...);
}

template <typename __F, __F *__k> struct __heddle_child;
template <typename... __P, void (*__k)(__P...)> struct __heddle_child<void(__P...), __k> {
  dim3 __grid, __block;
  size_t __shared;
  cudaStream_t __stream;
  __heddle_hd_member void operator()(__P... __p) const {
#ifdef __CUDA_ARCH__
    void *__to = cudaGetParameterBufferV2((void *)__heddle_kernel<void(__P...), __k>::address, __grid, __block,
                                          (unsigned)__shared);
    if (__to) {
      __heddle_store((char *)__to, 0, __p...);
      cudaLaunchDeviceV2(__to, __stream);
    }
#else
    __k<<<__grid, __block, __shared, __stream>>>(__p...);
#endif
  }
};

template <typename __F, __F *__k>
__heddle_hd __heddle_child<__F, __k> __heddle_grid(dim3 __grid, dim3 __block, size_t __shared = 0,
                                                     cudaStream_t __stream = 0) {
  return __heddle_child<__F, __k>{__grid, __block, __shared, __stream};
}

#endif
