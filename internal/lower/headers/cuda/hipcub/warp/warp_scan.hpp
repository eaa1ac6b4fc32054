#include "../config.hpp"
#include <cub/warp/warp_scan.cuh>
