/* cuRAND's host API. A generator is its type, seed and position; heddle computes the numbers, which are of other sequences
   than NVIDIA's (internal/library/random). Tables of direction vectors and distributions are in library.c. */

enum {
  CURAND_OK = 0, CURAND_NOT_INITIALIZED = 101, CURAND_TYPE_ERROR = 103, CURAND_OUT_OF_RANGE = 104,
  CURAND_LENGTH = 105, CURAND_LAUNCH_FAILURE = 201
};

struct curandGenerator_st {
  unsigned type, dimensions;
  int host;
  uint64_t seed, offset;
  cudaStream_t stream;
};
typedef struct curandGenerator_st *rng_t;

static int quasi_random(rng_t g) { return g->type >= 200; }

static int new_generator(rng_t *to, unsigned type, int host) {
  static const unsigned types[] = {100, 101, 121, 141, 142, 161, 200, 201, 202, 203, 204};
  if (heddle_enter() != cudaSuccess) return CURAND_NOT_INITIALIZED;
  for (size_t i = 0; to && i < sizeof types / sizeof *types; i++)
    if (types[i] == type) {
      *to = need(calloc(1, sizeof **to));
      (*to)->type = type, (*to)->host = host, (*to)->dimensions = 1;
      return CURAND_OK;
    }
  return CURAND_TYPE_ERROR;
}
WEAK int curandCreateGenerator(rng_t *to, unsigned type) { return new_generator(to, type, 0); }
WEAK int curandCreateGeneratorHost(rng_t *to, unsigned type) { return new_generator(to, type, 1); }
WEAK int curandDestroyGenerator(rng_t g) {
  if (!g) return CURAND_NOT_INITIALIZED;
  free(g);
  return CURAND_OK;
}
WEAK int curandGetVersion(int *to) { return to ? (*to = 10310, CURAND_OK) : CURAND_OUT_OF_RANGE; }
WEAK int curandSetStream(rng_t g, cudaStream_t s) { return g ? (g->stream = s, CURAND_OK) : CURAND_NOT_INITIALIZED; }
WEAK int curandSetPseudoRandomGeneratorSeed(rng_t g, unsigned long long seed) {
  if (!g) return CURAND_NOT_INITIALIZED;
  if (quasi_random(g)) return CURAND_TYPE_ERROR;
  g->seed = seed, g->offset = 0;
  return CURAND_OK;
}
WEAK int curandSetGeneratorOffset(rng_t g, unsigned long long offset) {
  return g ? (g->offset = offset, CURAND_OK) : CURAND_NOT_INITIALIZED;
}
WEAK int curandSetGeneratorOrdering(rng_t g, int order) { return (void)order, g ? CURAND_OK : CURAND_NOT_INITIALIZED; }
WEAK int curandSetQuasiRandomGeneratorDimensions(rng_t g, unsigned n) {
  if (!g) return CURAND_NOT_INITIALIZED;
  if (!quasi_random(g)) return CURAND_TYPE_ERROR;
  if (!n || n > 20000) return CURAND_OUT_OF_RANGE;
  g->dimensions = n, g->offset = 0;
  return CURAND_OK;
}
WEAK int curandGenerateSeeds(rng_t g) { return g ? CURAND_OK : CURAND_NOT_INITIALIZED; }

/* The distributions of HEDDLE_LIBRARY_RANDOM. */
enum { RANDOM_BITS, RANDOM_LONG_BITS, RANDOM_UNIFORM, RANDOM_UNIFORM_DOUBLE, RANDOM_NORMAL, RANDOM_NORMAL_DOUBLE,
       RANDOM_LOG_NORMAL, RANDOM_LOG_NORMAL_DOUBLE, RANDOM_POISSON };

static int generate(const char *name, rng_t g, unsigned distribution, void *out, size_t n, size_t size, double a, double b,
                    uint64_t caller) {
  if (!g) return CURAND_NOT_INITIALIZED;
  int pairs = distribution >= RANDOM_NORMAL && distribution <= RANDOM_LOG_NORMAL_DOUBLE;
  if (quasi_random(g) ? n % g->dimensions : pairs && n % 2) return CURAND_LENGTH;
  if (!n) return CURAND_OK;
  if (quasi_random(g) && (g->type != 201 && g->type != 200 || g->dimensions > 1 || distribution == RANDOM_LONG_BITS)) {
    heddle_unsupported("cuRAND's quasi-random generators other than CURAND_RNG_QUASI_SOBOL32 of 1 dimension");
    return CURAND_LAUNCH_FAILURE;
  }
  void *to = out;
  cudaError_t e = cudaSuccess;
  if (g->host) e = allocate(&to, n * size, HEDDLE_KIND_PINNED, caller);
  const uint64_t args[] = {distribution, g->type, g->seed, g->offset, n, arena(to), double_bits(a), double_bits(b)};
  if (e == cudaSuccess)
    e = work(HEDDLE_LIBRARY_RANDOM, name, 0, g->host ? 0 : g->stream, caller, args, sizeof args / sizeof *args, NULL, 0);
  if (g->host && e == cudaSuccess) {
    if ((e = finish()) == cudaSuccess) memcpy(out, to, n * size);
    release(to, 1, caller, NULL);
  }
  g->offset += n;
  return e == cudaSuccess ? CURAND_OK : CURAND_LAUNCH_FAILURE;
}
#define GENERATE(NAME, T, DISTRIBUTION) \
  WEAK int NAME(rng_t g, T *out, size_t n) { return generate(#NAME, g, DISTRIBUTION, out, n, sizeof(T), 0, 0, CALLER); }
#define GENERATE_NORMAL(NAME, T, DISTRIBUTION)                                             \
  WEAK int NAME(rng_t g, T *out, size_t n, T mean, T deviation) {                          \
    return generate(#NAME, g, DISTRIBUTION, out, n, sizeof(T), mean, deviation, CALLER);   \
  }
GENERATE(curandGenerate, unsigned, RANDOM_BITS)
GENERATE(curandGenerateLongLong, unsigned long long, RANDOM_LONG_BITS)
GENERATE(curandGenerateUniform, float, RANDOM_UNIFORM)
GENERATE(curandGenerateUniformDouble, double, RANDOM_UNIFORM_DOUBLE)
GENERATE_NORMAL(curandGenerateNormal, float, RANDOM_NORMAL)
GENERATE_NORMAL(curandGenerateNormalDouble, double, RANDOM_NORMAL_DOUBLE)
GENERATE_NORMAL(curandGenerateLogNormal, float, RANDOM_LOG_NORMAL)
GENERATE_NORMAL(curandGenerateLogNormalDouble, double, RANDOM_LOG_NORMAL_DOUBLE)
WEAK int curandGeneratePoisson(rng_t g, unsigned *out, size_t n, double lambda) {
  if (!(lambda > 0)) return CURAND_OUT_OF_RANGE;
  return generate("curandGeneratePoisson", g, RANDOM_POISSON, out, n, sizeof *out, lambda, 0, CALLER);
}
