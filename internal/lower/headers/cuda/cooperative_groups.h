/* Cooperative groups (CUDA C++ Programming Guide, "Cooperative Groups"), written on the barriers, votes and
   shuffles of the language: blocks, tiles, coalesced threads, grids, clusters, and partitions. */
#ifndef HEDDLE_COOPERATIVE_GROUPS_H
#define HEDDLE_COOPERATIVE_GROUPS_H

/* Arrivals at the barrier of the grid: bit 31 changes when the last block arrives. A software barrier, as
   a grid has none in PTX; all blocks must be resident, as a cooperative launch guarantees. */
static __device__ unsigned int __heddle_grid_arrived;

#include "../heddle/copies.h"

namespace cooperative_groups {
namespace __v1 {

typedef unsigned long long __rank_t;

__heddle_fn void __block_sync() { asm volatile("barrier.sync 0;" ::: "memory"); }
__heddle_fn unsigned int __thread_of_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__heddle_fn unsigned int __threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
__heddle_fn unsigned int __block_of_grid() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
__heddle_fn unsigned int __blocks_of_grid() { return gridDim.x * gridDim.y * gridDim.z; }
/* The halves of a barrier of the grid, for the thread of a block that does them. The last block to arrive changes
   bit 31, which the others wait for. */
__heddle_fn unsigned int __grid_arrive() {
  unsigned int __step = __block_of_grid() == 0 ? 0x80000000u - (__blocks_of_grid() - 1) : 1u;
  __threadfence();
  return atomicAdd(&__heddle_grid_arrived, __step);
}
__heddle_fn void __grid_wait(unsigned int __old) {
  while (((*(volatile unsigned int *)&__heddle_grid_arrived ^ __old) & 0x80000000u) == 0) {
  }
  __threadfence();
}
__heddle_fn void __grid_sync() {
  __block_sync();
  if (__thread_of_block() == 0) __grid_wait(__grid_arrive());
  asm volatile(".pragma \"heddle.grid\";\n\tbarrier.sync 0;" ::: "memory");
}
/* The lanes of the thread's tile of __n threads, a power of two, if each tile has consecutive lanes. */
__heddle_fn unsigned int __tile_of_lanes(unsigned int __n) {
  return __n >= 32 ? ~0u : ((1u << __n) - 1) << (__thread_of_block() & 31 & ~(__n - 1));
}
/* The n-th lane of __mask, counted from 0. */
__heddle_fn unsigned int __nth_lane(unsigned int __mask, unsigned int __n) {
  for (; __n != 0; __n--) __mask &= __mask - 1;
  return __ffs(__mask) - 1;
}

/* Shuffles between members. A trivially copyable type of up to 32 bytes moves in words of 32 bits, an arithmetic type
   as with __shfl_sync. */
#define __HEDDLE_MOVE(NAME, BT)                                                                           \
  template <typename __T> __heddle_fn __T __move_##NAME(unsigned int __mask, const __T &__v, BT __b, int __w) { \
    if constexpr (__heddle_is<__T>::arithmetic) {                                                         \
      return (__T)__##NAME##_sync(__mask, __v, __b, __w);                                                 \
    } else {                                                                                              \
      static_assert(__is_trivially_copyable(__T) && sizeof(__T) <= 32,                                    \
                    "a shuffle moves a trivially copyable type of at most 32 bytes");                     \
      constexpr unsigned int __n = (sizeof(__T) + 3) / 4;                                                 \
      unsigned int __u[8] = {0, 0, 0, 0, 0, 0, 0, 0};                                                     \
      __builtin_memcpy(__u, &__v, sizeof(__T));                                                           \
      __u[0] = __##NAME##_sync(__mask, __u[0], __b, __w);                                                 \
      if constexpr (__n > 1) __u[1] = __##NAME##_sync(__mask, __u[1], __b, __w);                          \
      if constexpr (__n > 2) __u[2] = __##NAME##_sync(__mask, __u[2], __b, __w);                          \
      if constexpr (__n > 3) __u[3] = __##NAME##_sync(__mask, __u[3], __b, __w);                          \
      if constexpr (__n > 4) __u[4] = __##NAME##_sync(__mask, __u[4], __b, __w);                          \
      if constexpr (__n > 5) __u[5] = __##NAME##_sync(__mask, __u[5], __b, __w);                          \
      if constexpr (__n > 6) __u[6] = __##NAME##_sync(__mask, __u[6], __b, __w);                          \
      if constexpr (__n > 7) __u[7] = __##NAME##_sync(__mask, __u[7], __b, __w);                          \
      __T __r = __v;                                                                                      \
      __builtin_memcpy(&__r, __u, sizeof(__T));                                                           \
      return __r;                                                                                         \
    }                                                                                                     \
  }
__HEDDLE_MOVE(shfl, int)
__HEDDLE_MOVE(shfl_up, unsigned int)
__HEDDLE_MOVE(shfl_down, unsigned int)
__HEDDLE_MOVE(shfl_xor, int)
#undef __HEDDLE_MOVE

/* Any group. __lanes is 0 for a block and for a grid. */
class thread_group {
 protected:
  unsigned int __lanes;
  bool __grid;
  __heddle_member thread_group(unsigned int __l, bool __g) : __lanes(__l), __grid(__g) {}
  friend __attribute__((device)) thread_group tiled_partition(const thread_group &, unsigned int);

 public:
  __heddle_member __rank_t size() const {
    if (__lanes != 0) return __popc(__lanes);
    return __grid ? (__rank_t)__blocks_of_grid() * __threads_of_block() : __threads_of_block();
  }
  __heddle_member __rank_t num_threads() const { return size(); }
  __heddle_member __rank_t thread_rank() const {
    if (__lanes != 0) return __popc(__lanes & __nv_lanemask_lt());
    return __grid ? (__rank_t)__block_of_grid() * __threads_of_block() + __thread_of_block() : __thread_of_block();
  }
  __heddle_member bool is_valid() const { return true; }
  __heddle_member void sync() const {
    if (__lanes != 0) __syncwarp(__lanes);
    else if (__grid) __grid_sync();
    else __block_sync();
  }
};

class thread_block : public thread_group {
  __heddle_member thread_block() : thread_group(0, false) {}
  friend __attribute__((device)) thread_block this_thread_block();

 public:
  static __heddle_member void sync() { __block_sync(); }
  static __heddle_member unsigned int size() { return __threads_of_block(); }
  static __heddle_member unsigned int num_threads() { return __threads_of_block(); }
  static __heddle_member unsigned int thread_rank() { return __thread_of_block(); }
  static __heddle_member dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __heddle_member dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __heddle_member dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __heddle_member dim3 dim_threads() { return group_dim(); }
  /* The wait is a complete barrier, which is more than a split one promises: it does not order what lies
     between arrival and wait. A proof refuses accesses and other barriers there. */
  struct arrival_token {};
  static __heddle_member arrival_token barrier_arrive() {
    asm volatile(".pragma \"heddle.split\";\n\tpmevent 0;" ::: "memory");
    return arrival_token();
  }
  static __heddle_member void barrier_wait(arrival_token &&) {
    asm volatile(".pragma \"heddle.split\";\n\tbarrier.sync 0;" ::: "memory");
  }
};

/* Whether the launch is cooperative. A run takes it to be; in a proof it is not known. */
inline __attribute__((constant)) unsigned int __heddle_cooperative = 1;

class grid_group : public thread_group {
  __heddle_member grid_group() : thread_group(0, true) {}
  friend __attribute__((device)) grid_group this_grid();

 public:
  static __heddle_member bool is_valid() { return __heddle_cooperative != 0; }
  __heddle_member void sync() const { __grid_sync(); }
  /* The arrivals at the barrier before this one; of the first thread of a block, others have 0. Both halves are
     barriers of the block, too, which is more than they promise. To a proof they are the halves of a barrier of the
     block, which orders nothing between blocks. */
  typedef unsigned int arrival_token;
  __heddle_member arrival_token barrier_arrive() const {
    __block_sync();
    unsigned int __old = __thread_of_block() == 0 ? __grid_arrive() : 0;
    asm volatile(".pragma \"heddle.split\";\n\tpmevent 0;" ::: "memory");
    return __old;
  }
  __heddle_member void barrier_wait(arrival_token &&__old) const {
    if (__thread_of_block() == 0) __grid_wait(__old);
    asm volatile(".pragma \"heddle.split\";\n\tbarrier.sync 0;" ::: "memory");
  }
  static __heddle_member __rank_t size() { return (__rank_t)__blocks_of_grid() * __threads_of_block(); }
  static __heddle_member __rank_t num_threads() { return size(); }
  static __heddle_member __rank_t thread_rank() { return (__rank_t)__block_of_grid() * __threads_of_block() + __thread_of_block(); }
  static __heddle_member __rank_t block_rank() { return __block_of_grid(); }
  static __heddle_member __rank_t num_blocks() { return __blocks_of_grid(); }
  static __heddle_member dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __heddle_member dim3 dim_blocks() { return group_dim(); }
  static __heddle_member dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

/* The blocks of a cluster (PTX ISA 9.7.13.3, 9.7.9.23). In a launch without clusters, each block is a cluster. */
class cluster_group : public thread_group {
  __heddle_member cluster_group() : thread_group(0, false) {}
  friend __attribute__((device)) cluster_group this_cluster();
#define __HEDDLE_CLUSTER(NAME, REG)                            \
  static __heddle_member unsigned int NAME() {                 \
    unsigned int __r;                                          \
    asm volatile("mov.u32 %0, %%cluster_" REG ";" : "=r"(__r)); \
    return __r;                                                \
  }

 public:
  __HEDDLE_CLUSTER(block_rank, "ctarank")
  __HEDDLE_CLUSTER(num_blocks, "nctarank")
  static __heddle_member dim3 block_index() {
    dim3 __d;
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;\n\tmov.u32 %1, %%cluster_ctaid.y;\n\tmov.u32 %2, %%cluster_ctaid.z;" : "=r"(__d.x), "=r"(__d.y), "=r"(__d.z));
    return __d;
  }
  static __heddle_member dim3 dim_blocks() {
    dim3 __d;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;\n\tmov.u32 %1, %%cluster_nctaid.y;\n\tmov.u32 %2, %%cluster_nctaid.z;" : "=r"(__d.x), "=r"(__d.y), "=r"(__d.z));
    return __d;
  }
  static __heddle_member __rank_t num_threads() { return (__rank_t)num_blocks() * __threads_of_block(); }
  static __heddle_member __rank_t size() { return num_threads(); }
  static __heddle_member __rank_t thread_rank() { return (__rank_t)block_rank() * __threads_of_block() + __thread_of_block(); }
  static __heddle_member void barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
  static __heddle_member void barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
  static __heddle_member void sync() {
    barrier_arrive();
    barrier_wait();
  }
  /* The same variable of another block. */
  template <typename __T> static __heddle_member __T *map_shared_rank(__T *__p, unsigned int __rank) {
    unsigned long long __r;
    asm("mapa.u64 %0, %1, %2;" : "=l"(__r) : "l"(__p), "r"(__rank));
    return (__T *)__r;
  }
  static __heddle_member unsigned int query_shared_rank(const void *__p) {
    unsigned int __r;
    asm("getctarank.u64 %0, %1;" : "=r"(__r) : "l"(__p));
    return __r;
  }
};

class coalesced_group : public thread_group {
  __heddle_member unsigned int __lane(unsigned int __rank) const { return __lanes == ~0u ? __rank : __nth_lane(__lanes, __rank); }
  /* The votes of the members, by rank. */
  __heddle_member unsigned int __packed(unsigned int __votes) const {
    if (__lanes == ~0u) return __votes;
    unsigned int __bits = 0;
    for (unsigned int __m = __lanes, __i = 0; __m != 0; __m &= __m - 1, __i++) __bits |= (__votes >> (__ffs(__m) - 1) & 1u) << __i;
    return __bits;
  }

 public:
  __heddle_member explicit coalesced_group(unsigned int __mask) : thread_group(__mask, false) {}
  __heddle_member unsigned int __mask() const { return __lanes; }
  __heddle_member void sync() const { __syncwarp(__lanes); }
  __heddle_member unsigned int size() const { return __popc(__lanes); }
  __heddle_member unsigned int num_threads() const { return size(); }
  __heddle_member unsigned int thread_rank() const { return __popc(__lanes & __nv_lanemask_lt()); }
  __heddle_member unsigned int meta_group_size() const { return 1; }
  __heddle_member unsigned int meta_group_rank() const { return 0; }
  template <typename __T> __heddle_member __T shfl(__T __v, unsigned int __rank) const { return __move_shfl(__lanes, __v, __lane(__rank), 32); }
  template <typename __T> __heddle_member __T shfl_up(__T __v, unsigned int __delta) const {
    unsigned int __r = thread_rank();
    return __move_shfl(__lanes, __v, __lane(__r >= __delta ? __r - __delta : __r), 32);
  }
  template <typename __T> __heddle_member __T shfl_down(__T __v, unsigned int __delta) const {
    unsigned int __r = thread_rank();
    return __move_shfl(__lanes, __v, __lane(__r + __delta < size() ? __r + __delta : __r), 32);
  }
  __heddle_member int any(int __p) const { return __any_sync(__lanes, __p); }
  __heddle_member int all(int __p) const { return __all_sync(__lanes, __p); }
  __heddle_member unsigned int ballot(int __p) const { return __packed(__ballot_sync(__lanes, __p) & __lanes); }
  template <typename __T> __heddle_member unsigned int match_any(__T __v) const { return __packed(__match_any_sync(__lanes, __v)); }
  template <typename __T> __heddle_member unsigned int match_all(__T __v, int &__p) const { return __packed(__match_all_sync(__lanes, __v, &__p)); }
};

/* A tile: __N adjacent threads of a block. One of more than a warp waits at a barrier of its own, with the number of the
   tile, and passes values through shared memory. Of the 16 barriers of a block, the block itself has the first. */
template <unsigned int __N> struct __warps {
  static __heddle_member unsigned int __tile() { return __thread_of_block() / __N; }
  static __heddle_member unsigned int __barrier() {
    unsigned int __b = __tile() + 1;
    if (__b > 15) __trap();
    return __b;
  }
  static __heddle_member void sync() { asm volatile("barrier.sync %0, %1;" ::"r"(__barrier()), "r"(__N) : "memory"); }
#define __HEDDLE_VOTE(NAME, OP)                                                                            \
  static __heddle_member int NAME(int __p) {                                                           \
    int __r;                                                                                           \
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tbarrier.red." OP ".pred q, %2, %3, p;\n\t" \
                 "selp.s32 %0, 1, 0, q;\n\t}"                                                          \
                 : "=r"(__r) : "r"(__p), "r"(__barrier()), "r"(__N) : "memory");                       \
    return __r;                                                                                        \
  }
  __HEDDLE_VOTE(__vote_all, "and")
  __HEDDLE_VOTE(__any, "or")
#undef __HEDDLE_VOTE
  /* The memory of this tile: 32 bytes for each warp. */
  template <typename __T> static __heddle_member __T *__slots() {
    static_assert(__is_trivially_copyable(__T) && sizeof(__T) <= 32,
                  "a tile passes a trivially copyable type of at most 32 bytes");
    static __attribute__((shared)) unsigned long long __s[32][4];
    return (__T *)__s[__tile() * (__N / 32)];
  }
  template <typename __T> static __heddle_member __T __from(const __T &__v, unsigned int __rank) {
    if ((__thread_of_block() & (__N - 1)) == (__rank & (__N - 1))) *__slots<__T>() = __v;
    sync();
    __T __r = *__slots<__T>();
    sync();
    return __r;
  }
};
template <unsigned int __N, bool __Large> struct __tile_base;
template <unsigned int __N> struct __tile_base<__N, false> : thread_group {
  static __heddle_member unsigned int __mask() { return __tile_of_lanes(__N); }
  __heddle_member __tile_base() : thread_group(__mask(), false) {}
  static __heddle_member void sync() { __syncwarp(__mask()); }
  static __heddle_member int any(int __p) { return __any_sync(__mask(), __p); }
  static __heddle_member int all(int __p) { return __all_sync(__mask(), __p); }
  template <typename __T> static __heddle_member __T shfl(__T __v, int __rank) { return __move_shfl(__mask(), __v, __rank, __N); }
};
template <unsigned int __N> struct __tile_base<__N, true> {
  static __heddle_member bool is_valid() { return true; }
  static __heddle_member void sync() { __warps<__N>::sync(); }
  static __heddle_member int any(int __p) { return __warps<__N>::__any(__p); }
  static __heddle_member int all(int __p) { return __warps<__N>::__vote_all(__p); }
  template <typename __T> static __heddle_member __T shfl(__T __v, int __rank) { return __warps<__N>::__from(__v, __rank); }
};
template <unsigned int __N, typename __Parent = void> class thread_block_tile;
template <unsigned int __N, typename __Parent> class thread_block_tile : public __tile_base<__N, (__N > 32)> {
  static_assert(__N != 0 && __N <= 1024 && (__N & (__N - 1)) == 0, "a tile has 1, 2, 4, ... or 1024 threads");
  typedef __tile_base<__N, (__N > 32)> __base;

 public:
  unsigned int __whole; /* the threads of the tile that this is part of; 0: it is part of the block */
  __heddle_member explicit thread_block_tile(unsigned int __of = 0) : __whole(__of) {}
  /* A tile of any group is a tile. */
  __heddle_member operator thread_block_tile<__N, void>() const { return thread_block_tile<__N, void>(__whole); }
  static constexpr __heddle_member unsigned int size() { return __N; }
  static constexpr __heddle_member unsigned int num_threads() { return __N; }
  static __heddle_member unsigned int thread_rank() { return __thread_of_block() & (__N - 1); }
  __heddle_member unsigned int meta_group_size() const { return ((__whole == 0 ? __threads_of_block() : __whole) + __N - 1) / __N; }
  __heddle_member unsigned int meta_group_rank() const {
    return (__whole == 0 ? __thread_of_block() : __thread_of_block() & (__whole - 1)) / __N;
  }
  template <typename __T> __heddle_member __T shfl_up(__T __v, unsigned int __d) const { return __move_shfl_up(__base::__mask(), __v, __d, __N); }
  template <typename __T> __heddle_member __T shfl_down(__T __v, unsigned int __d) const { return __move_shfl_down(__base::__mask(), __v, __d, __N); }
  template <typename __T> __heddle_member __T shfl_xor(__T __v, unsigned int __x) const { return __move_shfl_xor(__base::__mask(), __v, __x, __N); }
  __heddle_member unsigned int ballot(int __p) const { return __shifted(__ballot_sync(__base::__mask(), __p)); }
  template <typename __T> __heddle_member unsigned int match_any(__T __v) const { return __shifted(__match_any_sync(__base::__mask(), __v)); }
  template <typename __T> __heddle_member unsigned int match_all(__T __v, int &__p) const { return __shifted(__match_all_sync(__base::__mask(), __v, &__p)); }

 private:
  static __heddle_member unsigned int __shifted(unsigned int __votes) { return (__votes & __base::__mask()) >> (__thread_of_block() & 31 & ~(__N - 1)); }
};

__inline__ __heddle_member thread_block this_thread_block() { return thread_block(); }
/* Memory for tiles of more than 32 threads, which CUDA needs before compute capability 8.0, and heddle never. */
template <unsigned int __MaxThreads = 1024> struct alignas(8) block_tile_memory {
  unsigned char __unused[__MaxThreads / 4];
};
template <unsigned int __N> __heddle_fn thread_block this_thread_block(block_tile_memory<__N> &) { return this_thread_block(); }
__inline__ __heddle_member grid_group this_grid() { return grid_group(); }
__inline__ __heddle_member cluster_group this_cluster() { return cluster_group(); }
__heddle_fn coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
__heddle_fn thread_block_tile<1> this_thread() { return thread_block_tile<1>(); }

template <unsigned int __N> __heddle_fn thread_block_tile<__N, thread_block> tiled_partition(const thread_block &) { return thread_block_tile<__N, thread_block>(); }
template <unsigned int __N, unsigned int __M, typename __P>
__heddle_fn thread_block_tile<__N, thread_block_tile<__M, __P>> tiled_partition(const thread_block_tile<__M, __P> &) {
  static_assert(__N <= __M, "a tile is no larger than the group that it is part of");
  return thread_block_tile<__N, thread_block_tile<__M, __P>>(__M);
}
/* The lanes that have consecutive ranks among the members in __lanes, as one of their tiles of __n threads. */
__heddle_fn unsigned int __tile_of_ranks(unsigned int __lanes, unsigned int __n) {
  if (__lanes == __tile_of_lanes(__popc(__lanes))) return __tile_of_lanes(__n);
  unsigned int __rank = __popc(__lanes & ((1u << (__thread_of_block() & 31)) - 1)), __bits = 0;
  for (unsigned int __m = __lanes, __i = 0; __m != 0; __m &= __m - 1, __i++)
    if (__i / __n == __rank / __n) __bits |= __m & -__m;
  return __bits;
}
/* The size is an argument, a power of two. */
__inline__ __heddle_member thread_group tiled_partition(const thread_group &__g, unsigned int __n) {
  return thread_group(__g.__lanes == 0 ? __tile_of_lanes(__n) : __tile_of_ranks(__g.__lanes, __n), false);
}
__heddle_fn coalesced_group tiled_partition(const coalesced_group &__g, unsigned int __n) {
  return coalesced_group(__tile_of_ranks(__g.__mask(), __n));
}
/* The members of a group within one warp that have the same label. */
template <typename __T> __heddle_fn coalesced_group labeled_partition(const coalesced_group &__g, __T __label) {
  return coalesced_group(__match_any_sync(__g.__mask(), __label));
}
template <unsigned int __N, typename __P, typename __T>
__heddle_fn coalesced_group labeled_partition(const thread_block_tile<__N, __P> &__g, __T __label) {
  unsigned int __base = __thread_of_block() & 31 & ~(__N - 1);
  return coalesced_group(__g.match_any(__label) << __base);
}
template <typename __G> __heddle_fn coalesced_group binary_partition(const __G &__g, bool __p) { return labeled_partition(__g, (int)__p); }

template <typename __G> __heddle_fn void sync(const __G &__g) { __g.sync(); }
template <typename __G> __heddle_fn void synchronize(const __G &__g) { __g.sync(); }
template <typename __G> __heddle_fn auto group_size(const __G &__g) { return __g.size(); }
template <typename __G> __heddle_fn auto thread_rank(const __G &__g) { return __g.thread_rank(); }

/* One member runs the function; which one is not specified. */
template <typename __G, typename __F, typename... __A> __heddle_fn void invoke_one(const __G &__g, __F &&__f, __A &&...__args) {
  if (__g.thread_rank() == ::__heddle_copies::__choice(__g)) __f((__A &&)__args...);
}
template <typename __G, typename __F, typename... __A> __heddle_fn auto invoke_one_broadcast(const __G &__g, __F &&__f, __A &&...__args) {
  unsigned int __chosen = ::__heddle_copies::__choice(__g);
  decltype(__f((__A &&)__args...)) __r{};
  if (__g.thread_rank() == __chosen) __r = __f((__A &&)__args...);
  return __g.shfl(__r, __chosen);
}

template <typename __T> struct plus { __heddle_member __T operator()(__T __a, __T __b) const { return __a + __b; } };
template <typename __T> struct less { __heddle_member __T operator()(__T __a, __T __b) const { return __b < __a ? __b : __a; } };
template <typename __T> struct greater { __heddle_member __T operator()(__T __a, __T __b) const { return __a < __b ? __b : __a; } };
template <typename __T> struct bit_and { __heddle_member __T operator()(__T __a, __T __b) const { return __a & __b; } };
template <typename __T> struct bit_or { __heddle_member __T operator()(__T __a, __T __b) const { return __a | __b; } };
template <typename __T> struct bit_xor { __heddle_member __T operator()(__T __a, __T __b) const { return __a ^ __b; } };

/* Each member gets the result. */
template <unsigned int __N, typename __P, typename __T, typename __Op>
__heddle_fn __T reduce(const thread_block_tile<__N, __P> &__g, __T __v, __Op __op) {
  if constexpr (__N > 32) {
    __T *__s = __warps<__N>::template __slots<__T>();
    __v = reduce(thread_block_tile<32>(), __v, __op);
    if ((__g.thread_rank() & 31) == 0) __s[__g.thread_rank() / 32] = __v;
    __g.sync();
    __v = __s[0];
    for (unsigned int __i = 1; __i < __N / 32; __i++) __v = __op(__v, __s[__i]);
    __g.sync();
  } else {
    for (unsigned int __d = __N / 2; __d != 0; __d /= 2) __v = __op(__v, __g.shfl_xor(__v, __d));
  }
  return __v;
}
template <typename __T, typename __Op> __heddle_fn __T reduce(const coalesced_group &__g, __T __v, __Op __op) {
  __T __sum = __g.shfl(__v, 0);
  for (unsigned int __i = 1; __i < __g.size(); __i++) __sum = __op(__sum, __g.shfl(__v, __i));
  return __sum;
}
template <typename __G, typename __T, typename __Op> __heddle_fn __T inclusive_scan(const __G &__g, __T __v, __Op __op) {
  for (unsigned int __d = 1; __d < __g.size(); __d *= 2) {
    __T __u = __g.shfl_up(__v, __d);
    if (__g.thread_rank() >= __d) __v = __op(__u, __v);
  }
  return __v;
}
template <typename __G, typename __T> __heddle_fn __T inclusive_scan(const __G &__g, __T __v) { return inclusive_scan(__g, __v, plus<__T>()); }
template <typename __G, typename __T, typename __Op> __heddle_fn __T exclusive_scan(const __G &__g, __T __v, __Op __op) {
  __T __u = __g.shfl_up(inclusive_scan(__g, __v, __op), 1);
  return __g.thread_rank() == 0 ? __T() : __u;
}
template <typename __G, typename __T> __heddle_fn __T exclusive_scan(const __G &__g, __T __v) { return exclusive_scan(__g, __v, plus<__T>()); }

/* Names of NVIDIA's header that programs use which write a barrier of their own. */
#define _CG_ASM_PTR_CONSTRAINT(PTR) "l"(PTR)
namespace details {
__heddle_fn bool bar_has_flipped(unsigned int __old, unsigned int __now) { return ((__old ^ __now) & 0x80000000u) != 0; }
}

/* The names of CUDA 11.1, where these were new. */
namespace experimental {
using cooperative_groups::thread_block;
using cooperative_groups::thread_block_tile;
using cooperative_groups::tiled_partition;
template <unsigned int __Communication = 8, unsigned int __MaxThreads = 1024> struct alignas(8) block_tile_memory {
  unsigned char __unused[__Communication * __MaxThreads / 32];
};
template <unsigned int __C, unsigned int __N> __heddle_fn thread_block this_thread_block(block_tile_memory<__C, __N> &) { return cooperative_groups::this_thread_block(); }
}
}
using namespace __v1;
}

#endif
