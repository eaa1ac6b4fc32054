#include "../config.hpp"
#include <cub/warp/warp_merge_sort.cuh>
