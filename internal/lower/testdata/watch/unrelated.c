/* A library that takes a function of the C library and finds the one behind it. */
#include "cuda.h"
API int puts(const char *text) {
  int (*next)(const char *);
  *(void **)&next = dlsym(RTLD_NEXT, "puts");
  printf("next: ");
  return next(text);
}
