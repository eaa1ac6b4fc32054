#include <cuda/pipeline>
#include "cuda_pipeline_primitives.h"
