/* The header of CUDA's occupancy calculator. Thrust 1 includes it and uses nothing of it; the occupancy functions of the
   runtime are in cuda_runtime.h. */
#ifndef HEDDLE_CUDA_OCCUPANCY_H
#define HEDDLE_CUDA_OCCUPANCY_H

#include <cuda_runtime.h>

#endif
