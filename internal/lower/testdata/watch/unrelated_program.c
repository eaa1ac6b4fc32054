#include "cuda.h"
int main(void) {
  puts("hello");
  printf("%d %d %d\n", dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == NULL, dlsym(RTLD_DEFAULT, "cudaMalloc") == NULL,
         dlsym(dlopen(NULL, RTLD_LAZY), "cudaMalloc") == NULL);
  return 0;
}
