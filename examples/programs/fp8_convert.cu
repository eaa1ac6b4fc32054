// Conversions to 8-bit and 16-bit floating point, on device and host, against the nearest
// number of the format, which a search finds.
#include <cmath>
#include <cstdio>
#include <cuda_fp8.h>

__global__ void convert(const double *in, unsigned char *e4m3, unsigned char *e5m2, __half *half,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e4m3[i] = __nv_fp8_e4m3((float)in[i]).__x;
  e5m2[i] = __nv_fp8_e5m2(in[i]).__x;
  half[i] = __half(in[i]);
}

// The value of 0 to 127: bits of the exponent from bit m on, whose bias is given.
static double value(int code, int m, int bias) {
  int e = code >> m, f = code & ((1 << m) - 1);
  return e ? ldexp(f + (1 << m), e - bias - m) : ldexp(f, 1 - bias - m);
}

// The code of the nearest number up to most, of two the even one.
static int nearest(double v, int m, int bias, int most) {
  int best = 0;
  for (int c = 1; c <= most; c++) {
    double d = fabs(fabs(v) - value(c, m, bias)), least = fabs(fabs(v) - value(best, m, bias));
    if (d < least || (d == least && c % 2 == 0)) best = c;
  }
  return best;
}

int main() {
  const int n = 4096;
  double *in;
  unsigned char *e4m3, *e5m2;
  __half *half;
  cudaMallocManaged(&in, n * sizeof *in);
  cudaMallocManaged(&e4m3, n);
  cudaMallocManaged(&e5m2, n);
  cudaMallocManaged(&half, n * sizeof *half);
  for (int i = 0; i < n; i++) {
    // Each number of both formats, the middle between it and the next, a little more, and any.
    int c = i / 32 % 128;
    double a = i % 2 ? value(c, 3, 7) : value(c, 2, 15);
    double b = i % 2 ? value(c + 1, 3, 7) : value(c + 1, 2, 15);
    in[i] = i % 8 < 2 ? a : i % 8 < 4 ? (a + b) / 2 : i % 8 < 6 ? (a + b) / 2 * 1.0001
                                                               : a + (b - a) * (i % 31) / 31;
    if (i % 16 > 7) in[i] = -in[i];
  }
  in[0] = 1 + ldexp(1, -11) + ldexp(1, -30); // half rounds it up once, and as a float to 1
  convert<<<n / 128, 128>>>(in, e4m3, e5m2, half, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < n; i++) {
    int s = std::signbit(in[i]) ? 128 : 0;
    int want4 = nearest((float)in[i], 3, 7, 126) | s, want5 = nearest(in[i], 2, 15, 123) | s;
    wrong += e4m3[i] != want4 || e5m2[i] != want5;
    wrong += __nv_fp8_e4m3((float)in[i]).__x != want4 || __nv_fp8_e5m2(in[i]).__x != want5;
    __nv_fp8_e4m3 back;
    back.__x = (unsigned char)want4;
    wrong += fabs((float)back) != value(want4 & 127, 3, 7);
  }
  wrong += (float)half[0] != 1.0009765625f || (float)__half(in[0]) != 1.0009765625f;
  wrong += !std::isnan((float)__nv_fp8_e4m3(NAN)) || __nv_fp8_e4m3(INFINITY).__x != 126 ||
           __nv_cvt_float_to_fp8(INFINITY, __NV_NOSAT, __NV_E5M2) != 0x7c;
  printf("%d numbers, %d wrong\n", n, wrong);
  return wrong != 0;
}
