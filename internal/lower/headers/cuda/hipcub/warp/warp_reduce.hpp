#include "../config.hpp"
#include <cub/warp/warp_reduce.cuh>
