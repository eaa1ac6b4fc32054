// Clusters by cooperative groups and by instructions.
// Why: cluster.sync() is an arrival that releases and a wait that acquires at the scope of the
// cluster (PTX ISA 9.7.13.3), and each block passes it behind the last access to its memory.
// expect: clean
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Each block reads what the other has stored.
// heddle: grid=4 block=64
__global__ void __cluster_dims__(2, 1, 1) exchange(int *out) {
  __shared__ int s[64];
  cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
  cluster.sync();
}

// A histogram whose halves are in two blocks: atomic operations on shared memory of either.
// heddle: grid=2 block=64
__global__ void __cluster_dims__(2, 1, 1) histogram(const int *in, int *out) {
  __shared__ int bins[32];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  cluster.sync();
  unsigned bin = in[blockIdx.x * 64 + threadIdx.x] & 63;
  atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
  cluster.sync();
  if (threadIdx.x < 32) out[cluster.block_rank() * 32 + threadIdx.x] = bins[threadIdx.x];
}

// Between the arrival and the wait a block may use its own memory that no other block uses.
// heddle: grid=2 block=64
__global__ void __cluster_dims__(2, 1, 1) split(int *out) {
  __shared__ int s[64], own[64];
  cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  cluster.barrier_arrive();
  own[threadIdx.x] = threadIdx.x;
  cluster.barrier_wait();
  out[blockIdx.x * 64 + threadIdx.x] =
      *cluster.map_shared_rank(&s[threadIdx.x], cluster.block_rank() ^ 1) + own[threadIdx.x];
  cluster.sync();
}

// Stores into the other block, and a remote arrival for each of them.
// heddle: grid=2 block=32
__global__ void __cluster_dims__(2, 1, 1) mailbox(int *out) {
  __shared__ int s[32];
  __shared__ unsigned long long full;
  unsigned bar = shared_address(&full), at = shared_address(&s[threadIdx.x]), remote, remote_bar;
  unsigned rank = cg::this_cluster().block_rank();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(at), "r"(rank ^ 1));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_bar) : "r"(bar), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(threadIdx.x) : "memory");
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote_bar)
               : "memory");
  asm volatile("{ .reg .pred p;\n"
               "L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
               "@!p bra L; }" ::"r"(bar)
               : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

// One copy to both blocks.
// table: 50 R
// heddle: grid=2 block=32
__global__ void __cluster_dims__(2, 1, 1) multicast(const int *in, int *out) {
  __shared__ __align__(128) int s[32];
  __shared__ unsigned long long full;
  unsigned bar = shared_address(&full), at = shared_address(s);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(bar) : "memory");
    if (cg::this_cluster().block_rank() == 0)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1], 128, [%2], %3;" ::"r"(at), "l"(in), "r"(bar), "h"((unsigned short)3)
          : "memory");
  }
  asm volatile("{ .reg .pred p;\n"
               "L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
               "@!p bra L; }" ::"r"(bar)
               : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
