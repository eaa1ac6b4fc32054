#include "CUDAGeneratorImpl.h"
