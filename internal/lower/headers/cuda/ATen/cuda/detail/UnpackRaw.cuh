#include "../CUDAGeneratorImpl.h"
