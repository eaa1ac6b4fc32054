#include "hip_bfloat16.h"
