/* Random numbers on the device: the interface of curand_kernel.h. Each generator is Marsaglia's xorwow
   ("Xorshift RNGs", Journal of Statistical Software 8(14), 2003, section 3.1), so the numbers are not those
   of NVIDIA's library; the accesses to a state are the same: each call reads and updates all of it.
   The block-wide generator, curandStateMtgp32, has the shape of "A Variant of Mersenne Twister Suitable for
   Graphic Processors" (Saito, Matsumoto, ACM TOMS 39(2), 2013, section 3), with different constants: up
   to 256 threads of a block use it together. Quasirandom generators are not supported. */
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

#endif
