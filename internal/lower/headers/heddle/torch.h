/* What extensions of PyTorch use of its C++ headers, so that their host code is read and their kernels are instantiated
   for each type of AT_DISPATCH_*. Tensors have no contents: the host code is compiled and not run. What is missing here
   makes the statement that uses it unknown, as in all host code. */
#ifndef HEDDLE_TORCH_H
#define HEDDLE_TORCH_H
#pragma clang system_header
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE __inline__ __attribute__((always_inline))
#define C10_LIKELY(E) (__builtin_expect(static_cast<bool>(E), 1))
#define C10_UNLIKELY(E) (__builtin_expect(static_cast<bool>(E), 0))
#define C10_LAUNCH_BOUNDS_1(N) __launch_bounds__(N)
#define C10_LAUNCH_BOUNDS_2(N, M) __launch_bounds__(N, M)
#define C10_WARP_SIZE 32
#define C10_NODISCARD [[nodiscard]]
#define C10_UNUSED [[maybe_unused]]
#define C10_NOINLINE __attribute__((noinline))
#define C10_EXPORT
#define C10_API
#define C10_CUDA_API
#define C10_CONCATENATE_IMPL(A, B) A##B
#define C10_CONCATENATE(A, B) C10_CONCATENATE_IMPL(A, B)
#define C10_STRINGIZE_IMPL(A) #A
#define C10_STRINGIZE(A) C10_STRINGIZE_IMPL(A)
#define C10_RESTRICT __restrict__
#define TORCH_API
#define AT_ASSERT(...) ((void)0)
#define AT_ASSERTM(...) ((void)0)
#define AT_ERROR(...) ((void)0)
#define TORCH_CHECK(C, ...) ((void)sizeof(bool(C)))
/* Messages of the host, c10/util/Logging.h. */
namespace c10 {
struct __HEDDLE_LOG { template <class T> const __HEDDLE_LOG &operator<<(const T &) const { return *this; } };
}
#ifndef LOG
#define LOG(LEVEL) ::c10::__HEDDLE_LOG()
#endif
#ifndef CHECK
#define CHECK(C) (::c10::__HEDDLE_LOG() << static_cast<bool>(C))
#endif
#define TORCH_CHECK_EQ(A, B) ((void)0)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) ((void)0)
#define TORCH_CHECK_VALUE(...) ((void)0)
#define TORCH_INTERNAL_ASSERT(...) ((void)0)
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)
#define C10_CUDA_CHECK(E) ((void)(E))
#define AT_CUDA_CHECK(E) ((void)(E))
#define THCudaCheck(E) ((void)(E))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define CUDA_KERNEL_ASSERT(C) assert(C)
#define CUDA_KERNEL_LOOP(I, N) for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < (N); I += blockDim.x * gridDim.x)
#define CUDA_1D_KERNEL_LOOP(I, N) CUDA_KERNEL_LOOP(I, N)

namespace c10 {
/* A type of 16 bits that computes in float. */
#define __HEDDLE_TORCH_FLOAT(NAME, BASE)                                                                             \
  struct alignas(2) NAME {                                                                                           \
    unsigned short x;                                                                                                \
    NAME() = default;                                                                                                \
    struct from_bits_t {};                                                                                           \
    static __heddle_hd_member constexpr from_bits_t from_bits() { return from_bits_t(); }                            \
    __heddle_hd_member constexpr NAME(unsigned short __bits, from_bits_t) : x(__bits) {}                             \
    __heddle_hd_member NAME(float __f) : x(BASE(__f).__x) {}                                                         \
    __heddle_hd_member NAME(const BASE &__h) : x(__h.__x) {}                                                         \
    __heddle_hd_member operator float() const { return (float)__builtin_bit_cast(BASE, x); }                         \
    __heddle_hd_member operator BASE() const { return __builtin_bit_cast(BASE, x); }                                 \
    __heddle_hd_member NAME &operator+=(float __f) { return *this = NAME((float)*this + __f); }                      \
    __heddle_hd_member NAME &operator-=(float __f) { return *this = NAME((float)*this - __f); }                      \
    __heddle_hd_member NAME &operator*=(float __f) { return *this = NAME((float)*this * __f); }                      \
    __heddle_hd_member NAME &operator/=(float __f) { return *this = NAME((float)*this / __f); }                      \
  };
__HEDDLE_TORCH_FLOAT(Half, __half)
__HEDDLE_TORCH_FLOAT(BFloat16, __nv_bfloat16)
#undef __HEDDLE_TORCH_FLOAT

/* The result of an operation with a number of another type: the wider one of floating point, or the type itself beside
   integers. Comparisons are those of the values. */
template <class H, class T> using __float_result = std::conditional_t<std::is_integral_v<T>, H, T>;
#define __HEDDLE_TORCH_ARITHMETIC(H, OP)                                                                                \
  __host__ __device__ inline H operator OP(H a, H b) { return H((float)a OP (float)b); }                                \
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                                 \
  __host__ __device__ inline __float_result<H, T> operator OP(H a, T b) {                                               \
    return __float_result<H, T>((float)a OP (__float_result<float, T>)b);                                               \
  }                                                                                                                     \
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                                 \
  __host__ __device__ inline __float_result<H, T> operator OP(T a, H b) {                                               \
    return __float_result<H, T>((__float_result<float, T>)a OP (float)b);                                               \
  }
#define __HEDDLE_TORCH_COMPARISON(H, OP)                                                                                \
  __host__ __device__ inline bool operator OP(H a, H b) { return (float)a OP (float)b; }                                \
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                                 \
  __host__ __device__ inline bool operator OP(H a, T b) { return (float)a OP b; }                                       \
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                                 \
  __host__ __device__ inline bool operator OP(T a, H b) { return a OP (float)b; }
#define __HEDDLE_TORCH_OPERATORS(H)                                                                                     \
  __HEDDLE_TORCH_ARITHMETIC(H, +) __HEDDLE_TORCH_ARITHMETIC(H, -) __HEDDLE_TORCH_ARITHMETIC(H, *)                       \
  __HEDDLE_TORCH_ARITHMETIC(H, /) __HEDDLE_TORCH_COMPARISON(H, ==) __HEDDLE_TORCH_COMPARISON(H, !=)                     \
  __HEDDLE_TORCH_COMPARISON(H, <) __HEDDLE_TORCH_COMPARISON(H, <=) __HEDDLE_TORCH_COMPARISON(H, >)                      \
  __HEDDLE_TORCH_COMPARISON(H, >=)                                                                                      \
  __host__ __device__ inline H operator-(H a) { return H(-(float)a); }
__HEDDLE_TORCH_OPERATORS(Half)
__HEDDLE_TORCH_OPERATORS(BFloat16)
#undef __HEDDLE_TORCH_OPERATORS
#undef __HEDDLE_TORCH_COMPARISON
#undef __HEDDLE_TORCH_ARITHMETIC

struct qint8 { typedef int8_t underlying; int8_t val_; };
struct quint8 { typedef uint8_t underlying; uint8_t val_; };
struct quint4x2 { typedef uint8_t underlying; uint8_t val_; };
struct quint2x4 { typedef uint8_t underlying; uint8_t val_; };
struct qint32 { typedef int underlying; int val_; };
/* A type of 8 bits that converts from and to float. */
#define __HEDDLE_TORCH_FLOAT8(NAME, BASE)                                                                            \
  struct alignas(1) NAME {                                                                                           \
    uint8_t x;                                                                                                       \
    NAME() = default;                                                                                                \
    __heddle_hd_member NAME(float __f) : x(BASE(__f).__x) {}                                                         \
    __heddle_hd_member operator float() const { return (float)__builtin_bit_cast(BASE, x); }                         \
  };
__HEDDLE_TORCH_FLOAT8(Float8_e5m2, __nv_fp8_e5m2)
__HEDDLE_TORCH_FLOAT8(Float8_e4m3fn, __nv_fp8_e4m3)
#undef __HEDDLE_TORCH_FLOAT8

}
#include "torch_complex.h"
namespace c10 {
/* In the order of PyTorch, which programs store. */
enum class ScalarType : int8_t {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8,
  QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16, Float8_e5m2, Float8_e4m3fn,
  Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64, Undefined
};
enum class DeviceType : int8_t { CPU, CUDA };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum class Layout : int8_t { Strided, Sparse };
using DeviceIndex = int8_t;
struct Device {
  Device() = default;
  template <class... A> Device(A...) {}
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  DeviceIndex index() const { return 0; }
  DeviceType type() const { return DeviceType::CUDA; }
  bool operator==(const Device &) const { return true; }
  bool operator!=(const Device &) const { return false; }
};
struct TensorOptions {
  TensorOptions() = default;
  template <class A> TensorOptions(A) {}
  template <class... A> TensorOptions dtype(A...) const { return *this; }
  template <class... A> TensorOptions device(A...) const { return *this; }
  template <class... A> TensorOptions layout(A...) const { return *this; }
  template <class... A> TensorOptions requires_grad(A...) const { return *this; }
  template <class... A> TensorOptions memory_format(A...) const { return *this; }
};
struct Scalar {
  template <class T> Scalar(T) {}
  template <class T> T to() const { return T(); }
};
template <class T> struct ArrayRef {
  const T *p = nullptr;
  size_t n = 0;
  ArrayRef() = default;
  ArrayRef(std::initializer_list<T> l) : p(l.begin()), n(l.size()) {}
  ArrayRef(const std::vector<T> &v) : p(v.data()), n(v.size()) {}
  const T &operator[](size_t i) const { return p[i]; }
  size_t size() const { return n; }
  const T *begin() const { return p; }
  const T *end() const { return p + n; }
  std::vector<T> vec() const { return std::vector<T>(); }
};
using IntArrayRef = ArrayRef<int64_t>;
template <class T> struct List : std::vector<T> { using std::vector<T>::vector; };
/* Pointers that count their references: the objects are not made here. */
struct intrusive_ptr_target {};
template <class T> struct intrusive_ptr {
  T *p = nullptr;
  intrusive_ptr() = default;
  template <class U> intrusive_ptr(const intrusive_ptr<U> &o) : p(o.p) {}
  T *get() const { return p; }
  T &operator*() const { return *p; }
  T *operator->() const { return p; }
  explicit operator bool() const { return p; }
  bool defined() const { return p; }
};
template <class T, class... A> intrusive_ptr<T> make_intrusive(A &&...) { return intrusive_ptr<T>(); }
/* The integers of a range. */
template <class I> struct integer_range {
  struct iterator {
    I i;
    I operator*() const { return i; }
    iterator &operator++() { ++i; return *this; }
    bool operator!=(const iterator &o) const { return i != o.i; }
  };
  I first, last;
  iterator begin() const { return {first}; }
  iterator end() const { return {last}; }
};
template <class I> integer_range<I> irange(I n) { return {I(0), n}; }
template <class I, class J> integer_range<J> irange(I a, J b) { return {J(a), b}; }
using std::optional;
using std::nullopt;
class DataPtr {
  void *p;
 public:
  DataPtr() : p(nullptr) {}
  DataPtr(DataPtr &&d) : p(d.p) {}
  DataPtr &operator=(DataPtr &&d) { p = d.p; return *this; }
  void *get() const { return p; }
  void *mutable_get() const { return p; }
  explicit operator bool() const { return p != nullptr; }
};
namespace cuda {
struct CUDAStream {
  operator cudaStream_t() const { return 0; }
  cudaStream_t stream() const { return 0; }
  void synchronize() const {}
};
template <class... A> CUDAStream getCurrentCUDAStream(A...) { return CUDAStream(); }
template <class... A> CUDAStream getStreamFromPool(A...) { return CUDAStream(); }
struct CUDAGuard { template <class... A> explicit CUDAGuard(A...) {} };
struct OptionalCUDAGuard { template <class... A> explicit OptionalCUDAGuard(A...) {} };
namespace CUDACachingAllocator {
struct CUDAAllocator { DataPtr allocate(size_t); void *raw_alloc(size_t); void raw_delete(void *); };
CUDAAllocator *get();
void *raw_alloc(size_t);
void *raw_alloc_with_stream(size_t, cudaStream_t);
void raw_delete(void *);
void emptyCache();
void recordStream(const DataPtr &, CUDAStream);
}
struct CUDAStreamGuard { template <class... A> explicit CUDAStreamGuard(A...) {} };
inline DeviceIndex current_device() { return 0; }
inline DeviceIndex device_count() { return 1; }
inline void set_device(DeviceIndex) {}
inline DeviceIndex MaybeSetDevice(DeviceIndex) { return 0; }
inline DeviceIndex ExchangeDevice(DeviceIndex) { return 0; }
}
}

namespace at {
using namespace c10;
namespace cuda { using namespace c10::cuda; inline cudaDeviceProp *getCurrentDeviceProperties() { return nullptr; } inline cudaDeviceProp *getDeviceProperties(int) { return nullptr; } }
template <class T> struct DefaultPtrTraits { typedef T *PtrType; };
template <class T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };

/* A tensor as a kernel sees it: its memory, sizes and strides. */
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> class TensorAccessor {
 public:
  typedef typename P<T>::PtrType PtrType;
  __heddle_hd_member TensorAccessor(PtrType d, const I *n, const I *s) : data_(d), sizes_(n), strides_(s) {}
  __heddle_hd_member I size(I i) const { return sizes_[i]; }
  __heddle_hd_member I stride(I i) const { return strides_[i]; }
  __heddle_hd_member PtrType data() const { return data_; }
  __heddle_hd_member decltype(auto) operator[](I i) const {
    if constexpr (N == 1) return (data_[strides_[0] * i]);
    else return TensorAccessor<T, N - 1, P, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }
 private:
  PtrType data_;
  const I *sizes_, *strides_;
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> class GenericPackedTensorAccessor {
 public:
  typedef typename P<T>::PtrType PtrType;
  __heddle_hd_member I size(I i) const { return sizes_[i]; }
  __heddle_hd_member I stride(I i) const { return strides_[i]; }
  __heddle_hd_member PtrType data() const { return data_; }
  __heddle_hd_member decltype(auto) operator[](I i) const {
    if constexpr (N == 1) return (data_[strides_[0] * i]);
    else return TensorAccessor<T, N - 1, P, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }
 private:
  PtrType data_;
  I sizes_[N], strides_[N];
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;

template <class T> T *__memory(); /* not defined: its value is unknown */
int64_t __number();

class Tensor {
 public:
  Tensor() = default;
  template <class T = void> T *data_ptr() const { return __memory<T>(); }
  template <class T = void> const T *const_data_ptr() const { return __memory<T>(); }
  template <class T = void> T *mutable_data_ptr() const { return __memory<T>(); }
  template <class T> T *data() const { return __memory<T>(); }
  int64_t size(int64_t) const { return __number(); }
  int64_t stride(int64_t) const { return __number(); }
  int64_t numel() const { return __number(); }
  int64_t dim() const { return __number(); }
  int64_t ndimension() const { return __number(); }
  int64_t element_size() const { return __number(); }
  size_t nbytes() const { return __number(); }
  int64_t get_device() const { return 0; }
  IntArrayRef sizes() const { return IntArrayRef(); }
  IntArrayRef strides() const { return IntArrayRef(); }
  ScalarType scalar_type() const { return (ScalarType)__number(); }
  ScalarType dtype() const { return scalar_type(); }
  ScalarType type() const { return scalar_type(); }
  Device device() const { return Device(); }
  TensorOptions options() const { return TensorOptions(); }
  Layout layout() const { return Layout::Strided; }
  MemoryFormat suggest_memory_format() const { return MemoryFormat::Contiguous; }
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  bool defined() const { return true; }
  bool is_floating_point() const { return true; }
  template <class... A> bool is_contiguous(A...) const { return true; }
  template <class T> T item() const { return T(); }
  template <class T, size_t N> TensorAccessor<T, N> accessor() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const { return PackedTensorAccessor32<T, N, P>(); }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const { return PackedTensorAccessor64<T, N, P>(); }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const { return GenericPackedTensorAccessor<T, N, P, I>(); }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> generic_packed_accessor() const { return GenericPackedTensorAccessor<T, N, P, I>(); }
  template <class I> Tensor operator[](I) const { return *this; }
  template <class T> Tensor &operator+=(const T &) { return *this; }
  template <class T> Tensor &operator*=(const T &) { return *this; }
#define __HEDDLE_TORCH_METHOD(NAME)                                                 \
  template <class... A> Tensor NAME(const A &...) const { return *this; }           \
  template <class T> Tensor NAME(std::initializer_list<T>) const { return *this; }  \
  template <class T, class... A> Tensor NAME(std::initializer_list<T>, const A &...) const { return *this; }
  __HEDDLE_TORCH_METHOD(contiguous) __HEDDLE_TORCH_METHOD(to) __HEDDLE_TORCH_METHOD(view) __HEDDLE_TORCH_METHOD(reshape)
  __HEDDLE_TORCH_METHOD(clone) __HEDDLE_TORCH_METHOD(detach) __HEDDLE_TORCH_METHOD(cuda) __HEDDLE_TORCH_METHOD(cpu)
  __HEDDLE_TORCH_METHOD(zero_) __HEDDLE_TORCH_METHOD(fill_) __HEDDLE_TORCH_METHOD(copy_) __HEDDLE_TORCH_METHOD(resize_)
  __HEDDLE_TORCH_METHOD(select) __HEDDLE_TORCH_METHOD(slice) __HEDDLE_TORCH_METHOD(narrow) __HEDDLE_TORCH_METHOD(index)
  __HEDDLE_TORCH_METHOD(set_) __HEDDLE_TORCH_METHOD(squeeze_) __HEDDLE_TORCH_METHOD(unsqueeze_) __HEDDLE_TORCH_METHOD(squeeze) __HEDDLE_TORCH_METHOD(unsqueeze) __HEDDLE_TORCH_METHOD(transpose) __HEDDLE_TORCH_METHOD(permute)
  __HEDDLE_TORCH_METHOD(t) __HEDDLE_TORCH_METHOD(expand) __HEDDLE_TORCH_METHOD(expand_as) __HEDDLE_TORCH_METHOD(flatten)
  __HEDDLE_TORCH_METHOD(sum) __HEDDLE_TORCH_METHOD(mean) __HEDDLE_TORCH_METHOD(max) __HEDDLE_TORCH_METHOD(min)
  __HEDDLE_TORCH_METHOD(new_empty) __HEDDLE_TORCH_METHOD(new_zeros) __HEDDLE_TORCH_METHOD(toType) __HEDDLE_TORCH_METHOD(mul)
  __HEDDLE_TORCH_METHOD(masked_fill) __HEDDLE_TORCH_METHOD(masked_fill_) __HEDDLE_TORCH_METHOD(masked_select)
  __HEDDLE_TORCH_METHOD(index_select) __HEDDLE_TORCH_METHOD(index_put_) __HEDDLE_TORCH_METHOD(gather)
  __HEDDLE_TORCH_METHOD(scatter) __HEDDLE_TORCH_METHOD(scatter_) __HEDDLE_TORCH_METHOD(scatter_add_)
  __HEDDLE_TORCH_METHOD(add) __HEDDLE_TORCH_METHOD(add_) __HEDDLE_TORCH_METHOD(sub) __HEDDLE_TORCH_METHOD(sub_)
  __HEDDLE_TORCH_METHOD(mul_) __HEDDLE_TORCH_METHOD(div) __HEDDLE_TORCH_METHOD(div_) __HEDDLE_TORCH_METHOD(neg)
  __HEDDLE_TORCH_METHOD(exp) __HEDDLE_TORCH_METHOD(log) __HEDDLE_TORCH_METHOD(sqrt) __HEDDLE_TORCH_METHOD(pow)
  __HEDDLE_TORCH_METHOD(abs) __HEDDLE_TORCH_METHOD(clamp) __HEDDLE_TORCH_METHOD(clamp_) __HEDDLE_TORCH_METHOD(sort)
  __HEDDLE_TORCH_METHOD(argsort) __HEDDLE_TORCH_METHOD(argmax) __HEDDLE_TORCH_METHOD(argmin)
  __HEDDLE_TORCH_METHOD(nonzero) __HEDDLE_TORCH_METHOD(cumsum) __HEDDLE_TORCH_METHOD(repeat)
  __HEDDLE_TORCH_METHOD(repeat_interleave) __HEDDLE_TORCH_METHOD(bmm) __HEDDLE_TORCH_METHOD(mm)
  __HEDDLE_TORCH_METHOD(matmul) __HEDDLE_TORCH_METHOD(norm) __HEDDLE_TORCH_METHOD(any) __HEDDLE_TORCH_METHOD(all)
  __HEDDLE_TORCH_METHOD(eq) __HEDDLE_TORCH_METHOD(ne) __HEDDLE_TORCH_METHOD(lt) __HEDDLE_TORCH_METHOD(le)
  __HEDDLE_TORCH_METHOD(gt) __HEDDLE_TORCH_METHOD(ge) __HEDDLE_TORCH_METHOD(logical_and)
  __HEDDLE_TORCH_METHOD(logical_or) __HEDDLE_TORCH_METHOD(logical_not) __HEDDLE_TORCH_METHOD(where)
  __HEDDLE_TORCH_METHOD(new_full) __HEDDLE_TORCH_METHOD(new_ones) __HEDDLE_TORCH_METHOD(type_as)
  __HEDDLE_TORCH_METHOD(view_as) __HEDDLE_TORCH_METHOD(reshape_as) __HEDDLE_TORCH_METHOD(prod)
  __HEDDLE_TORCH_METHOD(flip) __HEDDLE_TORCH_METHOD(roll) __HEDDLE_TORCH_METHOD(movedim)
  __HEDDLE_TORCH_METHOD(requires_grad_) __HEDDLE_TORCH_METHOD(pin_memory) __HEDDLE_TORCH_METHOD(half)
  __HEDDLE_TORCH_METHOD(bfloat16) __HEDDLE_TORCH_METHOD(unflatten) __HEDDLE_TORCH_METHOD(index_add_)
  __HEDDLE_TORCH_METHOD(softmax)
  std::vector<Tensor> split(int64_t, int64_t = 0) const { return {}; }
  std::vector<Tensor> chunk(int64_t, int64_t = 0) const { return {}; }
  std::vector<Tensor> unbind(int64_t = 0) const { return {}; }
  int64_t storage_offset() const { return __number(); }
  bool has_value() const { return true; }
  bool requires_grad() const { return false; }
  bool is_same(const Tensor &) const { return false; }
#undef __HEDDLE_TORCH_METHOD
};
using TensorList = ArrayRef<Tensor>;
/* A tensor as kernels see it that know its number of dimensions at run time. */
namespace cuda {
namespace detail {
constexpr int MAX_TENSORINFO_DIMS = 25;
template <class T, class I> struct TensorInfo {
  T *data;
  I sizes[MAX_TENSORINFO_DIMS], strides[MAX_TENSORINFO_DIMS];
  int dims;
  __heddle_hd_member bool isContiguous() const { return dims == 1 && strides[0] == 1; }
};
template <class T, class I> TensorInfo<T, I> getTensorInfo(const Tensor &); /* not defined: its value is unknown */
template <class T, class I, int N> struct IndexToOffset {
  static __heddle_hd_member I get(I n, const TensorInfo<T, I> &t) {
    I at = 0;
    for (int d = (N < 0 ? t.dims : N) - 1; d > 0; d--) {
      at += n % t.sizes[d] * t.strides[d];
      n /= t.sizes[d];
    }
    return at + n * t.strides[0];
  }
};
inline bool canUse32BitIndexMath(const Tensor &) { return true; }
}
}

#define __HEDDLE_TORCH_FUNCTION(NAME)                                               \
  template <class... A> Tensor NAME(const A &...) { return Tensor(); }              \
  template <class T> Tensor NAME(std::initializer_list<T>) { return Tensor(); }     \
  template <class T, class... A> Tensor NAME(std::initializer_list<T>, const A &...) { return Tensor(); } \
  template <class... A> Tensor NAME(std::initializer_list<int64_t>, const A &...) { return Tensor(); }
__HEDDLE_TORCH_FUNCTION(zeros) __HEDDLE_TORCH_FUNCTION(ones) __HEDDLE_TORCH_FUNCTION(empty) __HEDDLE_TORCH_FUNCTION(full)
__HEDDLE_TORCH_FUNCTION(zeros_like) __HEDDLE_TORCH_FUNCTION(ones_like) __HEDDLE_TORCH_FUNCTION(empty_like)
__HEDDLE_TORCH_FUNCTION(full_like) __HEDDLE_TORCH_FUNCTION(tensor) __HEDDLE_TORCH_FUNCTION(arange) __HEDDLE_TORCH_FUNCTION(cat)
__HEDDLE_TORCH_FUNCTION(stack) __HEDDLE_TORCH_FUNCTION(matmul) __HEDDLE_TORCH_FUNCTION(mm) __HEDDLE_TORCH_FUNCTION(bmm)
__HEDDLE_TORCH_FUNCTION(sum) __HEDDLE_TORCH_FUNCTION(cumsum) __HEDDLE_TORCH_FUNCTION(from_blob) __HEDDLE_TORCH_FUNCTION(empty_strided)
#undef __HEDDLE_TORCH_FUNCTION
#define __HEDDLE_TORCH_OPERATOR(OP)                                                             \
  template <class T> Tensor operator OP(const Tensor &a, const T &) { return a; }               \
  inline Tensor operator OP(double, const Tensor &b) { return b; }
__HEDDLE_TORCH_OPERATOR(+) __HEDDLE_TORCH_OPERATOR(-) __HEDDLE_TORCH_OPERATOR(*) __HEDDLE_TORCH_OPERATOR(/)
__HEDDLE_TORCH_OPERATOR(==) __HEDDLE_TORCH_OPERATOR(!=) __HEDDLE_TORCH_OPERATOR(<) __HEDDLE_TORCH_OPERATOR(<=)
__HEDDLE_TORCH_OPERATOR(>) __HEDDLE_TORCH_OPERATOR(>=) __HEDDLE_TORCH_OPERATOR(&) __HEDDLE_TORCH_OPERATOR(|)
#undef __HEDDLE_TORCH_OPERATOR

constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int,
                     kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double,
                     kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16, kFloat16 = kHalf, kFloat32 = kFloat,
                     kFloat64 = kDouble, kInt8 = kChar, kUInt8 = kByte, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
                     kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32, kUInt64 = ScalarType::UInt64,
                     kFloat8_e5m2 = ScalarType::Float8_e5m2, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
constexpr DeviceType kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
inline Device device_of(const Tensor &) { return Device(); }
typedef const char *CheckedFrom;
struct TensorArg { template <class... A> TensorArg(A &&...) {} };
inline void checkAllSameGPU(CheckedFrom, ArrayRef<TensorArg>) {}
inline void checkAllSameType(CheckedFrom, ArrayRef<TensorArg>) {}
inline void checkAllSameSize(CheckedFrom, ArrayRef<TensorArg>) {}
/* The type in which elements of a type are computed with. */
template <class T> struct OpMathType { typedef T type; };
template <> struct OpMathType<c10::complex<c10::Half>> { typedef c10::complex<float> type; };
template <> struct OpMathType<c10::Half> { typedef float type; };
template <> struct OpMathType<c10::BFloat16> { typedef float type; };
template <> struct OpMathType<c10::Float8_e5m2> { typedef float type; };
template <> struct OpMathType<c10::Float8_e4m3fn> { typedef float type; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T> T ceil_div(T a, T b) { return (a + b - 1) / b; }
}
namespace c10 { using at::device_of; using at::kBFloat16; using at::kFloat; using at::kHalf; }
namespace torch {
using namespace at;
using at::empty; using at::ones; using at::tensor; using at::zeros;
inline TensorOptions dtype(ScalarType) { return TensorOptions(); }
template <class... A> TensorOptions device(A...) { return TensorOptions(); }
using Dtype = ScalarType;
using CustomClassHolder = c10::intrusive_ptr_target;
namespace autograd { using variable_list = std::vector<Tensor>; }
struct Library {
  template <class... A> Library &def(A &&...) { return *this; }
  template <class... A> Library &impl(A &&...) { return *this; }
};
}

/* A type of AT_DISPATCH_*: the function in the last argument, for scalar_t. */
#define AT_DISPATCH_CASE(TYPE, ...) case TYPE: { using scalar_t = __HEDDLE_CPP_TYPE<TYPE>::type; return __VA_ARGS__(); }
#define AT_PRIVATE_CASE_TYPE_USING_HINT(TYPE, HINT, ...) case TYPE: { using HINT = __HEDDLE_CPP_TYPE<TYPE>::type; return __VA_ARGS__(); }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) [&] { switch (TYPE) { __VA_ARGS__ default: break; } __builtin_unreachable(); }()
template <c10::ScalarType> struct __HEDDLE_CPP_TYPE;
#define __HEDDLE_TORCH_TYPE(NAME, TYPE) template <> struct __HEDDLE_CPP_TYPE<c10::ScalarType::NAME> { typedef TYPE type; };
__HEDDLE_TORCH_TYPE(Byte, uint8_t) __HEDDLE_TORCH_TYPE(Char, int8_t) __HEDDLE_TORCH_TYPE(Short, int16_t) __HEDDLE_TORCH_TYPE(Int, int)
__HEDDLE_TORCH_TYPE(Long, int64_t) __HEDDLE_TORCH_TYPE(Half, c10::Half) __HEDDLE_TORCH_TYPE(Float, float)
__HEDDLE_TORCH_TYPE(Double, double) __HEDDLE_TORCH_TYPE(Bool, bool) __HEDDLE_TORCH_TYPE(BFloat16, c10::BFloat16)
__HEDDLE_TORCH_TYPE(UInt16, uint16_t) __HEDDLE_TORCH_TYPE(UInt32, uint32_t) __HEDDLE_TORCH_TYPE(UInt64, uint64_t)
__HEDDLE_TORCH_TYPE(QInt8, c10::qint8) __HEDDLE_TORCH_TYPE(QUInt8, c10::quint8) __HEDDLE_TORCH_TYPE(QInt32, c10::qint32)
__HEDDLE_TORCH_TYPE(QUInt4x2, c10::quint4x2) __HEDDLE_TORCH_TYPE(QUInt2x4, c10::quint2x4)
__HEDDLE_TORCH_TYPE(Float8_e5m2, c10::Float8_e5m2) __HEDDLE_TORCH_TYPE(Float8_e4m3fn, c10::Float8_e4m3fn)
__HEDDLE_TORCH_TYPE(ComplexHalf, c10::complex<c10::Half>) __HEDDLE_TORCH_TYPE(ComplexFloat, c10::complex<float>)
__HEDDLE_TORCH_TYPE(ComplexDouble, c10::complex<double>)
#undef __HEDDLE_TORCH_TYPE
namespace c10 {
namespace impl {
template <ScalarType T> using ScalarTypeToCPPTypeT = typename __HEDDLE_CPP_TYPE<T>::type;
template <ScalarType T> using ScalarTypeToCPPType = __HEDDLE_CPP_TYPE<T>;
}
}
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                                                                          \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__)             \
  AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__)              \
  AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                                                                           \
  AT_DISPATCH_CASE(at::ScalarType::ComplexDouble, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(A, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(A, B, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(A, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(A, B, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(A, B, C, T, N, ...)                                                    \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__)       \
                     AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Int, index_t, __VA_ARGS__) AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, T, N, ...)                                                                \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__)                   \
                     AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))

/* Bindings: the functions that they name are used, and nothing else. */
#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
#define PYBIND11_MODULE(NAME, M) [[maybe_unused]] static void C10_CONCATENATE(__heddle_module_, NAME)(torch::Library & M)
#define TORCH_LIBRARY(NAME, M) [[maybe_unused]] static void C10_CONCATENATE(__heddle_library_, NAME)(torch::Library & M)
#define TORCH_LIBRARY_FRAGMENT(NAME, M) [[maybe_unused]] static void C10_CONCATENATE(__heddle_fragment_, __LINE__)(torch::Library & M)
#define TORCH_LIBRARY_IMPL(NAME, KEY, M) [[maybe_unused]] static void C10_CONCATENATE(__heddle_impl_, __LINE__)(torch::Library & M)
#define TORCH_FN(F) F
#define TORCH_SELECTIVE_NAME(NAME) NAME
namespace pybind11 {
template <class... A> int arg(A...) { return 0; }
struct gil_scoped_release {};
}
namespace py = pybind11;

#endif
