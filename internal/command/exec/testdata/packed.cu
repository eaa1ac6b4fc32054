// SIMD and DPX functions and the formats of 4 and 6 bits on the device, against definitions in plain
// C++: element by element, and by a search for the nearest number.
#include <cmath>
#include <cstdio>
#include <cuda_fp4.h>
#include <cuda_fp6.h>

#define PACKED(X)                                                                                      \
  X(vadd, x + y, u) X(vsub, x - y, u) X(vabsdiffu, x > y ? x - y : y - x, u) X(vabsdiffs, x > y ? x - y : y - x, s) \
  X(vavgu, (x + y + 1) / 2, u) X(vavgs, (int)floor((x + y) / 2.0 + (x + y >= 0 ? 0.5 : 0)), s)          \
  X(vhaddu, (x + y) / 2, u) X(vmaxs, x > y ? x : y, s) X(vmaxu, x > y ? x : y, u) X(vmins, x < y ? x : y, s) \
  X(vminu, x < y ? x : y, u) X(vaddss, x + y > top ? top : x + y < low ? low : x + y, s)                \
  X(vaddus, x + y > top ? top : x + y, u) X(vsubss, x - y > top ? top : x - y < low ? low : x - y, s)   \
  X(vsubus, x - y < 0 ? 0 : x - y, u) X(vcmpeq, x == y ? -1 : 0, u) X(vcmpgts, x > y ? -1 : 0, s)        \
  X(vcmpltu, x < y ? -1 : 0, u) X(vsetges, x >= y, s) X(vsetne, x != y, u)
#define UNARY(X)                                                                                       \
  X(vabs, x < 0 ? -x : x) X(vneg, -x) X(vabsss, x == low ? top : x < 0 ? -x : x) X(vnegss, x == low ? top : -x)

enum {
#define NAME(F, E, S) F##_2, F##_4,
  PACKED(NAME)
#define NAME1(F, E) F##_2, F##_4,
  UNARY(NAME1) sads2, sadu4, dp4a, dp2a, relu, addmax, min16, functions
};

__global__ void compute(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = a[i], y = b[i], *o = out + i * functions;
#define CALL(F, E, S) o[F##_2] = __##F##2(x, y), o[F##_4] = __##F##4(x, y);
  PACKED(CALL)
#define CALL1(F, E) o[F##_2] = __##F##2(x), o[F##_4] = __##F##4(x);
  UNARY(CALL1)
  o[sads2] = __vsads2(x, y), o[sadu4] = __vsadu4(x, y);
  o[dp4a] = __dp4a(__builtin_bit_cast(char4, x), __builtin_bit_cast(char4, y), 5);
  o[dp2a] = __dp2a_hi(__builtin_bit_cast(short2, x), __builtin_bit_cast(char4, y), 7);
  o[relu] = __vimax3_s32_relu(x, y, -3), o[addmax] = __viaddmax_s16x2(x, y, 0x00050005u);
  bool hi, lo;
  o[min16] = __vibmin_u16x2(x, y, &hi, &lo) ^ (unsigned)hi ^ (unsigned)lo << 1;
}

static int element(unsigned v, int i, int bits, bool with_sign) {
  int x = (int)(v >> i & ((1ll << bits) - 1));
  return with_sign && x >> (bits - 1) ? x - (1 << bits) : x;
}

static int check(unsigned a, unsigned b, const unsigned *o) {
  int wrong = 0;
  enum { s = 1, u = 0 };
  for (int bits = 8; bits <= 16; bits += 8) {
    unsigned mask = (1u << bits) - 1;
    for (int i = 0; i < 32; i += bits) {
#define CHECK(F, E, S)                                                            \
  {                                                                               \
    int x = element(a, i, bits, S), y = element(b, i, bits, S);                   \
    int top = S ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, low = S ? -top - 1 : 0; \
    (void)top, (void)low;                                                         \
    wrong += (o[bits == 8 ? F##_4 : F##_2] >> i & mask) != ((unsigned)(E) & mask); \
  }
      PACKED(CHECK)
#define CHECK1(F, E)                                                              \
  {                                                                               \
    int x = element(a, i, bits, true), top = (1 << (bits - 1)) - 1, low = -top - 1; \
    (void)top, (void)low;                                                         \
    wrong += (o[bits == 8 ? F##_4 : F##_2] >> i & mask) != ((unsigned)(E) & mask); \
  }
      UNARY(CHECK1)
    }
  }
  long sad2 = 0, sad4 = 0, dot = 5, half = 7;
  for (int i = 0; i < 32; i += 16) sad2 += labs((long)element(a, i, 16, true) - element(b, i, 16, true));
  for (int i = 0; i < 32; i += 8) {
    sad4 += labs((long)element(a, i, 8, false) - element(b, i, 8, false));
    dot += (long)element(a, i, 8, true) * element(b, i, 8, true);
  }
  for (int i = 0; i < 2; i++) half += (long)element(a, 16 * i, 16, true) * element(b, 16 + 8 * i, 8, true);
  wrong += o[sads2] != sad2 || o[sadu4] != sad4 || o[dp4a] != (unsigned)dot || o[dp2a] != (unsigned)half;
  int top = (int)a > (int)b ? (int)a : (int)b;
  wrong += o[relu] != (unsigned)(top < 0 ? 0 : top);
  unsigned sums = 0, least = 0;
  for (int i = 0; i < 32; i += 16) {
    short sum = (short)(element(a, i, 16, true) + element(b, i, 16, true));
    sums |= (unsigned)(unsigned short)(sum > 5 ? sum : 5) << i;
    int x = element(a, i, 16, false), y = element(b, i, 16, false);
    least |= (unsigned)(x < y ? x : y) << i;
    least ^= (unsigned)(x <= y) << (i == 0);
  }
  return wrong + (o[addmax] != sums) + (o[min16] != least);
}

__global__ void convert(const float *in, unsigned char *e2m3, unsigned char *e3m2, unsigned char *e2m1, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e2m3[i] = __nv_fp6_e2m3(in[i]).__x, e3m2[i] = __nv_fp6_e3m2(in[i]).__x, e2m1[i] = __nv_fp4_e2m1(in[i]).__x;
}

static double value(int code, int m, int bias) {
  int e = code >> m, f = code & ((1 << m) - 1);
  return e ? ldexp(f + (1 << m), e - bias - m) : ldexp(f, 1 - bias - m);
}

static int nearest(double v, int m, int bias, int most) {
  int best = 0;
  for (int c = 1; c <= most; c++) {
    double d = fabs(fabs(v) - value(c, m, bias)), least = fabs(fabs(v) - value(best, m, bias));
    if (d < least || (d == least && c % 2 == 0)) best = c;
  }
  return best | (std::signbit(v) ? most + 1 : 0);
}

int main() {
  const int n = 512;
  unsigned *a, *b, *out, seed = 1;
  cudaMallocManaged(&a, n * 4), cudaMallocManaged(&b, n * 4), cudaMallocManaged(&out, n * 4 * functions);
  for (int i = 0; i < n; i++) {
    a[i] = (seed = seed * 1664525 + 1013904223), b[i] = (seed = seed * 1664525 + 1013904223);
    if (i % 4 == 1) b[i] = a[i] ^ 0x00800001u;
    if (i % 8 == 2) a[i] = 0x80007fffu, b[i] = 0x80ff0180u;
  }
  compute<<<n / 64, 64>>>(a, b, out, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += check(a[i], b[i], out + i * functions);
  printf("%d wrong\n", wrong);

  float *in;
  unsigned char *to[3];
  cudaMallocManaged(&in, n * 4);
  for (auto &t : to) cudaMallocManaged(&t, n);
  for (int i = 0; i < n; i++) // each number, middles of two, others, and what is too large
    in[i] = (float)((i % 2 ? value(i / 8 % 32, 3, 1) : value(i / 8 % 32, 2, 3)) * (1 + i % 8 / 16.0) * (i % 3 ? 1 : -1));
  in[0] = 1000, in[1] = -1000, in[2] = 1e-30f;
  convert<<<n / 64, 64>>>(in, to[0], to[1], to[2], n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  wrong = 0;
  for (int i = 0; i < n; i++) {
    int want[3] = {nearest(in[i], 3, 1, 31), nearest(in[i], 2, 3, 31), nearest(in[i], 1, 1, 7)};
    for (int k = 0; k < 3; k++) wrong += to[k][i] != want[k];
    __nv_fp6_e2m3 back;
    back.__x = (unsigned char)want[0];
    wrong += fabs((float)back) != value(want[0] & 31, 3, 1);
  }
  wrong += __nv_fp6_e2m3(NAN).__x != 31 || __nv_fp6_e3m2(-INFINITY).__x != 63 || __nv_fp4_e2m1(NAN).__x != 7 || __nv_fp4x4_e2m1(make_float4(0, 1, 2, -6)).__x != 0xf420;
  wrong += (float)__nv_fp8_e8m0(3.0f) != 4 || (float)__nv_fp8_e8m0(0.25f) != 0.25f || __nv_fp8_e8m0(NAN).__x != 0xff;
  printf("%d wrong\n", wrong);
}
