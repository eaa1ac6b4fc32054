#include "../config.hpp"
#include <cub/block/block_radix_sort.cuh>
