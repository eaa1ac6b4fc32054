/* Complex numbers of the CUDA toolkit, as its documentation describes them. */
#ifndef HEDDLE_CUCOMPLEX_H
#define HEDDLE_CUCOMPLEX_H

#include <cuda_runtime.h>
#include <math.h>

typedef float2 cuFloatComplex;
__heddle_hd float cuCrealf(cuFloatComplex x) { return x.x; }
__heddle_hd float cuCimagf(cuFloatComplex x) { return x.y; }
__heddle_hd cuFloatComplex make_cuFloatComplex(float re, float im) {
  cuFloatComplex z;
  z.x = re;
  z.y = im;
  return z;
}
__heddle_hd cuFloatComplex cuConjf(cuFloatComplex x) { return make_cuFloatComplex(x.x, -x.y); }
__heddle_hd cuFloatComplex cuCaddf(cuFloatComplex x, cuFloatComplex y) { return make_cuFloatComplex(x.x + y.x, x.y + y.y); }
__heddle_hd cuFloatComplex cuCsubf(cuFloatComplex x, cuFloatComplex y) { return make_cuFloatComplex(x.x - y.x, x.y - y.y); }
__heddle_hd cuFloatComplex cuCmulf(cuFloatComplex x, cuFloatComplex y) {
  return make_cuFloatComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
__heddle_hd cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex z) { return cuCaddf(cuCmulf(x, y), z); }
/* Both parts are scaled, so that the squares of the divisor neither overflow nor vanish. */
__heddle_hd cuFloatComplex cuCdivf(cuFloatComplex x, cuFloatComplex y) {
  float scale = 1.0f / (fabsf(y.x) + fabsf(y.y));
  cuFloatComplex n = make_cuFloatComplex(x.x * scale, x.y * scale), d = make_cuFloatComplex(y.x * scale, y.y * scale);
  float norm = d.x * d.x + d.y * d.y;
  n = cuCmulf(n, cuConjf(d));
  return make_cuFloatComplex(n.x / norm, n.y / norm);
}
__heddle_hd float cuCabsf(cuFloatComplex x) { return hypotf(x.x, x.y); }

typedef double2 cuDoubleComplex;
__heddle_hd double cuCreal(cuDoubleComplex x) { return x.x; }
__heddle_hd double cuCimag(cuDoubleComplex x) { return x.y; }
__heddle_hd cuDoubleComplex make_cuDoubleComplex(double re, double im) {
  cuDoubleComplex z;
  z.x = re;
  z.y = im;
  return z;
}
__heddle_hd cuDoubleComplex cuConj(cuDoubleComplex x) { return make_cuDoubleComplex(x.x, -x.y); }
__heddle_hd cuDoubleComplex cuCadd(cuDoubleComplex x, cuDoubleComplex y) { return make_cuDoubleComplex(x.x + y.x, x.y + y.y); }
__heddle_hd cuDoubleComplex cuCsub(cuDoubleComplex x, cuDoubleComplex y) { return make_cuDoubleComplex(x.x - y.x, x.y - y.y); }
__heddle_hd cuDoubleComplex cuCmul(cuDoubleComplex x, cuDoubleComplex y) {
  return make_cuDoubleComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
__heddle_hd cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex z) { return cuCadd(cuCmul(x, y), z); }
/* Both parts are scaled, so that the squares of the divisor neither overflow nor vanish. */
__heddle_hd cuDoubleComplex cuCdiv(cuDoubleComplex x, cuDoubleComplex y) {
  double scale = 1.0 / (fabs(y.x) + fabs(y.y));
  cuDoubleComplex n = make_cuDoubleComplex(x.x * scale, x.y * scale), d = make_cuDoubleComplex(y.x * scale, y.y * scale);
  double norm = d.x * d.x + d.y * d.y;
  n = cuCmul(n, cuConj(d));
  return make_cuDoubleComplex(n.x / norm, n.y / norm);
}
__heddle_hd double cuCabs(cuDoubleComplex x) { return hypot(x.x, x.y); }

typedef cuFloatComplex cuComplex;
__heddle_hd cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
__heddle_hd cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex(x.x, x.y); }
__heddle_hd cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return make_cuFloatComplex((float)x.x, (float)x.y);
}

#endif
