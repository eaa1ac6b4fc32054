/* c10::complex, PyTorch's complex numbers (PyTorch, c10/util/complex.h): two numbers side by side, with the alignment of
   both. Functions beyond arithmetic are those that kernels use; their results are those of the formulas. */
#ifndef HEDDLE_TORCH_COMPLEX_H
#define HEDDLE_TORCH_COMPLEX_H
#pragma clang system_header
#include <cmath>

namespace c10 {
template <class T> struct alignas(2 * sizeof(T)) complex {
  typedef T value_type;
  T real_ = T(0), imag_ = T(0);
  constexpr complex() = default;
  __heddle_hd_member constexpr complex(const T &__r, const T &__i = T()) : real_(__r), imag_(__i) {}
  template <class U> __heddle_hd_member explicit constexpr complex(const complex<U> &__o) : real_((T)__o.real_), imag_((T)__o.imag_) {}
  /* std::complex, thrust::complex */
  template <class C, class = decltype((T)std::declval<const C &>().real() + (T)std::declval<const C &>().imag())>
  __heddle_hd_member explicit constexpr complex(const C &__o) : real_((T)__o.real()), imag_((T)__o.imag()) {}
  __heddle_hd_member constexpr T real() const { return real_; }
  __heddle_hd_member constexpr T imag() const { return imag_; }
  __heddle_hd_member constexpr void real(T __r) { real_ = __r; }
  __heddle_hd_member constexpr void imag(T __i) { imag_ = __i; }
  __heddle_hd_member explicit constexpr operator bool() const { return real_ != T(0) || imag_ != T(0); }
  __heddle_hd_member constexpr complex &operator=(T __r) { return real_ = __r, imag_ = T(0), *this; }
  __heddle_hd_member constexpr complex &operator+=(T __r) { return real_ += __r, *this; }
  __heddle_hd_member constexpr complex &operator-=(T __r) { return real_ -= __r, *this; }
  __heddle_hd_member constexpr complex &operator*=(T __r) { return real_ *= __r, imag_ *= __r, *this; }
  __heddle_hd_member constexpr complex &operator/=(T __r) { return real_ /= __r, imag_ /= __r, *this; }
  template <class U> __heddle_hd_member constexpr complex &operator=(const complex<U> &__o) {
    return real_ = __o.real_, imag_ = __o.imag_, *this;
  }
  template <class U> __heddle_hd_member constexpr complex &operator+=(const complex<U> &__o) {
    return real_ += __o.real_, imag_ += __o.imag_, *this;
  }
  template <class U> __heddle_hd_member constexpr complex &operator-=(const complex<U> &__o) {
    return real_ -= __o.real_, imag_ -= __o.imag_, *this;
  }
  template <class U> __heddle_hd_member constexpr complex &operator*=(const complex<U> &__o) {
    T __r = real_ * __o.real_ - imag_ * __o.imag_;
    imag_ = real_ * __o.imag_ + imag_ * __o.real_;
    return real_ = __r, *this;
  }
  template <class U> __heddle_hd_member constexpr complex &operator/=(const complex<U> &__o) {
    T __d = __o.real_ * __o.real_ + __o.imag_ * __o.imag_, __r = (real_ * __o.real_ + imag_ * __o.imag_) / __d;
    imag_ = (imag_ * __o.real_ - real_ * __o.imag_) / __d;
    return real_ = __r, *this;
  }
};
template <> struct alignas(4) complex<Half> {
  Half real_, imag_;
  complex() = default;
  __heddle_hd_member complex(const Half &__r, const Half &__i) : real_(__r), imag_(__i) {}
  __heddle_hd_member complex(const complex<float> &__o) : real_(__o.real_), imag_(__o.imag_) {}
  __heddle_hd_member operator complex<float>() const { return complex<float>((float)real_, (float)imag_); }
  __heddle_hd_member Half real() const { return real_; }
  __heddle_hd_member Half imag() const { return imag_; }
};

/* With a number, which may be an integer if the parts are not. */
#define __HEDDLE_COMPLEX(OP)                                                                                           \
  template <class T> __heddle_hd constexpr complex<T> operator OP(const complex<T> &__a, const complex<T> &__b) {      \
    complex<T> __r = __a;                                                                                              \
    return __r OP##= __b;                                                                                              \
  }                                                                                                                    \
  template <class T, class U, class = std::enable_if_t<std::is_arithmetic<U>::value>>                                  \
  __heddle_hd constexpr complex<T> operator OP(const complex<T> &__a, const U &__b) {                                  \
    complex<T> __r = __a;                                                                                              \
    return __r OP##= (T)__b;                                                                                           \
  }                                                                                                                    \
  template <class T, class U, class = std::enable_if_t<std::is_arithmetic<U>::value>>                                  \
  __heddle_hd constexpr complex<T> operator OP(const U &__a, const complex<T> &__b) {                                  \
    complex<T> __r((T)__a);                                                                                            \
    return __r OP##= __b;                                                                                              \
  }
__HEDDLE_COMPLEX(+)
__HEDDLE_COMPLEX(-)
__HEDDLE_COMPLEX(*)
__HEDDLE_COMPLEX(/)
#undef __HEDDLE_COMPLEX
template <class T> __heddle_hd constexpr complex<T> operator+(const complex<T> &__a) { return __a; }
template <class T> __heddle_hd constexpr complex<T> operator-(const complex<T> &__a) { return complex<T>(-__a.real_, -__a.imag_); }
template <class T> __heddle_hd constexpr bool operator==(const complex<T> &__a, const complex<T> &__b) {
  return __a.real_ == __b.real_ && __a.imag_ == __b.imag_;
}
template <class T> __heddle_hd constexpr bool operator==(const complex<T> &__a, const T &__b) { return __a == complex<T>(__b); }
template <class T> __heddle_hd constexpr bool operator==(const T &__a, const complex<T> &__b) { return complex<T>(__a) == __b; }
template <class T> __heddle_hd constexpr bool operator!=(const complex<T> &__a, const complex<T> &__b) { return !(__a == __b); }
template <class T> __heddle_hd constexpr bool operator!=(const complex<T> &__a, const T &__b) { return !(__a == __b); }
template <class T> __heddle_hd constexpr bool operator!=(const T &__a, const complex<T> &__b) { return !(__a == __b); }
template <class T> __heddle_hd complex<T> polar(const T &__r, const T &__a = T()) {
  return complex<T>(__r * ::cos(__a), __r * ::sin(__a));
}
}

namespace std {
template <class T> __heddle_hd constexpr T real(const c10::complex<T> &__z) { return __z.real_; }
template <class T> __heddle_hd constexpr T imag(const c10::complex<T> &__z) { return __z.imag_; }
template <class T> __heddle_hd T abs(const c10::complex<T> &__z) { return ::hypot(__z.real_, __z.imag_); }
template <class T> __heddle_hd T arg(const c10::complex<T> &__z) { return ::atan2(__z.imag_, __z.real_); }
template <class T> __heddle_hd constexpr T norm(const c10::complex<T> &__z) { return __z.real_ * __z.real_ + __z.imag_ * __z.imag_; }
template <class T> __heddle_hd constexpr c10::complex<T> conj(const c10::complex<T> &__z) {
  return c10::complex<T>(__z.real_, -__z.imag_);
}
}

namespace c10_complex_math {
template <class T> __heddle_hd c10::complex<T> exp(const c10::complex<T> &__z) { return c10::polar((T)::exp(__z.real_), __z.imag_); }
template <class T> __heddle_hd c10::complex<T> log(const c10::complex<T> &__z) {
  return c10::complex<T>(::log(std::abs(__z)), std::arg(__z));
}
template <class T> __heddle_hd c10::complex<T> sqrt(const c10::complex<T> &__z) {
  return c10::polar((T)::sqrt(std::abs(__z)), std::arg(__z) / 2);
}
template <class T> __heddle_hd c10::complex<T> pow(const c10::complex<T> &__z, const c10::complex<T> &__y) {
  return __z ? exp(__y * log(__z)) : c10::complex<T>();
}
}
namespace std {
using c10_complex_math::exp;
using c10_complex_math::log;
using c10_complex_math::pow;
using c10_complex_math::sqrt;
}

namespace at {
using c10::complex;
}
namespace c10 {
template <class T> struct scalar_value_type { typedef T type; };
template <class T> struct scalar_value_type<complex<T>> { typedef T type; };
template <class T> struct is_complex : std::false_type {};
template <class T> struct is_complex<complex<T>> : std::true_type {};
}

#endif
