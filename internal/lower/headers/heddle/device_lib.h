/* What device code calls of the C library: printf and assert reach PTX as the calls to vprintf and
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
/* clang knows no memcpy of device code as a builtin. Typed pointers promise their alignment. */
__heddle_fn void *memcpy(void *d, const void *s, __SIZE_TYPE__ n) { return __builtin_memcpy(d, s, n); }
__heddle_fn void *memmove(void *d, const void *s, __SIZE_TYPE__ n) { return __builtin_memmove(d, s, n); }
__heddle_fn void *memset(void *d, int c, __SIZE_TYPE__ n) { return __builtin_memset(d, c, n); }
template <typename T, typename U> __heddle_fn void *memcpy(T *d, const U *s, __SIZE_TYPE__ n) { return __builtin_memcpy(d, s, n); }
template <typename T, typename U> __heddle_fn void *memmove(T *d, const U *s, __SIZE_TYPE__ n) { return __builtin_memmove(d, s, n); }
template <typename T> __heddle_fn void *memset(T *d, int c, __SIZE_TYPE__ n) { return __builtin_memset(d, c, n); }
/* What the assert of glibc, of musl and of macOS calls. */
__attribute__((device, always_inline, noreturn)) static __inline__ void __assert_fail(const char *message, const char *file, unsigned int line, const char *function) {
  __assertfail(message, file, line, function, 1);
}
__attribute__((device, always_inline, noreturn)) static __inline__ void __assert_fail(const char *message, const char *file, int line, const char *function) {
  __assertfail(message, file, (unsigned int)line, function, 1);
}
__attribute__((device, always_inline, noreturn)) static __inline__ void __assert_rtn(const char *function, const char *file, int line, const char *message) {
  __assertfail(message, file, (unsigned int)line, function, 1);
}
__heddle_fn void *calloc(__SIZE_TYPE__ n, __SIZE_TYPE__ size) {
  void *p = malloc(n * size);
  if (p) memset(p, 0, n * size);
  return p;
}
__heddle_fn __SIZE_TYPE__ strlen(const char *s) {
  __SIZE_TYPE__ n = 0;
  while (s[n]) n++;
  return n;
}
__heddle_fn int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}
__heddle_fn int memcmp(const void *x, const void *y, __SIZE_TYPE__ n) {
  const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;
  for (; n; n--, a++, b++)
    if (*a != *b) return *a - *b;
  return 0;
}
/* clock_t is long on the hosts that have it in this form. */
__heddle_fn long clock() { return __heddle_clock(); }

/* operator new and delete of device code, over the device heap, come with clang's own wrapper of <new>. */
#include <new>

#endif
