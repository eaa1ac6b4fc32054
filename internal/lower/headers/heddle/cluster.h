/* Clusters of blocks and dependent launches (CUDA C++ Programming Guide, "Thread Block Clusters" and "Programmatic
   Dependent Launch"), by the instructions and special registers of PTX (10.12-10.17, 9.7.13.3, 9.7.13.13). */
#ifndef HEDDLE_CLUSTER_H
#define HEDDLE_CLUSTER_H

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define __HEDDLE_CLUSTER_REG(NAME, REG)                          \
  __heddle_fn unsigned int NAME() {                              \
    unsigned int __r;                                            \
    asm volatile("mov.u32 %0, %%" REG ";" : "=r"(__r));          \
    return __r;                                                  \
  }
#define __HEDDLE_CLUSTER_DIM(NAME, TYPE, REG)                    \
  __HEDDLE_CLUSTER_REG(__heddle##NAME##_x, REG ".x")             \
  __HEDDLE_CLUSTER_REG(__heddle##NAME##_y, REG ".y")             \
  __HEDDLE_CLUSTER_REG(__heddle##NAME##_z, REG ".z")             \
  __heddle_fn TYPE NAME() { return TYPE(__heddle##NAME##_x(), __heddle##NAME##_y(), __heddle##NAME##_z()); }
__HEDDLE_CLUSTER_DIM(__clusterDim, dim3, "cluster_nctaid")
__HEDDLE_CLUSTER_DIM(__clusterRelativeBlockIdx, dim3, "cluster_ctaid")
__HEDDLE_CLUSTER_DIM(__clusterGridDimInClusters, dim3, "nclusterid")
__HEDDLE_CLUSTER_DIM(__clusterIdx, dim3, "clusterid")
__HEDDLE_CLUSTER_REG(__clusterRelativeBlockRank, "cluster_ctarank")
__HEDDLE_CLUSTER_REG(__clusterSizeInBlocks, "cluster_nctarank")
__heddle_fn unsigned int __clusterDimIsSpecified() {
  unsigned int __r;
  asm volatile("{\n\t.reg .pred p;\n\tmov.pred p, %%is_explicit_cluster;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(__r));
  return __r;
}
__heddle_fn void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__heddle_fn void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__heddle_fn void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
__heddle_fn void *__cluster_map_shared_rank(const void *__p, unsigned int __rank) {
  unsigned long long __r;
  asm("mapa.u64 %0, %1, %2;" : "=l"(__r) : "l"(__p), "r"(__rank));
  return (void *)__r;
}
__heddle_fn unsigned int __cluster_query_shared_rank(const void *__p) {
  unsigned int __r;
  asm("getctarank.u64 %0, %1;" : "=r"(__r) : "l"(__p));
  return __r;
}
__heddle_fn void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__heddle_fn void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
/* Before compute capability 9.0 no launch is a dependent one, and code that checks __CUDA_ARCH__ at run time may
   still name these. */
__heddle_fn void cudaGridDependencySynchronize() {}
__heddle_fn void cudaTriggerProgrammaticLaunchCompletion() {}
#endif

/* The value of a condition in a graph, which is no memory of the kernel; programs cannot create conditions here. */
__heddle_fn void cudaGraphSetConditional(unsigned long long, unsigned int) {}

#endif
