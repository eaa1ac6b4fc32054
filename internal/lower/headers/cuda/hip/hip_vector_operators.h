/* Operators of vector types, which HIP has and CUDA has not: on each component, with a vector or a number as the other
   operand. As templates they come after the operators that a file defines itself. */
#ifndef HEDDLE_HIP_VECTOR_OPERATORS_H
#define HEDDLE_HIP_VECTOR_OPERATORS_H
#pragma clang system_header

template <typename __V> struct __heddle_hip_vector {};
#define __HEDDLE_HIP_TYPE(B, T)                                                                                          \
  template <> struct __heddle_hip_vector<B##1> { typedef T elem; typedef B##1 vector; enum { n = 1 }; };                 \
  template <> struct __heddle_hip_vector<B##2> { typedef T elem; typedef B##2 vector; enum { n = 2 }; };                 \
  template <> struct __heddle_hip_vector<B##3> { typedef T elem; typedef B##3 vector; enum { n = 3 }; };                 \
  template <> struct __heddle_hip_vector<B##4> { typedef T elem; typedef B##4 vector; enum { n = 4 }; };
__HEDDLE_HIP_TYPE(char, signed char) __HEDDLE_HIP_TYPE(uchar, unsigned char) __HEDDLE_HIP_TYPE(short, short)
__HEDDLE_HIP_TYPE(ushort, unsigned short) __HEDDLE_HIP_TYPE(int, int) __HEDDLE_HIP_TYPE(uint, unsigned int)
__HEDDLE_HIP_TYPE(long, long) __HEDDLE_HIP_TYPE(ulong, unsigned long) __HEDDLE_HIP_TYPE(longlong, long long)
__HEDDLE_HIP_TYPE(ulonglong, unsigned long long) __HEDDLE_HIP_TYPE(float, float) __HEDDLE_HIP_TYPE(double, double)
#undef __HEDDLE_HIP_TYPE

/* The I-th component of a vector, and a number for each component. */
template <int __I, typename __V> __host__ __device__ __inline__ auto &__heddle_hip_part(__V &__v) {
  if constexpr (__I == 0) return __v.x;
  else if constexpr (__I == 1) return __v.y;
  else if constexpr (__I == 2) return __v.z;
  else return __v.w;
}
#define __HEDDLE_HIP_EACH(N, STATEMENT)                                          \
  { constexpr int __i = 0; STATEMENT; }                                          \
  if constexpr ((N) > 1) { constexpr int __i = 1; STATEMENT; }                   \
  if constexpr ((N) > 2) { constexpr int __i = 2; STATEMENT; }                   \
  if constexpr ((N) > 3) { constexpr int __i = 3; STATEMENT; }
#define __HEDDLE_HIP_OPERATOR(OP)                                                                                        \
  template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>                                      \
  __host__ __device__ __inline__ __X operator OP(const __V &__a, const __V &__b) {                                       \
    __X __r = __a;                                                                                                       \
    __HEDDLE_HIP_EACH(__heddle_hip_vector<__V>::n, __heddle_hip_part<__i>(__r) = __heddle_hip_part<__i>(__a) OP __heddle_hip_part<__i>(__b)) \
    return __r;                                                                                                          \
  }                                                                                                                      \
  template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>                                      \
  __host__ __device__ __inline__ __X operator OP(const __V &__a, typename __heddle_hip_vector<__V>::elem __b) {          \
    __X __r = __a;                                                                                                       \
    __HEDDLE_HIP_EACH(__heddle_hip_vector<__V>::n, __heddle_hip_part<__i>(__r) = __heddle_hip_part<__i>(__a) OP __b)     \
    return __r;                                                                                                          \
  }                                                                                                                      \
  template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>                                      \
  __host__ __device__ __inline__ __X operator OP(typename __heddle_hip_vector<__V>::elem __a, const __V &__b) {          \
    __X __r = __b;                                                                                                       \
    __HEDDLE_HIP_EACH(__heddle_hip_vector<__V>::n, __heddle_hip_part<__i>(__r) = __a OP __heddle_hip_part<__i>(__b))     \
    return __r;                                                                                                          \
  }                                                                                                                      \
  template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>                                      \
  __host__ __device__ __inline__ __X &operator OP##=(__V &__a, const __V &__b) { return __a = __a OP __b; }              \
  template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>                                      \
  __host__ __device__ __inline__ __X &operator OP##=(__V &__a, typename __heddle_hip_vector<__V>::elem __b) { return __a = __a OP __b; }
__HEDDLE_HIP_OPERATOR(+) __HEDDLE_HIP_OPERATOR(-) __HEDDLE_HIP_OPERATOR(*) __HEDDLE_HIP_OPERATOR(/)
#undef __HEDDLE_HIP_OPERATOR
template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>
__host__ __device__ __inline__ __X operator-(const __V &__a) {
  __X __r = __a;
  __HEDDLE_HIP_EACH(__heddle_hip_vector<__V>::n, __heddle_hip_part<__i>(__r) = -__heddle_hip_part<__i>(__a))
  return __r;
}
template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>
__host__ __device__ __inline__ bool operator==(const __V &__a, const __V &__b) {
  bool __r = true;
  __HEDDLE_HIP_EACH(__heddle_hip_vector<__V>::n, __r = __r && __heddle_hip_part<__i>(__a) == __heddle_hip_part<__i>(__b))
  return __r;
}
template <typename __V, typename __X = typename __heddle_hip_vector<__V>::vector>
__host__ __device__ __inline__ bool operator!=(const __V &__a, const __V &__b) { return !(__a == __b); }
#undef __HEDDLE_HIP_EACH

#endif
