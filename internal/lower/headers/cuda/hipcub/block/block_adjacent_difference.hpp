#include "../config.hpp"
#include <cub/block/block_adjacent_difference.cuh>
