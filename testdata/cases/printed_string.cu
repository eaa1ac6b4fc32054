// expect: string clean|bug|unknown; format clean|bug|unknown; variable clean|bug|unknown; sure verified
// printf reads the string of %s when it is called: in string(), while another thread may write it.
#include <cstdio>
// heddle: grid=2 block=1
__global__ void string(char *s) {
  if (blockIdx.x == 1)
    s[0] = 'x';
  else
    printf("%-8.3s\n", s);
}
// heddle: grid=2 block=1
__global__ void sure(int *p) {
  p[blockIdx.x] = 1;
  printf("100%% sure: %d\n", p[blockIdx.x]);
}
// The kernel reads the format while another block writes it.
// heddle: grid=2 block=1
__global__ void format(char *s) {
  if (blockIdx.x == 1)
    s[0] = 'x';
  else
    printf(s);
}
// The host may write %s into the format.
__device__ char text[8];
// heddle: grid=2 block=1
__global__ void variable(char *s) {
  if (blockIdx.x == 1)
    s[0] = 'x';
  else
    printf(text, s);
}
