/* cuBLAS: checks what its documentation demands of the arguments, and has heddle compute (internal/library). A function
   is work of the stream of its handle, as a launch is. Those that this file does not have are in library.c. */

enum {
  CUBLAS_SUCCESS = 0, CUBLAS_NOT_INITIALIZED = 1, CUBLAS_INVALID_VALUE = 7, CUBLAS_MAPPING_ERROR = 11,
  CUBLAS_EXECUTION_FAILED = 13, CUBLAS_NOT_SUPPORTED = 15
};
/* cudaDataType */
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, C_32F = 4, C_64F = 5, R_32I = 10, R_16BF = 14 };

struct cublasContext { cudaStream_t stream; int device_scalars, atomics, math; };
typedef struct cublasContext *blas_t;

/* A call: the type of its scalars, its name and where it was called. */
struct blas { blas_t h; int type; const char *name; uint64_t caller; };

static size_t type_size(int type) {
  switch (type) {
  case R_8I: return 1;
  case R_16F: case R_16BF: return 2;
  case R_32F: case R_32I: return 4;
  case R_64F: case C_32F: return 8;
  case C_64F: return 16;
  }
  return 0;
}

static uint64_t double_bits(double v) {
  uint64_t out;
  memcpy(&out, &v, sizeof out);
  return out;
}
/* The real or imaginary part of a scalar; for one in device memory its address, or 0. */
static uint64_t scalar_part(const struct blas *b, int type, const void *p, int part) {
  if (b->h->device_scalars) return part ? 0 : arena(p);
  const char *at = p;
  float f;
  double d;
  int32_t i;
  _Float16 half;
  uint16_t s;
  if (part && type != C_32F && type != C_64F) return 0;
  switch (type) {
  case R_32F: case C_32F: return memcpy(&f, at + 4 * part, 4), double_bits(f);
  case R_64F: case C_64F: return memcpy(&d, at + 8 * part, 8), double_bits(d);
  case R_16F: return memcpy(&half, at, 2), double_bits((float)half);
  case R_16BF:
    memcpy(&s, at, 2);
    i = (int32_t)((uint32_t)s << 16);
    return memcpy(&f, &i, 4), double_bits(f);
  case R_32I: return memcpy(&i, at, 4), double_bits(i);
  }
  return 0;
}
#define SCALAR_AS(TYPE, P) scalar_part(b, TYPE, P, 0), scalar_part(b, TYPE, P, 1)
#define SCALAR(P) SCALAR_AS(b->type, P)

/* Sends a call with its arguments, and waits for a result of size bytes if there is one. */
static int blas_call(const struct blas *b, uint32_t function, const uint64_t *args, size_t n, void *result, size_t size) {
  cudaError_t e = work(function, b->name, b->h->device_scalars, b->h->stream, b->caller, args, n, result, size);
  return e == cudaSuccess ? CUBLAS_SUCCESS : CUBLAS_EXECUTION_FAILED;
}
#define SEND(FUNCTION, ...) SEND_FOR(FUNCTION, NULL, 0, __VA_ARGS__)
#define SEND_FOR(FUNCTION, RESULT, SIZE, ...)                                                                 \
  do {                                                                                                        \
    const uint64_t args_[] = {__VA_ARGS__};                                                                   \
    return blas_call(b, HEDDLE_LIBRARY_##FUNCTION, args_, sizeof args_ / sizeof *args_, RESULT, SIZE);         \
  } while (0)

/* Fails unless CONDITION holds for the arguments of a call. A call may do nothing and must have a handle all the same. */
#define NEED(CONDITION)                                       \
  do {                                                        \
    if (!b->h) return CUBLAS_NOT_INITIALIZED;                 \
    if (heddle_enter() != cudaSuccess) return CUBLAS_EXECUTION_FAILED; \
    if (!(CONDITION)) return CUBLAS_INVALID_VALUE;            \
  } while (0)
static int leading(int ld, int rows) { return ld >= (rows > 1 ? rows : 1); }
static int operation(int op) { return op >= 0 && op <= 2; }
static int either(int v) { return v == 0 || v == 1; }

/* Handles. */
WEAK int cublasCreate(blas_t *to) {
  if (!to) return CUBLAS_INVALID_VALUE;
  if (heddle_enter() != cudaSuccess) return CUBLAS_NOT_INITIALIZED;
  *to = need(calloc(1, sizeof **to));
  return CUBLAS_SUCCESS;
}
WEAK int cublasDestroy(blas_t h) {
  if (!h) return CUBLAS_NOT_INITIALIZED;
  free(h);
  return CUBLAS_SUCCESS;
}
WEAK int cublasGetVersion(blas_t h, int *to) { return h && to ? (*to = 120900, CUBLAS_SUCCESS) : CUBLAS_INVALID_VALUE; }
WEAK int cublasGetProperty(int which, int *to) {
  if (!to || which < 0 || which > 2) return CUBLAS_INVALID_VALUE;
  *to = which == 0 ? 12 : which == 1 ? 9 : 0;
  return CUBLAS_SUCCESS;
}
WEAK int cublasSetStream(blas_t h, cudaStream_t s) {
  if (!h) return CUBLAS_NOT_INITIALIZED;
  h->stream = s;
  return CUBLAS_SUCCESS;
}
WEAK int cublasSetWorkspace(blas_t h, void *p, size_t n) { return (void)p, (void)n, h ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED; }
WEAK int cublasSetSmCountTarget(blas_t h, int n) { return n < 0 ? CUBLAS_INVALID_VALUE : h ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED; }
WEAK int cublasLoggerConfigure(int on, int out, int err, const char *file) { return (void)on, (void)out, (void)err, (void)file, CUBLAS_SUCCESS; }
#define MODE(NAME, FIELD)                                                                                                \
  WEAK int cublasSet##NAME(blas_t h, int mode) { return h ? (h->FIELD = mode, CUBLAS_SUCCESS) : CUBLAS_NOT_INITIALIZED; } \
  WEAK int cublasGet##NAME(blas_t h, int *to) { return h ? (*to = h->FIELD, CUBLAS_SUCCESS) : CUBLAS_NOT_INITIALIZED; }
MODE(PointerMode, device_scalars)
MODE(AtomicsMode, atomics)
MODE(MathMode, math)
WEAK int cublasGetStream(blas_t h, cudaStream_t *to) { return h ? (*to = h->stream, CUBLAS_SUCCESS) : CUBLAS_NOT_INITIALIZED; }

/* Copies between host and device. */
static int blas_copy(int rows, int cols, int size, const void *from, int from_ld, void *to, int to_ld, int to_device,
                     struct how how) {
  if (rows < 0 || cols < 0 || size <= 0 || from_ld <= 0 || to_ld <= 0) return CUBLAS_INVALID_VALUE;
  if (from_ld == rows && to_ld == rows) rows *= cols, from_ld = to_ld = rows, cols = rows > 0;
  size_t width = (size_t)rows * (size_t)size;
  cudaError_t e = copy_2d(to, (size_t)to_ld * (size_t)size, from, (size_t)from_ld * (size_t)size, width, (size_t)cols,
                          to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, how);
  return e == cudaSuccess ? CUBLAS_SUCCESS : CUBLAS_MAPPING_ERROR;
}
#define COPIES(NAME, TO_DEVICE)                                                                                       \
  WEAK int cublas##NAME##Vector(int n, int size, const void *x, int incx, void *y, int incy) {                        \
    return blas_copy(1, n, size, x, incx, y, incy, TO_DEVICE, HOW(0, 0));                                             \
  }                                                                                                                   \
  WEAK int cublas##NAME##VectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t s) {   \
    return blas_copy(1, n, size, x, incx, y, incy, TO_DEVICE, HOW(s, 1));                                             \
  }                                                                                                                   \
  WEAK int cublas##NAME##Matrix(int m, int n, int size, const void *a, int lda, void *b, int ldb) {                   \
    return blas_copy(m, n, size, a, lda, b, ldb, TO_DEVICE, HOW(0, 0));                                               \
  }                                                                                                                   \
  WEAK int cublas##NAME##MatrixAsync(int m, int n, int size, const void *a, int lda, void *b, int ldb, cudaStream_t s) { \
    return blas_copy(m, n, size, a, lda, b, ldb, TO_DEVICE, HOW(s, 1));                                               \
  }
COPIES(Set, 1)
COPIES(Get, 0)

/* The functions for all types. */
struct operand { const void *p; int type, ld; long long stride; };

static int blas_gemm(const struct blas *b, int ta, int tb, int m, int n, int k, const void *alpha, struct operand x,
                     struct operand y, const void *beta, struct operand z, int count, int arrays) {
  NEED(m >= 0 && n >= 0 && k >= 0 && count >= 0 && operation(ta) && operation(tb) && leading(x.ld, ta ? k : m) &&
       leading(y.ld, tb ? n : k) && leading(z.ld, m) && alpha && beta && z.p);
  if (!type_size(x.type) || !type_size(y.type) || !type_size(z.type) || !type_size(b->type)) {
    heddle_unsupported(b->name);
    return CUBLAS_NOT_SUPPORTED;
  }
  SEND(GEMM, x.type, y.type, z.type, b->type, ta, tb, m, n, k, SCALAR(alpha), arena(x.p), x.ld, x.stride, arena(y.p), y.ld,
       y.stride, SCALAR(beta), arena(z.p), z.ld, z.stride, count, arrays);
}
static int blas_symm(const struct blas *b, int hermitian, int side, int fill, int m, int n, const void *alpha,
                     const void *a, int lda, const void *y, int ldb, const void *beta, void *z, int ldc) {
  NEED(m >= 0 && n >= 0 && either(side) && either(fill) && leading(lda, side ? n : m) && leading(ldb, m) && leading(ldc, m) &&
       alpha && beta);
  SEND(SYMM, b->type, hermitian, side, fill, m, n, SCALAR(alpha), arena(a), lda, arena(y), ldb, SCALAR(beta), arena(z), ldc);
}
static int real_of(int type) { return type == C_32F ? R_32F : type == C_64F ? R_64F : type; }
static int blas_syrk(const struct blas *b, int hermitian, int fill, int op, int n, int k, const void *alpha, const void *a,
                     int lda, const void *beta, void *z, int ldc) {
  NEED(n >= 0 && k >= 0 && either(fill) && operation(op) && leading(lda, op ? k : n) && leading(ldc, n) && alpha && beta);
  int scalar = hermitian ? real_of(b->type) : b->type;
  SEND(SYRK, b->type, hermitian, fill, op, n, k, SCALAR_AS(scalar, alpha), arena(a), lda, SCALAR_AS(scalar, beta), arena(z), ldc);
}
static int blas_syr2k(const struct blas *b, int fill, int op, int n, int k, const void *alpha, const void *a, int lda,
                      const void *y, int ldb, const void *beta, void *z, int ldc) {
  NEED(n >= 0 && k >= 0 && either(fill) && operation(op) && leading(lda, op ? k : n) && leading(ldb, op ? k : n) &&
       leading(ldc, n) && alpha && beta);
  SEND(SYR2K, b->type, fill, op, n, k, SCALAR(alpha), arena(a), lda, arena(y), ldb, SCALAR(beta), arena(z), ldc);
}
static int blas_trmm(const struct blas *b, int side, int fill, int op, int diag, int m, int n, const void *alpha,
                     const void *a, int lda, const void *y, int ldb, void *z, int ldc) {
  NEED(m >= 0 && n >= 0 && either(side) && either(fill) && operation(op) && either(diag) && leading(lda, side ? n : m) &&
       leading(ldb, m) && leading(ldc, m) && alpha);
  SEND(TRMM, b->type, side, fill, op, diag, m, n, SCALAR(alpha), arena(a), lda, arena(y), ldb, arena(z), ldc);
}
static int blas_trsm(const struct blas *b, int side, int fill, int op, int diag, int m, int n, const void *alpha,
                     const void *a, int lda, const void *y, int ldb, int count, int arrays) {
  NEED(m >= 0 && n >= 0 && count >= 0 && either(side) && either(fill) && operation(op) && either(diag) &&
       leading(lda, side ? n : m) && leading(ldb, m) && alpha);
  SEND(TRSM, b->type, side, fill, op, diag, m, n, SCALAR(alpha), arena(a), lda, arena(y), ldb, count, arrays);
}
static int blas_geam(const struct blas *b, int ta, int tb, int m, int n, const void *alpha, const void *a, int lda,
                     const void *beta, const void *y, int ldb, void *z, int ldc) {
  NEED(m >= 0 && n >= 0 && operation(ta) && operation(tb) && leading(lda, ta ? n : m) && leading(ldb, tb ? n : m) &&
       leading(ldc, m) && alpha && beta);
  SEND(GEAM, b->type, ta, tb, m, n, SCALAR(alpha), arena(a), lda, SCALAR(beta), arena(y), ldb, arena(z), ldc);
}
static int blas_dgmm(const struct blas *b, int side, int m, int n, const void *a, int lda, const void *x, int incx, void *z,
                     int ldc) {
  NEED(m >= 0 && n >= 0 && either(side) && leading(lda, m) && leading(ldc, m) && incx);
  SEND(DGMM, b->type, side, m, n, arena(a), lda, arena(x), incx, arena(z), ldc);
}
static int blas_gemv(const struct blas *b, int op, int m, int n, const void *alpha, const void *a, int lda, const void *x,
                     int incx, const void *beta, void *y, int incy) {
  NEED(m >= 0 && n >= 0 && operation(op) && leading(lda, m) && incx && incy && alpha && beta);
  SEND(GEMV, b->type, op, m, n, SCALAR(alpha), arena(a), lda, arena(x), incx, SCALAR(beta), arena(y), incy);
}
static int blas_ger(const struct blas *b, int conj, int m, int n, const void *alpha, const void *x, int incx, const void *y,
                    int incy, void *a, int lda) {
  NEED(m >= 0 && n >= 0 && incx && incy && leading(lda, m) && alpha);
  SEND(GER, b->type, conj, m, n, SCALAR(alpha), arena(x), incx, arena(y), incy, arena(a), lda);
}
static int blas_symv(const struct blas *b, int hermitian, int fill, int n, const void *alpha, const void *a, int lda,
                     const void *x, int incx, const void *beta, void *y, int incy) {
  NEED(n >= 0 && either(fill) && leading(lda, n) && incx && incy && alpha && beta);
  SEND(SYMV, b->type, hermitian, fill, n, SCALAR(alpha), arena(a), lda, arena(x), incx, SCALAR(beta), arena(y), incy);
}
static int blas_trmv(const struct blas *b, int fill, int op, int diag, int n, const void *a, int lda, void *x, int incx) {
  NEED(n >= 0 && either(fill) && operation(op) && either(diag) && leading(lda, n) && incx);
  SEND(TRMV, b->type, fill, op, diag, n, arena(a), lda, arena(x), incx);
}
static int blas_trsv(const struct blas *b, int fill, int op, int diag, int n, const void *a, int lda, void *x, int incx) {
  NEED(n >= 0 && either(fill) && operation(op) && either(diag) && leading(lda, n) && incx);
  SEND(TRSV, b->type, fill, op, diag, n, arena(a), lda, arena(x), incx);
}

/* Vectors. Those with n of 0 or less do nothing. */
static int blas_axpy(const struct blas *b, int n, const void *alpha, const void *x, int tx, int incx, void *y, int ty,
                     int incy) {
  NEED(alpha && incx && incy);
  if (n <= 0) return CUBLAS_SUCCESS;
  SEND(AXPY, b->type, tx, ty, n, SCALAR(alpha), arena(x), incx, arena(y), incy);
}
static int blas_copy_vector(const struct blas *b, int n, const void *x, int incx, void *y, int incy) {
  NEED(incx && incy);
  if (n <= 0) return CUBLAS_SUCCESS;
  SEND(COPY, b->type, n, arena(x), incx, arena(y), incy);
}
static int blas_swap(const struct blas *b, int n, void *x, int incx, void *y, int incy) {
  NEED(incx && incy);
  if (n <= 0) return CUBLAS_SUCCESS;
  SEND(SWAP, b->type, n, arena(x), incx, arena(y), incy);
}
static int blas_scal(const struct blas *b, int n, const void *alpha, void *x, int type, int incx) {
  NEED(alpha);
  if (n <= 0 || incx <= 0) return CUBLAS_SUCCESS;
  SEND(SCAL, b->type, type, n, SCALAR(alpha), arena(x), incx);
}
static int blas_rot(const struct blas *b, int n, void *x, int incx, void *y, int incy, const void *c, const void *s) {
  NEED(incx && incy && c && s);
  if (n <= 0) return CUBLAS_SUCCESS;
  SEND(ROT, b->type, n, arena(x), incx, arena(y), incy, SCALAR(c), SCALAR(s));
}
/* A result goes to device memory, or to the host, which waits for it. */
#define REDUCE(FUNCTION, RESULT, TYPE, ...)                                                                  \
  do {                                                                                                       \
    NEED(RESULT);                                                                                            \
    int device_ = b->h->device_scalars;                                                                      \
    SEND_FOR(FUNCTION, device_ ? NULL : RESULT, device_ ? 0 : type_size(TYPE), __VA_ARGS__, device_ ? arena(RESULT) : 0); \
  } while (0)
static int blas_dot(const struct blas *b, int conj, int n, const void *x, int tx, int incx, const void *y, int ty, int incy,
                    void *result) {
  REDUCE(DOT, result, b->type, tx, ty, b->type, conj, n > 0 ? n : 0, arena(x), incx, arena(y), incy);
}
static int blas_nrm2(const struct blas *b, int n, const void *x, int type, int incx, void *result) {
  REDUCE(NRM2, result, b->type, type, b->type, n > 0 && incx > 0 ? n : 0, arena(x), incx);
}
static int blas_asum(const struct blas *b, int n, const void *x, int type, int incx, void *result) {
  REDUCE(ASUM, result, b->type, type, b->type, n > 0 && incx > 0 ? n : 0, arena(x), incx);
}
static int blas_extent(const struct blas *b, int smallest, int n, const void *x, int incx, int *result) {
  REDUCE(EXTENT, result, R_32I, b->type, smallest, n > 0 && incx > 0 ? n : 0, arena(x), incx);
}

/* Batches of small systems. */
static int blas_getrf(const struct blas *b, int n, void *const a[], int lda, int *pivots, int *info, int count) {
  NEED(n >= 0 && count >= 0 && leading(lda, n));
  SEND(GETRF, b->type, n, arena(a), lda, arena(pivots), arena(info), count);
}
static int blas_getri(const struct blas *b, int n, const void *const a[], int lda, const int *pivots, void *const z[],
                      int ldc, int *info, int count) {
  NEED(n >= 0 && count >= 0 && leading(lda, n) && leading(ldc, n));
  SEND(GETRI, b->type, n, arena(a), lda, arena(pivots), arena(z), ldc, arena(info), count);
}
static int blas_getrs(const struct blas *b, int op, int n, int cols, const void *const a[], int lda, const int *pivots,
                      void *const y[], int ldb, int *info, int count) {
  NEED(info);
  *info = n < 0 ? -2 : cols < 0 ? -3 : !leading(lda, n) ? -5 : !leading(ldb, n) ? -8 : count < 0 ? -10 : 0;
  NEED(!*info && operation(op));
  SEND(GETRS, b->type, op, n, cols, arena(a), lda, arena(pivots), arena(y), ldb, count);
}
static int blas_matinv(const struct blas *b, int n, const void *const a[], int lda, void *const z[], int ldc, int *info,
                       int count) {
  NEED(n >= 0 && n <= 32 && count >= 0 && leading(lda, n) && leading(ldc, n));
  SEND(MATINV, b->type, n, arena(a), lda, arena(z), ldc, arena(info), count);
}

/* The functions by their names. */
#define BLAS(NAME, TYPE, CALL, ...)                                                           \
  WEAK int NAME(blas_t h, __VA_ARGS__) {                                                      \
    const struct blas b_ = {h, TYPE, #NAME, CALLER}, *b = &b_;                                \
    return CALL;                                                                              \
  }
#define OPERAND(P, TYPE, LD) ((struct operand){P, TYPE, LD, 0})
#define STRIDED(P, TYPE, LD, STRIDE) ((struct operand){P, TYPE, LD, STRIDE})
typedef const void *in;
typedef const void *const *ins;
typedef void *const *outs;

#define GEMM(NAME, TYPE)                                                                                                  \
  BLAS(NAME, TYPE, blas_gemm(b, ta, tb, m, n, k, alpha, OPERAND(x, TYPE, lda), OPERAND(y, TYPE, ldb), beta,               \
                             OPERAND(z, TYPE, ldc), 1, 0),                                                                \
       int ta, int tb, int m, int n, int k, in alpha, in x, int lda, in y, int ldb, in beta, void *z, int ldc)
#define GEMMS(NAME, TYPE)                                                                                                 \
  GEMM(NAME, TYPE)                                                                                                        \
  BLAS(NAME##Batched, TYPE,                                                                                               \
       blas_gemm(b, ta, tb, m, n, k, alpha, OPERAND(x, TYPE, lda), OPERAND(y, TYPE, ldb), beta, OPERAND(z, TYPE, ldc),    \
                 count, 1),                                                                                               \
       int ta, int tb, int m, int n, int k, in alpha, ins x, int lda, ins y, int ldb, in beta, outs z, int ldc, int count) \
  BLAS(NAME##StridedBatched, TYPE,                                                                                        \
       blas_gemm(b, ta, tb, m, n, k, alpha, STRIDED(x, TYPE, lda, sx), STRIDED(y, TYPE, ldb, sy), beta,                   \
                 STRIDED(z, TYPE, ldc, sz), count, 0),                                                                    \
       int ta, int tb, int m, int n, int k, in alpha, in x, int lda, long long sx, in y, int ldb, long long sy, in beta,  \
       void *z, int ldc, long long sz, int count)
#define ANY(L, l, TYPE)                                                                                                   \
  BLAS(cublas##L##axpy, TYPE, blas_axpy(b, n, alpha, x, TYPE, incx, y, TYPE, incy), int n, in alpha, in x, int incx,      \
       void *y, int incy)                                                                                                 \
  BLAS(cublas##L##copy, TYPE, blas_copy_vector(b, n, x, incx, y, incy), int n, in x, int incx, void *y, int incy)         \
  BLAS(cublas##L##swap, TYPE, blas_swap(b, n, x, incx, y, incy), int n, void *x, int incx, void *y, int incy)             \
  BLAS(cublas##L##scal, TYPE, blas_scal(b, n, alpha, x, TYPE, incx), int n, in alpha, void *x, int incx)                  \
  BLAS(cublasI##l##amax, TYPE, blas_extent(b, 0, n, x, incx, result), int n, in x, int incx, int *result)                 \
  BLAS(cublasI##l##amin, TYPE, blas_extent(b, 1, n, x, incx, result), int n, in x, int incx, int *result)                 \
  BLAS(cublas##L##gemv, TYPE, blas_gemv(b, op, m, n, alpha, a, lda, x, incx, beta, y, incy), int op, int m, int n,        \
       in alpha, in a, int lda, in x, int incx, in beta, void *y, int incy)                                               \
  BLAS(cublas##L##trmv, TYPE, blas_trmv(b, fill, op, diag, n, a, lda, x, incx), int fill, int op, int diag, int n, in a,  \
       int lda, void *x, int incx)                                                                                        \
  BLAS(cublas##L##trsv, TYPE, blas_trsv(b, fill, op, diag, n, a, lda, x, incx), int fill, int op, int diag, int n, in a,  \
       int lda, void *x, int incx)                                                                                        \
  BLAS(cublas##L##symv, TYPE, blas_symv(b, 0, fill, n, alpha, a, lda, x, incx, beta, y, incy), int fill, int n, in alpha, \
       in a, int lda, in x, int incx, in beta, void *y, int incy)                                                         \
  GEMMS(cublas##L##gemm, TYPE)                                                                                            \
  BLAS(cublas##L##symm, TYPE, blas_symm(b, 0, side, fill, m, n, alpha, a, lda, y, ldb, beta, z, ldc), int side, int fill, \
       int m, int n, in alpha, in a, int lda, in y, int ldb, in beta, void *z, int ldc)                                   \
  BLAS(cublas##L##syrk, TYPE, blas_syrk(b, 0, fill, op, n, k, alpha, a, lda, beta, z, ldc), int fill, int op, int n,      \
       int k, in alpha, in a, int lda, in beta, void *z, int ldc)                                                         \
  BLAS(cublas##L##syr2k, TYPE, blas_syr2k(b, fill, op, n, k, alpha, a, lda, y, ldb, beta, z, ldc), int fill, int op,      \
       int n, int k, in alpha, in a, int lda, in y, int ldb, in beta, void *z, int ldc)                                   \
  BLAS(cublas##L##trmm, TYPE, blas_trmm(b, side, fill, op, diag, m, n, alpha, a, lda, y, ldb, z, ldc), int side, int fill, \
       int op, int diag, int m, int n, in alpha, in a, int lda, in y, int ldb, void *z, int ldc)                          \
  BLAS(cublas##L##trsm, TYPE, blas_trsm(b, side, fill, op, diag, m, n, alpha, a, lda, y, ldb, 1, 0), int side, int fill,  \
       int op, int diag, int m, int n, in alpha, in a, int lda, void *y, int ldb)                                         \
  BLAS(cublas##L##trsmBatched, TYPE, blas_trsm(b, side, fill, op, diag, m, n, alpha, a, lda, y, ldb, count, 1), int side, \
       int fill, int op, int diag, int m, int n, in alpha, ins a, int lda, outs y, int ldb, int count)                    \
  BLAS(cublas##L##geam, TYPE, blas_geam(b, ta, tb, m, n, alpha, a, lda, beta, y, ldb, z, ldc), int ta, int tb, int m,     \
       int n, in alpha, in a, int lda, in beta, in y, int ldb, void *z, int ldc)                                          \
  BLAS(cublas##L##dgmm, TYPE, blas_dgmm(b, side, m, n, a, lda, x, incx, z, ldc), int side, int m, int n, in a, int lda,   \
       in x, int incx, void *z, int ldc)                                                                                  \
  BLAS(cublas##L##getrfBatched, TYPE, blas_getrf(b, n, a, lda, pivots, info, count), int n, outs a, int lda, int *pivots, \
       int *info, int count)                                                                                              \
  BLAS(cublas##L##getriBatched, TYPE, blas_getri(b, n, a, lda, pivots, z, ldc, info, count), int n, ins a, int lda,       \
       const int *pivots, outs z, int ldc, int *info, int count)                                                          \
  BLAS(cublas##L##getrsBatched, TYPE, blas_getrs(b, op, n, cols, a, lda, pivots, y, ldb, info, count), int op, int n,     \
       int cols, ins a, int lda, const int *pivots, outs y, int ldb, int *info, int count)                                \
  BLAS(cublas##L##matinvBatched, TYPE, blas_matinv(b, n, a, lda, z, ldc, info, count), int n, ins a, int lda, outs z,     \
       int ldc, int *info, int count)
#define GER(NAME, TYPE, CONJ)                                                                                             \
  BLAS(NAME, TYPE, blas_ger(b, CONJ, m, n, alpha, x, incx, y, incy, a, lda), int m, int n, in alpha, in x, int incx,      \
       in y, int incy, void *a, int lda)
#define DOT(NAME, TYPE, CONJ)                                                                                             \
  BLAS(NAME, TYPE, blas_dot(b, CONJ, n, x, TYPE, incx, y, TYPE, incy, result), int n, in x, int incx, in y, int incy,     \
       void *result)
#define NORMS(NRM2, ASUM, TYPE)                                                                                           \
  BLAS(NRM2, real_of(TYPE), blas_nrm2(b, n, x, TYPE, incx, result), int n, in x, int incx, void *result)                  \
  BLAS(ASUM, real_of(TYPE), blas_asum(b, n, x, TYPE, incx, result), int n, in x, int incx, void *result)
#define REAL(L, l, TYPE)                                                                                                  \
  ANY(L, l, TYPE)                                                                                                         \
  DOT(cublas##L##dot, TYPE, 0)                                                                                            \
  GER(cublas##L##ger, TYPE, 0)                                                                                            \
  NORMS(cublas##L##nrm2, cublas##L##asum, TYPE)                                                                           \
  BLAS(cublas##L##rot, TYPE, blas_rot(b, n, x, incx, y, incy, c, s), int n, void *x, int incx, void *y, int incy, in c, in s)
#define COMPLEX(L, l, TYPE)                                                                                               \
  ANY(L, l, TYPE)                                                                                                         \
  DOT(cublas##L##dotu, TYPE, 0)                                                                                           \
  DOT(cublas##L##dotc, TYPE, 1)                                                                                           \
  GER(cublas##L##geru, TYPE, 0)                                                                                           \
  GER(cublas##L##gerc, TYPE, 1)                                                                                           \
  BLAS(cublas##L##hemm, TYPE, blas_symm(b, 1, side, fill, m, n, alpha, a, lda, y, ldb, beta, z, ldc), int side, int fill, \
       int m, int n, in alpha, in a, int lda, in y, int ldb, in beta, void *z, int ldc)                                   \
  BLAS(cublas##L##hemv, TYPE, blas_symv(b, 1, fill, n, alpha, a, lda, x, incx, beta, y, incy), int fill, int n, in alpha, \
       in a, int lda, in x, int incx, in beta, void *y, int incy)                                                         \
  BLAS(cublas##L##herk, TYPE, blas_syrk(b, 1, fill, op, n, k, alpha, a, lda, beta, z, ldc), int fill, int op, int n,      \
       int k, in alpha, in a, int lda, in beta, void *z, int ldc)
REAL(S, s, R_32F)
REAL(D, d, R_64F)
COMPLEX(C, c, C_32F)
COMPLEX(Z, z, C_64F)
GEMMS(cublasHgemm, R_16F)
GEMM(cublasCgemm3m, C_32F)
NORMS(cublasScnrm2, cublasScasum, C_32F)
NORMS(cublasDznrm2, cublasDzasum, C_64F)
BLAS(cublasCsscal, R_32F, blas_scal(b, n, alpha, x, C_32F, incx), int n, in alpha, void *x, int incx)
BLAS(cublasZdscal, R_64F, blas_scal(b, n, alpha, x, C_64F, incx), int n, in alpha, void *x, int incx)

/* With types as arguments. The scalars have the type of the computation. */
static int scalar_type(int compute, int matrix) {
  int is_complex = matrix == C_32F || matrix == C_64F;
  switch (compute) {
  case 64: case 65: return R_16F;                                      /* CUBLAS_COMPUTE_16F */
  case 68: case 69: case 74: case 75: case 77: return is_complex ? C_32F : R_32F; /* CUBLAS_COMPUTE_32F */
  case 70: case 71: return is_complex ? C_64F : R_64F;                 /* CUBLAS_COMPUTE_64F */
  case 72: case 73: return R_32I;                                      /* CUBLAS_COMPUTE_32I */
  }
  return -1;
}
#define GEMM_EX(NAME, TYPE)                                                                                               \
  BLAS(NAME, TYPE, blas_gemm(b, ta, tb, m, n, k, alpha, OPERAND(x, tx, lda), OPERAND(y, ty, ldb), beta,                   \
                             OPERAND(z, tz, ldc), 1, 0),                                                                  \
       int ta, int tb, int m, int n, int k, in alpha, in x, int tx, int lda, in y, int ty, int ldb, in beta, void *z,     \
       int tz, int ldc)
GEMM_EX(cublasSgemmEx, R_32F)
GEMM_EX(cublasCgemmEx, C_32F)
BLAS(cublasGemmEx, scalar_type(compute, tx),
     blas_gemm(b, ta, tb, m, n, k, alpha, OPERAND(x, tx, lda), OPERAND(y, ty, ldb), beta, OPERAND(z, tz, ldc), 1, 0),
     int ta, int tb, int m, int n, int k, in alpha, in x, int tx, int lda, in y, int ty, int ldb, in beta, void *z, int tz,
     int ldc, int compute, int algorithm)
BLAS(cublasGemmBatchedEx, scalar_type(compute, tx),
     blas_gemm(b, ta, tb, m, n, k, alpha, OPERAND(x, tx, lda), OPERAND(y, ty, ldb), beta, OPERAND(z, tz, ldc), count, 1),
     int ta, int tb, int m, int n, int k, in alpha, ins x, int tx, int lda, ins y, int ty, int ldb, in beta, outs z, int tz,
     int ldc, int count, int compute, int algorithm)
BLAS(cublasGemmStridedBatchedEx, scalar_type(compute, tx),
     blas_gemm(b, ta, tb, m, n, k, alpha, STRIDED(x, tx, lda, sx), STRIDED(y, ty, ldb, sy), beta, STRIDED(z, tz, ldc, sz),
               count, 0),
     int ta, int tb, int m, int n, int k, in alpha, in x, int tx, int lda, long long sx, in y, int ty, int ldb,
     long long sy, in beta, void *z, int tz, int ldc, long long sz, int count, int compute, int algorithm)
BLAS(cublasAxpyEx, type, blas_axpy(b, n, alpha, x, tx, incx, y, ty, incy), int n, in alpha, int type, in x, int tx,
     int incx, void *y, int ty, int incy, int execution)
BLAS(cublasDotEx, type, blas_dot(b, 0, n, x, tx, incx, y, ty, incy, result), int n, in x, int tx, int incx, in y, int ty,
     int incy, void *result, int type, int execution)
BLAS(cublasNrm2Ex, type, blas_nrm2(b, n, x, tx, incx, result), int n, in x, int tx, int incx, void *result, int type,
     int execution)
BLAS(cublasScalEx, type, blas_scal(b, n, alpha, x, tx, incx), int n, in alpha, int type, void *x, int tx, int incx,
     int execution)
#undef BLAS
#undef REAL
#undef COMPLEX
#undef ANY
