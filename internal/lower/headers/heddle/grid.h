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

/* The type of the one kernel of a set of overloaded ones that has a number of parameters: an argument that is a set of
   functions takes part in deduction if it works for just one of them (C++17 [temp.deduct.call] 6). */
template <int __n> struct __heddle_arity;
#define __HEDDLE_TYPES1 typename __1
#define __HEDDLE_NAMES1 __1
#define __HEDDLE_TYPES2 __HEDDLE_TYPES1, typename __2
#define __HEDDLE_NAMES2 __HEDDLE_NAMES1, __2
#define __HEDDLE_TYPES3 __HEDDLE_TYPES2, typename __3
#define __HEDDLE_NAMES3 __HEDDLE_NAMES2, __3
#define __HEDDLE_TYPES4 __HEDDLE_TYPES3, typename __4
#define __HEDDLE_NAMES4 __HEDDLE_NAMES3, __4
#define __HEDDLE_TYPES5 __HEDDLE_TYPES4, typename __5
#define __HEDDLE_NAMES5 __HEDDLE_NAMES4, __5
#define __HEDDLE_TYPES6 __HEDDLE_TYPES5, typename __6
#define __HEDDLE_NAMES6 __HEDDLE_NAMES5, __6
#define __HEDDLE_TYPES7 __HEDDLE_TYPES6, typename __7
#define __HEDDLE_NAMES7 __HEDDLE_NAMES6, __7
#define __HEDDLE_TYPES8 __HEDDLE_TYPES7, typename __8
#define __HEDDLE_NAMES8 __HEDDLE_NAMES7, __8
#define __HEDDLE_TYPES9 __HEDDLE_TYPES8, typename __9
#define __HEDDLE_NAMES9 __HEDDLE_NAMES8, __9
#define __HEDDLE_TYPES10 __HEDDLE_TYPES9, typename __10
#define __HEDDLE_NAMES10 __HEDDLE_NAMES9, __10
#define __HEDDLE_TYPES11 __HEDDLE_TYPES10, typename __11
#define __HEDDLE_NAMES11 __HEDDLE_NAMES10, __11
#define __HEDDLE_TYPES12 __HEDDLE_TYPES11, typename __12
#define __HEDDLE_NAMES12 __HEDDLE_NAMES11, __12
#define __HEDDLE_TYPES13 __HEDDLE_TYPES12, typename __13
#define __HEDDLE_NAMES13 __HEDDLE_NAMES12, __13
#define __HEDDLE_TYPES14 __HEDDLE_TYPES13, typename __14
#define __HEDDLE_NAMES14 __HEDDLE_NAMES13, __14
#define __HEDDLE_TYPES15 __HEDDLE_TYPES14, typename __15
#define __HEDDLE_NAMES15 __HEDDLE_NAMES14, __15
#define __HEDDLE_TYPES16 __HEDDLE_TYPES15, typename __16
#define __HEDDLE_NAMES16 __HEDDLE_NAMES15, __16
#define __HEDDLE_TYPES17 __HEDDLE_TYPES16, typename __17
#define __HEDDLE_NAMES17 __HEDDLE_NAMES16, __17
#define __HEDDLE_TYPES18 __HEDDLE_TYPES17, typename __18
#define __HEDDLE_NAMES18 __HEDDLE_NAMES17, __18
#define __HEDDLE_TYPES19 __HEDDLE_TYPES18, typename __19
#define __HEDDLE_NAMES19 __HEDDLE_NAMES18, __19
#define __HEDDLE_TYPES20 __HEDDLE_TYPES19, typename __20
#define __HEDDLE_NAMES20 __HEDDLE_NAMES19, __20
#define __HEDDLE_TYPES21 __HEDDLE_TYPES20, typename __21
#define __HEDDLE_NAMES21 __HEDDLE_NAMES20, __21
#define __HEDDLE_TYPES22 __HEDDLE_TYPES21, typename __22
#define __HEDDLE_NAMES22 __HEDDLE_NAMES21, __22
#define __HEDDLE_TYPES23 __HEDDLE_TYPES22, typename __23
#define __HEDDLE_NAMES23 __HEDDLE_NAMES22, __23
#define __HEDDLE_TYPES24 __HEDDLE_TYPES23, typename __24
#define __HEDDLE_NAMES24 __HEDDLE_NAMES23, __24
#define __HEDDLE_ARITY(N) \
  template <> struct __heddle_arity<N> { \
    template <__HEDDLE_TYPES##N> static void (*__heddle_pick(void (*)(__HEDDLE_NAMES##N)))(__HEDDLE_NAMES##N); \
  };
template <> struct __heddle_arity<0> {
  static void (*__heddle_pick(void (*)()))();
};
__HEDDLE_ARITY(1) __HEDDLE_ARITY(2) __HEDDLE_ARITY(3) __HEDDLE_ARITY(4) __HEDDLE_ARITY(5) __HEDDLE_ARITY(6)
__HEDDLE_ARITY(7) __HEDDLE_ARITY(8) __HEDDLE_ARITY(9) __HEDDLE_ARITY(10) __HEDDLE_ARITY(11) __HEDDLE_ARITY(12)
__HEDDLE_ARITY(13) __HEDDLE_ARITY(14) __HEDDLE_ARITY(15) __HEDDLE_ARITY(16) __HEDDLE_ARITY(17) __HEDDLE_ARITY(18)
__HEDDLE_ARITY(19) __HEDDLE_ARITY(20) __HEDDLE_ARITY(21) __HEDDLE_ARITY(22) __HEDDLE_ARITY(23) __HEDDLE_ARITY(24)
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

/* The one of a set of overloaded kernels that has a type, which may be that of a reference to it. */
template <typename __F> struct __heddle_overloaded {
  template <__F *__k> struct of {
    __heddle_hd_member __heddle_child<__F, __k> grid(dim3 __grid, dim3 __block, size_t __shared = 0,
                                                     cudaStream_t __stream = 0) const {
      return __heddle_child<__F, __k>{__grid, __block, __shared, __stream};
    }
  };
};
template <typename __F> struct __heddle_overloaded<__F &> : __heddle_overloaded<__F> {};

#endif
