/* The C library functions of device code. printf and assert become the calls to vprintf and
   __assertfail that nvcc emits; malloc and free are calls to the device heap. */
#ifndef HEDDLE_DEVICE_LIB_H
#define HEDDLE_DEVICE_LIB_H

extern "C" {
__attribute__((device)) int printf(const char *, ...);
__attribute__((device)) int vprintf(const char *, const char *);
__attribute__((device, noreturn)) void __assertfail(const char *message, const char *file, unsigned int line, const char *function, __SIZE_TYPE__ char_size);
__attribute__((device)) void *malloc(__SIZE_TYPE__);
__attribute__((device)) void free(void *);
__attribute__((device, noreturn)) static __inline__ void abort() { asm volatile("trap;"); __builtin_unreachable(); }
__attribute__((device, noreturn)) static __inline__ void exit(int) { asm volatile("exit;"); __builtin_unreachable(); }
}
/* clang has no builtin memcpy for device code. Typed pointers promise their alignment. */
__heddle_fn void *memcpy(void *__d, const void *__s, __SIZE_TYPE__ __n) { return __builtin_memcpy(__d, __s, __n); }
__heddle_fn void *memmove(void *__d, const void *__s, __SIZE_TYPE__ __n) { return __builtin_memmove(__d, __s, __n); }
__heddle_fn void *memset(void *__d, int __c, __SIZE_TYPE__ __n) { return __builtin_memset(__d, __c, __n); }
template <typename __T, typename __U> __heddle_fn void *memcpy(__T *__d, const __U *__s, __SIZE_TYPE__ __n) { return __builtin_memcpy(__d, __s, __n); }
template <typename __T, typename __U> __heddle_fn void *memmove(__T *__d, const __U *__s, __SIZE_TYPE__ __n) { return __builtin_memmove(__d, __s, __n); }
template <typename __T> __heddle_fn void *memset(__T *__d, int __c, __SIZE_TYPE__ __n) { return __builtin_memset(__d, __c, __n); }
/* The functions that assert calls in glibc, musl and macOS. */
__attribute__((device, always_inline, noreturn)) static __inline__ void __assert_fail(const char *message, const char *file, unsigned int line, const char *function) {
  __assertfail(message, file, line, function, 1);
}
__attribute__((device, always_inline, noreturn)) static __inline__ void __assert_fail(const char *message, const char *file, int line, const char *function) {
  __assertfail(message, file, (unsigned int)line, function, 1);
}
__attribute__((device, always_inline, noreturn)) static __inline__ void __assert_rtn(const char *function, const char *file, int line, const char *message) {
  __assertfail(message, file, (unsigned int)line, function, 1);
}
__heddle_fn void *calloc(__SIZE_TYPE__ __n, __SIZE_TYPE__ size) {
  void *__p = malloc(__n * size);
  if (__p) memset(__p, 0, __n * size);
  return __p;
}
__heddle_fn __SIZE_TYPE__ strlen(const char *__s) {
  __SIZE_TYPE__ __n = 0;
  while (__s[__n]) __n++;
  return __n;
}
__heddle_fn int strcmp(const char *__a, const char *__b) {
  while (*__a && *__a == *__b) __a++, __b++;
  return (unsigned char)*__a - (unsigned char)*__b;
}
__heddle_fn int memcmp(const void *x, const void *y, __SIZE_TYPE__ __n) {
  const unsigned char *__a = (const unsigned char *)x, *__b = (const unsigned char *)y;
  for (; __n; __n--, __a++, __b++)
    if (*__a != *__b) return *__a - *__b;
  return 0;
}
/* clock_t is long on the hosts that have it in this form. */
__heddle_fn long clock() { return __heddle_clock(); }

/* operator new and delete of device code, over the device heap, come with clang's own wrapper of <new>. */
#include <new>

#endif
