// Clusters by cooperative groups: a barrier of the cluster is missing, or is one of the block.
// Why: CUDA C++ Programming Guide, "Distributed Shared Memory": the blocks have to have started and
// must not have ended; PTX ISA 9.7.13.3 for the order of memory.
// expect: bug
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// heddle: grid=2 block=64
__global__ void __cluster_dims__(2, 1, 1) ends_early(int *out) {
  __shared__ int s[64];
  cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x]; // want dsmem-exited
}

// heddle: grid=2 block=64
__global__ void __cluster_dims__(2, 1, 1) starts_late(int *out) {
  __shared__ int s[64];
  cg::cluster_group cluster = cg::this_cluster();
  *cluster.map_shared_rank(&s[threadIdx.x], cluster.block_rank() ^ 1) = 1; // want dsmem-not-started
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

// The barrier of the block does not order the other block.
// heddle: grid=2 block=64
__global__ void __cluster_dims__(2, 1, 1) block_barrier(int *out) {
  __shared__ int s[64];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  s[threadIdx.x] = threadIdx.x; // want race-shared
  __syncthreads();
  int *other = cluster.map_shared_rank(&s[threadIdx.x], cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = *other; // want race-shared
  cluster.sync();
}
