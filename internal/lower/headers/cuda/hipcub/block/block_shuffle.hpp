#include "../config.hpp"
#include <cub/block/block_shuffle.cuh>
