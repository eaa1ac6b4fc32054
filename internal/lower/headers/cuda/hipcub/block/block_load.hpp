#include "../config.hpp"
#include <cub/block/block_load.cuh>
