/* threadIdx, blockIdx, blockDim, gridDim, warpSize: reading a member reads the special register (PTX ISA
   10.1-10.7). Members are properties of clang; the objects have no storage and no address. */
#ifndef HEDDLE_INDICES_H
#define HEDDLE_INDICES_H

#define __HEDDLE_INDEX(TYPE, REG)                                                                       \
  struct TYPE {                                                                                         \
    __declspec(property(get = __get_x)) unsigned int x;                                                 \
    __declspec(property(get = __get_y)) unsigned int y;                                                 \
    __declspec(property(get = __get_z)) unsigned int z;                                                 \
    static __inline__ __attribute__((device, always_inline)) unsigned int __get_x() {                   \
      return __nvvm_read_ptx_sreg_##REG##_x();                                                          \
    }                                                                                                   \
    static __inline__ __attribute__((device, always_inline)) unsigned int __get_y() {                   \
      return __nvvm_read_ptx_sreg_##REG##_y();                                                          \
    }                                                                                                   \
    static __inline__ __attribute__((device, always_inline)) unsigned int __get_z() {                   \
      return __nvvm_read_ptx_sreg_##REG##_z();                                                          \
    }                                                                                                   \
    __attribute__((device, always_inline)) operator dim3() const { return dim3(x, y, z); }              \
    __attribute__((device, always_inline)) operator uint3() const { return uint3{x, y, z}; }            \
                                                                                                        \
   private:                                                                                             \
    __attribute__((device)) TYPE();                                                                     \
    __attribute__((device)) TYPE(const TYPE &);                                                         \
    __attribute__((device)) void operator=(const TYPE &) const;                                         \
    __attribute__((device)) TYPE *operator&() const;                                                    \
  }

__HEDDLE_INDEX(__heddle_threadIdx_t, tid);
__HEDDLE_INDEX(__heddle_blockIdx_t, ctaid);
__HEDDLE_INDEX(__heddle_blockDim_t, ntid);
__HEDDLE_INDEX(__heddle_gridDim_t, nctaid);

extern const __device__ __attribute__((weak)) __heddle_threadIdx_t threadIdx;
extern const __device__ __attribute__((weak)) __heddle_blockIdx_t blockIdx;
extern const __device__ __attribute__((weak)) __heddle_blockDim_t blockDim;
extern const __device__ __attribute__((weak)) __heddle_gridDim_t gridDim;

/* A constant, as every GPU so far has 32 lanes: array bounds may use it. */
__attribute__((device)) const int warpSize = 32;

#endif
