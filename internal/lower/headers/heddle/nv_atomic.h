/* The built-in atomic functions of nvcc 12.8, with an order and a scope (CUDA C++ Programming Guide, "Atomic Functions":
   __nv_atomic_load_n and others), by the PTX instructions that mean them (PTX ISA 8.5, 8.8, 9.7.13.4, 9.7.13.5). It is
   included for files in which one of these names occurs (includes.go). An operation that is sequentially consistent is
   fence.sc before the acquiring or releasing one, as for cuda::atomic. A cluster is the scope .cluster, which needs
   sm_90; one thread is ordinary accesses. */
#ifndef HEDDLE_NV_ATOMIC_H
#define HEDDLE_NV_ATOMIC_H
#pragma clang system_header

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_SYSTEM 0
#define __NV_THREAD_SCOPE_DEVICE 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 3
#define __NV_THREAD_SCOPE_THREAD 10

namespace __heddle_nv {
/* Unsigned integers of the sizes for which PTX has atomics. */
template <__SIZE_TYPE__> struct __word;
template <> struct __word<2> { typedef unsigned short type; };
template <> struct __word<4> { typedef unsigned int type; };
template <> struct __word<8> { typedef unsigned long long type; };
template <typename __T> using __bits = typename __word<sizeof(__T)>::type;

template <int> struct __at;
#define __HEDDLE_NV_RMW(NAME, S, OP, T, C)                                                                              \
  template <int __o> static __heddle_member T NAME(void *__p, T __v) {                                                            \
    T __r;                                                                                                              \
    switch (__o) {                                                                                                      \
    case 0: asm volatile("atom.relaxed." S "." OP " %0, [%1], %2;" : "=" C(__r) : "l"(__p), C(__v) : "memory"); break;  \
    case 3: asm volatile("atom.release." S "." OP " %0, [%1], %2;" : "=" C(__r) : "l"(__p), C(__v) : "memory"); break;  \
    case 4: asm volatile("atom.acq_rel." S "." OP " %0, [%1], %2;" : "=" C(__r) : "l"(__p), C(__v) : "memory"); break;  \
    case 5: asm volatile("fence.sc." S ";" ::: "memory"); /* and */                                                     \
    default: asm volatile("atom.acquire." S "." OP " %0, [%1], %2;" : "=" C(__r) : "l"(__p), C(__v) : "memory");        \
    }                                                                                                                   \
    return __r;                                                                                                         \
  }
#define __HEDDLE_NV_WORD(S, B, T, C)                                                                                    \
  template <int __o> static __heddle_member T load(const void *__p, T) {                                                          \
    T __r;                                                                                                              \
    if (__o == 0) {                                                                                                     \
      asm volatile("ld.relaxed." S "." B " %0, [%1];" : "=" C(__r) : "l"(__p) : "memory");                              \
      return __r;                                                                                                       \
    }                                                                                                                   \
    if (__o == 5) asm volatile("fence.sc." S ";" ::: "memory");                                                         \
    asm volatile("ld.acquire." S "." B " %0, [%1];" : "=" C(__r) : "l"(__p) : "memory");                                \
    return __r;                                                                                                         \
  }                                                                                                                     \
  template <int __o> static __heddle_member void store(void *__p, T __v) {                                                        \
    if (__o == 5) asm volatile("fence.sc." S ";" ::: "memory");                                                         \
    if (__o == 0) asm volatile("st.relaxed." S "." B " [%0], %1;" ::"l"(__p), C(__v) : "memory");                       \
    else asm volatile("st.release." S "." B " [%0], %1;" ::"l"(__p), C(__v) : "memory");                                \
  }                                                                                                                     \
  template <int __o> static __heddle_member T cas(void *__p, T __e, T __v) {                                                      \
    T __r;                                                                                                              \
    switch (__o) {                                                                                                      \
    case 0: asm volatile("atom.relaxed." S ".cas." B " %0, [%1], %2, %3;" : "=" C(__r) : "l"(__p), C(__e), C(__v) : "memory"); break; \
    case 3: asm volatile("atom.release." S ".cas." B " %0, [%1], %2, %3;" : "=" C(__r) : "l"(__p), C(__e), C(__v) : "memory"); break; \
    case 4: asm volatile("atom.acq_rel." S ".cas." B " %0, [%1], %2, %3;" : "=" C(__r) : "l"(__p), C(__e), C(__v) : "memory"); break; \
    case 5: asm volatile("fence.sc." S ";" ::: "memory"); /* and */                                                     \
    default: asm volatile("atom.acquire." S ".cas." B " %0, [%1], %2, %3;" : "=" C(__r) : "l"(__p), C(__e), C(__v) : "memory"); \
    }                                                                                                                   \
    return __r;                                                                                                         \
  }
#define __HEDDLE_NV_INTEGER(S, W, U, I, C)                                                                              \
  __HEDDLE_NV_WORD(S, "b" W, U, C)                                                                                      \
  __HEDDLE_NV_RMW(exch, S, "exch.b" W, U, C)                                                                            \
  __HEDDLE_NV_RMW(add, S, "add.u" W, U, C)                                                                              \
  __HEDDLE_NV_RMW(and_, S, "and.b" W, U, C)                                                                             \
  __HEDDLE_NV_RMW(or_, S, "or.b" W, U, C)                                                                               \
  __HEDDLE_NV_RMW(xor_, S, "xor.b" W, U, C)                                                                             \
  __HEDDLE_NV_RMW(min, S, "min.u" W, U, C)                                                                              \
  __HEDDLE_NV_RMW(max, S, "max.u" W, U, C)                                                                              \
  __HEDDLE_NV_RMW(min, S, "min.s" W, I, C)                                                                              \
  __HEDDLE_NV_RMW(max, S, "max.s" W, I, C)
#define __HEDDLE_NV_SCOPE(NUMBER, S)                                                                                    \
  template <> struct __at<NUMBER> {                                                                                     \
    __HEDDLE_NV_INTEGER(S, "32", unsigned int, int, "r")                                                                \
    __HEDDLE_NV_INTEGER(S, "64", unsigned long long, long long, "l")                                                    \
    __HEDDLE_NV_WORD(S, "b16", unsigned short, "h")                                                                     \
    __HEDDLE_NV_RMW(add, S, "add.f32", float, "f")                                                                      \
    __HEDDLE_NV_RMW(add, S, "add.f64", double, "d")                                                                     \
    template <int __o> static __heddle_member void fence() {                                                                        \
      if (__o == 5) asm volatile("fence.sc." S ";" ::: "memory");                                                       \
      else if (__o == 4) asm volatile("fence.acq_rel." S ";" ::: "memory");                                             \
      else if (__o == 3) asm volatile("fence.release." S ";" ::: "memory");                                             \
      else if (__o != 0) asm volatile("fence.acquire." S ";" ::: "memory");                                             \
    }                                                                                                                   \
  };
__HEDDLE_NV_SCOPE(__NV_THREAD_SCOPE_SYSTEM, "sys")
__HEDDLE_NV_SCOPE(__NV_THREAD_SCOPE_DEVICE, "gpu")
__HEDDLE_NV_SCOPE(__NV_THREAD_SCOPE_BLOCK, "cta")
__HEDDLE_NV_SCOPE(__NV_THREAD_SCOPE_CLUSTER, "cluster")

template <> struct __at<__NV_THREAD_SCOPE_THREAD> {
#define __HEDDLE_NV_ALONE(NAME, EXPR)                                                     \
  template <int, typename __U> static __heddle_member __U NAME(void *__p, __U __v) {      \
    __U __old = *(__U *)__p;                                                              \
    *(__U *)__p = EXPR;                                                                   \
    return __old;                                                                         \
  }
  __HEDDLE_NV_ALONE(exch, __v)
  __HEDDLE_NV_ALONE(add, __old + __v)
  __HEDDLE_NV_ALONE(and_, __old & __v)
  __HEDDLE_NV_ALONE(or_, __old | __v)
  __HEDDLE_NV_ALONE(xor_, __old ^ __v)
  __HEDDLE_NV_ALONE(min, __v < __old ? __v : __old)
  __HEDDLE_NV_ALONE(max, __old < __v ? __v : __old)
#undef __HEDDLE_NV_ALONE
  template <int, typename __U> static __heddle_member __U load(const void *__p, __U) { return *(const __U *)__p; }
  template <int, typename __U> static __heddle_member void store(void *__p, __U __v) { *(__U *)__p = __v; }
  template <int, typename __U> static __heddle_member __U cas(void *__p, __U __e, __U __v) {
    __U __old = *(__U *)__p;
    if (__old == __e) *(__U *)__p = __v;
    return __old;
  }
  template <int> static __heddle_member void fence() {}
};
#undef __HEDDLE_NV_SCOPE
#undef __HEDDLE_NV_INTEGER
#undef __HEDDLE_NV_WORD
#undef __HEDDLE_NV_RMW

/* Orders and scopes are constants of the call; without a scope it is the system. */
constexpr __heddle_hd int __scope(int __s = __NV_THREAD_SCOPE_SYSTEM) { return __s; }

template <typename __T> __heddle_fn __bits<__T> __to(__T __v) { return __builtin_bit_cast(__bits<__T>, __v); }
template <typename __T> __heddle_fn __T __from(__bits<__T> __w) { return __builtin_bit_cast(__T, __w); }
/* The type with which an arithmetic operation is performed: by its sign and size. */
template <typename __T> struct __number { typedef __bits<__T> type; };
template <> struct __number<int> { typedef int type; };
template <> struct __number<long> { typedef long long type; };
template <> struct __number<long long> { typedef long long type; };
template <typename __T> struct __same { typedef __T type; };

template <int __O, int __S, typename __T> __heddle_fn __T __load(__T *__p) {
  return __from<__T>(__at<__S>::template load<__O>(__p, __bits<__T>()));
}
template <int __O, int __S, typename __T> __heddle_fn void __store(__T *__p, typename __same<__T>::type __v) {
  __at<__S>::template store<__O>(__p, __to<__T>(__v));
}
template <int __O, int __S, typename __T> __heddle_fn __T __exchange(__T *__p, typename __same<__T>::type __v) {
  return __from<__T>(__at<__S>::template exch<__O>(__p, __to<__T>(__v)));
}
template <int __O, int __S, typename __T> __heddle_fn bool __cas(__T *__p, __T *__e, typename __same<__T>::type __v) {
  __bits<__T> __want = __to<__T>(*__e), __seen = __at<__S>::template cas<__O>(__p, __want, __to<__T>(__v));
  if (__seen == __want) return true;
  *__e = __from<__T>(__seen);
  return false;
}
template <int __O, int __S, typename __T> __heddle_fn __T __add(__T *__p, typename __same<__T>::type __v) {
  if constexpr (__is_floating_point(__T)) return __at<__S>::template add<__O>(__p, __v);
  else return __from<__T>(__at<__S>::template add<__O>(__p, __to<__T>(__v)));
}
template <int __O, int __S, typename __T> __heddle_fn __T __sub(__T *__p, typename __same<__T>::type __v) {
  return __add<__O, __S>(__p, (__T)-__v);
}
#define __HEDDLE_NV_BITS(NAME)                                                                                    \
  template <int __O, int __S, typename __T> __heddle_fn __T __##NAME(__T *__p, typename __same<__T>::type __v) {  \
    return __from<__T>(__at<__S>::template NAME##_<__O>(__p, __to<__T>(__v)));                                    \
  }
__HEDDLE_NV_BITS(and)
__HEDDLE_NV_BITS(or)
__HEDDLE_NV_BITS(xor)
#undef __HEDDLE_NV_BITS
#define __HEDDLE_NV_ORDERED(NAME)                                                                                 \
  template <int __O, int __S, typename __T> __heddle_fn __T __##NAME(__T *__p, typename __same<__T>::type __v) {  \
    return (__T)__at<__S>::template NAME<__O>(__p, (typename __number<__T>::type)__v);                            \
  }
__HEDDLE_NV_ORDERED(min)
__HEDDLE_NV_ORDERED(max)
#undef __HEDDLE_NV_ORDERED
template <int __O, int __S> __heddle_fn void __fence() { __at<__S>::template fence<__O>(); }
}

/* A failing exchange only reads. PTX has one order for both, so that it is the one of success. */
#define __HEDDLE_NV(NAME, O, ...) __heddle_nv::NAME<(O), __heddle_nv::__scope(__VA_ARGS__)>
#define __nv_atomic_load_n(P, O, ...) __HEDDLE_NV(__load, O, ##__VA_ARGS__)(P)
#define __nv_atomic_load(P, R, O, ...) ((void)(*(R) = __HEDDLE_NV(__load, O, ##__VA_ARGS__)(P)))
#define __nv_atomic_store_n(P, V, O, ...) __HEDDLE_NV(__store, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_store(P, V, O, ...) __HEDDLE_NV(__store, O, ##__VA_ARGS__)(P, *(V))
#define __nv_atomic_exchange_n(P, V, O, ...) __HEDDLE_NV(__exchange, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_exchange(P, V, R, O, ...) ((void)(*(R) = __HEDDLE_NV(__exchange, O, ##__VA_ARGS__)(P, *(V))))
#define __nv_atomic_compare_exchange_n(P, E, V, WEAK, O, FAILURE, ...) __HEDDLE_NV(__cas, O, ##__VA_ARGS__)(P, E, V)
#define __nv_atomic_compare_exchange(P, E, V, WEAK, O, FAILURE, ...) __HEDDLE_NV(__cas, O, ##__VA_ARGS__)(P, E, *(V))
#define __nv_atomic_fetch_add(P, V, O, ...) __HEDDLE_NV(__add, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_fetch_sub(P, V, O, ...) __HEDDLE_NV(__sub, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_fetch_and(P, V, O, ...) __HEDDLE_NV(__and, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_fetch_or(P, V, O, ...) __HEDDLE_NV(__or, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_fetch_xor(P, V, O, ...) __HEDDLE_NV(__xor, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_fetch_min(P, V, O, ...) __HEDDLE_NV(__min, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_fetch_max(P, V, O, ...) __HEDDLE_NV(__max, O, ##__VA_ARGS__)(P, V)
#define __nv_atomic_add(P, V, O, ...) ((void)__HEDDLE_NV(__add, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_sub(P, V, O, ...) ((void)__HEDDLE_NV(__sub, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_and(P, V, O, ...) ((void)__HEDDLE_NV(__and, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_or(P, V, O, ...) ((void)__HEDDLE_NV(__or, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_xor(P, V, O, ...) ((void)__HEDDLE_NV(__xor, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_min(P, V, O, ...) ((void)__HEDDLE_NV(__min, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_max(P, V, O, ...) ((void)__HEDDLE_NV(__max, O, ##__VA_ARGS__)(P, V))
#define __nv_atomic_thread_fence(O, ...) __HEDDLE_NV(__fence, O, ##__VA_ARGS__)()

#endif
