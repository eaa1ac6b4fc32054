/* Random numbers on the device: the interface of curand_kernel.h. Each generator is Marsaglia's xorwow
   ("Xorshift RNGs", Journal of Statistical Software 8(14), 2003, section 3.1), so the numbers are not those
   of NVIDIA's library; the accesses to a state are the same: each call reads and updates all of it.
   The block-wide generator, curandStateMtgp32, has the shape of "A Variant of Mersenne Twister Suitable for
   Graphic Processors" (Saito, Matsumoto, ACM TOMS 39(2), 2013, section 3), with different constants: up
   to 256 threads of a block use it together. The quasirandom generators compute Sobol's sequence. */
#ifndef HEDDLE_CURAND_KERNEL_H
#define HEDDLE_CURAND_KERNEL_H

/* The sizes and alignments are those of NVIDIA's library; curand_init writes all of a state. */
#define __HEDDLE_CURAND_STATE(NAME, ALIGN, MORE) \
  struct alignas(ALIGN) NAME {                   \
    unsigned int d, v[5];                        \
    int boxmuller_flag;                          \
    float boxmuller_extra;                       \
    unsigned int __more[MORE];                   \
  }
__HEDDLE_CURAND_STATE(curandStateXORWOW, 8, 4);
__HEDDLE_CURAND_STATE(curandStatePhilox4_32_10, 16, 8);
__HEDDLE_CURAND_STATE(curandStateMRG32k3a, 8, 4);
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

/* One step of splitmix64, which spreads seed, sequence and offset over a state. */
__heddle_fn unsigned int __heddle_curand_mix(unsigned long long &__s) {
  unsigned long long __z = __s += 0x9e3779b97f4a7c15ull;
  __z = (__z ^ (__z >> 30)) * 0xbf58476d1ce4e5b9ull;
  __z = (__z ^ (__z >> 27)) * 0x94d049bb133111ebull;
  return (unsigned int)(__z >> 32);
}

template <typename __S> __heddle_fn void curand_init(unsigned long long __seed, unsigned long long __sequence, unsigned long long __offset, __S *__state) {
  unsigned long long __m = __seed ^ __sequence * 0xd1342543de82ef95ull ^ __offset * 0x2545f4914f6cdd1dull;
  for (int __i = 0; __i < 5; __i++) __state->v[__i] = __heddle_curand_mix(__m);
  __state->v[4] |= 1; /* not all zero */
  __state->d = __heddle_curand_mix(__m);
  __state->boxmuller_flag = 0;
  __state->boxmuller_extra = 0;
  for (unsigned int &__w : __state->__more) __w = 0;
}
template <typename __S> __heddle_fn unsigned int curand(__S *__state) {
  if constexpr (sizeof(__S) == 64) __state->__more[2]++; /* Philox counts what it has used of a block there */
  unsigned int __t = __state->v[0] ^ (__state->v[0] >> 2), __v = __state->v[4];
  __state->v[0] = __state->v[1];
  __state->v[1] = __state->v[2];
  __state->v[2] = __state->v[3];
  __state->v[3] = __v;
  __state->v[4] = __v ^ (__v << 4) ^ __t ^ (__t << 1);
  __state->d += 362437;
  return __state->v[4] + __state->d;
}
/* Both change all of the words from which numbers are made. */
template <typename __S> __heddle_fn void skipahead(unsigned long long __n, __S *__state) {
  __state->d += 362437u * (unsigned int)__n;
  for (unsigned int &__w : __state->v) __w = __heddle_curand_mix(__n += __w);
}
template <typename __S> __heddle_fn void skipahead_sequence(unsigned long long __n, __S *__state) { skipahead(~__n, __state); }

/* Thread t of the block makes word t + 351 of a ring of 1024 from words t, t + 1 and t + 84; then the ring
   advances by the number of threads. With more than 256 threads, some would read what others write. */
struct curandStateMtgp32 {
  unsigned int s[1024];
  int offset, pid;
  void *k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;
struct mtgp32_kernel_params;
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;
__heddle_fn unsigned int curand(curandStateMtgp32_t *__state) {
  int __threads = blockDim.x * blockDim.y * blockDim.z;
  int __first = __state->offset, __id = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), __t = __first + __id;
  unsigned int __y = __state->s[__t & 1023] ^ __state->s[(__t + 1) & 1023] << 13 ^ __state->s[(__t + 84) & 1023] >> 4 ^ (unsigned int)__state->pid;
  __state->s[(__t + 351) & 1023] = __y;
  __y ^= __y >> 16 ^ __state->s[(__t + 83) & 1023] ^ (unsigned int)(__SIZE_TYPE__)__state->k; /* of the tables behind it */
  __syncthreads();
  if (__id == 0) __state->offset = (__first + __threads) & 1023;
  __syncthreads();
  return __y;
}

/* In (0, 1]. */
template <typename __S> __heddle_fn float curand_uniform(__S *__state) { return ((float)(curand(__state) >> 8) + 1.0f) * 0x1p-24f; }
template <typename __S> __heddle_fn double curand_uniform_double(__S *__state) {
  unsigned long long __hi = curand(__state);
  return ((double)((__hi << 32 | curand(__state)) >> 11) + 1.0) * 0x1p-53;
}
/* Box and Muller's transform. */
template <typename __S> __heddle_fn float2 curand_normal2(__S *__state) {
  float __r = sqrtf(-2.0f * logf(curand_uniform(__state))), __sin, __cos;
  sincosf(6.2831853f * curand_uniform(__state), &__sin, &__cos);
  return make_float2(__r * __sin, __r * __cos);
}
template <typename __S> __heddle_fn float curand_normal(__S *__state) {
  if (__state->boxmuller_flag) {
    __state->boxmuller_flag = 0;
    return __state->boxmuller_extra;
  }
  float2 __p = curand_normal2(__state);
  __state->boxmuller_flag = 1;
  __state->boxmuller_extra = __p.y;
  return __p.x;
}
template <typename __S> __heddle_fn double2 curand_normal2_double(__S *__state) {
  double __r = sqrt(-2.0 * log(curand_uniform_double(__state))), __sin, __cos;
  sincos(6.283185307179586 * curand_uniform_double(__state), &__sin, &__cos);
  return make_double2(__r * __sin, __r * __cos);
}
template <typename __S> __heddle_fn double curand_normal_double(__S *__state) {
  __state->__more[0] = !__state->__more[0]; /* the library keeps the second number for the next call */
  return curand_normal2_double(__state).x;
}
template <typename __S> __heddle_fn float curand_log_normal(__S *__state, float __mean, float __deviation) {
  return expf(__mean + __deviation * curand_normal(__state));
}
template <typename __S> __heddle_fn double curand_log_normal_double(__S *__state, double __mean, double __deviation) {
  return exp(__mean + __deviation * curand_normal_double(__state));
}
/* Knuth's product of uniform numbers, in parts so that exp(-lambda) stays above zero. */
template <typename __S> __heddle_fn unsigned int curand_poisson(__S *__state, double __lambda) {
  unsigned int __count = 0;
  if (__lambda > 4000) { /* the library takes a normal number then */
    double __n = sqrt(__lambda) * curand_normal(__state) + __lambda + 0.5;
    return __n > 0 ? (unsigned int)__n : 0;
  }
  for (; __lambda > 0; __lambda -= 500) {
    double __limit = exp(-(__lambda < 500 ? __lambda : 500.0));
    for (double __p = curand_uniform_double(__state); __p > __limit; __p *= curand_uniform_double(__state)) __count++;
  }
  return __count;
}

__heddle_fn uint4 curand4(curandStatePhilox4_32_10_t *__state) {
  uint4 __r;
  __r.x = curand(__state);
  __r.y = curand(__state);
  __r.z = curand(__state);
  __r.w = curand(__state);
  return __r;
}
__heddle_fn float4 curand_uniform4(curandStatePhilox4_32_10_t *__state) {
  float4 __r;
  __r.x = curand_uniform(__state);
  __r.y = curand_uniform(__state);
  __r.z = curand_uniform(__state);
  __r.w = curand_uniform(__state);
  return __r;
}
__heddle_fn float4 curand_normal4(curandStatePhilox4_32_10_t *__state) {
  float2 __a = curand_normal2(__state), __b = curand_normal2(__state);
  return make_float4(__a.x, __a.y, __b.x, __b.y);
}
__heddle_fn double2 curand_uniform2_double(curandStatePhilox4_32_10_t *__state) {
  double __x = curand_uniform_double(__state);
  return make_double2(__x, curand_uniform_double(__state));
}
__heddle_fn double4 curand_uniform4_double(curandStatePhilox4_32_10_t *__state) {
  double2 __a = curand_uniform2_double(__state), __b = curand_uniform2_double(__state);
  return make_double4(__a.x, __a.y, __b.x, __b.y);
}
__heddle_fn double4 curand_normal4_double(curandStatePhilox4_32_10_t *__state) {
  double2 __a = curand_normal2_double(__state), __b = curand_normal2_double(__state);
  return make_double4(__a.x, __a.y, __b.x, __b.y);
}
template <typename __S> __heddle_fn float2 curand_log_normal2(__S *__state, float __mean, float __deviation) {
  float2 __p = curand_normal2(__state);
  return make_float2(expf(__mean + __deviation * __p.x), expf(__mean + __deviation * __p.y));
}
template <typename __S> __heddle_fn double2 curand_log_normal2_double(__S *__state, double __mean, double __deviation) {
  double2 __p = curand_normal2_double(__state);
  return make_double2(exp(__mean + __deviation * __p.x), exp(__mean + __deviation * __p.y));
}
__heddle_fn float4 curand_log_normal4(curandStatePhilox4_32_10_t *__state, float __mean, float __deviation) {
  float2 __a = curand_log_normal2(__state, __mean, __deviation), __b = curand_log_normal2(__state, __mean, __deviation);
  return make_float4(__a.x, __a.y, __b.x, __b.y);
}
__heddle_fn uint4 curand_poisson4(curandStatePhilox4_32_10_t *__state, double __lambda) {
  uint4 __r;
  __r.x = curand_poisson(__state, __lambda);
  __r.y = curand_poisson(__state, __lambda);
  __r.z = curand_poisson(__state, __lambda);
  __r.w = curand_poisson(__state, __lambda);
  return __r;
}

/* Sobol's sequence in the order of the Gray code (Bratley, Fox, "Algorithm 659", ACM TOMS 14(1), 1988): element n is
   the exclusive or of the direction vectors of the bits of n ^ n / 2, and of the scrambling constant. Each number of a
   distribution takes one element. */
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
#define __HEDDLE_CURAND_SOBOL(NAME, WORD, BITS)                                                                        \
  struct NAME {                                                                                                        \
    WORD i, x, c, direction_vectors[BITS];                                                                             \
  };                                                                                                                   \
  typedef struct NAME NAME##_t;                                                                                        \
  __heddle_fn void skipahead(WORD __n, NAME *__state) {                                                                \
    __state->i += __n;                                                                                                 \
    WORD __gray = __state->i ^ __state->i >> 1;                                                                        \
    __state->x = __state->c;                                                                                           \
    for (int __k = 0; __k < BITS; __k++)                                                                               \
      if (__gray >> __k & 1) __state->x ^= __state->direction_vectors[__k];                                            \
  }                                                                                                                    \
  __heddle_fn void __heddle_curand_sobol(const WORD *__vectors, WORD __constant, WORD __offset, NAME *__state) {       \
    for (int __k = 0; __k < BITS; __k++) __state->direction_vectors[__k] = __vectors[__k];                             \
    __state->i = 0;                                                                                                    \
    __state->c = __constant;                                                                                           \
    skipahead(__offset, __state);                                                                                      \
  }                                                                                                                    \
  __heddle_fn WORD curand(NAME *__state) {                                                                             \
    WORD __x = __state->x, __n = __state->i++, __bit = ~__n & (__n + 1);                                               \
    int __k = __bit ? __ffsll(__bit) - 1 : BITS - 1;                                                                   \
    __state->x ^= __state->direction_vectors[__k];                                                                     \
    return __x;                                                                                                        \
  }                                                                                                                    \
  __heddle_fn float curand_uniform(NAME *__state) {                                                                    \
    return (float)((unsigned int)(curand(__state) >> (BITS - 32)) >> 8) * 0x1p-24f + 0x1p-25f;                         \
  }                                                                                                                    \
  __heddle_fn double curand_uniform_double(NAME *__state) {                                                            \
    return (double)(curand(__state) >> (BITS == 64 ? 12 : 0)) * (BITS == 64 ? 0x1p-52 : 0x1p-32) +                     \
           (BITS == 64 ? 0x1p-53 : 0x1p-33);                                                                           \
  }                                                                                                                    \
  __heddle_fn float curand_normal(NAME *__state) { return normcdfinvf(curand_uniform(__state)); }                      \
  __heddle_fn double curand_normal_double(NAME *__state) { return normcdfinv(curand_uniform_double(__state)); }        \
  __heddle_fn unsigned int curand_poisson(NAME *__state, double __lambda) {                                            \
    double __u = curand_uniform_double(__state), __p = exp(-__lambda), __sum = __p;                                    \
    if (__lambda > 700) { /* exp(-lambda) is zero then */                                                              \
      double __n = sqrt(__lambda) * normcdfinv(__u) + __lambda + 0.5;                                                  \
      return __n > 0 ? (unsigned int)__n : 0;                                                                          \
    }                                                                                                                  \
    unsigned int __count = 0;                                                                                          \
    while (__u > __sum && __p > 0) __sum += __p *= __lambda / ++__count;                                               \
    return __count;                                                                                                    \
  }
__HEDDLE_CURAND_SOBOL(curandStateSobol32, unsigned int, 32)
__HEDDLE_CURAND_SOBOL(curandStateScrambledSobol32, unsigned int, 32)
__HEDDLE_CURAND_SOBOL(curandStateSobol64, unsigned long long, 64)
__HEDDLE_CURAND_SOBOL(curandStateScrambledSobol64, unsigned long long, 64)
#undef __HEDDLE_CURAND_SOBOL
__heddle_fn void curand_init(curandDirectionVectors32_t __vectors, unsigned int __offset, curandStateSobol32_t *__state) {
  __heddle_curand_sobol(__vectors, 0, __offset, __state);
}
__heddle_fn void curand_init(curandDirectionVectors32_t __vectors, unsigned int __constant, unsigned int __offset, curandStateScrambledSobol32_t *__state) {
  __heddle_curand_sobol(__vectors, __constant, __offset, __state);
}
__heddle_fn void curand_init(curandDirectionVectors64_t __vectors, unsigned long long __offset, curandStateSobol64_t *__state) {
  __heddle_curand_sobol(__vectors, 0, __offset, __state);
}
__heddle_fn void curand_init(curandDirectionVectors64_t __vectors, unsigned long long __constant, unsigned long long __offset, curandStateScrambledSobol64_t *__state) {
  __heddle_curand_sobol(__vectors, __constant, __offset, __state);
}

#endif
