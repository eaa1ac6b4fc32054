/* cuFFT: plans are kept here, and heddle transforms (internal/library). Callbacks and several devices are in library.c. */

enum {
  CUFFT_OK = 0, CUFFT_BAD_PLAN = 1, CUFFT_BAD_TYPE = 3, CUFFT_BAD_VALUE = 4, CUFFT_FAILED = 6, CUFFT_BAD_SIZE = 8,
  CUFFT_NOT_SUPPORTED = 16
};

/* How the elements of one side lie in memory (cuFFT, "Advanced Data Layout"); given is 0 for the basic layout. */
struct fft_layout { int given; long long embed[3], stride, dist; };
struct fft_plan {
  int used, made, type, rank;
  long long n[3], batch;
  struct fft_layout in, out;
  cudaStream_t stream;
};
static struct fft_plan *fft_plans; /* handles count from 1 */
static size_t fft_plan_count;

static struct fft_plan *fft_plan(int handle) {
  return handle > 0 && (size_t)handle <= fft_plan_count && fft_plans[handle - 1].used ? &fft_plans[handle - 1] : NULL;
}
static int fft_element(int type) { return type == 0x2a || type == 0x2c || type == 0x29 ? 8 : 16; }

WEAK int cufftCreate(int *to) {
  if (!to) return CUFFT_BAD_VALUE;
  if (heddle_enter() != cudaSuccess) return CUFFT_FAILED;
  lock();
  size_t i = 0;
  while (i < fft_plan_count && fft_plans[i].used) i++;
  if (i == fft_plan_count) fft_plans = need(realloc(fft_plans, ++fft_plan_count * sizeof *fft_plans));
  fft_plans[i] = (struct fft_plan){.used = 1};
  unlock();
  *to = (int)i + 1;
  return CUFFT_OK;
}
WEAK int cufftDestroy(int handle) {
  struct fft_plan *p = fft_plan(handle);
  if (!p) return CUFFT_BAD_PLAN;
  p->used = 0;
  return CUFFT_OK;
}
WEAK int cufftSetStream(int handle, cudaStream_t s) {
  struct fft_plan *p = fft_plan(handle);
  if (!p) return CUFFT_BAD_PLAN;
  p->stream = s;
  return CUFFT_OK;
}
WEAK int cufftSetWorkArea(int handle, void *area) { return (void)area, fft_plan(handle) ? CUFFT_OK : CUFFT_BAD_PLAN; }
WEAK int cufftSetAutoAllocation(int handle, int on) { return (void)on, fft_plan(handle) ? CUFFT_OK : CUFFT_BAD_PLAN; }
WEAK int cufftGetVersion(int *to) { return to ? (*to = 11400, CUFFT_OK) : CUFFT_BAD_VALUE; }

static int fft_make(int handle, int rank, const long long *n, const struct fft_layout *in, const struct fft_layout *out,
                    int type, long long batch, size_t *size) {
  struct fft_plan *p = fft_plan(handle);
  if (!p || p->made) return CUFFT_BAD_PLAN;
  if (rank < 1 || rank > 3) return CUFFT_BAD_VALUE;
  if (type != 0x2a && type != 0x2c && type != 0x29 && type != 0x6a && type != 0x6c && type != 0x69) return CUFFT_BAD_TYPE;
  long long all = batch;
  for (int i = 0; i < rank; i++) {
    if (n[i] <= 0) return CUFFT_BAD_SIZE;
    all *= n[i];
    p->n[i] = n[i];
  }
  if (batch <= 0) return CUFFT_BAD_SIZE;
  p->rank = rank, p->type = type, p->batch = batch, p->in = *in, p->out = *out, p->made = 1;
  if (size) *size = (size_t)all * (size_t)fft_element(type);
  return CUFFT_OK;
}
static int fft_simple(int handle, int rank, int x, int y, int z, int type, int batch, size_t *size) {
  const struct fft_layout basic = {0};
  return fft_make(handle, rank, (long long[]){x, y, z}, &basic, &basic, type, batch, size);
}
static struct fft_layout fft_side(int rank, const long long *embed, long long stride, long long dist) {
  struct fft_layout l = {.given = embed != NULL, .stride = stride, .dist = dist};
  for (int i = 0; embed && i < rank && i < 3; i++) l.embed[i] = embed[i];
  return l;
}
WEAK int cufftMakePlan1d(int h, int n, int type, int batch, size_t *size) { return fft_simple(h, 1, n, 0, 0, type, batch, size); }
WEAK int cufftMakePlan2d(int h, int x, int y, int type, size_t *size) { return fft_simple(h, 2, x, y, 0, type, 1, size); }
WEAK int cufftMakePlan3d(int h, int x, int y, int z, int type, size_t *size) { return fft_simple(h, 3, x, y, z, type, 1, size); }
/* With null for one of the two embeds both sides have the basic layout. */
WEAK int cufftMakePlanMany64(int h, int rank, long long *n, long long *in, long long is, long long id, long long *out,
                             long long os, long long od, int type, long long batch, size_t *size) {
  if (!n) return CUFFT_BAD_VALUE;
  if (!in || !out) in = out = NULL;
  struct fft_layout from = fft_side(rank, in, is, id), to = fft_side(rank, out, os, od);
  return fft_make(h, rank, n, &from, &to, type, batch, size);
}
WEAK int cufftMakePlanMany(int h, int rank, int *n, int *in, int is, int id, int *out, int os, int od, int type, int batch,
                           size_t *size) {
  long long wide[3][3] = {{0}};
  if (!n || rank < 1 || rank > 3) return CUFFT_BAD_VALUE;
  for (int i = 0; i < rank; i++) wide[0][i] = n[i], wide[1][i] = in ? in[i] : 0, wide[2][i] = out ? out[i] : 0;
  return cufftMakePlanMany64(h, rank, wide[0], in ? wide[1] : NULL, is, id, out ? wide[2] : NULL, os, od, type, batch, size);
}
/* By types of elements (cudaDataType), which must be those of a cufftType: half precision is not computed. */
WEAK int cufftXtMakePlanMany(int h, int rank, long long *n, long long *in, long long is, long long id, int in_type,
                             long long *out, long long os, long long od, int out_type, long long batch, size_t *size,
                             int execution) {
  static const int types[][4] = {{C_32F, C_32F, C_32F, 0x29}, {R_32F, C_32F, C_32F, 0x2a}, {C_32F, R_32F, C_32F, 0x2c},
                                 {C_64F, C_64F, C_64F, 0x69}, {R_64F, C_64F, C_64F, 0x6a}, {C_64F, R_64F, C_64F, 0x6c}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i][0] == in_type && types[i][1] == out_type && types[i][2] == execution)
      return cufftMakePlanMany64(h, rank, n, in, is, id, out, os, od, types[i][3], batch, size);
  heddle_unsupported("cufftXtMakePlanMany of other types than float and double");
  return CUFFT_NOT_SUPPORTED;
}
/* Creates a plan and makes it. */
#define FFT_PLAN(MAKE)                     \
  do {                                     \
    int e_ = cufftCreate(to);              \
    if (e_ == CUFFT_OK && (e_ = (MAKE)) != CUFFT_OK) cufftDestroy(*to); \
    return e_;                             \
  } while (0)
WEAK int cufftPlan1d(int *to, int n, int type, int batch) { FFT_PLAN(cufftMakePlan1d(*to, n, type, batch, NULL)); }
WEAK int cufftPlan2d(int *to, int x, int y, int type) { FFT_PLAN(cufftMakePlan2d(*to, x, y, type, NULL)); }
WEAK int cufftPlan3d(int *to, int x, int y, int z, int type) { FFT_PLAN(cufftMakePlan3d(*to, x, y, z, type, NULL)); }
WEAK int cufftPlanMany(int *to, int rank, int *n, int *in, int is, int id, int *out, int os, int od, int type, int batch) {
  FFT_PLAN(cufftMakePlanMany(*to, rank, n, in, is, id, out, os, od, type, batch, NULL));
}
static int fft_estimate(long long all, int type, size_t *size) {
  if (!size) return CUFFT_BAD_VALUE;
  *size = (size_t)all * (size_t)fft_element(type);
  return CUFFT_OK;
}
WEAK int cufftEstimate1d(int n, int type, int batch, size_t *size) { return fft_estimate((long long)n * batch, type, size); }
WEAK int cufftEstimate2d(int x, int y, int type, size_t *size) { return fft_estimate((long long)x * y, type, size); }
WEAK int cufftEstimate3d(int x, int y, int z, int type, size_t *size) { return fft_estimate((long long)x * y * z, type, size); }
WEAK int cufftGetSize(int handle, size_t *size) {
  struct fft_plan *p = fft_plan(handle);
  if (!p || !p->made) return CUFFT_BAD_PLAN;
  long long all = p->batch;
  for (int i = 0; i < p->rank; i++) all *= p->n[i];
  return fft_estimate(all, p->type, size);
}

#define FFT_LAYOUT(L) (uint64_t)(L).given, (uint64_t)(L).embed[0], (uint64_t)(L).embed[1], (uint64_t)(L).embed[2], \
                      (uint64_t)(L).stride, (uint64_t)(L).dist
static int fft_execute(const char *name, int handle, int type, const void *in, void *out, int direction, uint64_t caller) {
  struct fft_plan *p = fft_plan(handle);
  if (!p || !p->made) return CUFFT_BAD_PLAN;
  if (p->type != type) return CUFFT_BAD_TYPE;
  if (!in || !out || (direction != -1 && direction != 1)) return CUFFT_BAD_VALUE;
  const uint64_t args[] = {(uint64_t)p->type, (uint64_t)p->rank, (uint64_t)p->n[0], (uint64_t)p->n[1], (uint64_t)p->n[2],
                           FFT_LAYOUT(p->in), FFT_LAYOUT(p->out), (uint64_t)p->batch, direction == 1, arena(in), arena(out)};
  cudaError_t e = work(HEDDLE_LIBRARY_FFT, name, 0, p->stream, caller, args, sizeof args / sizeof *args, NULL, 0);
  return e == cudaSuccess ? CUFFT_OK : CUFFT_FAILED;
}
#define FFT_BOTH(NAME, TYPE) \
  WEAK int NAME(int h, const void *in, void *out, int direction) { return fft_execute(#NAME, h, TYPE, in, out, direction, CALLER); }
#define FFT_ONE(NAME, TYPE, DIRECTION) \
  WEAK int NAME(int h, const void *in, void *out) { return fft_execute(#NAME, h, TYPE, in, out, DIRECTION, CALLER); }
FFT_BOTH(cufftExecC2C, 0x29)
FFT_BOTH(cufftExecZ2Z, 0x69)
FFT_ONE(cufftExecR2C, 0x2a, -1)
FFT_ONE(cufftExecD2Z, 0x6a, -1)
FFT_ONE(cufftExecC2R, 0x2c, 1)
FFT_ONE(cufftExecZ2D, 0x6c, 1)
WEAK int cufftXtExec(int h, const void *in, void *out, int direction) {
  struct fft_plan *p = fft_plan(h);
  return p ? fft_execute("cufftXtExec", h, p->type, in, out, direction, CALLER) : CUFFT_BAD_PLAN;
}
