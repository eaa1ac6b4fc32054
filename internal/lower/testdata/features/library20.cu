// The library of C++20 in device code, where more of it is constexpr.
#include <array>
#include <tuple>
#include <utility>
#include <type_traits>
#include <limits>
#include <algorithm>
#include <numeric>
#include <functional>
#include <initializer_list>
#include <cstdint>
#include <cmath>
struct V { int x, y; };
template <class... A> __device__ int sum(A... a) { return (a + ... + 0); }
template <class T> struct Tr { static constexpr int v = sizeof(T); };
enum class E1 : int { A = 1, B };
template <auto N> __device__ int cv() { return N; }
struct Fun { __host__ __device__ constexpr int operator()(int x) const { return x * 2; } };
template <class F> __device__ int ap(F f, int x) { return f(x); }
template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>> __device__ T onlyint(T x) { return x; }
inline constexpr int IC = 4;
constexpr int hostce(int x) { return x + 1; }
__device__ static const int tab[4] = {1, 2, 3, 4};
union U2 { float f; int i; };
struct BF { unsigned a : 3, b : 5; };
struct alignas(16) Al { float v[4]; };
class Par { protected: int a; public: __device__ Par(int x) : a(x) {} __device__ int get() const { return a; } friend __device__ int fr(Par &p) { return p.a; } }; class Chi : public Par { public: using Par::Par; };
namespace { __device__ int anon(int x) { return x; } }
extern "C" __device__ int cfun(int x) { return x; }
__device__ int rec(int x) { return x <= 0 ? 0 : 1 + rec(x - 1); }
__device__ int (*fp)(int) = anon;
typedef int (*FT)(int);
template <int N> struct Unr { template <class F> __device__ static void go(F f) { f(N - 1); Unr<N - 1>::go(f); } }; template <> struct Unr<0> { template <class F> __device__ static void go(F) {} };
#define ARGS int *p, unsigned *u, long long *l, unsigned long long *ull, float *f, double *d, int n
#define INDEX int t = threadIdx.x + blockIdx.x * blockDim.x
__global__ void arr(ARGS) { INDEX; std::array<int, 4> a{1, 2, 3, 4}; a[1] = n; p[t] = a[1] + a.size() + a.front() + a.back() + a.data()[2]; for (int x : a) p[t] += x; }
__global__ void arrf(ARGS) { INDEX; std::array<float, 3> a; a.fill(2.f); f[t] = a[2]; auto [x, y, z] = a; f[t] += x + y + z; p[t] = std::get<1>(a); }
__global__ void tup(ARGS) { INDEX; std::tuple<int, float> a(1, 2.f); p[t] = std::get<0>(a) + std::get<1>(a) + std::tuple_size<decltype(a)>::value; auto b = std::make_tuple(1, 2); auto [x, y] = b; p[t] += x + y; int q, r; std::tie(q, r) = b; p[t] += q; p[t] += std::apply([](int a, int b) { return a + b; }, b); }
__global__ void pr(ARGS) { INDEX; std::pair<int, float> a{1, 2.f}; p[t] = a.first + a.second; auto b = std::make_pair(1, 2); p[t] += b.first; auto [x, y] = b; p[t] += (a < a); }
__global__ void tt(ARGS) { INDEX; static_assert(std::is_same_v<int, std::decay_t<const int&>>); static_assert(std::is_same<std::conditional_t<true, int, float>, int>::value); p[t] = std::is_floating_point_v<float> + std::is_trivially_copyable_v<V> + std::rank_v<int[3]> + std::alignment_of_v<Al>; std::integral_constant<int, 3> ic; p[t] += ic; std::underlying_type_t<E1> q = 3; std::make_unsigned_t<int> mu = 3; std::common_type_t<int, float> ct = 2; std::remove_reference_t<int&> rr = 2; p[t] += q + mu + ct + rr; std::invoke_result_t<Fun, int> ir = 2; std::void_t<int>(); std::is_invocable_v<Fun, int>; }
__global__ void lim(ARGS) { INDEX; p[t] = std::numeric_limits<int>::max() + std::numeric_limits<int>::lowest(); f[t] = std::numeric_limits<float>::infinity() + std::numeric_limits<float>::epsilon() + std::numeric_limits<float>::quiet_NaN() + std::numeric_limits<float>::min(); d[t] = std::numeric_limits<double>::max(); p[t] += std::numeric_limits<unsigned char>::digits; }
__global__ void alg(ARGS) { INDEX; p[t] = std::max(n, 2) + std::min(n, 3) + std::clamp(n, 1, 5) + std::max({1, 2, n}) + std::min({1, n}); int a = 1, b = 2; std::swap(a, b); auto [mn, mx] = std::minmax(a, b); p[t] += a + mn + mx; }
__global__ void alg2(ARGS) { INDEX; int a[4] = {4, 3, 2, 1}; p[t] = *std::max_element(a, a + 4) + *std::min_element(a, a + 4) + std::count(a, a + 4, 2) + (std::find(a, a + 4, 3) - a) + *std::lower_bound(a, a + 4, 2) + std::accumulate(a, a + 4, 0) + std::any_of(a, a + 4, [](int x) { return x > 2; }); std::fill(a, a + 4, 1); std::copy(a, a + 2, a + 2); std::reverse(a, a + 4); p[t] += a[0]; }
__global__ void alg3(ARGS) { INDEX; int a[4] = {4, 3, 2, 1}; std::sort(a, a + 4); std::iota(a, a + 4, 3); p[t] = a[0] + std::gcd(12, 8) + std::lcm(3, 4) + std::inner_product(a, a + 4, a, 0) + std::abs(n) + std::equal(a, a + 4, a) + std::transform_reduce(a, a + 4, a, 0); }
__global__ void fun(ARGS) { INDEX; p[t] = std::plus<int>()(n, 3) + std::multiplies<>()(n, 2) + std::less<int>()(n, 4) + std::greater<>()(n, 4) + std::bit_xor<int>()(n, 3) + std::minus<>()(n, 1) + std::equal_to<>()(n, 2) + std::negate<int>()(n) + std::logical_and<>()(n, 1) + std::modulus<>()(n|1, 3) + std::divides<>()(n, 3); }
__global__ void fun2(ARGS) { INDEX; p[t] = std::invoke(Fun(), n) + std::ref(n).get();  }
__global__ void util(ARGS) { INDEX; int a = std::exchange(n, 3); p[t] = a + std::forward<int>(a) + std::as_const(a); int b = std::move(a); auto s = std::make_index_sequence<3>(); p[t] += b; }
__global__ void util2(ARGS) { INDEX; auto lm = [](auto x) { return x + 1; }; p[t] = lm(n) + ap(lm, n) + ap(Fun(), 3) + ap([=](int q) { return q + n; }, 4); auto rl = [&](int z) mutable { n += z; return n; }; p[t] += rl(3); }
__global__ void iff(ARGS) { INDEX; if constexpr (sizeof(int) == 4) p[t] = 1;  if (int q = n; q > 3) p[t] = q; switch (int z = n; z) { case 1: p[t] = 2; [[fallthrough]]; default: break; } }
__global__ void fold(ARGS) { INDEX; p[t] = sum(1, 2, 3, n) + cv<3>() + cv<E1::B == E1::B>() + Tr<double>::v + onlyint(n) + IC + hostce(n); }
__global__ void il(ARGS) { INDEX; std::initializer_list<int> q = {1, 2, 3}; p[t] = q.size(); for (int x : {1, 2, n}) p[t] += x; }
__global__ void cst(ARGS) { INDEX; constexpr int a[3] = {1, 2, 3}; p[t] = a[t % 3] + tab[t & 3]; static const float w[2] = {1, 2}; f[t] = w[t & 1]; }
__global__ void un(ARGS) { INDEX; U2 x; x.f = f[t]; p[t] = x.i; BF b; b.a = n; b.b = 3; p[t] += b.a + b.b; Al al; al.v[0] = 1; *(Al*)(f + 4 * t) = al; }
__global__ void cls(ARGS) { INDEX; Chi c(n); p[t] = c.get() + fr(c) + anon(n) + cfun(n); int V::*mp = &V::x; V v{1, 2}; p[t] += v.*mp; auto [a, b] = v; p[t] += a + b; int (Par::*mf)() const = &Par::get; p[t] += (c.*mf)(); }
__global__ void recu(ARGS) { INDEX; p[t] = rec(5); }
__global__ void fptr(ARGS) { INDEX; FT g = fp; p[t] = g(n); }
__global__ void fptr2(ARGS) { INDEX; FT g = n > 3 ? anon : cfun; p[t] = g(n); }
__global__ void unr(ARGS) { INDEX; int s = 0; Unr<4>::go([&](int i) { s += i; }); p[t] = s; }
__global__ void gotos(ARGS) { INDEX; int i = 0; again: if (i++ < 3) goto again; p[t] = i; }
__global__ void mat(ARGS) { INDEX; float a[4][4] = {}; for (auto &r : a) for (auto &x : r) x += n; f[t] = a[t & 3][n & 3]; }
__global__ void i128(ARGS) { INDEX; __int128 q = n; q *= q; p[t] = (int)(q >> 64); unsigned __int128 z = ull[t]; ull[t] = (unsigned long long)((z * z) >> 64); }
__global__ void ldbl(ARGS) { INDEX; bool b = true; char c = 'a'; wchar_t w = L'a'; p[t] = b + c + w; char16_t u16 = u'a'; p[t] += u16 + 0b101 + 1'000; p[t] += 0x1p3; }
