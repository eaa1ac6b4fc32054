#include "../config.hpp"
#include <cub/block/block_reduce.cuh>
