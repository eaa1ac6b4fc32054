// C++20 in device code.
#include <concepts>
#include <compare>
#include <bit>
#include <span>
#include <optional>
#include <complex>
#include <array>
#include <numbers>
#include <utility>
#include <cstddef>
#include <type_traits>
template <class T> concept Num = std::integral<T> || std::floating_point<T>;
template <Num T> __device__ T sq(T x) { return x * x; }
template <class T> requires std::is_integral_v<T> __device__ T req(T x) { return x; }
__device__ auto abbr(std::integral auto x) { return x + 1; }
struct P3 { int x, y, z; __host__ __device__ auto operator<=>(const P3 &) const = default; };
consteval int ce(int x) { return x * 2; }
__device__ constinit int cinit = 3;
template <class T> concept HasX = requires(T t) { t.x; { t.x } -> std::convertible_to<int>; };
template <class T> struct Str { T v; }; template <class T> Str(T) -> Str<T>;
struct NT { int v; constexpr NT(int x) : v(x) {} constexpr bool operator==(const NT&) const = default; }; template <NT N> __device__ int ntv() { return N.v; }
#define ARGS int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n
#define INDEX int t = threadIdx.x + blockIdx.x * blockDim.x
__global__ void conc(ARGS) { INDEX; p[t] = sq(n) + req(n) + abbr(n) + HasX<P3>; f[t] = sq(f[t]); }
__global__ void desig(ARGS) { INDEX; P3 q{.x = 1, .y = 2, .z = n}; p[t] = q.x + q.z; p[t] += (q < P3{1, 2, 3}) + (q == q); }
__global__ void ship(ARGS) { INDEX; auto c = n <=> 3; p[t] = (c < 0) + (c == 0); }
__global__ void consv(ARGS) { INDEX; p[t] = ce(3) + cinit; }
__global__ void tl(ARGS) { INDEX; auto lm = []<class T>(T x) { return x + T(1); }; p[t] = lm(n) + lm.operator()<int>(3); auto ll = [&]<size_t... I>(std::index_sequence<I...>) { return (I + ... + 0); }; p[t] += ll(std::make_index_sequence<4>()); }
__global__ void bitc(ARGS) { INDEX; p[t] = std::bit_cast<int>(f[t]) + std::popcount(u[t]) + std::countl_zero(u[t]) + std::countr_zero(u[t]) + std::bit_width(u[t]) + std::has_single_bit(u[t]) + std::rotl(u[t], 3) + std::bit_ceil(u[t] & 255) + (std::endian::native == std::endian::little); }
__global__ void spn(ARGS) { INDEX; std::span<int> s(p, 128); s[t] = s.size(); auto q = s.subspan(1, 3); p[t] += q[0]; }
__global__ void spn2(ARGS) { INDEX; int a[4] = {1, 2, 3, 4}; std::span<int, 4> s(a); p[t] = s[2]; for (int x : s) p[t] += x; }
__global__ void opt(ARGS) { INDEX; std::optional<int> o; if (n > 3) o = 4; p[t] = o.value_or(2) + o.has_value(); if (o) p[t] += *o; o.reset(); }
__global__ void cplx(ARGS) { INDEX; std::complex<float> c(f[t], 2.f), e(1, 2); c = c * e + e; f[t] = c.real() + c.imag(); c += e; f[t] += std::norm(c);  }
__global__ void nums(ARGS) { INDEX; d[t] = std::numbers::pi + std::numbers::e_v<float>; }
__global__ void ntt(ARGS) { INDEX; p[t] = ntv<NT{3}>() + ntv<4>(); }
__global__ void lik(ARGS) { INDEX; if (n > 3) [[likely]] p[t] = 1; else [[unlikely]] p[t] = 2; [[maybe_unused]] int q; }
__global__ void rfor(ARGS) { INDEX; for (int i = 0; int x : {1, 2, 3}) p[t] += x + i++; }
__global__ void byte_(ARGS) { INDEX; std::byte b{3}; b |= std::byte{4}; p[t] = std::to_integer<int>(b); }
__global__ void va(ARGS) { INDEX; auto lm = [](auto... a) { return (a + ...); }; p[t] = lm(1, 2, n);  }
__global__ void usz(ARGS) { INDEX; std::ptrdiff_t z = 3; std::size_t s = 4; std::nullptr_t np = nullptr; p[t] = z + s + (np == nullptr); std::max_align_t ma; p[t] += sizeof(ma); }
