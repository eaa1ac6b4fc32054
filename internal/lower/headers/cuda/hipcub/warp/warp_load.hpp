#include "../config.hpp"
#include <cub/warp/warp_load.cuh>
